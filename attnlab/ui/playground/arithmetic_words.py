"""A cell's arithmetic as running text, with the buttons that show it and that show every term of a long sum."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.ui.base.themed import palette_of
from attnlab.ui.playground.rich_text import html_of
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnlab.attention.stages.arithmetic import Line
    from attnlab.attention.stages.steps import Steps


class ArithmeticWords(QWidget):
    """Shows lines of arithmetic: always for a cell without steps, else if the reader wants the formula too."""

    changed = Signal()
    """Another length or form is wanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(4)
        self._lines = QLabel()
        self._lines.setTextFormat(Qt.TextFormat.RichText)
        self._lines.setWordWrap(True)
        self._lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._lines.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._more = self._make_button("Show every term", "Write out all products of a long sum")
        self._formula = self._make_button("Formula", "The same arithmetic as one formula with the numbers put in")
        row = FlowLayout()
        row.addWidget(self._formula)
        row.addWidget(self._more)
        column.addLayout(row)
        column.addWidget(self._lines)

    def _make_button(self, text: str, tip: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setCheckable(True)
        button.setToolTip(tip)
        button.toggled.connect(self.changed)
        return button

    @property
    def every_term(self) -> bool:
        """Whether long sums are written out."""
        return self._more.isChecked()

    @property
    def wanted(self) -> bool:
        """Whether the formula is wanted beside the steps."""
        return self._formula.isChecked()

    def show_words(self, lines: "Sequence[Line]", steps: "Steps | None") -> None:
        """Show the lines of an explanation, without any only the buttons; ``steps`` are drawn elsewhere."""
        p = palette_of(self)
        if lines:
            text = "<br>".join(html_of(line, p) for line in lines)
            self._lines.setText(f"<p style='line-height:135%; margin:0'>{text}</p>")
        told = "; ".join("".join(span.text for span in line) for line in lines)
        self._lines.setAccessibleName(f"The cell as arithmetic: {told}")
        self._lines.setVisible(bool(lines))
        self._formula.setVisible(steps is not None)
        omitted = "more …" in told or (steps is not None and any(step.omitted for step in steps.all))
        self._more.setVisible(omitted or self.every_term)
