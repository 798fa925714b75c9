"""The window's side of the training process: starts it, sends commands, polls it on a timer, and requests weights."""

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.training.messages import Checkpoint, Command, Ended, Failed, Message, Progress, Want
from attnlab.training.run import Run

if TYPE_CHECKING:
    from attnlab.training.process import TrainingProcess

FRAME_MS, HIDDEN_MS = 16, 200
"""How often the process is polled: while visible, twice as often as it reports, so that no two pictures come at once;
and while the workspace is hidden."""
SPEED_OVER = 60
"""The number of messages over which the speed is measured."""


class ProcessClient(QObject):
    """Owns the process, if there is one, and the timer. Only ``end`` ever blocks.

    ``heard`` carries the messages since the last poll, ``left`` the last message once the process is over.
    """

    heard = Signal(object)
    left = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.process: TrainingProcess | None = None
        self._wanting = False
        self._pace: deque[tuple[float, int]] = deque(maxlen=SPEED_OVER)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._on_time_to_listen)

    @property
    def alive(self) -> bool:
        """Whether the process exists."""
        return self.process is not None

    @property
    def speed(self) -> float:
        """Recent steps per second; 0 while unknown."""
        if len(self._pace) < 2:
            return 0.0
        (start, first), (end, last) = self._pace[0], self._pace[-1]
        return (last - first) / (end - start) if end > start else 0.0

    def begin(
        self,
        run: Run,
        checkpoint: Checkpoint | None,
        *,
        measure: bool = False,
        single: bool = False,
        exact: bool = False,
    ) -> None:
        """Start a process for a run, from its beginning or from a checkpoint, which it may ``measure`` at once; with
        ``single`` it takes one step, with ``exact`` its moments are never late.
        """
        from attnlab.training.process import TrainingProcess

        self._wanting = False
        self._pace.clear()
        digest = run.digest if checkpoint else ""
        self.process = TrainingProcess(
            run.spec,
            checkpoint,
            interval=run.recorder.interval,
            digest=digest,
            measure=measure,
            pause_after=1 if single else None,
            exact=exact,
        )
        self.process.start()
        self._timer.start()

    def send(self, command: Command) -> None:
        """Send a command to the process, if there is one."""
        if self.process is not None:
            self.process.send(command)

    def want(self) -> None:
        """Request the newest weights, unless they are on their way."""
        if self.alive and not self._wanting:
            self._wanting = True
            self.send(Want())

    def watch(self, watched: bool) -> None:
        """Poll at the rate of pictures, or rarely while the workspace is hidden."""
        self._timer.setInterval(FRAME_MS if watched else HIDDEN_MS)

    def stop(self) -> None:
        """Ask the process to end; ``left`` follows."""
        if self.process is not None:
            self.process.end()

    def end(self) -> tuple[Message, ...]:
        """End the process, wait for it, and return its last messages."""
        self._timer.stop()
        process, self.process = self.process, None
        if process is None:
            return ()
        process.stop()
        return process.poll()

    @Slot()
    def _on_time_to_listen(self) -> None:
        process = self.process
        if process is None:
            return
        alive = process.alive  # read before the messages, or the last ones might be missed
        messages = process.poll()
        for message in messages:
            self._note(message)
        if messages:
            self.heard.emit(messages)
        last = find_last_message(messages)
        if last is not None or not alive:
            self.left.emit(last)

    def _note(self, message: Message) -> None:
        if isinstance(message, Progress):
            self._pace.append((message.seconds, message.step))
            if message.weights is not None:
                self._wanting = False


def find_last_message(messages: tuple[Message, ...]) -> Ended | Failed | None:
    """Return the message that ends the process; None if there is none."""
    return next((message for message in reversed(messages) if isinstance(message, Ended | Failed)), None)
