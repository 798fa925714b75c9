"""What may follow a drag or a training late, so that what is watched need not wait for it."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

LATE_MS = 100
"""How late it follows at most, in milliseconds."""


class Late(QTimer):
    """Makes one call: at once, or late, and then once for all times that it was asked for meanwhile."""

    def __init__(self, call: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=LATE_MS)
        self._call = call
        self.timeout.connect(call)

    def ask(self, *, late: bool) -> None:
        """Make the call, now or late."""
        if not late:
            self.stop()
            self._call()
        elif not self.isActive():
            self.start()
