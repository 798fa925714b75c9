"""Runs the tests repeatedly in random order, with several thread counts, kernels and busy loops; lists what failed.

    python -m tools.torture                        twelve full runs, then 10^5 files, 10^5 events, 10^3 kills, all sizes
    python -m tools.torture --runs 20 --only tests --paths tests/ui --minutes 60
    python -m tools.torture --seed 7 --runs 3      the same orders and examples again
    python -m tools.torture --again                print the table of the runs so far, and run nothing

Each run of the tests has its own seed, for the order of the tests and for Hypothesis; the table lists the seed and, for
a run that failed, the command that repeats it. Each run is written to --log when it ends, so an interrupted torture
resumes from there; --fresh starts again from nothing.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import cycle
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
_OLD = "COMPATIBLE"
SETTINGS = (
    *((1, "", 0), (2, "", 2), (4, "", 0), (1, _OLD, 2), (2, _OLD, 0), (4, _OLD, 0)),
    *((1, "", 0), (2, "", 0), (4, "", 2), (1, _OLD, 0), (2, _OLD, 2), (4, _OLD, 0)),
)
"""The settings of the runs, in turn: OMP_NUM_THREADS, MKL_CBWR, and the number of busy loops beside them."""
PARTS = {
    "files": ["tools.mutate_files", "--count", "100000"],
    "events": ["tools.random_events", "--runs", "143", "--events", "700"],
    "kills": ["tools.kill_saves", "--kills", "1000"],
    "sizes": ["tools.resize_windows"],
}
_BUSY_LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(1_000_000))"


@dataclass(frozen=True)
class Done:
    """A run that has ended: its settings, its outcome and the failures."""

    name: str
    seed: int
    setting: str
    command: str
    minutes: float
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    code: int = 0

    @property
    def well(self) -> bool:
        return self.code == 0 and not self.failed


def main(argv: list[str] | None = None) -> int:
    """Run the chosen parts; return 1 if something failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.torture", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=12, help="how many runs of the tests (default 12)")
    parser.add_argument("--minutes", type=float, help="start no further run after this time")
    parser.add_argument("--seed", type=int, help="the seed of all random choices (default: random, printed)")
    parser.add_argument("--paths", nargs="+", default=["tests"], help="which tests (default: all)")
    parser.add_argument("--quick", action="store_true", help="run the tests of make test, not every test")
    parser.add_argument(
        "--only", default="tests,files,events,kills,sizes", help="which of tests, files, events, kills, sizes"
    )
    parser.add_argument("--workers", default="auto", help="processes for one run of the tests (default auto)")
    parser.add_argument(
        "--log", type=Path, default=ROOT / "build" / "torture.jsonl", help="the file that records the runs"
    )
    parser.add_argument("--fresh", action="store_true", help="delete the log first")
    parser.add_argument("--again", action="store_true", help="print the table of the runs so far, and run nothing")
    options = parser.parse_args(argv)
    if options.fresh:
        options.log.unlink(missing_ok=True)
    log = _read(options.log)
    if not options.again:
        seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
        print(f"seed {seed}; log {options.log}", flush=True)
        late = time.monotonic() + 60 * options.minutes if options.minutes is not None else float("inf")
        try:
            for done in _run_all(options, seed, {done.name for done in log}, late):
                log.append(done)
                _write(options.log, done)
                print(_make_line(done), flush=True)
        except KeyboardInterrupt:
            print("Interrupted; the same command resumes from here.")
    print(make_table(log))
    return int(not log or not all(done.well for done in log))


def make_table(log: list[Done]) -> str:
    """Return a line for each run, and the commands that repeat those that failed."""
    lines = ["", f"{'run':<12} {'seed':>10}  {'setting':<52} {'minutes':>7} {'passed':>7} {'failed':>6}"]
    lines += [_make_line(done) for done in log]
    tests = [done for done in log if done.name.startswith("tests")]
    well = sum(done.well for done in log)
    lines.append(
        f"{well} of {len(log)} runs succeeded; {len(tests)} were runs of the tests, "
        f"{sum('busy' in done.setting for done in tests)} beside busy loops."
    )
    for done in log:
        if not done.well:
            lines += ["", f"{done.name}: {done.command}", *(f"  {name}" for name in done.failed)]
    return "\n".join(lines)


