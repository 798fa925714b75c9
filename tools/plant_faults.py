"""Plants faults one at a time into a copy of the tree, and counts how many the tests detect.

    python tools/plant_faults.py                        all of tools/faults/*.toml
    python tools/plant_faults.py --only lessons -v      one list, with the test that detected each fault
    python tools/plant_faults.py --seed 7 --count 20    a sample

A fault is a mistake that a programmer could make: an exact text in a file, its replacement, and the tests that should
fail. The selection of ``make test`` runs first, then all of these tests if none failed. A test that detects a fault
must pass on the clean copy; otherwise the fault is broken, not caught. The checkout itself is never changed.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "tools" / "faults"
LIMIT_S = 120.0
"""The time limit of one test; a fault that makes a test hang is caught too."""
START = "fork" if sys.platform == "linux" else "spawn"
"""How test processes start; forks have torch and Qt loaded already."""
_CLEAN = ("__pycache__", ".venv", ".git")
_ENVIRON = {"QT_QPA_PLATFORM": "offscreen", "OMP_WAIT_POLICY": "PASSIVE", "ATTNLAB_TESTS_PATIENCE_S": "30", "CI": "1"}


@dataclass(frozen=True)
class Fault:
    """One small edit: in ``file`` the text ``find``, which occurs once, becomes ``put``; ``tests`` should fail."""

    room: str
    name: str
    file: str
    find: str
    put: str
    tests: tuple[str, ...]


@dataclass
class Outcome:
    """The result of a fault: "caught", "survived", or "broken" with the reason."""

    fault: Fault
    result: str
    said: str = ""
    seconds: float = field(default=0.0, compare=False)


def read_faults() -> tuple[Fault, ...]:
    """Return all faults, room by room.

    Raises:
        TypeError, KeyError: a list has a key too many or lacks one.
    """
    found = []
    for path in sorted(LISTS.glob("*.toml")):
        with path.open("rb") as file:
            for each in tomllib.load(file)["fault"]:
                tests = (each.pop("tests"),) if isinstance(each["tests"], str) else tuple(each.pop("tests"))
                found.append(Fault(path.stem, tests=tests, **each))
    return tuple(found)


def find_problem(fault: Fault, root: Path = ROOT) -> str:
    """Return what is wrong with an entry of the list; "" if it can be planted."""
    path = root / fault.file
    if not path.is_file():
        return f"there is no file {fault.file}"
    text = path.read_text(encoding="utf-8")
    if (count := text.count(fault.find)) != 1:
        return f"{fault.file} has its text {count} times"
    if fault.put == fault.find:
        return "it changes nothing"
    try:
        compile(text.replace(fault.find, fault.put), fault.file, "exec")
    except SyntaxError as error:
        return f"planted, {fault.file} is no Python: {error.msg}"
    for test in fault.tests:
        file, _, function = test.partition("::")
        here = root / file
        if not here.exists():
            return f"there is no test file {file}"
        name = function.partition("[")[0].rpartition("::")[2]
        if name and f"def {name}(" not in here.read_text(encoding="utf-8"):
            return f"{file} has no test {name}"
    return ""


def copy_tree(to: Path) -> None:
    """Copy tracked and new files that git does not ignore; from a tree without git, all but build products."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listed.returncode:
        shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*_CLEAN), dirs_exist_ok=True)
        return
    for name in filter(None, listed.stdout.decode("utf-8", "surrogateescape").split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


class _Failures:
    """Notes which tests failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Turn off shrinking in Hypothesis, which would take long; any failing example will do."""
        from hypothesis import Phase, settings

        settings.register_profile("faults", settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("faults")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def _run_tests(root: str, tests: Sequence[str], options: Sequence[str], answer: str) -> None:
    """Run tests in this separate process, and write the exit code and the failures to a file."""
    os.environ["PYTHONPATH"] = root
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True  # a planted file may have the size and time of the clean one
    os.chdir(root)
    sys.path.insert(0, root)
    with open(os.devnull, "w") as nowhere, open(f"{answer}.log", "w") as log:
        os.dup2(nowhere.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        import pytest

        notes = _Failures()
        arguments = ["-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--no-header", "--tb=line"]
        code = pytest.main([*arguments, *options, *tests], plugins=[notes])
        Path(answer).write_text(json.dumps([int(code), notes.failed]), encoding="utf-8")
        sys.stdout.flush()
        os._exit(0)  # skips the clean-up of Qt and torch


def run_tests(
    root: Path, tests: Sequence[str], limit_s: float, options: Sequence[str] = ()
) -> tuple[int | None, list[str], str]:
    """Run tests of a tree. Return pytest's exit code (None: crashed or hung), those that failed, the last lines."""
    with tempfile.TemporaryDirectory(prefix="attnlab-fault-") as folder:
        answer = str(Path(folder) / "answer")
        arguments = (str(root), tuple(tests), tuple(options), answer)
        context: Any = multiprocessing.get_context(START)  # a plain context has no Process for the type checker
        child = context.Process(target=_run_tests, args=arguments, daemon=False)
        child.start()
        log, length, hung = Path(f"{answer}.log"), -1, False
        child.join(limit_s)
        while child.is_alive() and not hung:  # each finished test adds a dot to the log, so the limit is per test
            now = log.stat().st_size if log.exists() else 0
            hung, length = now == length, now
            child.kill() if hung else child.join(limit_s)
        child.join()
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
        if not Path(answer).exists():
            how = "it hung" if hung else f"the process ended with {child.exitcode}"
            return None, [], f"{how}; {' '.join(lines[-1:])}"
        code, failed = json.loads(Path(answer).read_text(encoding="utf-8"))
        return code, failed, "\n".join(lines[-5:])


def _preload() -> None:
    """Import large libraries once for all tests, which run in forks (except hypothesis, which pytest rewrites)."""
    for name in ("torch", "numpy", "pytest", "PySide6.QtWidgets", "PySide6.QtTest", "safetensors.torch"):
        with contextlib.suppress(ImportError):
            __import__(name)


def plant(fault: Fault, root: Path, limit_s: float, whole: bool = True) -> Outcome:
    """Plant one fault into a tree, run its tests, and remove it; ``whole`` includes those that make test leaves out."""
    path, begun = root / fault.file, time.monotonic()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(fault.find, fault.put), encoding="utf-8")
    try:
        quick = (root / "tests" / "quick.py").is_file()
        code, failed, said = run_tests(root, fault.tests, limit_s, ("-x", "--quick")) if quick else (0, [], "")
        if code in (0, 5) and (whole or not quick):
            code, failed, said = run_tests(root, fault.tests, limit_s, ("-x",))
    finally:
        path.write_text(text, encoding="utf-8")
    seconds = time.monotonic() - begun
    if code == 4 or (code == 5 and whole):
        return Outcome(fault, "broken", f"its tests are not found: {said}", seconds)
    if code in (0, 5):
        return Outcome(fault, "survived", "", seconds)
    return Outcome(fault, "caught", failed[0] if failed else said, seconds)


def confirm(outcomes: Sequence[Outcome], root: Path) -> None:
    """Run the tests that failed on the clean tree; those that also fail there have detected nothing."""
    seen: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.result == "caught":
            test = outcome.said if "::" in outcome.said.partition(" ")[0] else ""
            for each in [test] if test else outcome.fault.tests:  # a crash or a hang names no test
                seen.setdefault(each, []).append(outcome)
    files: dict[str, list[str]] = {}
    for test in seen:
        files.setdefault(test.partition("::")[0], []).append(test)
    for tests in files.values():
        code, failed, said = run_tests(root, tests, LIMIT_S * 4)
        for test in tests if code else ():
            if code != 1 or any(each == test or each.startswith(f"{test}::") for each in failed):
                for outcome in seen[test]:
                    outcome.result, outcome.said = "broken", f"{test} fails on the clean tree too: {said[-200:]}"


def work(chosen: Sequence[Fault], told: argparse.Namespace) -> list[Outcome]:
    """Plant the chosen faults in several copies of the tree, except broken ones."""
    outcomes = [Outcome(fault, "broken", why) for fault in chosen if (why := find_problem(fault))]
    chosen = [fault for fault in chosen if not find_problem(fault)]
    with tempfile.TemporaryDirectory(prefix="attnlab-faults-") as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(told.jobs):
            (tree := Path(folder) / str(number)).mkdir()
            copy_tree(tree)
            trees.put(tree)

        def plant_one(fault: Fault) -> Outcome:
            tree = trees.get()
            try:
                outcome = plant(fault, tree, told.limit, whole=not told.quick)
            finally:
                trees.put(tree)
            if told.verbose or outcome.result != "caught":
                line = f"{outcome.result:9} {fault.room}: {fault.name}"
                print(f"{line}  ({outcome.seconds:.0f} s) {outcome.said.strip()}", flush=True)
            return outcome

        with ThreadPoolExecutor(told.jobs) as pool:
            outcomes += pool.map(plant_one, chosen)
        if not told.trust:
            confirm(outcomes, trees.get())
    return outcomes


def report(outcomes: Sequence[Outcome]) -> str:
    """Return the score of each list, and the names of all faults that were not caught."""
    lines = []
    for room in dict.fromkeys(outcome.fault.room for outcome in sorted(outcomes, key=lambda each: each.fault.room)):
        mine = [outcome for outcome in outcomes if outcome.fault.room == room and outcome.result != "broken"]
        lines.append(f"{room:12} {sum(each.result == 'caught' for each in mine):4} of {len(mine)}")
    planted = [outcome for outcome in outcomes if outcome.result != "broken"]
    caught = sum(outcome.result == "caught" for outcome in planted)
    lines.append(f"{'all':12} {caught:4} of {len(planted)}, {100 * caught / max(len(planted), 1):.1f} % caught")
    for result in ("survived", "broken"):
        for outcome in outcomes:
            if outcome.result == result:
                where = f"{outcome.fault.room}: {outcome.fault.name} ({outcome.fault.file})"
                lines.append(f"{result}: {where}" + f": {outcome.said.strip()}" * (result == "broken"))
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 when every fault was caught, else 1."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", default=[], metavar="ROOM", help="a list of tools/faults, or a name")
    parser.add_argument("--seed", type=int, default=None, help="plant in another order")
    parser.add_argument("--count", type=int, default=None, help="plant only this many")
    parser.add_argument("--jobs", type=int, default=1, help="how many copies of the tree work at once")
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT_S,
        metavar="SECONDS",
        help=f"the time limit of one test (default {LIMIT_S:.0f})",
    )
    parser.add_argument("--trust", action="store_true", help="do not repeat the failed tests on the clean copy")
    parser.add_argument("--quick", action="store_true", help="run only the tests of make test, which detect less")
    parser.add_argument("--list", action="store_true", help="check the list and print it, and plant nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the test that caught each fault")
    told = parser.parse_args(arguments)
    chosen = [each for each in read_faults() if not told.only or any(o in (each.room, each.name) for o in told.only)]
    if told.seed is not None:
        random.Random(told.seed).shuffle(chosen)
    chosen = chosen[: told.count]
    if told.list:
        for fault in chosen:
            print(f"{fault.room}: {fault.name}: {find_problem(fault) or 'can be planted'}")
        return int(any(map(find_problem, chosen)))
    os.environ.update({name: os.environ.get(name, value) for name, value in _ENVIRON.items()})
    _preload()
    outcomes = work(chosen, told)
    print(report(outcomes))
    return int(any(outcome.result != "caught" for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
