"""The answers to choose from, beside the playground: a click picks one, and a sentence says whether it is right."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_role
from attnlab.ui.widgets.fields.form_parts import make_prose_label

TRIES = 2
"""The number of wrong choices after which the right one is shown."""
CHANGED = "The numbers were changed, and the question is about the lesson’s own. Undo restores them."


@guarded
class ChoiceRow(FollowsTheme, QFrame):
    """One answer: its number, which takes the keyboard, and its words; a click anywhere picks it."""

    picked = Signal(int)

    def __init__(self, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._number, self._mark = number, ""
        self.key = QToolButton()
        self.key.setText(str(number))
        self.key.clicked.connect(self._on_clicked)
        self._words = make_prose_label("")
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 2, 8, 2)
        row.addWidget(self.key, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._words, 1, Qt.AlignmentFlag.AlignVCenter)
        self.setObjectName("choice")

    @property
    def words(self) -> str:
        """The answer's words."""
        return self._words.text()

    @property
    def mark(self) -> str:
        """How it is marked: "right", "faded", or "" for neither."""
        return self._mark

    def show_words(self, words: str) -> None:
        """Show the answer's words."""
        self._words.setText(words)
        self.key.setAccessibleName(f"Answer {self._number}: {words}")
        self.key.setToolTip(f"Choose answer {self._number}")

    def show_mark(self, mark: str) -> None:
        """Mark the answer as "right" with a tick, let it step back ("faded"), or neither ("")."""
        self._mark = mark
        self.restyle()

    def restyle(self) -> None:
        """Set the colours, the font and the tick."""
        palette = palette_of(self)
        right, faded = self._mark == "right", self._mark == "faded"
        edge = f"2px solid {palette.good}" if right else f"1px solid {palette.hairline}"
        set_sheet(self, f"#choice {{ border: {edge}; border-radius: 6px; }}")
        set_role(self._words, "muted" if faded else "")
        self._words.setFont(font("strong" if right else "text"))
        self.key.setFixedSize(px(26), px(24))
        self.key.setText("✓" if right else str(self._number))
        self.key.setFont(font("number_strong"))
        colour = palette.good if right else palette.ink
        set_sheet(self.key, f"QToolButton {{ color: {colour}; padding: 0; }}")

    @Slot()
    def _on_clicked(self) -> None:
        self.picked.emit(self._number)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.key.isEnabled() and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(self._number)


class ChoiceSheet(QWidget):
    """Asks to choose an answer; it is shown when chosen, or after two others. ``revealed`` says so.

    ``judged`` says that there is a sentence about a choice, the ``verdict_label``.
    """

    revealed = Signal()
    judged = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Answers to choose from")
        self._right = self._tries = 0
        self._known = self._usable = False
        self._ask, self.verdict_label, self._hint = (make_prose_label(role) for role in ("strong", "muted", "muted"))
        self.verdict_label.setAccessibleName("Verdict")
        self.rows: list[ChoiceRow] = []
        self._list = QVBoxLayout()
        self._list.setSpacing(6)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._ask)
        column.addLayout(self._list)
        column.addWidget(self.verdict_label)
        column.addWidget(self._hint)

    @property
    def verdict(self) -> str:
        """The sentence about the choice, "" before one is made."""
        return self.verdict_label.text()

    def show_question(
        self, ask: str, choices: Sequence[str], right: int, hint: str = "", *, known: bool, usable: bool = True
    ) -> None:
        """Ask for one of the choices, ``right`` counted from 1; it is ``known`` if it has been revealed.

        With changed numbers the question is not ``usable``: no answer is called right.
        """
        self._ask.setText(ask)
        self._ask.setVisible(bool(ask))
        while len(self.rows) < len(choices):
            row = ChoiceRow(len(self.rows) + 1)
            row.picked.connect(self._on_picked)
            self.rows.append(row)
            self._list.addWidget(row)
        for index, row in enumerate(self.rows):
            row.setVisible(index < len(choices))
            row.show_words(choices[index] if index < len(choices) else "")
        self._hint.setText(f"Hint: {hint}" if hint else "")
        if (right, usable) != (self._right, self._usable) or (self._known and not known):
            self._tries = 0
            self._say("" if usable else CHANGED)
        self._right, self._usable, self._known = right, usable, known
        self._refresh()

    def clear(self) -> None:
        """Ask again."""
        self._tries, self._known = 0, False
        self._say("" if self._usable else CHANGED)
        self._refresh()

    def _refresh(self) -> None:
        shown = self._known and self._usable
        for row in self.rows:
            number = self.rows.index(row) + 1
            row.show_mark(("right" if number == self._right else "faded") if shown else "")
            row.key.setEnabled(self._usable and not self._known)
        self._hint.setVisible(bool(self._hint.text()) and bool(self._tries) and not self._known)
        self.verdict_label.setVisible(bool(self.verdict_label.text()))

    def _say(self, sentence: str, role: str = "muted") -> None:
        show_text(self.verdict_label, sentence)
        set_role(self.verdict_label, role)

    @Slot(int)
    def _on_picked(self, number: int) -> None:
        self._judge(number)
        self.judged.emit()

    def _judge(self, number: int) -> None:
        words = self.rows[self._right - 1].words
        if number == self._right:
            self._say(f"Right: {words}.", "good")
            self._reveal()
            return
        self._tries += 1
        if self._tries >= TRIES:
            self._say(f"Not that one. It is: {words}.")
            self._reveal()
        else:
            self._say("Not that one. Try another.")
            self._refresh()

    def _reveal(self) -> None:
        self._known = True
        self._refresh()
        self.revealed.emit()
