"""Benchmark of the start: from process start to the first window and the first numbers, and the memory at rest."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

from attnlab.base.errors import AttnlabError
from attnlab.bench.measure import Case, make_case

RUNS = 7
IDLE_MS = 1500
"""How long the program is idle before its memory is read."""
PATIENCE_S = 300
BARE = "import torch, PySide6.QtWidgets, pyqtgraph"

_PRELUDE = """
import sys, time
def say(name, value):
    print(name, repr(value), flush=True)
"""
_MEMORY = """
from attnlab.bench.memory import measure_resident_mb
if sys.platform != "win32":
    say("memory", measure_resident_mb())
"""
_BARE = f"{_PRELUDE}{BARE}\nsay('imported', time.time())\n{_MEMORY}"
_PROGRAM = f"""{_PRELUDE}
from PySide6.QtCore import QObject, QTimer
import attnlab.cli.main
from attnlab.ui.app.application import run

class Watch(QObject):
    def __init__(self, window):
        super().__init__(window)
        self.window = window
        window.first_painted.connect(lambda: say("window", time.time()))
        window.ready.connect(self.on_ready)

    def on_ready(self):
        assert self.window.playground.canvas.cards["weights"].painted
        say("numbers", time.time())
        QTimer.singleShot({IDLE_MS}, self, self.on_rest)

    def on_rest(self):
        {indent(_MEMORY, " " * 8).strip()}
        self.window.close()

sys.exit(run(size=(1440, 900), on_window=Watch))
"""


def run_cases(quick: bool = False) -> Iterator[Case]:
    """Yield the times to the first window and the first numbers, and the memory, compared with bare imports.

    Raises:
        AttnlabError: a child process fails.
    """
    pairs = [(_run_child(_PROGRAM), _run_child(_BARE)) for _ in range(1 if quick else RUNS + 1)]
    pairs = pairs[1:] or pairs  # the first pair fills the system's file cache
    ours, bare = [mine for mine, _ in pairs], [other for _, other in pairs]
    imported = [each["imported"] for each in bare]
    window, numbers = ([each[name] for each in ours] for name in ("window", "numbers"))
    yield make_case("start", "first window painted", window, imported, "s", "ratio ≥ 1.67 (0.6 times as long)")
    yield make_case("start", "first numbers painted", numbers, imported, "s", "ratio ≥ 0.77 (1.3 times as long)")
    if "memory" not in bare[0]:
        return  # memory is not measured on Windows
    memory, bare_memory = ([each["memory"] for each in way] for way in (ours, bare))
    yield make_case("start", "memory at rest", memory, bare_memory, "MB", "ratio ≥ 0.77 (1.3 times as much)")


def _run_child(script: str) -> dict[str, float]:
    """Run a script in a separate process and return its output; times are seconds since the call."""
    with tempfile.TemporaryDirectory(prefix="attnlab-bench-") as folder:
        start = time.time()
        command = [sys.executable, "-c", script]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, env=_make_environment(folder), timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired:
            raise AttnlabError(f"The program did not start within {PATIENCE_S} s.") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AttnlabError(f"The program failed to start, with exit code {done.returncode}: {reason}")
    said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    return {name: float(text) - (0 if name == "memory" else start) for name, text in said.items()}


def _make_environment(folder: str) -> dict[str, str]:
    """Return this process's environment with separate settings, so that the user's window geometry is kept."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    own = {"PYTHONPATH": path, "ATTNLAB_CONFIG_DIR": folder, "XDG_CONFIG_HOME": folder}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **own}  # let Python use compiled files, as in normal use
