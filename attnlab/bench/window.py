"""Drives the window for benchmarks: makes edits like a drag, and waits until everything is painted."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer, Signal

from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError
from attnlab.compute.service import Reply
from attnlab.document.scene import Scene
from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.base import jobs
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.canvas_plan import plan_canvas
from attnlab.ui.playground.card_grid import fit_card
from attnlab.ui.playground.playground import Playground

SIZE = (1440, 900)
PATIENCE_S = 300.0


@guarded
class Driver(QObject):
    """Edits the document of a window and waits, in the event loop, until all cards show the newest numbers."""

    painted = Signal()
    """The cards have been painted with the numbers of :attr:`shown`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window = window
        self._random = np.random.default_rng(0)
        self.shown: Experiment | None = None
        self.shown_at = 0.0
        """When the cards had been painted with the numbers of :attr:`shown`, as ``time.perf_counter`` counts."""
        self.pictures = 0
        self._painting: Experiment | None = None
        for card in self.playground.canvas.cards.values():
            card.installEventFilter(self)
        window.installEventFilter(self)

    @property
    def playground(self) -> Playground:
        """The workspace of the window."""
        assert self.window.playground is not None
        return self.window.playground

    @property
    def experiment(self) -> Experiment:
        """What is open."""
        return self.playground.document.experiment

    def open(self, experiment: Experiment) -> None:
        """Open an experiment and wait until it is painted."""
        self.playground.document.open("Open", Scene(experiment, "bench"))
        self.wait()

    def choose_next_value(self) -> float:
        """Return the number for the next edit: always a new one, as large as its neighbours."""
        return float(self._random.normal()) * 0.1

    def edit(self, value: float) -> None:
        """Change one number of W_q, as a drag of its cell does."""
        self.playground.document.edit(
            f"Drag W_q[0, 0] = {value:.4g}", lambda e: edits.set_block(e, "W_q", 0, 0, [[value]]), ("bench", 0)
        )

    def flip(self, name: str, values: tuple[object, object]) -> Experiment:
        """Toggle a switch of the layer between two values, like a click; return the new value."""
        now = edits.setting(self.experiment, name)
        value = values[1] if now == values[0] else values[0]
        self.playground.document.edit(f"{name} {value}", lambda e: edits.configure(e, **{name: value}))
        return self.experiment

    def forget(self) -> None:
        """Clear what the cards have cached except what they show, as in a new window."""
        fit_card.cache_clear()
        plan_canvas.cache_clear()
        for card in (*self.playground.canvas.cards.values(), self.playground.canvas.heads):
            card.forget()

    def wait(self) -> float:
        """Handle events until the changed cards are painted with the numbers of the open experiment; return when.

        Everything is painted at once, so when one card is painted, all visible ones are.

        Raises:
            AttnlabError: it takes longer than PATIENCE_S.
        """
        wait_until(lambda: self.shown is self.experiment)
        return self.shown_at

    def wait_explained(self) -> None:
        """Handle events until Explain is painted with the numbers of the open experiment too."""
        wait_until(lambda: self.playground.up_to_date)
        self.settle()

    def resize(self, width: int, height: int) -> None:
        """Resize the window and wait until the cards are painted in their new places."""
        before = self.pictures
        self.window.resize(width, height)
        wait_until(lambda: self.pictures > before)

    def settle(self) -> None:
        """Handle pending events."""
        QCoreApplication.processEvents()

    def check(self) -> None:
        """Check that the cards show the numbers computed for the open experiment."""
        reply = self.playground.reply
        assert isinstance(reply, Reply)
        assert reply.trace is not None
        assert reply.request.experiment is self.experiment
        for name, card in self.playground.canvas.cards.items():
            if name in reply.trace:
                assert card.isVisible() or name == self.playground.canvas.covered
                assert card.data is not None
                array = reply.trace.array(name)
                assert np.array_equal(card.data.values, array if array.ndim == 3 else array[None]), name

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self.playground.reply is not None:
            self.pictures += 1
            self._painting = self.playground.reply.request.experiment
        if event.type() != QEvent.Type.UpdateRequest or watched is not self.window:
            return False
        self.window.event(event)  # paints all that has changed
        if self._painting is not None:
            self.shown, self.shown_at, self._painting = self._painting, time.perf_counter(), None
            self.painted.emit()
        return True


def wait_until(done: Callable[[], bool]) -> None:
    """Handle events until a condition is true.

    Raises:
        AttnlabError: it is still false after PATIENCE_S.
    """
    end = time.monotonic() + PATIENCE_S
    alarm = QTimer()  # a timer event ends the wait at the latest then
    alarm.start(int(PATIENCE_S * 1000))
    try:
        while not done():
            if time.monotonic() > end:
                raise AttnlabError(f"The window did not show its numbers within {PATIENCE_S:.0f} s.")
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    finally:
        alarm.stop()


@contextmanager
def open_window() -> Iterator[Driver]:
    """Open the window with separate settings; afterwards remove everything and wait for its background jobs."""
    from attnlab.ui.app.application import make_application

    app = make_application()
    made = MainWindow(Settings(theme="light"), Source(preset="journey"), remember=False)
    made.resize(*SIZE)
    ready, later = list[bool](), list[bool]()
    made.ready.connect(lambda: ready.append(True))
    made.starting.loader.later.done.connect(lambda: later.append(True))
    try:
        made.show()
        made.load()
        wait_until(lambda: bool(ready and later))  # otherwise imports would delay the first cases
        yield Driver(made)
    finally:
        made.close()
        made.stop()
        made.deleteLater()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        jobs.leave()  # Python's shutdown aborts the process if a thread is still inside torch
