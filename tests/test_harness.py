"""Short runs of the harness: corrupted files, random events and kills pass, and planted faults are found."""

import os
import random
import signal
import subprocess
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests import nursery
from tests.nursery import run_python
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent
posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked and timed as POSIX does")

PLANTED = """
import sys
from tools import file_kinds, mutate_files
mutate_files.CPU_S = 0.5
bodies = iter({bodies})
file_kinds.KINDS["config"] = file_kinds.Kind(file_kinds.KINDS["config"].spoil, lambda folder: eval(next(bodies)))
sys.exit(mutate_files.main(["--child", "--seed", "1", "--from", "40", "--count", "{count}", "--kinds", "config"]))
"""


def planted(*bodies: str) -> str:
    """Return a program in which each reading of a corrupted file evaluates the next body."""
    return PLANTED.format(bodies=bodies, count=len(bodies))


CARELESS = """
from attnlab.base.errors import AttnlabError
class Careless(AttnlabError):
    def __str__(self):
        return "a" + chr(27) + "b"
"""


def ran(*command: str, folder: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder), **more}
    return run_python(*command, cwd=folder, env=environment)


@pytest.mark.slow
@pytest.mark.quick
def test_corrupted_files_of_every_kind_are_read_or_refused_in_a_sentence(tmp_path: Path) -> None:
    done = ran("-m", "tools.mutate_files", "--seed", "12", "--count", "160", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("160 files of seed 12, 0 faults")


WRONG = {
    "[][0]": "IndexError: 'list index out of range'",
    "__import__('os').system('true')": "os.system was called",
    "None": "",
    "open('/dev/full', 'w')": "'/dev/full' was opened to be written",
    "(_ for _ in ()).throw(Careless())": "contains control characters",
}
"""What a reader does, and the fault that is reported."""


@pytest.mark.slow
def test_an_error_of_a_reader_is_reported_with_the_case_number(tmp_path: Path) -> None:
    reports = ran("-c", CARELESS + planted(*WRONG), folder=tmp_path).stdout.split("\ncase ")
    for case, found in enumerate(WRONG.values(), 40):
        (said,) = [report for report in reports if f'"case": {case}, "fault"' in report] if found else [""]
        assert found in said
        assert bool(found) == any(f'"case": {case}, "fault"' in report for report in reports)


@pytest.mark.slow
@posix
def test_a_reader_that_hangs_is_killed_and_reported_with_its_place(tmp_path: Path) -> None:
    done = ran("-c", planted("[0 for _ in iter(int, 1)]"), folder=tmp_path)
    assert done.returncode == -signal.SIGPROF
    assert done.stdout.splitlines()[0] == 'case {"case": 40}'
    assert "<lambda>" in done.stdout


@pytest.mark.slow
@posix
def test_a_crash_is_reported_and_the_next_case_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools import mutate_files

    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "def hear(event, arguments):\n"
        "    if event == 'open' and str(arguments[0]).endswith('config.json') and os.environ.pop('CRASHES', ''):\n"
        "        os.abort()\n"
        "sys.addaudithook(hear)\n"
    )
    monkeypatch.setattr(mutate_files, "ROOT", f"{ROOT}{os.pathsep}{tmp_path}")
    monkeypatch.setenv("CRASHES", "once")
    faults = []
    for case, said in mutate_files.find_faults(1, 7, 3, ["config"]):
        faults.append((case, said.splitlines()[0]))
        monkeypatch.delenv("CRASHES", raising=False)
    assert faults == [(7, "config 7: the process ended with SIGABRT")]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_files(tmp_path: Path) -> None:
    from tools.file_kinds import KINDS
    from tools.mutants import make_random

    for kind in ("config", "settings", "block", "answers"):
        for case in range(20):
            for folder in ("one", "other"):
                (tmp_path / folder / kind / str(case)).mkdir(parents=True)
                KINDS[kind].spoil(make_random(3, case), tmp_path / folder / kind / str(case))
            for path in (tmp_path / "one" / kind / str(case)).iterdir():
                assert path.read_bytes() == (tmp_path / "other" / kind / str(case) / path.name).read_bytes()


