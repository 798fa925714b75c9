"""Parts of forms: a choice that may be narrow, and two fields side by side."""

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from attnlab.ui.theme import px


def combo(choices: Sequence[tuple[str, object]]) -> QComboBox:
    """Return a choice among titles, each with its value; it may be made narrower than its longest title."""
    box = QComboBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(4)
    for title, value in choices:
        box.addItem(title, value)
    return box


def pair(first: QWidget, second: QWidget, stretch: tuple[int, int] = (3, 2)) -> QWidget:
    """Return two widgets side by side, which share what room is left as ``stretch`` says."""
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(px(8))
    for widget, share in zip((first, second), stretch, strict=True):
        row.addWidget(widget, share)
    return both
