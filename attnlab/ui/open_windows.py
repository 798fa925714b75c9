"""Keeps the windows that scripts open alive while they are open, and the process sound beside their threads."""

import gc
import sys
import threading
import weakref
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QThread, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.app import GarbageTimer
from attnlab.ui.main_window import MainWindow

WATCH_S = 0.5
CELL_EVENTS = ("pre_run_cell", "post_run_cell")


class OpenWindows(QObject):
    """Belongs to the application: holds each window until it is closed, and then lets it die."""

    gone = Signal(object)
    """The key that ``keep`` returned for a window that has been closed and deleted."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._windows: dict[int, QWidget] = {}
        self._closed: dict[int, threading.Event] = {}
        self._garbage: GarbageTimer | None = None
        self._shell: Any = None

    @staticmethod
    def of(app: QApplication) -> "OpenWindows":
        """Return the one of an application, made if there is none yet."""
        found = app.findChild(OpenWindows, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return found if isinstance(found, OpenWindows) else OpenWindows(app)

    def keep(self, window: QWidget) -> int:
        """Hold a window until it is closed; returns the key by which ``gone`` will name it."""
        key = id(window)
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._windows[key] = window
        window.destroyed.connect(partial(self._on_destroyed, key))
        if isinstance(window, MainWindow):
            self._guard(key, window)
        return key

    def _guard(self, key: int, window: MainWindow) -> None:
        """Look after the threads of a window: they are not to collect widgets, and to end with the interpreter."""
        self._closed[key] = threading.Event()
        watch = partial(_stop_at_exit, weakref.ref(window), self._closed[key])
        threading.Thread(target=watch, name="attnlab-exit", daemon=True).start()
        if self._garbage is None:
            self._garbage = GarbageTimer(self)
            self._shell = active_shell()
            if self._shell is not None:
                for event, callback in zip(CELL_EVENTS, (self._on_cell_began, self._on_cell_ended), strict=True):
                    self._shell.events.register(event, callback)

    def _release(self, key: int) -> None:
        closed = self._closed.pop(key, None)
        if closed is not None:
            closed.set()
        if self._garbage is None or self._closed:
            return
        if self._shell is not None:
            for event, callback in zip(CELL_EVENTS, (self._on_cell_began, self._on_cell_ended), strict=True):
                self._shell.events.unregister(event, callback)
        self._garbage.stop()
        self._garbage.deleteLater()
        self._garbage = self._shell = None

    def _on_cell_began(self, *_: object) -> None:
        gc.enable()  # no event loop runs, and so no timer, for as long as the person's own code takes

    def _on_cell_ended(self, *_: object) -> None:
        gc.disable()

    @Slot()
    def _on_destroyed(self, key: int, _: object = None) -> None:
        self._windows.pop(key, None)
        self._release(key)
        self.gone.emit(key)


def active_shell() -> Any:
    """Return IPython's shell when it runs Qt's event loop between the cells, else None."""
    ipython = sys.modules.get("IPython")  # who is under IPython has loaded it
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if str(getattr(shell, "active_eventloop", None)).startswith("qt") else None


def loop_runs() -> bool:
    """Tell whether windows live on without us: inside an event loop, or under IPython's."""
    return QThread.currentThread().loopLevel() > 0 or active_shell() is not None


def _stop_at_exit(window: "weakref.ref[MainWindow]", closed: threading.Event) -> None:
    """Wait in a thread until the window is closed; when the main thread ends before, end the window's threads.

    Python waits for these before anything that is registered to be done at its exit, and would wait for ever.
    """
    main = threading.main_thread()
    while not closed.is_set():
        main.join(WATCH_S)
        there = window()
        if not main.is_alive() and there is not None:
            there.stop()
            return
