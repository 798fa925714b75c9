"""Closing the window while two runs are side by side, in a separate process that must not crash."""

from pathlib import Path

import pytest

from attnlab.cli.main import main
from tests.nursery import run_python
from tests.test_cli_train import SMALL

PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from attnlab.base import fault_log
from attnlab.files.source import Source
from attnlab.ui.app import application as app

first, *others = map(Path, sys.argv[1:])

def steps(window):
    window.show_workspace("train")
    tools, inspection = window.trainer.tools, window.trainer.session.inspection
    tools.open_run(first)
    yield lambda: inspection.seen is not None
    for other in others:
        before = tools.comparing.second
        tools.runs.compare_requested.emit(other)
        yield lambda: (second := tools.comparing.second) not in (None, before) and second.seen is not None
    window.close()

def on_window(window):
    to_do, timer = steps(window), QTimer(window)
    waits_for = [lambda: True]

    def go_on():
        if faults := fault_log.take():
            print(faults[0].sentence, flush=True)
            window.close()
        elif waits_for[0]():
            waits_for[:] = [next(to_do, lambda: False)]

    timer.timeout.connect(go_on)
    window.ready.connect(lambda: timer.start(10))

code = app.run(Source(preset="journey"), on_window=on_window)
print("closed", flush=True)
sys.exit(app.end(code))
"""


@pytest.mark.slow
def test_a_second_run_replaces_another_and_the_window_closes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [str(tmp_path / f"run-{seed}") for seed in range(3)]
    for seed, run in enumerate(runs):
        assert main(["train", "copy", "--steps", "2", "--seed", str(seed), "-o", run, *SMALL]) == 0
    ended = run_python("-c", PROGRAM, *runs)
    assert (ended.returncode, ended.stdout) == (0, "closed\n"), ended.stderr
    assert "Traceback" not in ended.stderr
