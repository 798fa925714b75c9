"""Fitting sizes for dialogs, and places where they cover little."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QDialog, QWidget

from attnlab.ui.base.theme import px

_SHARE = 0.9
"""How much of its parent window a dialog covers, in width and in height, unless its least size is larger."""


def fit(dialog: QDialog, least: tuple[int, int], wished: tuple[int, int]) -> None:
    """Resize a dialog to ``wished`` pixels at the present size of type, but so that its parent window stays in view."""
    parent = dialog.parentWidget()
    room = parent.window().size() if parent is not None else dialog.screen().availableSize()
    sides = list(zip(least, wished, (room.width(), room.height()), strict=True))
    smallest = [min(px(small), most) for small, _, most in sides]
    dialog.setMinimumSize(*smallest)
    largest = [max(int(_SHARE * most), small) for small, (_, _, most) in zip(smallest, sides, strict=True)]
    dialog.resize(*(min(px(large), most) for (_, large, _), most in zip(sides, largest, strict=True)))


def move_aside(dialog: QDialog, widget: QWidget) -> None:
    """Move a dialog on its screen to where it covers the least of a widget."""
    asked = QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())
    room, own = dialog.screen().availableGeometry(), dialog.frameGeometry()
    xs = (room.right() - own.width() + 1, room.left(), asked.left() - own.width(), asked.right() + 1)
    ys = (own.top(), room.top(), room.bottom() - own.height() + 1)
    places = [QRect(QPoint(x, y), own.size()) for x in xs for y in ys]
    inside = [place for place in places if room.contains(place)] or [own]
    dialog.move(min(inside, key=lambda place: _measure_overlap(place, asked)).topLeft())


def _measure_overlap(one: QRect, other: QRect) -> int:
    """Return the area that two rectangles share."""
    shared = one.intersected(other)
    return max(shared.width(), 0) * max(shared.height(), 0)
