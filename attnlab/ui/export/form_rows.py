"""Parts of the forms in this folder: rows of fields with names, number fields, and a fitting size of the dialog."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.widgets.fields.undo_fields import NumberBox

Row = tuple[str, QWidget, str]
"""The name of a field, the field, and its tool tip."""


def lay_out_rows(form: QWidget, rows: Sequence[Row]) -> list[QLabel]:
    """Lay out fields below one another, each after its name, and return the labels with the names.

    Fields without an accessible name get the name of their row.
    """
    labels = [QLabel(name) for name, _, _ in rows]
    grid = QGridLayout(form)
    grid.setContentsMargins(0, 0, px(12), 0)
    grid.setHorizontalSpacing(px(12))
    grid.setVerticalSpacing(px(8))
    grid.setColumnStretch(1, 1)
    for line, (name, field, about) in enumerate(rows):
        grid.addWidget(labels[line], line, 0)
        grid.addWidget(field, line, 1)
        for part in (field, *field.findChildren(QWidget)):
            part.setToolTip(about)
            if name and not part.accessibleName():
                part.setAccessibleName(name)
    grid.setRowStretch(len(rows), 1)
    return labels


def number_box(least: int, most: int, value: int) -> NumberBox:
    """Return a field for a whole number."""
    box = NumberBox()
    box.setRange(least, most)
    box.setValue(value)
    box.setAlignment(Qt.AlignmentFlag.AlignRight)
    return box


def fit(dialog: QDialog, least: tuple[int, int], wished: tuple[int, int]) -> None:
    """Resize a dialog to ``wished`` pixels at the present size of type, but no larger than its parent window."""
    parent = dialog.parentWidget()
    room = parent.window().size() if parent is not None else dialog.screen().availableSize()
    sizes = [
        [min(px(side), most) for side, most in zip(size, (room.width(), room.height()), strict=True)]
        for size in (least, wished)
    ]
    dialog.setMinimumSize(*sizes[0])
    dialog.resize(*sizes[1])
