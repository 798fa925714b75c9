"""Drives the real window with random events, then undoes everything and compares its numbers with attnlab.compute.

    python -m tools.random_events --events 700 --runs 10
    python -m tools.random_events --minutes 30 --batches
    python -m tools.random_events --seed 7 --events 700 --runs 1      one run again, event by event

Each run is a separate process in its own folder, so that a crash is reported with its seed and last events and the next
run continues. The events depend on the seed and on what is visible. After each event the simulated user waits until all
work is done, unless the seed makes this one impatient. Core files of crashes are kept in --cores.
"""

import argparse
import faulthandler
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.ui.app.main_window import MainWindow

ROOT = Path(__file__).resolve().parent.parent
CPU_S, SETTLE_S, CLOCK_S = 60.0, 300.0, 600.0
"""Limits in seconds: CPU time of one event, time until all its work is done, and wall-clock time without output."""
CALM_MS = 10
"""How long nothing must be under way before the next event."""
SHORT_MS = 400
"""Timers that fire sooner than this are waited for before the next event."""
LAST = 25
"""How many of the last events are printed for a run that failed."""
PRESETS = (
    "journey",
    "the-cat-sat",
    "batch-of-two",
    "padding-batch",
    "multi-head-8",
    "cross-attention",
    "random-4x8",
    "additive",
    "rope",
    "grouped-keys",
    "causal-5x8",
    "dropout",
)
IGNORED = ("This plugin does not support",)


