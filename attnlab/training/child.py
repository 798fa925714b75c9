"""The training process: it trains, reads commands, sends messages, and ends when its parent does.

:mod:`attnlab.training.process` starts it. It never loads Qt. One thread trains, one reads commands and one writes
messages, so that a slow reader does not slow the training. Weights are sent when the window has drawn the previous ones
(``Want``) or when a moment is due, and sending takes at most a small share of the time.
"""

import faulthandler
import os
import sys
import time
import traceback
from dataclasses import dataclass

from attnlab.base.errors import AttnlabError, TrainingError
from attnlab.base.fault_log import reason_of
from attnlab.training.messages import (
    Arrays,
    Checkpoint,
    Ended,
    Failed,
    Interval,
    Metric,
    Pause,
    Point,
    Progress,
    Put,
    Refused,
    Resume,
    Started,
    Step,
    Stop,
    Want,
)
from attnlab.training.pipe import Inbox, Outbox, open_inherited
from attnlab.training.specs import RunSpec

MESSAGE_S, CHECKPOINT_S = 1 / 30, 5.0
"""Seconds between messages, and between checkpoints, at least."""
SHARE = 0.03
"""The largest share of the time that sending weights may take."""
_OVERDRAWN, _SAVED_S = 3, 0.1
"""How far a moment may overdraw its share, as a multiple of what sending weights costs, so that most moments are of the
step that was asked for; and how many seconds of the share may be saved while no weights are wanted."""
_SMALL = 1 << 20
"""The most bytes of weights that are sent at exactly the steps that were asked for, whatever that costs."""


@dataclass(frozen=True, slots=True)
class Order:
    """The run to train: from its beginning, from a checkpoint, or with given weights.

    ``interval`` is the number of steps between recorded moments, as in :class:`Interval`; ``digest`` is that of the
    text learned so far, as in :class:`Started`, "" if none is known. With ``measure`` the held-out examples are
    evaluated before the first step. The run pauses after ``pause_after`` steps, unless it is None. With ``exact`` no
    moment is late, so that several runs have moments of the same steps, unless the weights are large.
    """

    spec: RunSpec
    checkpoint: Checkpoint | None = None
    weights: Arrays | None = None
    interval: int = 1
    digest: str = ""
    measure: bool = False
    pause_after: int | None = None
    exact: bool = False


def main(handle: int) -> None:
    """Train the order that arrives through the inherited pipe, and end the process."""
    faulthandler.enable()
    connection = open_inherited(handle)
    inbox, outbox = Inbox(connection), Outbox(connection)
    order = inbox.next(wait=True)
    assert isinstance(order, Order)
    outbox.post(_train(order, inbox, outbox))
    outbox.drain()
    sys.stderr.flush()
    os._exit(0)  # immediately: nothing is left to do, and the shutdown of libraries may hang


def _train(order: Order, inbox: Inbox, outbox: Outbox) -> Ended | Failed:
    """Train, and return how the run ended; every exception becomes a ``Failed`` message."""
    loop: Loop | None = None
    try:
        loop = Loop(order, inbox, outbox)
        return loop.run()
    except Exception as error:  # noqa: BLE001  # any error in training is sent as one sentence with its traceback
        if loop is not None:
            loop.tell_points()
        return _report_failure(error, loop)


def _report_failure(error: Exception, loop: "Loop | None") -> Failed:
    details = traceback.format_exc()
    if isinstance(error, AttnlabError):
        return Failed(str(error), details)
    where = f"at step {loop.trainer.step:,}" if loop is not None else "before its first step"
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError) or any(
        sign in text for sign in ("out of memory", "not enough memory", "can't allocate memory")
    ):
        remedy = "a smaller batch, a shorter sequence or a smaller model would do"
        return Failed(f"The training ran out of memory {where}; {remedy}.", details)
    return Failed(f"The training failed {where} ({reason_of(error)}).", details, unexpected=True)


