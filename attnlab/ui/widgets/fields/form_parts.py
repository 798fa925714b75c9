"""Parts of forms: a narrow combo box, two fields side by side, and a text of several lines."""

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.formula_items import FormulaChoice
from attnlab.ui.widgets.subscripts import FormulaLabel

_LIST_EDGE = 12
"""The outline and the padding of a list, both sides together."""
_LONG, _JOINT = re.compile(r"\S{20,}"), re.compile(r"([._/\\])(?=\w)|(?=\[)")
_BREAK = "\N{ZERO WIDTH SPACE}"


@guarded
class NarrowBox(FormulaChoice):
    """A combo box that may be narrower than its longest title; its list is as wide as that title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)

    def showPopup(self) -> None:
        view = self.view()
        view.ensurePolished()
        bar = view.verticalScrollBar().sizeHint().width() if self.count() > self.maxVisibleItems() else 0
        view.setMinimumWidth(view.sizeHintForColumn(0) + bar + px(_LIST_EDGE))
        super().showPopup()


def combo(choices: Sequence[tuple[str, object]]) -> QComboBox:
    """Return a combo box of titles, each with its value; it may be narrower than its longest title."""
    box = NarrowBox()
    for title, value in choices:
        box.addItem(title, value)
    return box


def make_wrapped_label(role: str) -> QLabel:
    """Return an empty label of a role whose text takes as many lines as the width requires."""
    label = BreakableLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", role)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label


def make_prose_label(role: str) -> FormulaLabel:
    """Return an empty label like ``make_wrapped_label`` in which ``W_q`` has a subscript, for an author’s sentences."""
    label = FormulaLabel(role=role)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)  # so presses reach the parent
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return label


@guarded
class BreakableLabel(QLabel):
    """A label of several lines that also breaks long names, such as a tensor's or a path, at their punctuation."""

    def text(self) -> str:
        """Return the text as it was given."""
        return super().text().replace(_BREAK, "")

    def setText(self, text: str) -> None:
        super().setText(_LONG.sub(lambda name: _JOINT.sub(rf"\1{_BREAK}", name[0]), text))


def pair(first: QWidget, second: QWidget, stretch: tuple[int, int] = (3, 2)) -> QWidget:
    """Return two widgets side by side, with the extra space divided as in ``stretch``."""
    both = QWidget()
    row = QHBoxLayout(both)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(px(8))
    for widget, share in zip((first, second), stretch, strict=True):
        row.addWidget(widget, share)
    return both
