"""Closing the window does not wait for jobs, and the process ends, but running saves are completed."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attnlab
from tests.patience import PATIENCE_S

SOURCE = Path(attnlab.__file__).parent
MAKERS = {
    "Thread",
    "Timer",
    "ThreadPoolExecutor",
    "ThreadPool",
    "QThread",
    "QRunnable",
    "QThreadPool",
    "start_new_thread",
}
OWN_LOOPS = {
    "ui/base/lane.py",  # the road
    "compute/service.py",  # the compute thread
    "training/process.py",  # who listens to the training process, and who ends it
    "training/pipe.py",
    "bench/train.py",  # saves beside a training, to measure what that costs
}

PROGRAM = """
import sys, threading
from pathlib import Path
from attnlab.files.source import Source
from attnlab.ui.app import application as app
from attnlab.ui.base import jobs
from attnlab.ui.playground import saver

{setting}

def on_window(window):
    window.ready.connect(lambda: act(window))

def act(window):
    {act}
    window.close()

code = app.run(Source(preset="journey"), on_window=on_window)
print("closed", flush=True)
sys.exit(app.end(code))
"""


def left(setting: str, act: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program until its window, and then its process, is closed."""
    return _run(PROGRAM.format(setting=setting, act=act), *arguments)


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.slow
def test_a_hanging_job_does_not_keep_window_or_process_alive() -> None:
    hang = "jobs.run(threading.Event().wait, on_done=print, on_failed=print, doing='hanging', lane={lane})"
    lanes = ("window.playground.lane", "None")
    act = "\n    ".join(hang.format(lane=lane) for lane in lanes)
    answer = left("jobs.END_S = jobs.SAVE_S = 0.1", act)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "closed\n", "")


@pytest.mark.slow
def test_a_hanging_computation_does_not_keep_window_or_process_alive() -> None:
    setting = "\n".join(
        (
            "from attnlab.compute import service",
            "jobs.END_S = 0.1",
            "real, stuck = service.answer, threading.Event()",
            "def answer(request, stopped): return real(request, stopped) if request.id == 1 else stuck.wait()",
            "service.answer = answer",
        )
    )
    answer = left(setting, "window.playground.toggle_causal()")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "closed\n", "")


@pytest.mark.slow
def test_a_running_save_is_completed_after_the_window_closed(tmp_path: Path) -> None:
    setting = "\n".join(
        (
            "saver.LEAVE_S, jobs.END_S = 0.0, 0.1",
            "real, closed = saver.save_session, threading.Event()",
            "def slow(*given): closed.wait(); return real(*given)",
            "saver.save_session = slow",
            "leave = jobs.leave",
            "jobs.leave = lambda: (closed.set(), leave())[1]",
        )
    )
    answer = left(setting, "window.playground.files.save_to(Path(sys.argv[1]))", str(tmp_path / "mine.attnlab"))
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "closed\n", "")
    assert attnlab.load(tmp_path / "mine.attnlab").tokens == attnlab.preset("journey").tokens


@pytest.mark.slow
def test_a_bench_waits_for_the_jobs_of_its_window() -> None:
    code = """
import time, torch
from attnlab.bench.window import open_window
from attnlab.ui.base import jobs

def compute():
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        torch.ones(300, 300) @ torch.ones(300, 300)

with open_window():
    jobs.run(compute, on_done=print, on_failed=print, doing="computing")
print("closed")
"""
    answer = _run(code)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "closed\n", "")


@pytest.mark.slow
def test_threads_are_created_only_in_known_places() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Call) and _name(node.func) in MAKERS)
        or (isinstance(node, ast.ClassDef) and any(_name(base) in MAKERS for base in node.bases))
        or (isinstance(node, ast.ImportFrom) and node.module == "concurrent.futures")
    }
    assert found == OWN_LOOPS


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