@pytest.mark.slow
def test_random_events_pass_and_depend_only_on_the_seed(tmp_path: Path) -> None:
    from tools.random_events import find_failure

    logs = []
    for which in ("one", "other"):
        (cores := tmp_path / which).mkdir()
        assert find_failure(21, 30, False, cores, log=tmp_path / f"{which}.txt") == ""
        logs.append((tmp_path / f"{which}.txt").read_text())
    assert logs[0] == logs[1]
    assert len(logs[0].splitlines()) > 20


@pytest.mark.slow
def test_random_edits_pass(tmp_path: Path) -> None:
    done = ran("-m", "tools.random_edits", "--seed", "5", "--count", "500", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("500 edits of seed 5, 0 faults")


def test_edits_in_place_and_incomplete_saves_are_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from attnlab.files.sessions import session_file
    from tools import random_edits

    def in_place(e: Any, _: random.Random) -> Any:
        e.embeddings.untyped_storage().fill_(0)
        return e

    with monkeypatch.context() as changed:
        changed.setattr(random_edits, "EDITS", {"in place": in_place})
        assert random_edits.find_fault(5, 0).startswith("in place changed the state")
    monkeypatch.setattr(random_edits, "EDITS", {"biases": random_edits.EDITS["biases"]})
    read_arrays = session_file.read_arrays
    monkeypatch.setattr(session_file, "read_arrays", lambda packed: {n: -a for n, a in read_arrays(packed).items()})
    assert "is not what was saved" in random_edits.find_fault(5, 0)


@pytest.mark.slow
def test_an_error_in_a_slot_is_reported_with_the_last_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tools import random_events

    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "def plant(name, path=None, target=None):\n"
        "    if name == 'attnlab.ui.train.train_session':\n"
        "        from attnlab.ui.playground.playground import Playground\n"
        "        Playground.title = lambda self: [][0]\n"
        "class Finder:\n"
        "    find_spec = staticmethod(plant)\n"
        "sys.meta_path.insert(0, Finder)\n"
    )
    monkeypatch.setattr(random_events, "ROOT", f"{ROOT}{os.pathsep}{tmp_path}")
    said = random_events.find_failure(21, 60, False, tmp_path)
    assert "IndexError: list index out of range" in said
    assert said.startswith("seed 21: ")


@posix
def test_a_killed_save_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    kill = "main(['--seed', '3', '--kills', '30', '--kinds', '{}'])"
    both = " or ".join(map(kill.format, ("session,settings,lesson,exercise,table,unsaved", "run")))
    done = ran("-c", f"import sys; from tools.kill_saves import main; sys.exit({both})", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert sum(line == "30 kills of seed 3, 0 faults" for line in lines) == 2
    assert sum("in time" in line for line in lines) == 7


@pytest.mark.slow
@posix
def test_a_save_that_mixes_two_files_is_detected(tmp_path: Path) -> None:
    from tools.kill_saves import Kind, kill_saves

    def save(which: int, folder: Path) -> None:
        for name in ("a", "b"):
            (folder / name).write_text(str(which))

    def read(folder: Path) -> int:
        first, second = ((folder / name).read_text() for name in ("a", "b"))
        if first != second:
            raise ValueError("it is mixed")
        return int(first)

    _, faults = kill_saves(Kind(save, read), 20, random.Random(0))
    assert any("it is mixed" in fault for fault in faults)


@pytest.mark.slow
@pytest.mark.skipif(not nursery.AVAILABLE, reason="programs are forked on Linux only")
def test_an_interrupted_test_ends_its_forked_program(tmp_path: Path) -> None:
    told = tmp_path / "told"

    def interrupt(number: int, frame: FrameType | None) -> None:
        if os.path.lexists(told) and frame is not None and frame.f_code is nursery.Forked.wait.__code__:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_python(
                "-c", f"import os, time; os.symlink(str(os.getpid()), {str(told)!r}); time.sleep(600)", cwd=tmp_path
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not Path("/proc", os.readlink(told)).exists()


@posix
def test_a_forked_process_whose_keeper_is_gone_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"1\n")
    os.close(writing)
    with pytest.raises(ChildProcessError, match="has lost"):
        nursery.Forked(reading).wait(PATIENCE_S)
