"""One sequence as a sentence to type and as tokens to rename, move, remove, add and mask. Turns them into edits."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.attention.edits import token_edits
from attnlab.attention.edits.batches import Side, key_side, list_unpadded_tokens
from attnlab.attention.edits.new_words import find_new_words
from attnlab.attention.stages.explain import Cell
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.themed import set_style
from attnlab.ui.widgets.fields.undo_fields import TextField
from attnlab.ui.widgets.tokens.token_strip import TokenStrip

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document

LONGEST = 1_000_000  # characters of a sentence: the field would truncate a longer one
_MOST_NAMED = 2
"""The number of new words that are named; more are counted."""
_NAMES: dict[Side, tuple[str, str]] = {
    "query": ("sentence", "Tokens"),
    "memory": ("second sentence", "Second sequence’s tokens"),
}


class SentenceBox(QWidget):
    """Edits one side of the document, the queries' or the memory's; padding of a batch is not shown."""

    comparison_wanted = Signal()
    """A token is about to be moved or masked: the result is to be compared with the current state."""
    words_chosen = Signal()
    """The sentence was typed to its end, or a token was changed."""

    def __init__(self, document: "Document", side: Side = "query", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._side: Side = side
        self._typing: tuple[int, Experiment] | None = None
        self._typing_count = 0
        self._retyping = False
        self._noted: tuple[object, object] = (None, None)  # the tokens and vectors that the note is about
        self._called, strip_name = _NAMES[side]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self.sentence = self._make_sentence()
        self._complaint = QLabel()
        self._complaint.setProperty("role", "error_caption")
        self._complaint.setWordWrap(True)
        self._complaint.setTextFormat(Qt.TextFormat.PlainText)
        self._complaint.setAccessibleName(f"Message about the {self._called}")
        self._complaint.hide()
        self.tokens = self._make_tokens(strip_name)
        self._note = QLabel()
        self._note.setProperty("role", "caption")
        self._note.setWordWrap(True)
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.hide()
        for widget in (self.sentence, self._complaint, self.tokens, self._note):
            column.addWidget(widget)
        document.scene_changed.connect(self._on_scene_changed)
        document.message_raised.connect(self._on_document_message)
        self.refresh()

    def _make_sentence(self) -> TextField:
        field = TextField()
        field.setAccessibleName(self._called.capitalize())
        field.setPlaceholderText("Type a sentence")
        field.setToolTip("Words between spaces become tokens; unchanged words keep their numbers")
        field.setObjectName(self._called.replace(" ", "_"))
        field.textEdited.connect(self._on_sentence_edited)
        field.editingFinished.connect(self._on_sentence_finished)
        field.cancelled.connect(self._on_sentence_cancelled)
        field.setMaxLength(LONGEST)
        return field

    def _make_tokens(self, name: str) -> TokenStrip:
        strip = TokenStrip()
        strip.setAccessibleName(name)
        strip.token_renamed.connect(self._on_token_renamed)
        strip.token_removed.connect(self._on_token_removed)
        strip.token_moved.connect(self._on_token_moved)
        strip.token_duplicated.connect(self._on_token_duplicated)
        strip.token_added.connect(self._on_token_added)
        strip.token_clicked.connect(self._on_token_clicked)
        strip.token_masked.connect(self._on_token_masked)
        for changed in (
            strip.token_renamed,
            strip.token_removed,
            strip.token_moved,
            strip.token_duplicated,
            strip.token_added,
        ):
            changed.connect(lambda *_: self.words_chosen.emit())  # after the edit: connected later
        return strip

    def refresh(self) -> None:
        """Show the document's sequence for this side, if there is one."""
        e = self._document.experiment
        if not self._is_there():
            self.tokens.set_tokens(())  # cancels the renaming of a token
            return
        tokens, vectors = (e.tokens, e.embeddings) if self._side == "query" else (e.memory_tokens, e.memory_embeddings)
        if tokens is not self._noted[0] or vectors is not self._noted[1]:
            self._noted = tokens, vectors
            self._show_note(_describe_new_words(find_new_words(e, self._side), "X" if self._side == "query" else "M"))
        unpadded = list_unpadded_tokens(e, self._side)
        text = token_edits.sentence(unpadded)
        if self._typing is None and self.sentence.text() != text:
            at = self.sentence.cursorPosition() if self.sentence.hasFocus() else 0
            self.sentence.setText(text)
            self.sentence.setCursorPosition(at)
        if unpadded != self.tokens.tokens():
            self.tokens.set_tokens(unpadded)
        self.tokens.set_masked(token_edits.find_masked_keys(e) if key_side(e) == self._side else None)

    def _show_note(self, sentence: str) -> None:
        if sentence != self._note.text():
            self._note.setText(sentence)
            self._note.setAccessibleName(sentence)
            self._note.setVisible(bool(sentence))

    def _edit(
        self, label: str, change: "Callable[[Experiment], Experiment]", gesture: tuple[str, int] | None = None
    ) -> None:
        self._document.edit(label, change, gesture)

    def _is_there(self) -> bool:
        return self._side == "query" or self._document.experiment.memory_tokens is not None

    def _token(self, index: int) -> str:
        return self.tokens.tokens()[index]

    @Slot(object)
    def _on_scene_changed(self, scene: object) -> None:
        if not self._retyping:
            self._end_typing()
        self.refresh()

    @Slot(str)
    def _on_sentence_edited(self, text: str) -> None:
        """Retokenise the sentence from before typing began, so that intermediate states leave no trace."""
        if self._typing is None:
            if not self._is_there():  # a key may arrive late, when another experiment is open
                return
            self._typing_count += 1
            self._typing = (self._typing_count, self._document.experiment)
        count, start = self._typing
        self._retyping = True
        try:
            self._edit(
                f"Type {'a' if self._side == 'query' else 'the'} {self._called}",
                lambda e: token_edits.retype(start, text, self._side),
                (self._called, count),
            )
        finally:
            self._retyping = False

    @Slot()
    def _on_sentence_finished(self) -> None:
        wrong = not self._complaint.isHidden()
        self._end_typing()
        if wrong:
            self._document.message_raised.emit("")
        self.refresh()
        self.words_chosen.emit()

    @Slot()
    def _on_sentence_cancelled(self) -> None:
        """Restore the sentence from before typing began; redo restores the typed one."""
        typing = self._typing
        if typing is not None and self._document.history.current.gesture == (self._called, typing[0]):
            self._document.undo()
        self._on_sentence_finished()

    def _end_typing(self) -> None:
        """Start a new edit with the next key: another edit came, or the field lost focus."""
        self._typing = None
        self.sentence.settle()
        self._complain("")

    @Slot(str)
    def _on_document_message(self, sentence: str) -> None:
        if self._retyping:
            self._complain(sentence)

    def _complain(self, sentence: str) -> None:
        """Show below the sentence what is wrong with it."""
        if sentence == self._complaint.text():
            return
        show_text(self._complaint, sentence)
        self._complaint.setVisible(bool(sentence))
        set_style(self.sentence, "wrong", bool(sentence))

    @Slot(int, str)
    def _on_token_renamed(self, index: int, token: str) -> None:
        self._edit(
            f"Rename token {index} to “{token}”", lambda e: token_edits.rename_token(e, index, token, self._side)
        )

    @Slot(int)
    def _on_token_removed(self, index: int) -> None:
        self._edit(f"Remove “{self._token(index)}”", lambda e: token_edits.remove_token(e, index, self._side))

    @Slot(int, int)
    def _on_token_moved(self, source: int, target: int) -> None:
        self.comparison_wanted.emit()
        self._edit(f"Move “{self._token(source)}”", lambda e: token_edits.move_token(e, source, target, self._side))

    @Slot(int)
    def _on_token_duplicated(self, index: int) -> None:
        self._edit(f"Duplicate “{self._token(index)}”", lambda e: token_edits.duplicate_token(e, index, self._side))

    @Slot()
    def _on_token_added(self) -> None:
        self._edit("Add a token", lambda e: token_edits.append_token(e, self._side))

    @Slot(int)
    def _on_token_masked(self, index: int) -> None:
        hidden = index in token_edits.find_masked_keys(self._document.experiment)
        self.comparison_wanted.emit()
        self._edit(
            f"{'Unmask' if hidden else 'Mask'} “{self._token(index)}”", lambda e: token_edits.toggle_key(e, index)
        )

    @Slot(int)
    def _on_token_clicked(self, index: int) -> None:
        head = self._document.view.head
        stage = "queries" if self._side == "query" else "keys"
        cell = Cell(stage, index, 0, head if isinstance(head, int) else None if head == "mean" else 0)
        self._document.select(cell, pin=True)


def _describe_new_words(words: Sequence[str], table: str) -> str:
    """Return a sentence on words with random numbers, "" for none."""
    if not words:
        return ""
    named, one = " and ".join(f"“{word}”" for word in words), len(words) == 1
    names = named if len(words) <= _MOST_NAMED else f"{len(words)} words"
    return f"{names} {'is' if one else 'are'} new: {'its' if one else 'their'} numbers in {table} are random."
