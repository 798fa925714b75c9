"""The answer sheet: a question, a field for each blank cell, and feedback after each answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.theme import font, px, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.predict.answer_row import AnswerRow
from attnlab.ui.widgets.fields.form_parts import make_prose_label

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.exercise import Answer
    from attnlab.lessons.lesson import Question

TRIES = 2
"""The number of wrong answers after which the arithmetic is shown."""
FEW = 3
"""The most blanks with room for a sentence below each; more of them stand close together, to be in sight."""
_FONT_SIZE = re.compile(r"font-size:(\d+)px")


@dataclass(slots=True)
class _Asked:
    """One blank: its solution, the number of tries, and whether the solution has been revealed."""

    answer: "Answer"
    row: AnswerRow
    tries: int = 0
    known: bool = False
    given: str | None = None
    """The last answer; None before the first, or if the solution was revealed without one."""


class AnswerSheet(FollowsTheme, QWidget):
    """Asks for the numbers of blank cells: Enter checks each; it is explained when right, revealed or tried twice.

    ``answered`` carries the cell and whether the answer was right; ``revealed`` the cell that may be shown from now on.
    """

    answered = Signal(object, bool)
    revealed = Signal(object)

    def __init__(self, parent: QWidget | None = None, zoom: float = 1.0) -> None:
        super().__init__(parent)
        self.setAccessibleName("Answer sheet")
        self._zoom = zoom
        self._question: Question | None = None
        self._trace: Trace | None = None
        self._asked: list[_Asked] = []
        self._ask, self._hint = make_prose_label("strong"), make_prose_label("muted")
        self._rows = QVBoxLayout()
        self.check_button = QPushButton("Check")
        self.check_button.setToolTip("Check the typed answers (Enter checks the current one)")
        self.check_button.clicked.connect(self._on_check_clicked)
        self.reveal_button = QPushButton()
        self.reveal_button.clicked.connect(self._on_reveal_clicked)
        buttons = QHBoxLayout()
        buttons.addWidget(self.check_button)
        buttons.addWidget(self.reveal_button)
        buttons.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._ask)
        self._column.addLayout(self._rows)
        self._column.addLayout(buttons)
        self._column.addWidget(self._hint)  # below, so that no button moves when it appears
        self._column.addStretch(1)
        self.set_zoom(zoom)
        self._refresh()

    @property
    def hidden_cells(self) -> tuple["Cell", ...]:
        """The cells without an answer so far, which must not be shown anywhere."""
        return tuple(each.answer.cell for each in self._asked if not each.known)

    def show_question(self, question: "Question", blanks: Sequence["Cell"], trace: "Trace") -> None:
        """Ask for the blank cells of a trace; cells that it does not have are left out.

        The same question about another trace, as when a number is dragged, keeps the answers and marks them again.
        """
        from attnlab.base.errors import ExperimentError
        from attnlab.lessons.exercise import check_cell, read_answers_of

        there = []
        for cell in blanks:
            try:
                check_cell(trace.experiment, cell)
            except ExperimentError:
                continue
            there.append(cell)
        answers = read_answers_of(trace, there)
        same = self._is_asked(question) and [each.answer.cell for each in self._asked] == there
        self._question, self._trace = question, trace
        self._ask.setText(question.ask)
        self._ask.setVisible(bool(question.ask))
        if same:
            for each, answer in zip(self._asked, answers, strict=True):
                each.answer = answer
                self._mark_anew(each)
        else:
            self._ask_all(answers)
        self._refresh()

    def reveal(self) -> None:
        """Show every answer and its arithmetic."""
        for each in self._asked:
            if not each.known:
                self._reveal(each, each.given is not None)
        self._refresh()

    def clear(self) -> None:
        """Remove the question."""
        self._question = self._trace = None
        self._ask.setText("")
        self._ask.hide()
        self._ask_all(())
        self._refresh()

    def restyle(self) -> None:
        """Set the colours, the fonts and the coloured arithmetic."""
        set_sheet(self, _style(palette_of(self)))
        self.set_zoom(self._zoom)

    def set_zoom(self, zoom: float) -> None:
        """Set the size of the text: 1 is the size of the window's text, about 2 that for presenting."""
        self._zoom = zoom
        self._ask.setFont(font("strong", zoom))
        self._hint.setFont(font("text", zoom))
        for button in (self.check_button, self.reveal_button):
            button.setFont(font("text", zoom))
        self._column.setSpacing(px(8 * zoom))
        self._space_rows()
        for each in self._asked:
            each.row.set_zoom(zoom)
            if each.known:
                self._show_arithmetic(each)

    def _is_asked(self, question: "Question") -> bool:
        """Return whether this question is already asked; the placeholders in a lesson's text may have changed."""
        before = self._question
        if before is None or question == before:
            return before is not None
        return 0 < question.line == before.line and (question.blanks, question.tolerance) == (
            before.blanks,
            before.tolerance,
        )

    def _ask_all(self, answers: Sequence["Answer"]) -> None:
        self._hint.hide()
        for each in self._asked:
            self._rows.removeWidget(each.row)
            each.row.hide()
            each.row.deleteLater()
        self._asked = [self._make_row(answer, len(answers) <= FEW) for answer in answers]
        self._space_rows()
        self.setFocusProxy(self._asked[0].row.field if self._asked else None)  # type: ignore[arg-type]  # which Qt takes
        order = [*(each.row.field for each in self._asked), self.check_button, self.reveal_button]
        for before, after in pairwise(order):  # the buttons were created first, and the proxy changes the order, too
            QWidget.setTabOrder(before, after)

    def _space_rows(self) -> None:
        self._rows.setSpacing(px((8 if len(self._asked) <= FEW else 4) * self._zoom))

    def _make_row(self, answer: "Answer", few: bool) -> _Asked:
        from attnlab.lessons.exercise import describe_cell

        assert self._trace is not None
        row = AnswerRow(self)
        row.set_place(describe_cell(self._trace.experiment, answer.cell))
        row.set_zoom(self._zoom)
        row.keep_line(few)
        self._rows.addWidget(row)
        row.show()
        each = _Asked(answer, row)
        row.entered.connect(lambda text: self._on_entered(each, text))
        return each

    def _on_entered(self, each: _Asked, text: str) -> None:
        self._check(each, text)
        self._refresh()
        if each.known:
            self._go_on()

    def _check(self, each: _Asked, text: str) -> None:
        """Mark an answer; an unreadable one does not count as a try."""
        from attnlab.lessons.grading import mark

        assert self._question is not None
        marked = mark(each.answer, text, self._question.tolerance)
        if marked.result in ("missing", "unreadable"):
            each.row.refuse("Type a number first." if marked.result == "missing" else marked.said)
            return
        each.tries += 1
        each.given = text
        self.answered.emit(each.answer.cell, marked.right)
        if marked.right or each.tries >= TRIES:
            self._reveal(each, True)
        else:
            self._say_mark(each)
            self._hint.setVisible(bool(self._question.hint))

    def _reveal(self, each: _Asked, was_answered: bool) -> None:
        each.known = True
        if not was_answered:
            each.given = None
        self._say_mark(each)
        self._show_arithmetic(each)
        self.revealed.emit(each.answer.cell)

    def _mark_anew(self, each: _Asked) -> None:
        if each.known:
            self._show_arithmetic(each)
        if each.known or each.given is not None:
            self._say_mark(each)

    def _say_mark(self, each: _Asked) -> None:
        from attnlab.attention.stages.arithmetic import number
        from attnlab.lessons.grading import mark

        assert self._question is not None
        known = f"It is {number(each.answer.value)}." if each.known else ""
        if each.given is None:
            each.row.say(known, "muted")
            return
        marked = mark(each.answer, each.given, self._question.tolerance)
        if marked.right:
            each.row.say(f"Right. {marked.said} {known}" if marked.gap else f"Right. {marked.said}", "good")
        else:
            each.row.say(f"Not {'right' if each.known else 'yet'}. {marked.said} {known}".rstrip(), "error")

    def _show_arithmetic(self, each: _Asked) -> None:
        from attnlab.attention.stages.arithmetic import plain
        from attnlab.attention.stages.explain import explain
        from attnlab.ui.playground.rich_text import html_of

        assert self._trace is not None
        palette, lines = palette_of(self), explain(self._trace, each.answer.cell).lines
        html = "<br>".join(html_of(line, palette) for line in lines)
        html = _FONT_SIZE.sub(lambda found: f"font-size:{round(int(found[1]) * self._zoom)}px", html)
        spoken = "; ".join(plain(line) for line in lines)
        each.row.show_arithmetic(f"<p style='line-height:135%; margin:0'>{html}</p>", spoken)

    def _go_on(self) -> None:
        """Focus the next open field."""
        following = [each.row.field for each in self._asked if not each.known]
        if following:
            following[0].setFocus(Qt.FocusReason.TabFocusReason)

    def _refresh(self) -> None:
        hint = self._question.hint if self._question is not None else ""
        self._hint.setText(f"Hint: {hint}" if hint else "")
        if not hint:
            self._hint.hide()
        first = bool(hint) and self._hint.isHidden()
        self.reveal_button.setText("Hint" if first else "Show the arithmetic")
        self.reveal_button.setToolTip("Show how to begin" if first else "Show every answer and how to compute it")
        for button in (self.check_button, self.reveal_button):
            button.setVisible(bool(self.hidden_cells))

    @Slot()
    def _on_check_clicked(self) -> None:
        for each in self._asked:
            if not each.known and each.row.field.text().strip():
                self._check(each, each.row.field.text())
        self._refresh()
        self._go_on()

    @Slot()
    def _on_reveal_clicked(self) -> None:
        if self._question is not None and self._question.hint and self._hint.isHidden():
            self._hint.show()
            self._refresh()
        else:
            self.reveal()


def _style(palette: Palette) -> str:
    """Return a style sheet in a palette's colours, which on a slide may differ from the window's."""
    p = palette
    return (
        f"QLabel {{ color: {p.ink}; }} QLabel[role='muted'] {{ color: {p.muted}; }}"
        f"QLabel[role='good'] {{ color: {p.good}; }} QLabel[role='error'] {{ color: {p.bad}; }}"
        f"QLineEdit {{ color: {p.ink}; background: {p.surface}; border-color: {p.hatch}; }}"
        f"QLineEdit:focus {{ border-color: {p.accent}; }}"
        "QLineEdit:read-only { background: transparent; border: 1px solid transparent; padding: 6px 9px; }"
        f"QPushButton {{ color: {p.ink}; background: {p.surface}; border-color: {p.hatch}; }}"
        f"QPushButton:hover {{ background: {p.control}; }} QPushButton:focus {{ border-color: {p.accent}; }}"
    )
