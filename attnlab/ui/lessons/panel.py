"""The panel above the explanation while a lesson is open: the step's text with its numbers, notes, question, Next."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from attnlab.attention.stages.table import BY_NAME
from attnlab.base.spoken_text import end_sentence
from attnlab.base.text_marks import read_aloud
from attnlab.figures.slides.slide_markdown import split_note_lines
from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.lessons.away_note import AwayNote
from attnlab.ui.lessons.filling import Filling
from attnlab.ui.lessons.fold import Fold
from attnlab.ui.lessons.markdown_label import MarkdownLabel
from attnlab.ui.lessons.picture_label import PictureLabel
from attnlab.ui.lessons.question_place import QuestionPlace
from attnlab.ui.lessons.run_button import RunButton
from attnlab.ui.present.content import Moment, find_pictures
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide
    from attnlab.ui.lessons.player import LessonPlayer
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.predict.answer_sheet import AnswerSheet
    from attnlab.ui.predict.choice_sheet import ChoiceSheet

WIDTH, LEAST, SHARE = 300, 248, 0.24
"""The least width of the panel in pixels, its share of a small window, and the least of that."""
NEXT, REVEAL = "Next", "Reveal"
MARGIN, SPACING = 8, 8
"""Above and below the panel's parts, and between them, in pixels."""
MOST, MOST_OF_ALL = 0.62, 0.78
"""The share of the column that the lesson may take from the explanation, and from one that needs less than the rest;
a lesson that needs more takes all of it while no cell is explained, or while a question is open."""


