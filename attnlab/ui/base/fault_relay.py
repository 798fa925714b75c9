"""Shows faults from any thread in the front window."""

import threading

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from attnlab.base.fault_log import Fault, listen, report
from attnlab.ui.base.fault_bar import FaultBar

_MOST = 10
_NAME = "fault-relay"


def show_faults() -> "FaultRelay | None":
    """Show faults in the application's windows from now on; None if there is no application with windows."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        return None
    there = app.findChild(FaultRelay, _NAME, Qt.FindChildOption.FindDirectChildrenOnly)
    return there if isinstance(there, FaultRelay) else FaultRelay(app)


def front_window() -> QWidget | None:
    """Return the visible window that the user is most likely looking at, never a popup or a tool tip."""
    looked_at = [QApplication.activeModalWidget(), QApplication.activeWindow()]
    others = sorted(QApplication.topLevelWidgets(), key=lambda each: each.width() * each.height(), reverse=True)
    for widget in (*looked_at, *others):
        window = widget
        while window is not None and window.windowType() not in (Qt.WindowType.Window, Qt.WindowType.Dialog):
            above = window.parentWidget()
            window = above.window() if above is not None else None
        if window is not None and window.isVisible():
            return window
    return None


class FaultRelay(QObject):
    """Listens for as long as the application lives, and updates the bar no faster than the window can draw."""

    _reported = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.setObjectName(_NAME)
        self.bar: FaultBar | None = None
        self._lock = threading.RLock()  # garbage collection may report a fault in this thread meanwhile
        self._new: dict[str, Fault] = {}
        self._shown: dict[str, Fault] = {}
        self._reported.connect(self._on_reported, Qt.ConnectionType.QueuedConnection)  # never while something paints
        self._end = listen(self._take)
        self.destroyed.connect(self._end)

    def _take(self, fault: Fault) -> None:
        with self._lock:
            first = not self._new
            self._new.pop(fault.place, None)
            self._new[fault.place] = fault
        if first:
            self._reported.emit()

    @Slot()
    def _on_reported(self) -> None:
        with self._lock:
            new, self._new = self._new, {}
        for key, fault in new.items():
            self._shown.pop(key, None)
            self._shown[key] = fault
        for key in list(self._shown)[:-_MOST]:
            del self._shown[key]
        try:
            self._show()
        except Exception as error:  # noqa: BLE001  # showing this one would fail again, without end
            self._end()
            report(error, "showing a fault")

    @Slot()
    def _show(self) -> None:
        window = front_window()
        if window is None or not self._shown:
            return
        if self.bar is None or not isValid(self.bar) or self.bar.parentWidget() is not window:
            self._remove_bar()
            self.bar = FaultBar(window)
            self.bar.dismissed.connect(self.forget)
            self.bar.left_behind.connect(self._show, Qt.ConnectionType.QueuedConnection)
        self.bar.show_faults(list(self._shown.values()))

    def _remove_bar(self) -> None:
        if self.bar is not None and isValid(self.bar):
            self.bar.hide()
            self.bar.deleteLater()
        self.bar = None

    @Slot()
    def forget(self) -> None:
        """Remove the bar and forget its faults."""
        with self._lock:
            self._new.clear()
        self._shown.clear()
        self._remove_bar()
