"""Widgets above a slide, in areas it keeps free: a table of numbers, answer fields, a lens, and the help card."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QWidget

from attnlab.base.text_marks import read_aloud
from attnlab.ui.base.themed import palette_of
from attnlab.ui.present.content import Moment, fill_text, find_covering, find_stage
from attnlab.ui.present.help_card import HelpCard
from attnlab.ui.present.table_sheet import TableSheet

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.figures.slides.slide_layout import Box
    from attnlab.lessons.lesson import Step
    from attnlab.lessons.slides import Slide
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.present.answer_area import AnswerArea
    from attnlab.ui.present.lens_sheet import LensSheet
    from attnlab.ui.present.presenter import Presenter
    from attnlab.ui.present.slide_view import SlideView


class SlideParts(QObject):
    """Creates each part on first use, and places it in the area that the slide keeps free."""

    def __init__(self, playground: "Playground", presenter: "Presenter", view: "SlideView", over: QWidget) -> None:
        super().__init__(over)
        self._playground, self._presenter, self._view, self._over = playground, presenter, view, over
        self.table = TableSheet(playground.document, over)
        self.table.hide()
        self.help = HelpCard(over)
        self.answers: AnswerArea | None = None
        self.lens: LensSheet | None = None
        presenter.settled.connect(self._on_settled)
        presenter.slide_entered.connect(self.table.hide)
        view.laid_out.connect(self.place)

    def follow_theme(self) -> None:
        """Show the parts in the palette of the window."""
        if self.lens is not None:
            self.lens.dress_lens(palette_of(self._over))
        self.place()

    @property
    def typing(self) -> bool:
        """Whether an answer field has keyboard focus."""
        return self.answers is not None and any(field.hasFocus() for field in self.answers.findChildren(QWidget))

    def toggle_help(self) -> None:
        """Show or hide the help card."""
        self.help.setVisible(not self.help.isVisible())
        self.place()

    def toggle_table(self) -> None:
        """Open the table of numbers most relevant to the slide, or close it; an open one has keyboard focus."""
        presenter, trace = self._presenter, self._presenter.numbers.find_trace()
        if presenter.slide is None or (trace is None and not presenter.table):
            return
        presenter.table = not presenter.table
        if presenter.table and trace is not None:
            self.table.open_for(find_stage(presenter.slide, trace), find_changed_table(presenter.slide.step, trace))
        presenter.refresh()
        self.table.setVisible(presenter.table)
        self.place()  # again: when first shown, a widget gets the window's font
        if presenter.table and (cell := find_changed_cell(presenter.slide, self.table.name)) is not None:
            QTimer.singleShot(0, self.table, partial(self.table.table.select, *cell))  # when it has its place
        (self.table.table if presenter.table else self._over).setFocus()

    def forget(self) -> None:
        """Release the parts that are not deleted with the window."""
        if self.lens is not None:
            self.lens.forget()

    @Slot()
    def _on_settled(self) -> None:
        content = self._presenter.content
        if content is not None:
            self._mount_answers()
            self._mount_lens(content)

    def _mount_answers(self) -> None:
        """Show or hide the answer fields in the slide's free area."""
        slide, trace = self._presenter.slide, self._presenter.numbers.find_trace()
        if slide is not None and trace is not None and slide.step.question is not None and self._presenter.sheet:
            answers = self.answers or self._make_answers()
            if self._presenter.hidden == slide.blanks != answers.sheet.hidden_cells:
                answers.sheet.clear()  # they were covered again
            hint = self._fill_hint(slide, trace, slide.step.question.hint)
            answers.sheet.show_question(replace(slide.step.question, ask="", hint=hint), slide.blanks, trace)
            self.place()
            answers.show()
            if self.typing and not answers.sheet.hidden_cells:
                self._over.setFocus()  # nothing is left to type
        elif self.answers is not None:
            self.answers.hide()

    def _fill_hint(self, slide: "Slide", trace: "Trace", hint: str) -> str:
        """Return a hint with its numbers, but those that are still asked for."""
        before = self._presenter.numbers.find_earlier_trace(slide, trace)
        covering = find_covering(slide, trace, Moment(None, self._presenter.hidden))
        return read_aloud(fill_text(hint, slide, trace, before, covering=covering))

    def _make_answers(self) -> "AnswerArea":
        from attnlab.ui.present.answer_area import AnswerArea

        self.answers = AnswerArea(self._over)
        self.answers.sheet.revealed.connect(self._presenter.reveal)
        return self.answers

    def _mount_lens(self, content: "SlideContent") -> None:
        """Show or hide the lens of a step in the slide's free area; a map replaces a missing lens."""
        slide, trace = self._presenter.slide, self._presenter.numbers.find_trace()
        drawn = content.picture is not None or self._presenter.is_drawn or not content.answered
        if slide is None or trace is None or not content.whole or drawn:
            if self.lens is not None:
                self.lens.hide()
            return
        if self.lens is None:
            from attnlab.ui.present.lens_sheet import LensSheet

            self.lens = LensSheet(self._playground, self._over)
        if not self.lens.open(slide.step.lens or "", palette_of(self._over)):
            self._presenter.lens.usable = False
            self._presenter.refresh()
            return
        self.place()
        self.lens.show_trace(trace, self._playground.document.view)
        self.lens.show()

    @Slot()
    def place(self) -> None:
        """Place every part in the slide's free areas."""
        sheet, drawn, over = self._view.sheet, self._view.drawn, self._over
        if drawn.table is not None:
            self.table.set_look(palette_of(self._over), sheet.body)
            self.table.setGeometry(*_round_box(drawn.table))
        content = self._view.content
        if drawn.side is not None and content is not None:
            if self.lens is not None and content.whole:
                self.lens.place(drawn.side, sheet.body)
            if self.answers is not None and self._presenter.sheet:
                self.answers.place(drawn.answers or drawn.side, sheet.body)
        if self.help.isVisible():
            self.help.set_look(palette_of(self._over), sheet.unit)
            self.help.move((over.width() - self.help.width()) // 2, (over.height() - self.help.height()) // 2)
            self.help.raise_()


def find_changed_table(step: "Step", trace: "Trace") -> str:
    """Return the name of the table that the edits of a step change, "" if they change none, or several."""
    from attnlab.attention import edits
    from attnlab.lessons.cell_references import split_indices
    from attnlab.lessons.lookup import ALIASES

    names = [ALIASES.get(name, name) for edit in step.edits for name, _ in (split_indices(edit.key) or ("", None),)]
    tables = {name for name in names if name in edits.tables(trace.experiment)}
    return tables.pop() if len(tables) == 1 else ""


def find_changed_cell(slide: "Slide", table: str) -> tuple[int, int] | None:
    """Return the row and the column of the first number of a table that a step changes, None if it changes none."""
    from attnlab.attention import edits

    states = [e for e in (slide.before, slide.experiment) if e is not None and table in edits.tables(e)]
    before, now = [edits.array(e, table) for e in states] if len(states) == 2 else (None, None)
    if before is None or now is None or before.shape != now.shape:
        return None
    changed = [(int(row), int(column)) for row, column in zip(*(before != now).nonzero(), strict=True)]
    return changed[0] if changed else None


def _round_box(box: "Box") -> tuple[int, int, int, int]:
    return round(box.x), round(box.y), round(box.width), round(box.height)