@guarded
class LessonPanel(FollowsTheme, QFrame):
    """Shows the player's slide with the playground's numbers, in the upper part of the right column."""

    close_requested = Signal()
    present_requested = Signal()
    run_requested = Signal()

    def __init__(self, player: "LessonPlayer", playground: "Playground") -> None:
        super().__init__()
        self._player, self._playground = player, playground
        self._filling = Filling(playground, self)
        self._arranged, self._divided = False, 0
        self._dividing = QTimer(self)
        self._dividing.setSingleShot(True)  # with the interval 0
        self._dividing.timeout.connect(self._divide)
        self._told: tuple[int, int, tuple[Cell, ...], bool] | None = None
        self._is_new_answer = self._is_new_note = False
        self._asked = ""
        self._answers: AnswerSheet | None = None
        self._choices: ChoiceSheet | None = None
        self.setObjectName("lesson")
        self.setAccessibleName("Lesson")
        self.setProperty("ground", "surface")
        self._fit_width()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, MARGIN, 8, MARGIN)
        column.setSpacing(SPACING)
        self._head, self._buttons = self._make_head(), self._make_buttons()
        column.addLayout(self._head)
        column.addLayout(self._buttons)  # above the text, so that they stay in place whatever its length
        column.addWidget(self._make_body(), 1)
        column.addLayout(self._place.below)
        self._settle_in()
        playground.computed.connect(self._on_computed)
        self._filling.ready.connect(self._fill)

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._where = ElidedLabel()
        self._where.lowers_indices = True
        self._where.setProperty("role", "caption")
        self._notes = Fold("Notes", apart=True)
        self._close = QToolButton()
        self._close.setAccessibleName("Close the lesson")
        self._close.setToolTip("Close the lesson; the playground keeps its state")
        self._close.clicked.connect(self.close_requested)
        row.addWidget(self._where, 1)
        row.addWidget(self._notes.heading)  # here it takes no room from the text
        row.addWidget(self._close)
        return row

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(8)
        self._back, self._next, self._present = QPushButton("Back"), QPushButton(NEXT), QPushButton("Present")
        self._next.setProperty("primary", True)
        self._back.setToolTip("The previous frame (PageUp)")
        self._next.setToolTip("The next frame or step (PageDown)")
        self._present.setToolTip("Show this step to the class (F5)")
        self._back.clicked.connect(self._player.go_back)
        self._next.clicked.connect(self._player.go_next)
        self._player.answer_changed.connect(self._on_answer_changed)
        self._present.clicked.connect(self.present_requested)
        row.addWidget(self._back)
        row.addWidget(self._next)
        row.addStretch(1)
        row.addWidget(self._present)
        return row

    def _make_body(self) -> QScrollArea:
        area, body = QScrollArea(), QWidget()
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("The step’s text")
        body.setProperty("ground", "surface")
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(6)
        self._away, self._title = AwayNote(self._player.return_here), FormulaLabel()
        self._text, self._answer = MarkdownLabel(), MarkdownLabel()
        self._answer.setAccessibleName("Text after the reveal")
        self._picture, self._run = PictureLabel(), RunButton()
        self._run.clicked.connect(self.run_requested)
        self._question = Fold("Question")
        self._question.installEventFilter(self)
        for fold in (self._question, self._notes):
            fold.heading.toggled.connect(self._on_folded)
        self._notes.heading.toggled.connect(self._on_noted)
        self._question.heading.toggled.connect(self._on_asked)
        for label in (self._title, self._text, self._answer):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        for widget in (
            self._away,
            self._title,
            self._text,
            self._picture,
            self._run,
            self._question,
            self._answer,
            self._notes,
        ):
            column.addWidget(widget)
        column.addStretch(1)
        area.setWidget(body)
        self._area, self._inside = area, column
        self._place = QuestionPlace(self._question, self._picture, area, column)
        return area

    def _settle_in(self) -> None:
        """Use the upper part of the playground's right column, above the explanation."""
        body, explain = self._playground.body, self._playground.explain
        self._column = QSplitter(Qt.Orientation.Vertical)
        self._column.setHandleWidth(1)
        self._column.setChildrenCollapsible(False)
        self._column.splitterMoved.connect(self._on_splitter_moved)
        body.replace_explanation(self._column)
        self._column.addWidget(self)
        self._column.addWidget(explain)
        explain.show()  # its place was taken, which hides it
        explain.begun.connect(self._make_room)

    def restyle(self) -> None:
        """Set the icon, the fonts and the width."""
        self._close.setIcon(icon("close", palette_of(self), px(16)))
        self._close.setIconSize(QSize(px(16), px(16)))
        title = font("title")
        title.setPixelSize(px(17))
        self._title.setFont(title)
        self._where.setFont(font("caption"))
        self._fit_next()
        self._fit_width()
        self._make_room()

    def _fit_next(self) -> None:
        """Make Next as wide as its widest text, so that nothing beside it moves."""
        text, widths = self._next.text(), []
        for each in (NEXT, REVEAL):
            self._next.setText(each)
            widths.append(self._next.sizeHint().width())
        self._next.setText(text)
        self._next.setMinimumWidth(max(widths))

    def show_slide(self) -> None:
        """Show the player's slide, with numbers when they are computed."""
        if self._player.slide is None:
            return
        self._told = None
        self._filling.begin(self._player.slide)
        self._fit_width()
        self._run.show_slide(self._player.slide)
        question = self._player.slide.step.question
        self._question.heading.setChecked(question is not None and bool(self._player.slide.blanks or question.choices))
        self._area.verticalScrollBar().setValue(0)  # last: the question just opened has scrolled to itself
        self._notes.fold()
        if self._choices is not None:
            self._choices.clear()
        self.show_progress()
        self._fill()

    def _fit_width(self) -> None:
        """Be wide enough to read, and leave the cards the width they need."""
        share = round(self._playground.body.width() * SHARE)
        self.setMinimumWidth(min(px(WIDTH), max(share, px(LEAST))))

    def show_frame(self) -> None:
        """Show the place in the walk, and the text as far as its numbers are revealed."""
        self.show_progress()
        self._fill()

    def show_progress(self) -> None:
        """Show the place in the walk."""
        slide, lesson = self._player.slide, self._player.lesson
        if slide is None or lesson is None:
            return
        lens = (slide.step.lens or "").partition("/")[0]
        looked = LENSES[lens].title if lens in LENSES else BY_NAME[slide.stage].title
        self._where.setText(f"Step {slide.index + 1} of {slide.count}  ·  {looked}")
        self._where.setToolTip(plain_tip(lesson.title))
        self._back.setEnabled(not self._player.at_start)
        if self._player.at_end and self._next.hasFocus():
            self._area.setFocus()  # Qt would choose Present, which one more press of Space would start
        self._next.setEnabled(not self._player.at_end)
        self._next.setText(REVEAL if self._player.asking else NEXT)

    @Slot()
    def _fill(self) -> None:
        """Fill the text with the current numbers; while they are computed, keep the earlier text."""
        slide = self._player.slide
        trace = self._filling.find_trace()
        if slide is None or trace is None or not self.isVisibleTo(self._column):
            return
        if self._show_away():
            self._make_room()
            return
        player = self._player
        moment = Moment(player.frame, player.hidden)
        self._title.setText(read_aloud(self._filling.fill_text(slide.step.title, slide, trace, moment=moment)))
        self._text.show_markdown(self._filling.fill_text(slide.step.text, slide, trace, markdown=True, moment=moment))
        self._answer.show_markdown(
            self._filling.fill_text(slide.step.answer, slide, trace, markdown=True, moment=moment)
        )
        self._answer.setVisible(bool(slide.step.answer) and player.answered)
        self._picture.show_pictures(find_pictures(slide, player.answered))
        self._ask(slide, trace)
        notes = "\n\n".join(split_note_lines(slide.step.notes))
        self._notes.show_text(self._filling.fill_text(notes, slide, trace, markdown=True))
        self._tell(slide)
        self._make_room()

    def _tell(self, slide: "Slide") -> None:
        """Announce a step with its text, and then what each frame or answer adds to it."""
        player = self._player
        place = slide.index, player.frame_index, player.hidden, player.answered
        if place == self._told:
            return
        before, self._told = self._told, place
        self._is_new_answer = before is not None and player.answered and not before[3]
        answer = self._answer.words if player.answered else ""
        if before is None:
            self._place.forget()
            ask = self._asked if not self._question.isHidden() else ""
            title = end_sentence(self._title.text())
            texts = f"Step {slide.index + 1} of {slide.count}: {title}", self._text.words, answer, ask
            announce(" ".join(filter(None, texts)), self, "lesson")
        elif before[1] != player.frame_index:
            announce(" ".join(filter(None, (self._playground.step_bar.step_text, answer))), self, "lesson")
        else:
            announce(answer, self, "lesson")

    def _show_away(self) -> bool:
        """Say that another experiment is open: the text keeps the step's own numbers."""
        away = self._player.elsewhere
        if away and (lesson := self._player.lesson) is not None:
            self._away.show_title(self._playground.document.scene.title, lesson.title)
        self._away.setVisible(away)
        self._question.setEnabled(not away)
        return away

    def _ask(self, slide: "Slide", trace: "Trace") -> None:
        question = slide.step.question
        self._question.setVisible(self.asks)
        if question is None:
            return
        moment = Moment(self._player.frame, self._player.hidden)
        ask, hint = (
            read_aloud(self._filling.fill_text(text, slide, trace, moment=moment))
            for text in (question.ask, question.hint)
        )
        self._asked = f"Question: {ask}"
        if question.choices:
            choices = [self._filling.fill_text(text, slide, trace) for text in question.choices]
            self._asked += "".join(f" {number}: {read_aloud(each)}." for number, each in enumerate(choices, 1))
            own = slide.experiment in (None, self._playground.document.experiment)
            sheet = self._show_choices()
            sheet.show_question(ask, choices, question.right, hint, known=self._player.answered, usable=own)
        else:
            answers = self._show_answers()
            answers.show_question(replace(question, ask=ask, hint=hint), slide.blanks, trace)

    def _show_choices(self) -> "ChoiceSheet":
        if self._choices is None:
            from attnlab.ui.predict.choice_sheet import ChoiceSheet

            self._choices = ChoiceSheet()
            self._choices.revealed.connect(self._player.finish)
            self._choices.judged.connect(self._on_judged)
        self._question.show_widget(self._choices)
        return self._choices

    def _show_answers(self) -> "AnswerSheet":
        if self._answers is None:
            from attnlab.ui.predict.answer_sheet import AnswerSheet

            self._answers = AnswerSheet()
            self._answers.revealed.connect(self._on_revealed)
        self._question.show_widget(self._answers)
        return self._answers

    @Slot()
    def _make_room(self) -> None:
        """Divide the column again when all that changes now has been laid out, unless the user moved the border."""
        self._dividing.start()

    @Slot()
    def _divide(self) -> None:
        """Divide the column, and scroll to a part that has appeared."""
        self._fit_height()
        new = (
            (self._notes, self._is_new_note),
            (self._answer, self._is_new_answer),
            (self._question, self._place.is_new),
        )
        appeared = next((part for part, is_new in new if is_new), None)
        if appeared is not None and self.isVisible():
            self._is_new_answer = self._is_new_note = self._place.is_new = False
            QTimer.singleShot(0, appeared, partial(self._show_whole, appeared))  # when it has its place

    def _show_whole(self, widget: QWidget) -> None:
        """Scroll down to the end of a part, but not past its beginning."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # or it has not its place yet
        bar, place = self._area.verticalScrollBar(), widget.geometry()
        bar.setValue(min(max(bar.value(), place.bottom() + 8 - self._area.viewport().height()), place.top()))

    def _fit_height(self) -> None:
        """Be as high as the text, leaving the explanation its share, or what it needs if that is less."""
        whole = self._column.height()
        if self._arranged or whole <= 0 or not self.isVisible():
            return
        self._divided = whole
        around = self._head.sizeHint().height() + self._buttons.sizeHint().height() + 2 * SPACING + 2 * MARGIN
        needed = wanted = self._place.fit(whole - around - 2, is_open=self._is_open_question) + around + 2
        explain = self._playground.explain
        most = max(min(whole - explain.measure_need(), round(whole * MOST_OF_ALL)), round(whole * MOST))
        explain.setHidden((explain.is_idle or self._is_open_question) and wanted > most)
        wanted = min(wanted, most if not explain.isHidden() else whole)
        policy = Qt.ScrollBarPolicy  # a bar that is there makes the text narrower, and so too high for its room
        self._area.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOff if wanted == needed else policy.ScrollBarAsNeeded
        )
        if self._column.sizes()[0] != wanted:
            self._column.setSizes([wanted, whole - wanted])

    @property
    def asks(self) -> bool:
        """Whether the step in view has a question that can be answered."""
        slide = self._player.slide
        question = slide.step.question if slide is not None else None
        return slide is not None and question is not None and bool(slide.blanks or question.choices)

    def focus_question(self) -> None:
        """Give the focus to the first field or choice of the question, which is unfolded."""
        slide = self._player.slide
        self._question.heading.setChecked(True)
        has_choices = slide is not None and slide.step.question is not None and slide.step.question.choices
        first = self._show_choices().rows[0].key if has_choices else self._show_answers()
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def _is_open_question(self) -> bool:
        """Whether the step asks a question whose answer is not shown yet."""
        slide = self._player.slide
        return slide is not None and slide.step.question is not None and not self._player.answered

    @Slot(int, int)
    def _on_splitter_moved(self, *_: int) -> None:
        self._arranged = True
        self._place.put_back()  # from now on all parts scroll together
        self._area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    @Slot(object)
    def _on_revealed(self, cell: "Cell") -> None:
        self._player.reveal(cell)
        self._make_room()

    @Slot()
    def _on_answer_changed(self) -> None:
        """Show what a key has uncovered on the answer sheet as well, or ask again."""
        slide, answers = self._player.slide, self._answers
        if answers is not None and slide is not None and slide.blanks and not self._player.elsewhere:
            if not self._player.hidden:
                answers.reveal()
            elif self._player.hidden == slide.blanks:
                answers.clear()
        self.show_progress()
        self._fill()

    @Slot()
    def _on_judged(self) -> None:
        """Scroll to the verdict when it has its place."""
        if self._choices is not None:
            verdict = self._choices.verdict_label
            QTimer.singleShot(0, verdict, lambda: self._area.ensureWidgetVisible(verdict, 0, 8))

    @Slot(bool)
    def _on_asked(self, on: bool) -> None:
        if on:
            self._inside.activate()
            self._area.ensureWidgetVisible(self._question, 0, 0)

    @Slot(bool)
    def _on_noted(self, on: bool) -> None:
        self._is_new_note = on

    @Slot(bool)
    def _on_folded(self, _: bool) -> None:
        self._make_room()

    @Slot(object)
    def _on_computed(self, _: object) -> None:
        self._fill()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Divide the column again when a hint or a sentence about an answer makes the question higher."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._make_room()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width() or self._column.height() != self._divided:
            self._make_room()  # not after its own division, which changes neither
