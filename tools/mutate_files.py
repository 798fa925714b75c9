"""Corrupts files of every kind that attnlab opens and reads them: each must open or be refused in a sentence.

    python -m tools.mutate_files --count 2000
    python -m tools.mutate_files --minutes 10 --kinds session,lesson
    python -m tools.mutate_files --seed 7 --only 1234 --keep /tmp/case     one case again, its files kept

Each case depends only on the seed and its number. A separate process reads the files, with a limit of CPU time and
memory for each case. It is a fault if a case exceeds a limit, crashes, runs a program, or writes outside its folder; a
new process then continues with the next case. On Windows only wall-clock time is limited.
"""

import argparse
import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPU_S, CLOCK_S = 20.0, 300.0
"""The time limits of one case in seconds: CPU time, and wall-clock time in case it sleeps."""
MORE_BYTES = 1 << 30
"""The maximum increase of the process's peak memory by one case, in bytes."""
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "subprocess.Popen",
    "socket.connect",
    "pty.spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "shutil.rmtree",
    "ctypes.dlopen",
    "webbrowser.open",
)
ON_FILES = frozenset({"os.remove", "os.rename", "os.rmdir", "shutil.rmtree"})
"""The forbidden events that are allowed on temporary files."""
MOST_ALIKE = 3
"""How many faults with the same cause are printed."""
_REPORT = "case "


