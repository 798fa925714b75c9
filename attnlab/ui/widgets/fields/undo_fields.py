"""Fields that leave undo and redo to the window once they have nothing of their own to take back."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QValidator
from PySide6.QtWidgets import QLineEdit, QSpinBox

from attnlab.base.counted import from_to
from attnlab.ui.base.guard import guarded


@guarded
class TextField(QLineEdit):
    """A line of text; typing is taken back in it, what came before by the window. Esc gives typing up."""

    cancelled = Signal()

    def settle(self) -> None:
        """Make what was typed the beginning of what can be taken back in here."""
        if self.isModified() or self.isUndoAvailable() or self.isRedoAvailable():
            at = self.cursorPosition()
            self.setText(self.text())
            self.setCursorPosition(at)

    def event(self, event: QEvent) -> bool:
        if _is_for_the_window(event, self):
            event.ignore()
            return False
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._gives_up(event):
            event.accept()  # or the window lets go of what is selected
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._gives_up(event):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def _gives_up(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.isModified()


@guarded
class NumberBox(QSpinBox):
    """A whole number; one that was taken over is taken back by the window.

    Anything can be typed: what is no number, or too small or too large, is said by ``refused`` when it is to be taken,
    and the number before comes back. A box that swallows the fourth digit of 1000 would make it 100.
    """

    refused = Signal(str)

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        state, text, position = super().validate(text, position)
        return (QValidator.State.Intermediate if state == QValidator.State.Invalid else state), text, position

    def fixup(self, text: str) -> str:
        typed = text.removeprefix(self.prefix().strip()).strip()
        wrong = f"“{typed}” does not fit" if typed else "nothing is typed"
        self.refused.emit(f"{wrong} here; type {from_to(self.minimum(), self.maximum(), 'a whole number')}.")
        return text

    def event(self, event: QEvent) -> bool:
        if _is_for_the_window(event, self.lineEdit()):
            event.ignore()
            return False
        return super().event(event)


def _is_for_the_window(event: QEvent, field: QLineEdit) -> bool:
    """Tell whether a key is asked about that means undo or redo, and the field has none of its own."""
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    if event.matches(QKeySequence.StandardKey.Undo):
        return not field.isUndoAvailable()
    return event.matches(QKeySequence.StandardKey.Redo) and not field.isRedoAvailable()
