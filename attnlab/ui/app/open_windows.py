"""Keeps windows that scripts open alive until they are closed, and their threads from crashing the process."""

import atexit
import gc
import sys
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QThread, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.app.application import GarbageTimer
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.base import faults, jobs

CELL_EVENTS = ("pre_run_cell", "post_run_cell")


class OpenWindows(QObject):
    """Belongs to the application; keeps a reference to each window until it is closed."""

    gone = Signal(object)
    """The key that ``keep`` returned for a window that has been closed and deleted."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._windows: dict[int, QWidget] = {}
        self._stops: dict[int, Callable[[], None]] = {}
        self._guarded: set[int] = set()
        self._garbage: GarbageTimer | None = None
        self._shell: Any = None
        self._take_hooks_off: Callable[[], None] | None = None
        atexit.register(jobs.leave)  # a closed window may still be saving

    @staticmethod
    def of(app: QApplication) -> "OpenWindows":
        """Return the instance of an application; create it if there is none yet."""
        found = app.findChild(OpenWindows, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return found if isinstance(found, OpenWindows) else OpenWindows(app)

    def keep(self, window: QWidget) -> int:
        """Keep a window alive until it is closed; return the key that ``gone`` will carry."""
        key = id(window)
        if self._take_hooks_off is None:
            self._take_hooks_off = faults.install(only_ours=True)
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._windows[key] = window
        window.destroyed.connect(partial(self._on_destroyed, key))
        if isinstance(window, MainWindow | ArrayWindow):
            self._guard(key, window)
        return key

    def _guard(self, key: int, window: MainWindow | ArrayWindow) -> None:
        """Keep a window's threads from collecting widgets, and end them before the interpreter does."""
        self._guarded.add(key)
        if isinstance(window, MainWindow):
            self._stops[key] = partial(_stop, weakref.ref(window))
            atexit.register(self._stops[key])
        if self._garbage is None:
            self._garbage = GarbageTimer(self)
            self._garbage.start()
            self._shell = active_shell()
            if self._shell is not None:
                for event, callback in zip(CELL_EVENTS, (self._on_cell_began, self._on_cell_ended), strict=True):
                    self._shell.events.register(event, callback)

    def _release(self, key: int) -> None:
        stop = self._stops.pop(key, None)
        if stop is not None:
            atexit.unregister(stop)
        self._guarded.discard(key)
        if self._garbage is None or self._guarded:
            return
        if self._shell is not None:
            for event, callback in zip(CELL_EVENTS, (self._on_cell_began, self._on_cell_ended), strict=True):
                self._shell.events.unregister(event, callback)
        self._garbage.stop()
        self._garbage.deleteLater()
        self._garbage = self._shell = None

    def _on_cell_began(self, *_: object) -> None:
        gc.enable()  # the event loop, and so the timer, stops while the user's own code runs

    def _on_cell_ended(self, *_: object) -> None:
        gc.disable()

    @Slot()
    def _on_destroyed(self, key: int, _: object = None) -> None:
        self._windows.pop(key, None)
        self._release(key)
        if not self._windows and self._take_hooks_off is not None:
            self._take_hooks_off()
            self._take_hooks_off = None
        self.gone.emit(key)


def active_shell() -> Any:
    """Return IPython's shell when it runs Qt's event loop between the cells, else None."""
    ipython = sys.modules.get("IPython")  # under IPython it is always loaded
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if str(getattr(shell, "active_eventloop", None)).startswith("qt") else None


def loop_runs() -> bool:
    """Return whether an event loop already runs: Qt's, or IPython's."""
    return QThread.currentThread().loopLevel() > 0 or active_shell() is not None


def _stop(window: "weakref.ref[MainWindow]") -> None:
    """End the jobs of a window that is still open when the interpreter ends."""
    there = window()
    if there is not None:
        there.stop()