def main(argv: list[str] | None = None) -> int:
    """Do the chosen runs; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.random_events", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="the seed of the first run (default: random, printed)")
    parser.add_argument("--events", type=int, default=700, help="events per run (default 700)")
    parser.add_argument("--runs", type=int, default=1, help="how many runs, with consecutive seeds (default 1)")
    parser.add_argument("--minutes", type=float, help="run for this long, whatever the number of runs")
    parser.add_argument("--batches", action="store_true", help="mostly sequences of batches")
    parser.add_argument("--cores", type=Path, default=Path(tempfile.gettempdir()), help="the folder for core files")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    if options.child is not None:
        return _drive(seed, options.events, options.child, options.batches)
    begun, done, failed = time.monotonic(), 0, 0
    while done < options.runs if options.minutes is None else time.monotonic() - begun < 60 * options.minutes:
        failed += bool(said := find_failure(seed + done, options.events, options.batches, options.cores))
        if said:
            again = f"python -m tools.random_events --seed {seed + done} --events {options.events} --runs 1"
            print(f"FAULT {said}\n  again: {again}{' --batches' * options.batches}", flush=True)
        done += 1
        if done % 10 == 0:
            print(
                f"{done} runs, {done * options.events:,} events, {failed} failed, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    print(
        f"{done * options.events:,} events in {done} runs from seed {seed}, {failed} failed, "
        f"{time.monotonic() - begun:.0f} s"
    )
    return 1 if failed else 0


def find_failure(seed: int, events: int, batches: bool, cores: Path, log: Path | None = None) -> str:
    """Do one run in a separate process; return how it failed and its last events, or "" if it did not fail.

    All its events are written to ``log``.
    """
    with tempfile.TemporaryDirectory(prefix="attnlab-events-") as name:
        place = Path(name)
        command = [sys.executable, "-X", "faulthandler", "-m", "tools.random_events", "--child", name]
        command += ["--seed", str(seed), "--events", str(events), *(["--batches"] if batches else [])]
        environment = {
            **os.environ,
            "HOME": name,
            "ATTNLAB_CONFIG_DIR": str(place / "config"),
            "TMPDIR": str(place / "tmp"),
        }
        environment |= {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        environment |= {"OMP_NUM_THREADS": environment.get("OMP_NUM_THREADS", "1"), "OMP_WAIT_POLICY": "PASSIVE"}
        (place / "tmp").mkdir()
        with (place / "said").open("w") as out:
            child = subprocess.Popen(command, cwd=cores, env=environment, stdout=out, stderr=subprocess.STDOUT)
            how = _await_run(child, place)
        events_file = place / "events"
        did = events_file.read_text("utf-8", "replace").splitlines() if events_file.exists() else []
        if log is not None:
            log.write_text("\n".join(did), "utf-8")
        said = (place / "said").read_text("utf-8", "replace").splitlines()
        if not how and not child.returncode and _has_error(said):
            how = "an error was printed"
        if not (how or child.returncode):
            return ""
        how = how or _describe_exit(child.returncode)
        crash = place / "config" / "crashes.log"
        said += crash.read_text("utf-8", "replace").splitlines() if crash.exists() else []
        lines = [f"seed {seed}: {how} after {len(did)} lines of events", *did[-LAST:], *said[-90:]]
        return "\n    ".join(lines)


def _await_run(child: "subprocess.Popen[Any]", place: Path) -> str:
    """Wait for a run; return why it was killed, or "" if it ended by itself."""
    size, moved = -1, time.monotonic()
    while child.poll() is None:
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            now = sum(path.stat().st_size for path in (place / "events", place / "said") if path.exists())
            if now != size:
                size, moved = now, time.monotonic()
            elif time.monotonic() - moved > CLOCK_S:
                child.send_signal(getattr(signal, "SIGABRT", signal.SIGTERM))  # faulthandler prints the stacks
                child.wait()
                return f"nothing happened for {CLOCK_S:.0f} s"
    return ""


def _has_error(said: list[str]) -> bool:
    """Whether a traceback other than that of an AttnlabError was printed, also by child processes."""
    ends = [line for line in said if re.match(r"[\w.]+(Error|Exception|Interrupt|Exit)\b", line)]
    traced = any(line.startswith("Traceback (most recent") for line in said)
    return traced and not all(line.startswith("attnlab.base.errors.") for line in ends)


def _describe_exit(code: int) -> str:
    if code < 0 and -code == getattr(signal, "SIGPROF", 0):
        return f"one event used {CPU_S:.0f} s of the processor"
    return signal.Signals(-code).name if code < 0 else "faults told below" if code == 3 else f"code {code}"


# In the process of a run


def _drive(seed: int, events: int, place: Path, batches: bool) -> int:
    _keep_cores()
    from PySide6.QtCore import QtMsgType, qInstallMessageHandler

    faults: list[str] = []

    def on_message(kind: QtMsgType, _: Any, text: str) -> None:
        if kind not in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg) and not text.startswith(IGNORED):
            faults.append(f"Qt said: {text}\n" + "".join(traceback.format_stack(limit=12)))

    qInstallMessageHandler(on_message)
    from attnlab.base import fault_log
    from attnlab.document.settings import Settings, save_settings
    from attnlab.files.source import Source
    from attnlab.ui.app import application
    from tools.random_person import RandomPerson

    fault_log.listen(lambda fault: faults.append(f"unexpected: {fault.sentence}\n{fault.details}"))
    r = random.Random(seed)
    batches = batches or seed % 4 == 0
    (files := place / "files").mkdir()
    _fill(files, r)
    theme, still = r.choice(("light", "dark", "contrast-dark")), r.random() < 0.5
    # the card of first steps goes by the clock, but the events must depend on the seed alone
    save_settings(Settings(theme=theme, reduced_motion=still, first_steps_shown=False))
    preset = r.choice(("batch-of-two", "padding-batch")) if batches else r.choice(PRESETS)
    _shorten_trainings()
    _keep_messages()
    driver: list[Any] = []

    def begin(window: "MainWindow") -> None:
        window.resize(r.choice((1440, 1000, 2000)), r.choice((900, 700)))
        person = RandomPerson(window, r, files, batches)
        driver.append(_make_driver(window, person, events, place / "events", faults, restless=r.random() < 0.25))

    code = application.run(Source(preset=preset), on_window=begin)
    if code or not driver or not driver[0].ended:
        faults.append(f"the program ended with {code} before all was done")
    faults += [f"thread {thread.name} is left" for thread in _find_left_threads()]
    faults += _find_unreadable(place / "config")
    print("\n".join(faults), flush=True)
    return 3 if faults else 0


def _keep_cores() -> None:
    """Let a crash leave a core file; end the process with its stacks if an event takes too long."""
    faulthandler.enable(all_threads=True)
    try:
        import resource
    except ImportError:
        return
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))
    faulthandler.register(signal.SIGPROF, all_threads=True, chain=True)


def _fill(folder: Path, r: random.Random) -> None:
    """Put files to open into a folder: sessions, weights, lessons, and some corrupted ones."""
    from tools import file_kinds, weight_kinds

    for number, data in enumerate(file_kinds.make_sessions()[:6]):
        (folder / f"good-{number}.attnlab").write_bytes(data)
    (folder / "bad.attnlab").write_bytes(file_kinds.spoil_session_bytes(r))
    for ending in ("csv", "npz", "safetensors", "json"):
        (folder / f"weights.{ending}").write_bytes(weight_kinds.make_weights()[ending][0])
    for number, lesson in enumerate(file_kinds.read_lessons()[:3]):
        (folder / f"lesson-{number}.md").write_bytes(lesson)
    file_kinds.KINDS["lesson"].spoil(r, folder)
    (folder / "exercise.json").write_bytes(file_kinds.make_exercise())
    (folder / "text.txt").write_text("the cat sat on the mat. " * 300)
    (run := folder / "run").mkdir()
    for name, data in file_kinds.make_run().items():
        (run / name).write_bytes(data)


def _shorten_trainings() -> None:
    """Keep trainings short, as the simulated user waits until they end."""
    from dataclasses import replace

    from attnlab.ui.train.train_session import TrainSession

    set_spec = TrainSession.set_spec

    def set_small_spec(self: TrainSession, spec: Any) -> None:
        train = replace(spec.train, steps=min(spec.train.steps, 12), batch=min(spec.train.batch, 8), device="cpu")
        model = replace(spec.model, d_model=min(spec.model.d_model, 32), d_ff=min(spec.model.d_ff, 64))
        set_spec(self, replace(spec, train=train, model=model))

    TrainSession.set_spec = set_small_spec  # type: ignore[method-assign]


def _keep_messages() -> None:
    """Let messages in the bar and in the lessons stay: on a busy machine they would go between other events."""
    from attnlab.ui.lessons import lesson_pages
    from attnlab.ui.playground import bar_message

    bar_message.NOTE_MS = lesson_pages.NOTE_MS = 10**7


def _find_left_threads() -> list[threading.Thread]:
    """Return the threads that still run when the program has ended."""
    late = time.monotonic() + 20
    left = []
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not isinstance(thread, threading._DummyThread):
            thread.join(max(0.0, late - time.monotonic()))
            left += [thread] if thread.is_alive() else []
    return left


def _find_unreadable(folder: Path) -> list[str]:
    """Return the problems of the unsaved work that was kept when the window closed."""
    from attnlab.base.errors import AttnlabError
    from attnlab.files.sessions.session_file import load_session

    wrong = []
    for path in folder.rglob("*.attnlab"):
        try:
            load_session(path)
        except AttnlabError as error:
            wrong.append(f"the kept work cannot be read: {error}")
    return wrong


def _make_driver(window: "MainWindow", person: Any, events: int, log: Path, faults: list[str], restless: bool) -> Any:
    """Return an object that does the events one at a time in the program's event loop, then checks the result."""
    from PySide6.QtCore import QObject, QTimer, Slot
    from PySide6.QtWidgets import QApplication

    from attnlab.ui.base.lane import LANES

    class Driver(QObject):
        def __init__(self) -> None:
            super().__init__(window)
            self.ended = False
            self._left, self._answered, self._began = events, 0, 0.0
            self._painted = self._calm = False
            self._start: Experiment | None = None
            self._log = log.open("w", buffering=1, encoding="utf-8")
            self._timer = QTimer(self)
            self._timer.setSingleShot(True)
            self._timer.timeout.connect(self._on_tick)
            window.ready.connect(self._on_ready)
            window.failed.connect(self._on_failed)

        def note(self, text: str) -> None:
            self._log.write(ascii(text) + "\n")

        @Slot(str)
        def _on_failed(self, problem: str) -> None:
            faults.append(f"the window failed: {problem}")
            self._finish()

        @Slot()
        def _on_ready(self) -> None:
            playground = window.playground
            assert playground is not None
            self._answered = playground.service.newest
            playground.service.computed.connect(self._on_computed)
            self._start = playground.document.experiment
            self._numbers = copy_tables(self._start)
            self._began = time.monotonic()
            self._timer.start(0)

        @Slot(object)
        def _on_computed(self, reply: Any) -> None:
            self._answered = max(self._answered, reply.request.id)

        @Slot()
        def _on_tick(self) -> None:
            try:
                self._tick()
            except Exception as error:  # noqa: BLE001  # a fault of this tool, not of the program
                faults.append("the harness itself: " + "".join(traceback.format_exception(error)))
                self._finish()

        def _tick(self) -> None:
            hurried = restless and self._left and self._left % 20
            if why := "" if hurried else self._find_busy():
                if time.monotonic() - self._began > SETTLE_S:
                    faults.append(f"still busy after {SETTLE_S:.0f} s: {why}")
                    self._finish()
                else:
                    self._timer.start(20)
                return
            if not (hurried or self._calm):  # once more, as a window that was just shown takes the focus a little later
                self._calm = True
                self._timer.start(CALM_MS)
                return
            self._calm = False
            _limit(CPU_S)
            self._began = time.monotonic()
            if self._left and not faults:
                self._left -= 1
                self._timer.start(0)  # before the event, as a menu runs its own loop
                person.act(self.note)
            else:
                self._check()

        def _find_busy(self) -> str:
            """Return which work is still under way, or ""."""
            playground, trainer = window.playground, window.trainer
            assert playground is not None
            painted = any(card.painted for card in playground.canvas.cards.values())
            self._painted = self._painted or painted or not playground.canvas.isVisible()
            if not self._painted:  # events at places that are not laid out yet would not depend on the seed alone
                return "painting the window for the first time"
            if playground.files.opening or self._answered < playground.service.newest:
                return "computing or opening"
            if lanes := [lane.name for lane in list(LANES) if lane.busy]:
                return f"jobs of {', '.join(lanes)}"
            if trainer is not None and (trainer.busy or trainer.session.state == "running"):
                return "training"
            for top in QApplication.topLevelWidgets():
                for timer in top.findChildren(QTimer):
                    if (
                        timer.isActive()
                        and timer.isSingleShot()
                        and timer.remainingTime() < SHORT_MS
                        and timer is not self._timer
                    ):
                        return f"a timer of {type(timer.parent()).__name__}"
            return ""

        def _check(self) -> None:
            """Close dialogs, check the numbers against attnlab.compute, undo everything, and compare with the start."""
            if open_ := QApplication.activePopupWidget() or QApplication.activeModalWidget():
                self.note(f"at the end: close {type(open_).__name__}")
                open_.close()
                self._timer.start(0)
                return
            assert window.playground is not None
            faults.extend(find_differences(window))
            faults.extend(find_lost(window, log.with_name("saved.attnlab")))
            document = window.playground.document
            if not self._has_left_to_undo():
                if document.history.entries[0].opening == 0 and self._start is not None:
                    faults.extend(find_changed_tables(self._numbers, copy_tables(document.experiment)))
                self._finish()
                return
            self.note(f"at the end: undo {document.history.undo_label!r}")
            for _ in range(25):
                document.undo()
            self._timer.start(0)

        def _has_left_to_undo(self) -> bool:
            assert window.playground is not None
            return window.playground.document.history.undo_label is not None

        def _finish(self) -> None:
            self.ended = True
            _limit(0)
            for top in QApplication.topLevelWidgets():
                if top is not window and top.isVisible():
                    top.close()
            QTimer.singleShot(0, window, self._close)

        @Slot()
        def _close(self) -> None:
            self.note("close the window")
            window.close()
            QApplication.quit()

    return Driver()


