"""A layout of a bar: a part at each end and one row between them, which is a second line if there is no room."""

from PySide6.QtCore import QMargins, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.layouts.items_layout import ItemsLayout


@guarded
class BarLayout(ItemsLayout):
    """Lays out three items: left, middle, right. Their places depend on the width alone."""

    def __init__(self, parent: QWidget, margins: QMargins, gap: int = 8) -> None:
        super().__init__(parent, margins, gap)
        self._corner = QSize(0, 0)

    def begin_below(self, height: int, beside: int) -> None:
        """Let a second line begin at a height, beside what covers so many pixels at its left."""
        if (corner := QSize(beside, height)) != self._corner:
            self._corner = corner
            self.invalidate()

    def add_part(self, part: QWidget | QLayout) -> None:
        """Add the next of the three parts."""
        if isinstance(part, QLayout):
            self.addChildLayout(part)
            self.addItem(part)
        else:
            self.addWidget(part)

    def _places(self, width: int) -> list[QRect]:
        """Return the rectangles of the three in a bar of a width."""
        margins = self.contentsMargins()
        inside = width - margins.left() - margins.right()
        left, middle, right = (item.sizeHint() for item in self._items)
        least = self._corner.height() - margins.top() - self._gap
        tall, gap, top = max(left.height(), right.height(), least), self._gap, margins.top()
        room = inside - left.width() - right.width() - 2 * gap
        item = self._items[1]
        beside = middle.width() <= room or (
            item.hasHeightForWidth() and room > 0 and item.heightForWidth(room) <= middle.height()
        )
        if beside:
            tall = max(tall, middle.height())

        def place_centred(x: int, size: QSize) -> QRect:
            return QRect(margins.left() + x, top + (tall - size.height()) // 2, size.width(), size.height())

        between = place_centred(left.width() + gap, QSize(room, middle.height()))
        if not beside:
            indent = self._corner.width()
            between = QRect(margins.left() + indent, top + tall + gap, inside - indent, middle.height())
        narrowest = self._items[0].minimumSize().width()
        left.setWidth(max(min(left.width(), inside - right.width() - gap), narrowest))
        return [place_centred(0, left), between, place_centred(max(inside - right.width(), left.width() + gap), right)]

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation.Horizontal

    def heightForWidth(self, width: int) -> int:
        return max(place.bottom() + 1 for place in self._places(width)) + self.contentsMargins().bottom()

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        wide = sum(item.sizeHint().width() for item in self._items) + 2 * self._gap + margins.left() + margins.right()
        return QSize(wide, self.heightForWidth(wide))

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        left, middle, right = (item.minimumSize() for item in self._items)
        lines = left.width() + self._gap + right.width(), middle.width() + self._corner.width()
        wide = max(lines) + margins.left() + margins.right()
        tall = max(left.height(), middle.height(), right.height()) + margins.top() + margins.bottom()
        return QSize(wide, tall)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        for item, place in zip(self._items, self._places(rect.width()), strict=True):
            item.setGeometry(place.translated(rect.topLeft()))
