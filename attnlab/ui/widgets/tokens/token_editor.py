"""The field in which a token is typed, in place of its chip."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import font, px

LONGEST = 4096  # characters of a typed token


@guarded
class TokenEditor(KeepsKeys, QLineEdit):
    """Enter and leaving commit, Esc cancels; the field grows with the text."""

    committed = Signal(int, str)
    closed = Signal()

    def __init__(self, viewport: QWidget) -> None:
        super().__init__(viewport)
        self._viewport = viewport
        self._index: int | None = None
        self._place = QRect()
        self.setAccessibleName("Token")
        self.setStyleSheet(f"QLineEdit, QLineEdit:focus {{ border-radius: 6px; padding: 0 {px(6)}px; }}")
        self.textChanged.connect(self._on_text_changed)
        self.hide()

    def index(self) -> int | None:
        """Return the index of the open token, None if none is."""
        return self._index

    def open(self, index: int, token: str, place: QRect) -> None:
        """Show the field over a chip, with the whole token selected."""
        self._index, self._place = index, place
        self.setFont(font("text"))
        self.setMaxLength(max(LONGEST, len(token)))  # otherwise a longer one would be cut off
        self.setText(token)
        self._on_text_changed(token)
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.selectAll()

    def commit(self) -> None:
        """Close the field and emit the typed text, if it is open and the text was changed."""
        edited = self.isModified()
        index = self._close()
        if index is not None and edited:
            self.committed.emit(index, self.text())

    def cancel(self) -> None:
        """Close the field and discard the text."""
        self._close()

    def _close(self) -> int | None:
        index, self._index = self._index, None
        if index is not None:
            focused = self.hasFocus()
            self.hide()
            if focused:
                strip = self._viewport.parentWidget()
                assert strip is not None
                strip.setFocus(Qt.FocusReason.OtherFocusReason)
            self.closed.emit()
        return index

    def _on_text_changed(self, text: str) -> None:
        if self._index is None:
            return
        room = self._viewport.width()
        wanted = self.fontMetrics().horizontalAdvance(text[:400]) + px(24)
        width = min(max(wanted, self._place.width(), px(64)), room)
        left = max(0, min(self._place.left(), room - width))
        self.setGeometry(left, self._place.top() - 1, width, self._place.height() + 2)

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Left, Qt.Key.Key_Right)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commit()
        elif event.key() == Qt.Key.Key_Escape:
            self.cancel()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.commit()
