"""The program's own window, driven from outside: edits as a drag makes them, and the moment all of it is painted."""

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
from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.playground import Playground
from attnlab.ui.widgets.maps.map_layout import fit

SIZE = (1440, 900)
PATIENCE_S = 300.0


@guarded
class Driver(QObject):
    """Edits the document of a window and waits, in the event loop, until every card shows the newest numbers."""

    painted = Signal()
    """The cards have been painted with the numbers of :attr:`shown`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window = window
        self._random = np.random.default_rng(0)
        self.shown: Experiment | None = None
        self.playground.canvas.cards["weights"].installEventFilter(self)

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

    def next_value(self) -> float:
        """Return the number for the next edit: always another, of the size of the numbers around it."""
        return float(self._random.normal()) * 0.1

    def edit(self, value: float) -> None:
        """Change one number of W_q, as a drag of its cell does."""
        self.playground.document.edit(
            f"Drag W_q[0, 0] = {value:.4g}", lambda e: edits.set_block(e, "W_q", 0, 0, [[value]]), ("bench", 0)
        )

    def flip(self, name: str, values: tuple[object, object]) -> Experiment:
        """Set a switch of the layer to the one of two values that it does not have, as a click does; return the new."""
        now = edits.setting(self.experiment, name)
        value = values[1] if now == values[0] else values[0]
        self.playground.document.edit(f"{name} {value}", lambda e: edits.configured(e, **{name: value}))
        return self.experiment

    def forget(self) -> None:
        """Let the cards forget all they have drawn and laid out but what they show, as in a window that came up so."""
        fit.cache_clear()
        for card in (*self.playground.canvas.cards.values(), self.playground.canvas.heads):
            card.forget()

    def wait(self) -> None:
        """Handle events until the cards that differ have been painted with the numbers of the open experiment.

        All that has to be painted is painted in one go, so when the weights have been, everything has.

        Raises:
            AttnlabError: that takes a minute.
        """
        wait_until(lambda: self.shown is self.experiment)

    def settle(self) -> None:
        """Handle what has come up meanwhile."""
        QCoreApplication.processEvents()

    def check(self) -> None:
        """Make sure that what the cards show is what was computed for the open experiment."""
        reply = self.playground.reply
        assert isinstance(reply, Reply)
        assert reply.trace is not None
        assert reply.request.experiment is self.experiment
        for name, card in self.playground.canvas.cards.items():
            if name in reply.trace:
                assert card.isVisible()
                assert card.data is not None
                array = reply.trace.array(name)
                assert np.array_equal(card.data.values, array if array.ndim == 3 else array[None]), name

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self.playground.reply is not None:
            self.shown = self.playground.reply.request.experiment
            self.painted.emit()
        return False


def wait_until(done: Callable[[], bool]) -> None:
    """Handle events until something is so.

    Raises:
        AttnlabError: it is not so after PATIENCE_S.
    """
    end = time.monotonic() + PATIENCE_S
    alarm = QTimer()  # so that there is an event to wake up for, at the latest then
    alarm.start(int(PATIENCE_S * 1000))
    try:
        while not done():
            if time.monotonic() > end:
                raise AttnlabError(f"The window did not show its numbers within {PATIENCE_S:.0f} s.")
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    finally:
        alarm.stop()


@contextmanager
def window() -> Iterator[Driver]:
    """Open the program's window with settings of its own, and leave nothing of it behind."""
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
        wait_until(lambda: bool(ready and later))  # else the first cases would share the thread with imports
        yield Driver(made)
    finally:
        made.close()
        made.stop()
        made.deleteLater()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