def main(argv: list[str] | None = None) -> int:
    """Run the chosen cases; return 1 if one is a fault."""
    from tools.file_kinds import KINDS

    parser = argparse.ArgumentParser(prog="python -m tools.mutate_files", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="the seed of the cases (default: random, printed)")
    parser.add_argument("--count", type=int, default=2000, help="how many cases (default 2000)")
    parser.add_argument("--minutes", type=float, help="run for this long, whatever the count")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of files, separated by commas (default: all)")
    parser.add_argument("--only", type=int, help="the number of one case to read again")
    parser.add_argument("--keep", type=Path, help="with --only: a folder for its files")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the first case (default 0)")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    kinds = options.kinds.split(",")
    if unknown := set(kinds) - KINDS.keys():
        parser.error(f"there is no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    seed = random.SystemRandom().randrange(1 << 31) if options.seed is None else options.seed
    if options.child:
        _read_cases(seed, options.first, options.count, kinds)
        return 0
    if options.only is not None:
        return _read_one(seed, options.only, kinds, options.keep)
    return run(seed, options.first, options.count, kinds, options.minutes)


def run(seed: int, first: int, count: int, kinds: list[str], minutes: float | None = None) -> int:
    """Read the cases of a seed in separate processes and print every fault; return 1 if there was one."""
    begun, done = time.monotonic(), 0
    seen: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    while done < count if minutes is None else time.monotonic() - begun < 60 * minutes:
        block = 500 if minutes is not None else min(500, count - done)
        for case, said in find_faults(seed, first + done, block, kinds):
            faults[alike := _find_cause(said)] += 1
            if faults[alike] <= MOST_ALIKE:
                again = f"python -m tools.mutate_files --seed {seed} --only {case} --kinds {','.join(kinds)}"
                print(f"FAULT {said}\n  again: {again}", flush=True)
        for case in range(first + done, first + done + block):
            seen[find_kind(seed, case, kinds)] += 1
        done += block
    each = ", ".join(f"{name} {n}" for name, n in sorted(seen.items()))
    how_many = f"{faults.total()} faults of {len(faults)} kinds"
    print(f"{done:,} files of seed {seed}, {how_many}, {time.monotonic() - begun:.0f} s ({each})", flush=True)
    return 1 if faults else 0


def _find_cause(said: str) -> str:
    """Return the cause of a fault, for counting: the last line of attnlab in the traceback, and the error."""
    lines = [line.strip() for line in said.splitlines()]
    places = [line for line in lines if "attnlab" in line and line.startswith("File ")]
    return f"{places[-1] if places else ''} {lines[0].split(':', 1)[-1][:30]}"


def find_kind(seed: int, case: int, kinds: list[str]) -> str:
    """Return the kind of a case."""
    return kinds[case % len(kinds)]


def find_faults(seed: int, first: int, count: int, kinds: list[str]) -> Iterator[tuple[int, str]]:
    """Read a block of cases; yield the number and text of each fault. A process that dies is replaced."""
    at, end = first, first + count
    while at < end:
        with tempfile.TemporaryDirectory(prefix="attnlab-mutants-") as place:
            case, ended, said = -1, "", []
            for line in _read_reports(seed, at, end - at, kinds, Path(place)):
                if line.startswith(_REPORT):
                    report = json.loads(line.removeprefix(_REPORT))
                    case = report["case"]
                    if report.get("fault"):
                        yield case, f"{find_kind(seed, case, kinds)} {case}: {report['fault']}"
                elif line.startswith("ended "):
                    ended = line.removeprefix("ended ")
                else:
                    said.append(line)
            if not ended:
                return
            case = max(case, at - 1) + 1 if case < 0 else case
            yield (
                case,
                f"{find_kind(seed, case, kinds)} {case}: the process ended with {ended}\n    "
                + "\n    ".join(said[-40:]),
            )
            at = case + 1


def _read_reports(seed: int, first: int, count: int, kinds: list[str], place: Path) -> Iterator[str]:
    """Yield the reports of a reading process; finally "ended HOW" if it died."""
    command = [sys.executable, "-m", "tools.mutate_files", "--child", "--seed", str(seed), "--from", str(first)]
    command += ["--count", str(count), "--kinds", ",".join(kinds)]
    said = place / "said"
    environment = {**os.environ, "TMPDIR": str(place), "ATTNLAB_CONFIG_DIR": str(place / "config"), "HOME": str(place)}
    environment["TZ"] = ("UTC", "America/New_York", "Asia/Tokyo")[first % 3]
    environment |= {"QT_QPA_PLATFORM": "offscreen", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with said.open("w") as out:
        child = subprocess.Popen(command, cwd=place, env=environment, stdout=out, stderr=subprocess.STDOUT)
    size, moved, how = -1, time.monotonic(), ""
    while child.poll() is None:
        try:
            child.wait(0.5)
        except subprocess.TimeoutExpired:
            if said.stat().st_size != size:
                size, moved = said.stat().st_size, time.monotonic()
            elif time.monotonic() - moved > CLOCK_S:
                how = f"nothing for {CLOCK_S:.0f} s: it hangs"
                child.kill()
                child.wait()
    yield from said.read_text("utf-8", "replace").splitlines()
    if child.returncode:
        yield f"ended {how or _describe_exit(child.returncode)}"


def _describe_exit(code: int) -> str:
    if code < 0 and -code == getattr(signal, "SIGPROF", 0):
        return f"{CPU_S:.0f} s of the processor used up"
    return signal.Signals(-code).name if code < 0 else f"code {code}"


# In the process that reads


def _read_cases(seed: int, first: int, count: int, kinds: list[str]) -> None:
    import torch  # noqa: F401  # loads libraries, which readers may not

    sys.dont_write_bytecode = True  # Python renames files when it keeps a compiled module; readers may not
    watch = _Watch()
    for case in range(first, first + count):
        print(f"{_REPORT}{json.dumps({'case': case})}", flush=True)
        if fault := read_case(seed, case, find_kind(seed, case, kinds), watch):
            print(f"{_REPORT}{json.dumps({'case': case, 'fault': fault})}", flush=True)


def _read_one(seed: int, case: int, kinds: list[str], keep: Path | None) -> int:
    if keep is not None:
        from tools.file_kinds import KINDS
        from tools.mutants import make_random

        keep.mkdir(parents=True, exist_ok=True)
        KINDS[find_kind(seed, case, kinds)].spoil(make_random(seed, case), keep)
        print(f"The files are in {keep}.")
    found = list(find_faults(seed, case, 1, kinds))
    print("\n".join(said for _, said in found) or f"{find_kind(seed, case, kinds)} {case}: no fault.")
    return 1 if found else 0


def read_case(seed: int, case: int, kind: str, watch: "_Watch") -> str:
    """Create the files of a case and read them; return the fault, or ""."""
    from attnlab.base.errors import AttnlabError
    from tools.file_kinds import KINDS
    from tools.mutants import make_random
    from tools.safe_reading import check_sentence

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "case"
        folder.mkdir()
        KINDS[kind].spoil(make_random(seed, case), folder)
        watch.begin(folder)
        fault = ""
        try:
            try:
                KINDS[kind].read(folder)
            except AttnlabError as error:
                check_sentence(error)
        except BaseException as error:  # noqa: BLE001  # any error is a finding
            where = "".join(traceback.format_exception(error)[-6:]).strip()
            fault = f"{type(error).__name__}: {str(error)[:300]!r}\n    " + where[-2500:].replace("\n", "\n    ")
        return fault or watch.end()


class _Watch:
    """Ends the process when a case takes too long, and records what it does besides reading."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._reading: Path | None = None
        self._most = 0
        self._temporary = os.path.realpath(tempfile.gettempdir())
        sys.addaudithook(self._hear)
        if hasattr(signal, "setitimer"):
            faulthandler.register(signal.SIGPROF, file=sys.stdout, all_threads=False, chain=True)

    def begin(self, folder: Path) -> None:
        """Begin a case."""
        self._done = []
        self._reading, self._most = folder, _measure_peak_memory()
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, CPU_S)

    def end(self) -> str:
        """End a case; return what it did besides reading, or ""."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)
        self._reading = None
        more = _measure_peak_memory() - self._most
        done = [*self._done, *([f"it took {more >> 20} MiB of memory"] if more > MORE_BYTES else [])]
        return "; ".join(dict.fromkeys(done))

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self._reading is None:
            return
        if event in FORBIDDEN and not (event in ON_FILES and self._is_ours(arguments)):
            self._done.append(f"{event} was called with {ascii(arguments)[:200]}")
        elif event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
            self._done += (
                [] if self._is_ours(arguments[:1]) else [f"{ascii(arguments[0])[:200]} was opened to be written"]
            )

    def _is_ours(self, arguments: tuple[object, ...]) -> bool:
        """Whether a path is in the folder of temporary files, which readers may use."""
        first = arguments[0] if arguments else None
        if isinstance(first, bytes | str | os.PathLike):
            return os.path.realpath(os.fsdecode(first)).startswith(self._temporary) or os.fsdecode(first) == os.devnull
        return isinstance(first, int)


def _measure_peak_memory() -> int:
    """Return the peak memory of this process in bytes; 0 if the system does not report it."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10


if __name__ == "__main__":
    sys.exit(main())
