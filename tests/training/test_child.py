"""The training process does not load the window, and starting it does not load torch."""

import os
import subprocess
import sys
from pathlib import Path

import attnlab
from tests.patience import PATIENCE_S

ROOT = Path(attnlab.__file__).parents[1]


def loaded(line: str) -> set[str]:
    """Return the modules that a line of Python loads in a separate process."""
    command = [sys.executable, "-c", f"{line}\nimport sys\nprint(*sys.modules)"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return set(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split())


def test_the_training_process_does_not_load_qt() -> None:
    names = loaded("from attnlab.training import child, trainer")
    assert "torch" in names
    assert not {name for name in names if name.startswith(("PySide6", "attnlab.ui", "matplotlib", "pyqtgraph"))}


def test_a_process_whose_pipe_is_closed_ends() -> None:
    code = (
        "from multiprocessing.connection import Pipe\n"
        "from attnlab.training.pipe import Outbox\n"
        "ours, theirs = Pipe()\n"
        "outbox = Outbox(theirs)\n"
        "outbox.post(lambda: 'no message')\n"  # cannot be made bytes of
        "outbox.drain()\n"
        "print('it went on')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (1, b"")


def test_starting_the_process_does_not_load_torch() -> None:
    assert "torch" not in loaded("from attnlab.training import process, run, store, recorder, marks")
