"""What the model answers to the probe at the moment shown: a column for each place, and the text by probability."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_columns import HIGH, AnswerColumns
from attnlab.ui.train.answer_line import AnswerLine
from attnlab.ui.train.answer_words import Column, describe_answer, make_columns, make_number_columns
from attnlab.ui.train.coloured_text import LINE, MOST_LINES, ColouredText, ColouredToken
from attnlab.ui.train.paced import Paced
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.surface import Surface

if TYPE_CHECKING:
    from attnlab.training.answers import Answer

GIVEN, OWN = "given", "own"
READS = (
    Choice(
        GIVEN, "Right tokens", "Before each position the model reads the right tokens, as in training and in the curves"
    ),
    Choice(OWN, "Its own", "The model writes the answer itself: before each position it reads its own tokens"),
)
LEGEND = "The darker a token, the more probable the model found it; where another was likelier, it is underlined."
BELOW = 220
"""The height for the maps, in pixels at 100 %, that a whole card must leave below it."""


@guarded
class AnswerCard(FollowsTheme, Surface):
    """Shows the answer of a moment; the user chooses which tokens the model reads before each place.

    Where there is little height the card is one line until it is unfolded.
    """

    mode_changed = Signal(str)
    fold_changed = Signal(object)
    """The card, folded or unfolded by the user or for its room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._step = 0
        self._paced = Paced(self)
        self._paced.due.connect(self._on_due)
        self._mode = GIVEN
        self._columns: tuple[Column, ...] = ()
        self._parts: tuple[bool, ...] = ()
        self._is_low = self._unfolded = False
        self._can_unfold = True
        self.title, self.sentence = QLabel("The answer"), ElidedLabel(separator=", ")
        self.sentence.setProperty("role", "muted")
        self.sentence.setAccessibleName("How much of the answer is right")
        self.reads = Segments("Tokens that the model reads before each position")
        self.reads.set_choices(READS)
        self.reads.set_value(self._mode)
        preferred = QSizePolicy.Policy.Preferred
        self.reads.setSizePolicy(preferred, preferred)  # smaller, then in two lines, where there is little room
        self.reads.chosen.connect(self._on_mode_chosen)
        self.text, self.columns = ColouredText("Text by probability"), AnswerColumns("The answer")
        self.line = AnswerLine("The answer in one line")
        self.text.setToolTip(LEGEND)
        self.text.token_chosen.connect(self._on_token_chosen)
        self.fold_button = QToolButton()
        self.fold_button.clicked.connect(self._on_fold_clicked)
        self._head = head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.title)
        head.addWidget(self.sentence, 1)
        head.addWidget(self.line, 1)
        head.addWidget(self.reads, 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(self.fold_button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(12, 3, 12, 4)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.text)
        column.addWidget(self.columns)
        self._fold()
        self.hide()

    def restyle(self) -> None:
        """Set the font of the title and the icon of the button."""
        self.title.setFont(font("caption_strong"))
        self.fold_button.setIcon(icon("chevron-up" if self._unfolded else "chevron-down", palette_of(self), px(12)))
        self.fold_button.setIconSize(QSize(px(12), px(12)))
        self.fold_button.setFixedSize(px(24), px(24))

    def follow(self, answer: "Answer", step: int) -> None:
        """Show the answer after ``step`` steps, at once or soon: while moments follow each other, not every one."""
        self._paced.offer((answer, step))

    def set_wanted(self, on: bool) -> None:
        """Hide the card, where something else shows the answers, or show it if there is an answer."""
        self._wanted = on
        self.setVisible(on and self._has_answer)

    _wanted, _has_answer = True, False

    @property
    def is_behind(self) -> bool:
        """Whether a later answer than the one shown is about to be shown."""
        return self._paced.is_behind

    @Slot(object)
    def _on_due(self, found: "tuple[Answer, int]") -> None:
        self.show_answer(*found)

    def show_answer(self, answer: "Answer", step: int) -> None:
        """Show the answer of the model after ``step`` steps."""
        self._answer, self._step = answer, step
        self._has_answer = bool(answer.places or answer.numbers)
        self.setVisible(self._has_answer and self._wanted)
        own = self._mode == OWN and bool(answer.written)
        places = answer.written if own else answer.places
        self._columns = make_number_columns(answer.numbers) if answer.numbers else make_columns(places)
        (self.line if self.is_folded else self.columns).show_columns(self._columns)
        show_text(self.sentence, describe_answer(answer, own, step))
        self.text.show_tokens(color_tokens(answer) if not answer.written else ())
        self._show_parts()

    @property
    def mode(self) -> str:
        """Which tokens the model reads before each place: "given" or "own"."""
        return self._mode

    @Slot(str)
    def set_mode(self, mode: str) -> None:
        """Choose which tokens the model reads before each place."""
        if mode != self._mode:
            self._mode = mode
            self.reads.set_value(mode)
            if self._answer is not None:
                self.show_answer(self._answer, self._step)
            self.mode_changed.emit(mode)

    @property
    def is_folded(self) -> bool:
        """Whether the card is one line."""
        return self._is_low and not self._unfolded

    def arrange(self, height: int, least: int, legible: int) -> None:
        """Fit the card to the height that it shares with the maps, which are legible in ``legible`` pixels of it.

        A card that was unfolded stays so while the window is low and at least ``least`` pixels are left.
        """
        is_low = height - self.measure_whole(MOST_LINES) < max(px(BELOW), legible)
        can_unfold = height - self.measure_whole(1) >= least
        if (is_low, can_unfold) != (self._is_low, self._can_unfold):
            self._unfolded = self._unfolded and is_low and self._is_low and can_unfold
            self._is_low, self._can_unfold = is_low, can_unfold
            self._fold()

    def measure_whole(self, lines: int) -> int:
        """Return the greatest height of the whole card, whatever its tokens, with so many lines of a text."""
        margins, bar = self._column.contentsMargins(), self.columns.horizontalScrollBar().sizeHint().height()
        text = lines * px(LINE) if self._has_text() else 0
        return max(self.reads.sizeHint().height(), px(28)) + text + px(HIGH) + bar + margins.top() + margins.bottom()

    def copy_fold(self, other: "AnswerCard") -> None:
        """Be one line where another card is."""
        state = other._is_low, other._can_unfold, other._unfolded
        if state != (self._is_low, self._can_unfold, self._unfolded):
            self._is_low, self._can_unfold, self._unfolded = state
            self._fold()

    def _fold(self) -> None:
        """Show one line, or the whole card."""
        self.text.set_most_lines(1 if self._is_low else MOST_LINES)
        at = self._head if self.is_folded else self._column
        at.insertWidget(1, self.text, int(self.is_folded))
        told = "Show the whole answer" if self.is_folded else "Show the answer in one line"
        self.fold_button.setToolTip(told)
        self.fold_button.setAccessibleName(told)
        self.fold_button.setVisible(self._is_low and self._can_unfold)
        self.restyle()
        (self.line if self.is_folded else self.columns).show_columns(self._columns)
        self._show_parts()
        self._make_room()
        self.fold_changed.emit(self)

    def _show_parts(self) -> None:
        """Show the parts that this answer has, in one line or in all."""
        text, folded = self._has_text(), self.is_folded
        parts = text, folded, self._answer is not None and bool(self._answer.written)
        if parts != self._parts:
            self._parts = parts
            self.text.setVisible(text)
            self.sentence.setVisible(not folded)
            self.line.setVisible(folded and not text)
            self.columns.setVisible(not folded)
            self.reads.setVisible(not folded and parts[2])
        if folded:
            self._make_room()

    def _make_room(self) -> None:
        """Hide the title where it would hide a part of the line."""
        margins, parts = self._column.contentsMargins(), (self.title, self.line, self.fold_button)
        room = self.width() - margins.left() - margins.right() - 2 * self._head.spacing()
        self.title.setVisible(not self.line.isVisibleTo(self) or sum(each.sizeHint().width() for each in parts) <= room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _has_text(self) -> bool:
        return any(each.is_asked for each in self.text.tokens)

    @Slot()
    def _on_fold_clicked(self) -> None:
        self._unfolded = not self._unfolded
        self._fold()

    @Slot(object)
    def _on_mode_chosen(self, mode: object) -> None:
        self.set_mode(str(mode))

    @Slot(int)
    def _on_token_chosen(self, index: int) -> None:
        """Scroll to the place that predicted a token."""
        if self._answer is not None:
            place = self._answer.find_predicted()[index]
            if place is not None and not self.is_folded:
                self.columns.show_place(self._answer.places.index(place))


def color_tokens(answer: "Answer") -> tuple[ColouredToken, ...]:
    """Return the tokens of the probe with the probability that the model gave to each from those before it."""
    return tuple(
        ColouredToken(token, math.nan)
        if place is None
        else ColouredToken(token, place.probability, "" if place.right is not False else place.likeliest[0][0])
        for token, place in zip(answer.row, answer.find_predicted(), strict=True)
    )


def frame_answer(card: AnswerCard) -> QVBoxLayout:
    """Return a layout that holds a card above maps, as wide as their cards."""
    frame = QVBoxLayout()
    frame.setContentsMargins(18, 2, 18, 4)
    frame.addWidget(card)
    return frame
