"""Starts a window, from its first paint to its first numbers: loads torch, then creates the playground."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QLabel

from attnlab.files.source import Source
from attnlab.ui.app.loader import Loader
from attnlab.ui.base.guard import guarded

if TYPE_CHECKING:
    from attnlab.compute.service import Reply
    from attnlab.document.scene import Scene
    from attnlab.ui.app.main_window import MainWindow

MOST_ROUNDS = 20
"""The rounds of events to wait for the first painting; a card out of sight is never painted."""
_LAID_OUT = QEvent.Type(QEvent.registerEventType())
_SHOWN = QEvent.Type(QEvent.registerEventType())
_AFTER_PAINTING = Qt.EventPriority.LowEventPriority.value - 1
"""Painting has low priority; an event of lower priority arrives when the numbers are on screen."""


@guarded
class WindowStart(QObject):
    """Emits the window's ``ready`` when the first numbers are shown, or ``failed`` with the reason."""

    def __init__(self, window: "MainWindow", source: "Source | Scene", later: Iterable[None]) -> None:
        super().__init__(window)
        self._window = window
        self._painted = self._computed = False
        self._rounds = 0
        self.stopped = False
        self.welcome = QLabel("Loading the mathematics…")
        self.welcome.setProperty("role", "muted")
        self.welcome.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.welcome.setWordWrap(True)
        self.welcome.setTextFormat(Qt.TextFormat.PlainText)
        self.loader = Loader(source, self, later=later)
        self.loader.loaded.connect(self._on_loaded)

    def load(self) -> None:
        """Load torch in a thread, once the window is painted so as not to slow that down; the workspace follows."""
        if self._painted:
            self._on_first_painted()
        else:
            self._window.first_painted.connect(self._on_first_painted, Qt.ConnectionType.QueuedConnection)

    def note_painted(self) -> None:
        """Record that the window was painted."""
        if not self._painted:
            self._painted = True
            self._window.first_painted.emit()

    @Slot(str)
    def give_up(self, problem: str) -> None:
        """Say why there are no first numbers; if there are some already, do nothing."""
        if not self._computed:
            self.welcome.setText(problem)
            self._window.failed.emit(problem)

    def stop(self) -> None:
        """End the loading thread; may be called twice."""
        self.stopped = True
        self.loader.stop()

    @Slot()
    def _on_first_painted(self) -> None:
        if not self.stopped:
            self.loader.start()

    @Slot(str)
    def _on_loaded(self, problem: str) -> None:
        if self.stopped:  # closed while loading: a worker created now would never end
            return
        first = self.loader.first
        if problem or first is None:
            self.loader.stop()
            self.give_up(problem)
            return
        self._window.setUpdatesEnabled(False)  # or the playground is painted before its layouts are settled, then again
        QApplication.postEvent(self, QEvent(_LAID_OUT), _AFTER_PAINTING)
        playground = self._window.make_playground(first)
        playground.computed.connect(self._on_first_computed)
        playground.service.computed.connect(self._on_reply)
        self.welcome.hide()
        recovery = self._window.recovery
        if recovery is not None and recovery.news:
            self._window.ready.connect(self._on_ready)
        playground.files.begin(first, self._window.ready)

    @Slot()
    def _on_ready(self) -> None:
        from attnlab.ui.playground.recovery import NOTE

        playground = self._window.playground
        if playground is not None and not playground.step_bar.message:
            playground.step_bar.show_note(NOTE)

    @Slot(object)
    def _on_reply(self, reply: "Reply") -> None:
        if reply.error and not self._computed:
            self._window.failed.emit(reply.error)

    @Slot()
    def _on_first_computed(self) -> None:
        playground = self._window.playground
        assert playground is not None
        self._computed = True
        playground.computed.disconnect(self._on_first_computed)
        QApplication.postEvent(self, QEvent(_SHOWN), _AFTER_PAINTING)

    def customEvent(self, event: QEvent) -> None:
        if event.type() == _LAID_OUT:
            self._window.setUpdatesEnabled(True)
        elif event.type() == _SHOWN and not self.stopped:
            self._tell_once_painted()

    def _tell_once_painted(self) -> None:
        playground = self._window.playground
        if self._rounds < MOST_ROUNDS and playground is not None and not playground.canvas.painted:
            self._rounds += 1  # a pending layout delayed the painting
            QApplication.postEvent(self, QEvent(_SHOWN), _AFTER_PAINTING)
            return
        self._window.ready.emit()
        self.loader.go_on()