def _limit(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def copy_tables(e: "Experiment") -> dict[str, Any]:
    """Return copies of the parts of an experiment, its tokens and every table, by name."""
    from attnlab.attention import edits

    tables: dict[str, Any] = {name: edits.array(e, name).copy() for name in edits.tables(e)}
    others = [(sample.tokens, sample.embeddings.tolist(), sample.length) for sample in e.others]
    return {**tables, "tokens": e.tokens, "memory tokens": e.memory_tokens, "others": others, "config": repr(e.config)}


def find_changed_tables(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the tables that undoing everything did not restore."""
    import numpy as np

    if before.keys() != now.keys():
        return [f"undoing everything left other tables: {sorted(before.keys() ^ now.keys())}"]
    return [
        f"undoing everything did not bring back {name}"
        for name, old in before.items()
        if not (np.array_equal(old, now[name], equal_nan=True) if isinstance(old, np.ndarray) else old == now[name])
    ]


def find_lost(window: "MainWindow", path: Path) -> list[str]:
    """Return the differences of the open and the pinned state after saving and loading."""
    from attnlab.files.sessions.session_file import Session, load_session, save_session

    playground = window.playground
    assert playground is not None
    pins = () if playground.comparison.pinned is None else (playground.comparison.pinned.experiment,)
    save_session(saved := Session(playground.document.experiment, {}, pins), path)
    read = load_session(path)
    pairs = zip((saved.experiment, *saved.pins), (read.experiment, *read.pins), strict=True)
    wrong = [text for one, other in pairs for text in find_changed_tables(copy_tables(one), copy_tables(other))]
    return [text.replace("undoing everything", "saving and reading") for text in wrong]


def find_differences(window: "MainWindow") -> list[str]:
    """Return the cards that show other numbers than the experiment's computation."""
    import numpy as np

    from attnlab.base.errors import AttnlabError
    from attnlab.compute.engine import compute

    playground = window.playground
    assert playground is not None
    scene, reply = playground.document.scene, playground.reply
    try:
        fresh = compute(scene.experiment, scene.device, scene.dtype)
        names = fresh.all_stages
    except AttnlabError:
        return []  # a sentence explains the error; the window still shows the last state
    if reply is None or reply.trace is None or reply.request.experiment is not scene.experiment:
        return ["the window shows another experiment than the document's"]
    wrong = [
        f"{name} of the window differs from a new computation"
        for name in names
        if not np.array_equal(reply.trace.array(name), fresh.array(name), equal_nan=True)
    ]
    view = playground.document.view
    revealed = names if view.step is None else names[: view.step]
    for name, card in playground.canvas.cards.items():
        if (
            card.data is None
            or name not in revealed
            or playground.document.view.look != "present"
            or not card.isVisible()
        ):
            continue
        numbers = fresh.array(name)
        if not fresh.stage(name).has_heads:
            numbers = numbers[None]
        elif view.head != "all":
            numbers = fresh.mean(name)[None] if view.head == "mean" else numbers[view.head : int(view.head) + 1]
        shown = card.data.values[..., : card.data.values.shape[-1] - card.data.aside]  # without the share of a sink
        if not np.array_equal(shown, numbers, equal_nan=True):
            wrong.append(f"the card of {name} shows other numbers than the computation")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
