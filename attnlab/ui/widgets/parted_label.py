"""A label of parts with a dot between them; where they are too long for one line, each has lines of its own."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.subscripts import BREAK, break_words

_TALLEST = 1 << 16


@guarded
class PartedLabel(QLabel):
    """Breaks its text between the parts before it breaks one, so that no dot begins or ends a line."""

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[str, ...] = ()
        self.setProperty("role", role)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)

    def text(self) -> str:
        """Return the parts with a dot between them."""
        return " · ".join(self._parts)

    @property
    def lines(self) -> list[str]:
        """The lines as they are written; a long one is wrapped."""
        return super().text().replace(BREAK, "").splitlines()

    def show_parts(self, *parts: str) -> None:
        """Show other parts; empty ones are left out. The same parts again lay nothing out anew."""
        shown = tuple(filter(None, parts))
        if shown != self._parts:
            self._parts = shown
            self.setText(self._break(self.width()))
            self.updateGeometry()

    def _break(self, width: int) -> str:
        """Return the text for a width: in one line if that has room for it, else with a line for each part."""
        room, text = width - self._sides, self.text()
        return text if self.fontMetrics().horizontalAdvance(text) <= room else break_words("\n".join(self._parts))

    @property
    def _sides(self) -> int:
        return self.contentsMargins().left() + self.contentsMargins().right()

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width - self._sides, _TALLEST)
        wrapped = self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, self._break(width))
        return wrapped.height() + self.contentsMargins().top() + self.contentsMargins().bottom()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setText(self._break(event.size().width()))
