"""What the model answers to the probe at the moment shown: a column for each place, and the text by probability."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.answer_columns import AnswerColumns
from attnlab.ui.train.answer_words import describe_answer, make_columns, make_number_columns
from attnlab.ui.train.coloured_text import ColouredText, ColouredToken
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.surface import Surface

if TYPE_CHECKING:
    from attnlab.training.answers import Answer

GIVEN, OWN = "given", "own"
READS = (
    Choice(
        GIVEN, "Right tokens", "Before each place the model reads the right tokens, as in training and in the curves"
    ),
    Choice(OWN, "Its own", "The model writes the answer itself: before each place it reads its own tokens"),
)
LEGEND = "The darker a token, the more probable the model found it; where another was likelier, it is underlined."


@guarded
class AnswerCard(FollowsTheme, Surface):
    """Shows the answer of a moment; the user chooses which tokens the model reads before each place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self._step = 0
        self._mode = GIVEN
        self.title, self.sentence = QLabel("The answer"), ElidedLabel()
        self.sentence.setProperty("role", "muted")
        self.sentence.setAccessibleName("How much of the answer is right")
        self.reads = Segments("Tokens that the model reads before each place")
        self.reads.set_choices(READS)
        self.reads.set_value(self._mode)
        self.reads.chosen.connect(self._on_mode_chosen)
        self.text, self.columns = ColouredText("Text by probability"), AnswerColumns("The answer")
        self.text.setToolTip(LEGEND)
        self.text.token_chosen.connect(self._on_token_chosen)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.title)
        head.addWidget(self.sentence, 1)
        head.addWidget(self.reads, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 3, 12, 4)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.text)
        column.addWidget(self.columns)
        self.hide()

    def restyle(self) -> None:
        """Set the font of the title."""
        self.title.setFont(font("caption_strong"))

    def show_answer(self, answer: "Answer", step: int) -> None:
        """Show the answer of the model after ``step`` steps."""
        self._answer, self._step = answer, step
        self.setVisible(bool(answer.places or answer.numbers))
        self.reads.setVisible(bool(answer.written))
        own = self._mode == OWN and bool(answer.written)
        places = answer.written if own else answer.places
        self.columns.show_columns(make_number_columns(answer.numbers) if answer.numbers else make_columns(places))
        show_text(self.sentence, describe_answer(answer, own, step))
        tokens = color_tokens(answer) if not answer.written else ()
        self.text.setVisible(any(each.is_asked for each in tokens))
        self.text.show_tokens(tokens)

    @Slot(object)
    def _on_mode_chosen(self, mode: object) -> None:
        self._mode = str(mode)
        self.reads.set_value(self._mode)
        if self._answer is not None:
            self.show_answer(self._answer, self._step)

    @Slot(int)
    def _on_token_chosen(self, index: int) -> None:
        """Scroll to the place that predicted a token."""
        if self._answer is not None:
            place = self._answer.find_predicted()[index]
            if place is not None:
                self.columns.show_place(self._answer.places.index(place))


def color_tokens(answer: "Answer") -> tuple[ColouredToken, ...]:
    """Return the tokens of the probe with the probability that the model gave to each from those before it."""
    return tuple(
        ColouredToken(token, math.nan)
        if place is None
        else ColouredToken(token, place.probability, "" if place.right is not False else place.likeliest[0][0])
        for token, place in zip(answer.row, answer.find_predicted(), strict=True)
    )
