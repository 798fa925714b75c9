"""Fields that pass undo and redo to the window once they have nothing of their own to undo."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QKeyEvent, QKeySequence, QValidator
from PySide6.QtWidgets import QLineEdit, QSpinBox

from attnlab.base.counted import format_bounds
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys


@guarded
class TextField(KeepsKeys, QLineEdit):
    """A line of text that undoes typing; the window undoes earlier changes. Esc discards what was typed."""

    cancelled = Signal()

    def settle(self) -> None:
        """Clear the field's own undo history."""
        if self.isModified() or self.isUndoAvailable() or self.isRedoAvailable():
            at = self.cursorPosition()
            self.setText(self.text())
            self.setCursorPosition(at)

    def event(self, event: QEvent) -> bool:
        if _is_for_the_window(event, self):
            event.ignore()
            return False
        return super().event(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.ignore()  # a file is for the window, which opens it; Qt would write its name here
        else:
            super().dragEnterEvent(event)

    def keeps_key(self, event: QKeyEvent) -> bool:
        return self._gives_up(event)  # otherwise the window would clear its selection

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._gives_up(event):
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)

    def _gives_up(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.isModified()


@guarded
class NumberBox(KeepsKeys, QSpinBox):
    """A whole number; the window undoes a value that was taken.

    Any text can be typed: if it is not a number, or out of range, ``refused`` says so when it would be taken, and the
    number before returns. A box that limits typing could silently turn 1000 into 100.
    """

    refused = Signal(str)

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)  # otherwise an open lesson would walk

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        state, text, position = super().validate(text, position)
        return (QValidator.State.Intermediate if state == QValidator.State.Invalid else state), text, position

    def fixup(self, text: str) -> str:
        typed = text.strip()
        wrong = f"“{typed}” does not fit" if typed else "nothing is typed"
        self.refused.emit(f"{wrong} here; type {format_bounds(self.minimum(), self.maximum(), 'a whole number')}.")
        return text

    def event(self, event: QEvent) -> bool:
        if _is_for_the_window(event, self.lineEdit()):
            event.ignore()
            return False
        return super().event(event)


def _is_for_the_window(event: QEvent, field: QLineEdit) -> bool:
    """Return whether an event asks about the undo or redo key while the field has nothing to undo or redo."""
    if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.ShortcutOverride:
        return False
    if event.matches(QKeySequence.StandardKey.Undo):
        return not field.isUndoAvailable()
    return event.matches(QKeySequence.StandardKey.Redo) and not field.isRedoAvailable()
