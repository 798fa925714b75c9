"""Shows the newest of many values, at most once in a period: more often they could not be read, and would cost time."""

from PySide6.QtCore import QObject, QTimer, Signal, Slot

PERIOD_MS = 150
"""The least time between two values that are shown."""


class Paced(QObject):
    """Emits ``due`` with the newest value offered: at once, or once the period since the last one is over."""

    due = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._next: object = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PERIOD_MS)
        self._timer.timeout.connect(self._emit_next)

    def offer(self, value: object) -> None:
        """Show a value in place of any that waits; None is no value."""
        self._next = value
        if not self._timer.isActive():
            self._emit_next()

    @property
    def is_behind(self) -> bool:
        """Whether a value waits to be shown."""
        return self._next is not None

    @Slot()
    def _emit_next(self) -> None:
        if self._next is not None:
            found, self._next = self._next, None
            self._timer.start()
            self.due.emit(found)