class Loop:
    """Takes steps until the run ends; between steps it obeys commands and sends messages.

    Raises:
        AttnlabError: the order cannot be trained on this computer.
    """

    def __init__(self, order: Order, inbox: Inbox, outbox: Outbox) -> None:
        import torch

        torch.set_num_threads(1)  # more threads slow small models down, and the window needs the other core
        from attnlab.training.tasks import check_text, compute_digest
        from attnlab.training.trainer import Trainer

        if problem := check_text(order.spec, order.digest):
            raise TrainingError(problem)
        self._digest = order.digest or compute_digest(order.spec)
        self._spec, self._inbox, self._outbox = order.spec, inbox, outbox
        self.trainer = Trainer(order.spec, order.checkpoint.state if order.checkpoint else None)
        self._measure = order.measure or order.weights is not None
        if order.weights is not None:
            self.trainer.replace_weights(order.weights)
        self._points: list[Point] = []
        self._metrics: list[Metric] = []
        self._paused = self._single = self._wanted = False
        self._pause_after = order.pause_after
        size = sum(p.numel() * p.element_size() for p in self.trainer.model.parameters())
        self._exact = order.exact and size <= _SMALL
        self._interval, self._moment_due = max(1, order.interval), self.trainer.step
        self._told = self._recorded = self._kept = self._earned = time.monotonic()
        self._kept_for = CHECKPOINT_S
        self._copying_s = self._cost = self._spent = self._credit = 0.0

    def run(self) -> Ended:
        """Train until the run ends, and return how it ended."""
        parameters = list(self.trainer.model.parameters())
        total, learning = (sum(p.numel() for p in parameters if p.requires_grad or all_) for all_ in (True, False))
        self._outbox.post(Started(total, learning, self._spec.train.device, self._digest))
        ended = (
            self._evaluate() if self._must_evaluate_first() else self.trainer.find_end()
        )  # a resumed run may be at its end
        self._tell(weights=True, moment=True)
        self._keep()
        if self._pause_after is not None:
            for _ in range(self._pause_after):
                ended = ended or self._step()
            if ended is None:
                self._pause()
        while ended is None:
            if not self._single:  # a single step sends its message when it has paused again
                self._tell_when_due()
            ended = self._obey() or self._step()
        self._tell(weights=True, moment=True)
        self._keep()
        return ended

    def tell_points(self) -> None:
        """Send the points of the steps taken before a failure."""
        self._tell(weights=False)

    def _step(self) -> Ended | None:
        from attnlab.training.trainer import Diverged

        try:
            self._points.append(self.trainer.take())
        except Diverged as error:
            return Ended(self.trainer.step, "nan", str(error))
        step = self.trainer.step
        due = step % self._spec.train.evaluate_every == 0 or step == self._spec.train.steps
        return self._evaluate() if due else self.trainer.find_end()

    def _must_evaluate_first(self) -> bool:
        """Return whether to evaluate before the first step: in a new run, after an edit, and again in a resumed run
        that a stop condition may have ended, so that it ends again if nothing has changed.
        """
        step, train = self.trainer.step, self._spec.train
        conditions = bool(train.stop_right or train.stop_loss)
        return step == 0 or self._measure or (conditions and (step % train.evaluate_every == 0 or step == train.steps))

    def _evaluate(self) -> Ended | None:
        """Evaluate the held-out examples; return how that ended the run, or None."""
        from attnlab.training.trainer import Diverged

        try:
            self._metrics.append(self.trainer.evaluate())
        except Diverged as error:
            return Ended(self.trainer.step, "nan", str(error))
        return self.trainer.find_end()

    def _obey(self) -> Ended | None:
        """Carry out the commands that have arrived; while the run is paused, wait for them."""
        if self._single:
            self._single = False
            self._pause()
        while (command := self._inbox.next(wait=self._paused and not self._single)) is not None:
            match command:
                case Stop():
                    return Ended(self.trainer.step, "stopped", f"Stopped at step {self.trainer.step:,}.")
                case Pause():
                    self._pause()
                case Resume():
                    self._paused = False
                case Step():
                    self._single, self._paused = True, False
                    return None
                case Put(weights):
                    if ended := self._put(weights):
                        return ended
                case Interval(steps):
                    self._interval = max(1, steps)
                    self._moment_due = self._find_next_moment()
                case Want():
                    self._wanted = True
        return None

    def _put(self, weights: Arrays) -> Ended | None:
        """Replace the weights and measure them at once, so that the curve shows what the edit did; or send why they do
        not fit and continue with the present ones. Return how the run ended, None while it continues.
        """
        try:
            self.trainer.replace_weights(weights)
        except TrainingError as error:
            self._outbox.post(Refused(str(error)))
            return None
        ended = self._evaluate() if weights else None
        self._keep()
        self._tell(weights=True)
        return ended

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._tell(weights=True, moment=self.trainer.step >= self._moment_due)
            self._keep()

    def _tell_when_due(self) -> None:
        now = time.monotonic()
        due = self.trainer.step >= self._moment_due
        exact = due and self._exact
        if self._outbox.busy and not exact:  # a later message will hold more
            return
        self._earn(now)
        affordable = now - self._recorded >= MESSAGE_S and self._credit >= -_OVERDRAWN * self._cost
        moment = exact or (due and affordable)
        if moment or now - self._told >= MESSAGE_S:
            self._tell(weights=moment or (self._wanted and self._credit >= 0), moment=moment)
            if now - self._kept >= self._kept_for:
                self._keep()

    def _earn(self, now: float) -> None:
        """Update the seconds that may be spent on sending weights: a share of the time passed, less the time spent."""
        spent = self._copying_s + self._outbox.packing_s
        self._credit = min(_SAVED_S, self._credit + SHARE * (now - self._earned) - (spent - self._spent))
        self._earned, self._spent = now, spent

    def _tell(self, weights: bool, moment: bool = False) -> None:
        begun = time.monotonic()
        self._told = min(begun, max(self._told + MESSAGE_S, begun - MESSAGE_S))  # a long step delays only one message
        arrays = self.trainer.read_weights() if weights else None
        if weights:
            self._wanted = False
            self._cost = 2 * (time.monotonic() - begun)  # packing takes as long again as copying
            self._copying_s += time.monotonic() - begun
        if moment:
            self._recorded, self._moment_due = self._told, self._find_next_moment()
        told = (tuple(self._points), tuple(self._metrics))
        self._points, self._metrics = [], []
        self._outbox.post(Progress(self.trainer.step, self.trainer.seconds, *told, arrays, moment, self._paused))

    def _find_next_moment(self) -> int:
        return (self.trainer.step // self._interval + 1) * self._interval

    def _keep(self) -> None:
        begun = time.monotonic()
        self._outbox.post(self.trainer.make_checkpoint())
        self._kept = time.monotonic()
        self._kept_for = max(CHECKPOINT_S, 2 * (self._kept - begun) / SHARE)  # packing takes as long again as copying
