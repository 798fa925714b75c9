"""Kills processes while they save: the file must then be the old one or the new one, complete and readable.

    python -m tools.kill_saves --kills 200
    python -m tools.kill_saves --kinds run,session --kills 60 --seed 7

Half of the kills come at a random time within the duration of a save, which is measured first; the others before a
certain step of it: before the first file is opened, before the second, before each is renamed, and so on. Needs a
system that can fork processes, so not Windows.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

MEASURED = 5
"""The number of saves that are timed before the kills; the longest time counts."""
STEPS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.truncate", "os.rmdir", "shutil.rmtree"})
"""The audit events that count as steps of a save; Python raises each before the system call."""


@dataclass(frozen=True, slots=True)
class Kind:
    """``save(which, folder)`` saves the state 0 or 1, ``read(folder)`` returns which of the two is there.

    ``read`` raises for any other state; an AttnlabError counts as a lost file.
    """

    save: Callable[[int, Path], None]
    read: Callable[[Path], int]


def main(argv: list[str] | None = None) -> int:
    """Do the chosen number of kills; return 1 if a save was lost or mixed."""
    kinds = _make_kinds()
    parser = argparse.ArgumentParser(prog="python -m tools.kill_saves", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="the seed of the times (default: random, printed)")
    parser.add_argument("--kills", type=int, default=200, help="how many processes are killed (default 200)")
    parser.add_argument("--kinds", default=",".join(kinds), help="kinds of saves, separated by commas (default: all)")
    options = parser.parse_args(argv)
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    chosen = options.kinds.split(",")
    if unknown := set(chosen) - kinds.keys():
        parser.error(f"there is no kind {', '.join(sorted(unknown))}; there are {', '.join(kinds)}")
    if not hasattr(os, "fork"):
        print("This system cannot fork processes, so nothing was run.")
        return 0
    faults = 0
    for number, name in enumerate(chosen):
        share = options.kills // len(chosen) + (number < options.kills % len(chosen))
        outcomes, said = kill_saves(kinds[name], share, random.Random(f"{seed}/{name}"))
        faults += len(said)
        for each in said[:5]:
            again = f"python -m tools.kill_saves --seed {seed} --kinds {name} --kills {share}"
            print(f"FAULT {name}: {each}\n  again: {again}")
        print(f"{name}: {share} kills, {dict(sorted(outcomes.items()))}", flush=True)
    print(f"{options.kills} kills of seed {seed}, {faults} faults")
    return 1 if faults else 0


def kill_saves(kind: Kind, kills: int, r: random.Random) -> tuple[Counter[str], list[str]]:
    """Kill a number of saves of one kind; return a count of the outcomes, and the faults."""
    from attnlab.base.errors import AttnlabError

    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="attnlab-kills-") as name:
        folder = Path(name)
        kind.save(0, folder)
        longest, steps = 0.0, 0
        for which in (1, 0) * MEASURED:
            begun = time.monotonic()
            _, counted = _save_and_kill(kind, which, folder, None, None)
            longest, steps = max(longest, time.monotonic() - begun), max(steps, counted)
        there = kind.read(folder)
        for number in range(kills):
            at_step = r.randrange(1, steps + 1) if number % 2 else None
            delay = None if at_step is not None else r.uniform(0, longest)
            ended, _ = _save_and_kill(kind, 1 - there, folder, at_step, delay)
            when = (
                f"step {at_step} of {steps}"
                if at_step is not None
                else f"{1e3 * (delay or 0):.2f} of {1e3 * longest:.2f} ms"
            )
            try:
                now = kind.read(folder)
            except AttnlabError as error:
                faults.append(f"kill {number} at {when}: the file cannot be read: {error}")
            except Exception as error:  # noqa: BLE001  # any error is a finding
                faults.append(f"kill {number} at {when}: {type(error).__name__}: {error}")
            else:
                outcomes["in time, " + ("new" if now != there else "old") if ended else "too late"] += 1
                there = now
                continue
            kind.save(there, folder)
    return outcomes, faults


def _save_and_kill(kind: Kind, which: int, folder: Path, at_step: int | None, delay: float | None) -> tuple[bool, int]:
    """Save in a forked process, killed before a step or after a delay; return whether it was killed, and its steps."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  # another process
        _run_child(kind, which, folder, at_step, writing)
    os.close(writing)
    os.read(reading, 1)  # the save starts now
    if delay is not None:
        until = time.monotonic() + delay
        while time.monotonic() < until:  # a sleep is too coarse for a save of a millisecond
            pass
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    said = b""
    while part := os.read(reading, 64):
        said += part
    os.close(reading)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError(f"saving itself failed with code {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status), int(said or b"0")


def _run_child(kind: Kind, which: int, folder: Path, at_step: int | None, writing: int) -> None:
    """Save, count the steps, and die before the given one."""
    counted, counting = 0, True

    def count(event: str, _: tuple[Any, ...]) -> None:
        nonlocal counted
        if counting and event in STEPS:
            counted += 1
            if counted == at_step:
                os.kill(os.getpid(), signal.SIGKILL)

    code = 1
    try:
        os.write(writing, b".")
        sys.addaudithook(count)
        kind.save(which, folder)
        counting = False
        os.write(writing, str(counted).encode())
        code = 0
    finally:
        os._exit(code)


# What is saved


def _make_kinds() -> dict[str, Kind]:
    """Return every kind of save, with all its modules loaded before the fork."""
    return {
        "session": _make_session_kind(),
        "run": _make_run_kind(),
        "settings": _make_settings_kind(),
        "lesson": _make_lesson_kind(),
        "exercise": _make_exercise_kind(),
        "table": _make_table_kind(),
        "unsaved": _make_unsaved_kind(),
    }


def _find_which(found: Any, states: tuple[Any, Any], is_same: Callable[[Any, Any], bool]) -> int:
    for which, state in enumerate(states):
        if is_same(found, state):
            return which
    raise ValueError("it is neither the old one nor the new one")


def _make_experiments() -> tuple[Any, Any]:
    import torch

    from attnlab.attention import edits
    from attnlab.attention.experiment import Experiment, Weights

    torch.set_num_threads(1)
    found = []
    for which in range(2):
        g = torch.Generator().manual_seed(which)
        W_q, W_k, W_v, W_o = (torch.randn(128, 128, generator=g) for _ in range(4))
        weights = Weights(W_q, W_k, W_v, W_o)
        found.append(Experiment(tuple("abcd"), torch.randn(4, 128, generator=g), weights))
    assert edits.tables(found[0])
    return found[0], found[1]


def _is_same(one: Any, other: Any) -> bool:
    """Whether two experiments have the same tokens and numbers."""
    import numpy as np

    from attnlab.attention import edits

    names = edits.tables(one)
    return bool(
        one.tokens == other.tokens
        and names == edits.tables(other)
        and all(np.array_equal(edits.array(one, name), edits.array(other, name)) for name in names)
    )


def _make_session_kind() -> Kind:
    from attnlab.files.sessions.session_file import Session, load_session, save_session

    states = _make_experiments()

    def save(which: int, folder: Path) -> None:
        save_session(Session(states[which], {"title": str(which)}, (states[1 - which],)), folder / "s.attnlab")

    def read(folder: Path) -> int:
        found = load_session(folder / "s.attnlab")
        which = _find_which(found.experiment, states, _is_same)
        if found.view["title"] != str(which) or not _is_same(found.pins[0], states[1 - which]):
            raise ValueError("its title and its pin are of the other save")
        return which

    return Kind(save, read)


def _make_unsaved_kind() -> Kind:
    """The unsaved work of a closing window: written beside the settings, then moved into the list of the last ten."""
    from attnlab.files.sessions.session_file import load_session
    from attnlab.files.sessions.unsaved import UnsavedFolder

    session = _make_session_kind()

    def save(which: int, folder: Path) -> None:
        session.save(which, folder)
        UnsavedFolder(folder).take(folder / "s.attnlab")

    def read(folder: Path) -> int:
        kept = UnsavedFolder(folder).list_all()
        for each in kept:
            load_session(each.path)
        if (folder / "s.attnlab").exists():
            return session.read(folder)
        return int(kept[0].title)

    return Kind(save, read)


def _make_run_kind() -> Kind:
    import numpy as np

    from attnlab.training import store
    from attnlab.training.marks import Mark
    from attnlab.training.messages import Checkpoint, Metric, Point, Progress, Started
    from attnlab.training.run import Run
    from attnlab.training.tasks import make_spec

    def make_state(which: int) -> Any:
        spec = make_spec("copy")
        run = Run(replace(spec, train=replace(spec.train, steps=100)), f"run {which}")
        run.take(Started(6, 6, "cpu"))
        steps = 3 + which
        for step in range(steps):
            weights = {"a": np.full((200, 200), step + 10 * which, np.float32)}
            metric = Metric(step, 1.5 + which, 0.25, 0.5)
            points = (Point(step - 1, 2.0 + which, 0.001),) if step else ()
            run.take(Progress(step, 0.5 * step, points, (metric,), weights, moment=True))
        run.take(Checkpoint(steps - 1, 1.0, {"model/a": np.full((200, 200), which, np.float32)}))
        run.mark(Mark(1, f"mark {which}"))
        return run.state()

    states = make_state(0), make_state(1)

    def is_same(one: Any, other: Any) -> bool:
        return _collect(one) == _collect(other)

    def save(which: int, folder: Path) -> None:
        store.save(states[which], folder / "run")

    def read(folder: Path) -> int:
        found = store.load(folder / "run")
        if store.read_summary(folder / "run").name != found.name:
            raise ValueError("the line in the table of runs is of the other save")
        return _find_which(found, states, is_same)

    return Kind(save, read)


def _collect(state: Any) -> tuple[Any, ...]:
    """Return everything that differs between two saves of a run."""
    moments = tuple((m.step, {name: a.tobytes() for name, a in m.weights.items()}) for m in state.moments)
    checkpoint = {name: a.tobytes() for name, a in state.checkpoint.state.items()}
    return state.name, state.step, state.curve.losses.tobytes(), moments, checkpoint, state.marks, state.metrics


def _make_settings_kind() -> Kind:
    from attnlab.document.settings import Settings, load_settings, save_settings

    states = Settings(theme="dark", recent=("/a" * 400,)), Settings(theme="light", recent=("/b" * 500,))

    def read(folder: Path) -> int:
        found, wrong = load_settings(folder / "settings.json")
        if wrong:
            raise ValueError(" ".join(wrong))
        return _find_which(found, states, lambda a, b: a == b)

    return Kind(lambda which, folder: save_settings(states[which], folder / "settings.json"), read)


def _make_lesson_kind() -> Kind:
    from attnlab.lessons.lesson import Lesson
    from attnlab.lessons.library import find
    from attnlab.lessons.parse import read as read_lesson
    from attnlab.ui.lessons.draft import Draft

    lessons = find("six-words"), find("heads")

    def save(which: int, folder: Path) -> None:
        Draft(lessons[which]).save(folder / "lesson.md")

    def read(folder: Path) -> int:
        found = read_lesson(folder / "lesson.md")
        if found.problems:
            raise ValueError(found.problems[0].reason)

        def list_texts(lesson: Lesson) -> tuple[str, list[tuple[str, str]]]:
            return lesson.title, [(step.title, step.text) for step in lesson.steps]

        return _find_which(list_texts(found), (list_texts(lessons[0]), list_texts(lessons[1])), lambda a, b: a == b)

    return Kind(save, read)


def _make_exercise_kind() -> Kind:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.lessons.exercise import Exercise, read_exercise, save_exercise

    first, second = _make_experiments()
    states = tuple(Exercise(e, (Cell("weights", 0, n, 0),), 0.01, f"Title {n}") for n, e in enumerate((first, second)))

    def is_same(one: Any, other: Any) -> bool:
        return (one.title, one.blanks) == (other.title, other.blanks) and _is_same(one.experiment, other.experiment)

    return Kind(
        lambda which, folder: save_exercise(states[which], folder / "e.json"),
        lambda folder: _find_which(read_exercise(folder / "e.json"), (states[0], states[1]), is_same),
    )


def _make_table_kind() -> Kind:
    """An export, by the function that writes every picture, table and script."""
    import torch

    from attnlab.attention.stages.trace import Trace
    from attnlab.files.atomic import write_bytes
    from attnlab.files.export.stage_tables import encode, table

    texts = []
    for e in _make_experiments():
        texts.append(encode(table(Trace(e, torch.device("cpu"), torch.float32), "queries"), ".csv") * 50)

    return Kind(
        lambda which, folder: write_bytes(folder / "out.csv", texts[which]),
        lambda folder: _find_which((folder / "out.csv").read_bytes(), (texts[0], texts[1]), lambda a, b: a == b),
    )


if __name__ == "__main__":
    sys.exit(main())