def _make_line(done: Done) -> str:
    failed = len(done.failed) or ("-" if done.well else f"rc {done.code}")
    return f"{done.name:<12} {done.seed:>10}  {done.setting:<52} {done.minutes:>7.1f} {done.passed:>7} {failed:>6}"


def _run_all(options: argparse.Namespace, seed: int, there: set[str], late: float) -> Iterator[Done]:
    parts = options.only.split(",")
    numbers = range(1, options.runs + 1) if "tests" in parts else ()
    for number, (threads, kernels, busy) in zip(numbers, cycle(SETTINGS), strict=False):
        name = f"tests {number}"
        if name not in there and time.monotonic() < late:
            yield _run_tests(options, name, (seed + number) % (1 << 31), threads, kernels, busy)
    for name, command in PARTS.items():
        if name in parts and name not in there and time.monotonic() < late:
            yield _run_part(name, [sys.executable, "-m", *command, "--seed", str(seed)], seed)


def _run_tests(options: argparse.Namespace, name: str, seed: int, threads: int, kernels: str, busy: int) -> Done:
    report = options.log.with_suffix(f".{name.replace(' ', '-')}.xml")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    setting = {"OMP_NUM_THREADS": str(threads)} | ({"MKL_CBWR": kernels} if kernels else {})
    extra = setting | {"QT_QPA_PLATFORM": "offscreen"}
    command = ["-m", "pytest", "-n", options.workers, "--dist", "worksteal", "--random-order-bucket=global"]
    command += [f"--random-order-seed={seed}", f"--hypothesis-seed={seed}", *(["--quick"] if options.quick else [])]
    command += options.paths
    kept = {key: value for key, value in os.environ.items() if key not in ("CI", "MKL_CBWR")}  # CI fixes Hypothesis
    begun = time.monotonic()
    with _run_busy_loops(busy), report.with_suffix(".txt").open("w", encoding="utf-8") as told:
        code = subprocess.run(
            [sys.executable, *command, f"--junitxml={report}"], cwd=ROOT, env=kept | extra, stdout=told, stderr=told
        ).returncode
    passed, failed = _read_counts(report)
    again = " ".join([*(f"{key}={value}" for key, value in extra.items()), "python", *command])
    in_words = " ".join(f"{key}={value}" for key, value in setting.items()) + f", {busy} busy loops" * bool(busy)
    return Done(name, seed, in_words, again, (time.monotonic() - begun) / 60, passed, failed, code)


def _read_counts(report: Path) -> tuple[int, list[str]]:
    """Return the number of tests passed and the names of those that failed, from a pytest report."""
    if not report.exists():
        return 0, ["no report: see the text beside it"]
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    bad = [f"{each.get('classname')}::{each.get('name')}" for each in cases if _has(each, "failure", "error")]
    return sum(not _has(each, "failure", "error", "skipped") for each in cases), bad


def _has(case: ElementTree.Element, *tags: str) -> bool:
    return any(case.find(tag) is not None for tag in tags)


def _run_part(name: str, command: list[str], seed: int) -> Done:
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = (done.stdout + done.stderr).splitlines()
    failed = [line for line in said if line.startswith("FAULT")]
    setting = said[-1][:52] if said else ""
    return Done(name, seed, setting, " ".join(command[1:]), (time.monotonic() - begun) / 60, 0, failed, done.returncode)


@contextmanager
def _run_busy_loops(count: int) -> Iterator[None]:
    """Keep processors busy beside the tests; the loops end with this process, however it ends."""
    loops = [subprocess.Popen([sys.executable, "-c", _BUSY_LOOP]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _read(log: Path) -> list[Done]:
    if not log.exists():
        return []
    return [Done(**json.loads(line)) for line in log.read_text(encoding="utf-8").splitlines()]


def _write(log: Path, done: Done) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(done)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
