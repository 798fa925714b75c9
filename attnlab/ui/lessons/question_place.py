"""The place of a step's question, so that all its answers are in sight: in the text that scrolls, or below it."""

from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.lessons.fold import Fold
from attnlab.ui.lessons.picture_label import PictureLabel

LEAST_TEXT = 28
"""The height in pixels at 100 % that the text keeps above a question below it: a line of the title."""


class QuestionPlace:
    """Moves a question between the column ``inside`` an area that scrolls and the layout ``below`` that area.

    ``is_new`` is set when the question has to be scrolled to; who scrolls unsets it.
    """

    def __init__(self, question: Fold, picture: PictureLabel, area: QScrollArea, inside: QVBoxLayout) -> None:
        self._question, self._picture, self._area, self._inside = question, picture, area, inside
        self._at, self._right = inside.indexOf(question), inside.contentsMargins().right()
        self.below = QVBoxLayout()
        self.below.setContentsMargins(0, 0, self._right, 0)
        self.is_new = self._is_below = self._is_cut = False

    def forget(self) -> None:
        """Scroll to a question that does not fit even if the one before did not either."""
        self._is_cut = False

    def fit(self, room: int, *, is_open: bool) -> int:
        """Return the height in pixels of the text and the question.

        If it is more than the ``room`` and the question is open, the charts become lower first. Then the question stays
        below the text while that scrolls, or is scrolled to if there is no room for a title above it.
        """
        self._picture.give_way(0)
        asked = self._measure_question()
        needed = self._measure_text() + asked
        is_short = needed > room and is_open
        if is_short:
            self._picture.give_way(needed - room)
            needed = self._measure_text() + asked
            is_short = needed > room
        self._put(below=is_short and asked + px(LEAST_TEXT) <= room)
        was_cut, self._is_cut = self._is_cut, is_short and not self._is_below
        self.is_new = self._is_cut and not was_cut
        return needed

    def put_back(self) -> None:
        """Let the question scroll with the text."""
        self._put(below=False)

    def _measure_question(self) -> int:
        """Return the height of the question with the space above it; 0 for none."""
        layout, width = self._question.layout(), self._area.width() - self._right
        if self._question.isHidden() or layout is None:
            return 0
        high = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()
        return high + self._inside.spacing()

    def _measure_text(self) -> int:
        """Return the height of all parts but the question."""
        inside = self._inside.totalHeightForWidth(self._area.width())
        return inside if self._is_below else inside - self._measure_question()

    def _put(self, *, below: bool) -> None:
        if below == self._is_below:
            return
        focus: QWidget | None = self._area.window().focusWidget()
        self._is_below, is_hidden = below, self._question.isHidden()
        if below:
            self.below.addWidget(self._question)
        else:
            self._inside.insertWidget(self._at, self._question)
        self._question.setHidden(is_hidden)  # a new parent hides it
        if focus is not None and self._question.isAncestorOf(focus):
            focus.setFocus()  # which it lost with its parent
