"""A queue of runs that train one after the other in a process beside the window, and what is known of each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.base.fault_log import CRASHES, append, report_remote
from attnlab.training.messages import Arrays, Ended, Failed, Interval
from attnlab.training.questions import Planned
from attnlab.training.queue_file import LeftQueue, LeftRun
from attnlab.training.recorder import MIB
from attnlab.training.results import BestHead, Result, make_result
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.base import jobs
from attnlab.ui.train.process_client import ProcessClient
from attnlab.ui.train.run_files import SAVE_MS, RunFiles
from attnlab.ui.train.run_words import EDITED

LIMIT, MOMENTS = 16 * MIB, 100
"""Bytes that the moments of one run may take, and how many moments there are at most."""


@dataclass(slots=True, eq=False)
class Entry:
    """One run of the queue: ``run`` is None while it waits; ``patterns`` are its best heads once they are known."""

    planned: Planned
    run: Run | None = None
    patterns: tuple[BestHead, ...] = field(default=())

    @property
    def over(self) -> bool:
        """Whether the run needs no more training: it took all its steps, met its condition, or failed."""
        run = self.run
        return run is not None and (run.status == "failed" or (run.status == "ended" and not self.stopped))

    stopped: bool = False
    """Whether it was stopped before its end; it goes on from its checkpoint."""
    diverged: bool = False
    """Whether it ended because a number was not finite."""
    loading: bool = False
    """Whether its run, of an earlier window, is being read."""
    folder: Path | None = None
    """The folder from which the run of an earlier window is read."""

    def make_result(self) -> Result:
        """Return what is known of the run."""
        return make_result(self.planned.name, self.run or Run(self.planned.spec, self.planned.name), self.patterns)


class RunQueue(QObject):
    """Trains a plan; ``changed`` follows every message of the process. Only ``close`` ever blocks.

    Runs are saved when they end or are stopped, and regularly between. A stopped queue can go on.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, keeper: RunFiles, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title, self.entries = "", tuple[Entry, ...]()
        self._keeper = keeper
        self._current: Entry | None = None
        self._lane = jobs.Lane("queue")
        self._closed = False
        self.is_left_over = False
        """Whether an earlier window left this queue, and it has not gone on yet."""
        self._trainee = ProcessClient(self)
        self._trainee.watch(False)  # it is polled rarely: nobody waits for its pictures
        self._trainee.heard.connect(self._on_heard)
        self._trainee.left.connect(self._on_left)
        self._timer = QTimer(self)
        self._timer.setInterval(SAVE_MS)
        self._timer.timeout.connect(self._on_time_to_save)

    @property
    def alive(self) -> bool:
        """Whether a run is being trained."""
        return self._current is not None

    @property
    def current(self) -> Entry | None:
        """The entry that is being trained."""
        return self._current

    @property
    def pid(self) -> int:
        """The id of the training process, 0 without one."""
        return self._trainee.process.pid if self._trainee.process is not None else 0

    @property
    def measuring(self) -> bool:
        """Whether the patterns of a run are being measured."""
        return self._lane.busy

    @property
    def done(self) -> int:
        """How many runs are over."""
        return sum(entry.over for entry in self.entries)

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs that have begun."""
        return tuple(entry.run for entry in self.entries if entry.run is not None)

    def list_results(self) -> tuple[Result, ...]:
        """Return what is known of each run that has begun."""
        return tuple(entry.make_result() for entry in self.entries if entry.run is not None)

    def begin(self, title: str, plan: Sequence[Planned], known: Sequence[Run] = ()) -> None:
        """Train a plan instead of what was there; a finished run among ``known`` with the same settings counts."""
        self.stop()
        self.is_left_over = False
        self.title, self.entries = title, tuple(map(Entry, plan))
        for entry in self.entries:
            entry.run = next((run for run in known if _is_whole(run, entry.planned.spec)), None)
            if entry.run is not None:
                self._measure(entry)
        self.go_on()

    def restore(self, left: LeftQueue) -> None:
        """Show the queue of an earlier window, whose runs are read; it goes on when it is told to."""
        if self.entries or self._closed:
            return
        self.title, self.is_left_over = left.title, True
        self.entries = tuple(Entry(each.planned, stopped=each.stopped, diverged=each.diverged) for each in left.runs)
        for entry, each in zip(self.entries, left.runs, strict=True):
            if each.folder is not None:
                entry.loading, entry.folder = True, each.folder
                refuse = partial(self._refuse_run, entry)
                self._keeper.load(each.folder, partial(self._take_run, entry), otherwise=refuse)
        self.changed.emit()

    def _take_run(self, entry: Entry, run: Run) -> None:
        entry.run, entry.loading = run, False
        self._measure(entry)
        self.changed.emit()

    def _refuse_run(self, entry: Entry, sentence: str) -> None:
        """Let a run that cannot be read, such as a deleted one, wait to be trained anew."""
        entry.loading = entry.stopped = entry.diverged = False
        entry.folder = None
        self.failed.emit(f"{entry.planned.name[:1].upper()}{entry.planned.name[1:]} waits again. {sentence}")
        self.changed.emit()

    def go_on(self) -> None:
        """Train the first run that is not over; do nothing if one is being trained, or all are over."""
        entry = next((entry for entry in self.entries if not entry.over and not entry.loading), None)
        if self.alive or self._closed or entry is None:
            self._keep()
            self.changed.emit()
            return
        self._current, entry.stopped, self.is_left_over = entry, False, False
        run = entry.run
        if run is not None and run.checkpoint is not None:
            run.rewind(run.checkpoint.step)
        else:
            run = entry.run = Run(entry.planned.spec, entry.planned.run_name, LIMIT)
            run.recorder.interval = max(1, run.spec.train.steps // MOMENTS)
        self._trainee.begin(run, run.checkpoint, exact=True)  # for maps of the same step
        self._timer.start()
        self._keep()
        self.changed.emit()

    def stop(self) -> None:
        """Stop the present run and do not begin another; what is trained is saved."""
        entry, self._current = self._current, None
        self._timer.stop()
        messages = self._trainee.end()
        if entry is None or entry.run is None:
            return
        for message in messages:
            entry.run.take(message)
        entry.stopped = not any(isinstance(m, Ended) and m.reason != "stopped" for m in messages)
        self._keeper.keep(entry.run)
        self._keep()
        self._measure(entry)
        self.changed.emit()

    def clear(self) -> None:
        """Stop, and forget the queue; its runs stay on disk."""
        self.stop()
        self.title, self.entries = "", ()
        self._keep()
        self.changed.emit()

    def close(self) -> None:
        """Stop, which leaves what waits to the next window, and end the threads; may be called twice.

        Call it before the keeper of runs is closed.
        """
        if not self._closed:
            self._closed = True
            self.stop()
            self._keep()
            self._lane.close()

    def _keep(self) -> None:
        """Write down what waits, so that even a crash leaves it to the next window; nothing if all runs are over."""
        if self.done == len(self.entries):
            self._keeper.forget_queue()
        else:
            self._keeper.leave_queue(LeftQueue(self.title, tuple(map(self._describe, self.entries))))

    def _describe(self, entry: Entry) -> LeftRun:
        folder = self._keeper.find_folder(entry.run) if entry.run is not None else entry.folder
        is_cut = entry is self._current and folder is not None
        return LeftRun(entry.planned, folder, entry.stopped or is_cut, entry.diverged)

    # Messages of the process

    @Slot(object)
    def _on_heard(self, messages: tuple[object, ...]) -> None:
        entry = self._current
        if entry is None or entry.run is None:
            return
        for message in messages:
            if entry.run.take(message):  # type: ignore[arg-type]
                self._trainee.send(Interval(entry.run.recorder.interval))
        self.changed.emit()

    @Slot(object)
    def _on_left(self, message: Ended | Failed | None) -> None:
        entry, self._current = self._current, None
        for last in self._trainee.end():
            if entry is not None and entry.run is not None:
                entry.run.take(last)
        if entry is None or entry.run is None:
            return
        if isinstance(message, Failed):
            if message.unexpected:
                report_remote(message.details, "training")
            elif message.details:
                append(CRASHES, f"{message.sentence}\n{message.details}\n")
            self.failed.emit(f"{entry.planned.name[:1].upper()}{entry.planned.name[1:]}: {message.sentence}")
        entry.diverged = isinstance(message, Ended) and message.reason == "nan"
        self._keeper.keep(entry.run)
        self._measure(entry)
        self.go_on()

    @Slot()
    def _on_time_to_save(self) -> None:
        if self._current is not None and self._current.run is not None:
            self._keeper.keep(self._current.run)
            self._keep()

    # The patterns

    def _measure(self, entry: Entry) -> None:
        run = entry.run
        if run is None or run.weights is None or self._closed:
            return
        job = partial(_measure_best_heads, run.spec, run.weights)
        take = partial(self._take_patterns, entry)
        doing = "measuring the patterns of a run"
        jobs.run(job, on_done=take, on_failed=self.failed.emit, lane=self._lane, owner=self, doing=doing)

    def _take_patterns(self, entry: Entry, found: tuple[BestHead, ...]) -> None:
        entry.patterns = found
        self.changed.emit()


def _measure_best_heads(spec: RunSpec, weights: Arrays) -> tuple[BestHead, ...]:
    import torch

    from attnlab.training.best_heads import measure_best_heads
    from attnlab.training.look import Viewer

    torch.set_num_threads(1)  # in this thread: more would wait for the training process
    return measure_best_heads(Viewer(spec), weights)


def _is_whole(run: Run, spec: RunSpec) -> bool:
    """Return whether a run took all its steps with these settings; one changed on its way has a mark that says so."""
    changed = any("→" in mark.title or mark.title.startswith(EDITED) for mark in run.marks if not mark.suggested)
    return run.spec == spec and run.status == "ended" and run.step >= spec.train.steps and not changed
