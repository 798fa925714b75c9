"""A file passed by the operating system opens in the window of the real program."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.document.saved_view import KEY
from attnlab.files.sessions.session_file import Session, save_session
from tests.nursery import run_python

PROGRAM = """
import sys
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from attnlab.ui.app.application import run

def on_window(window):
    send = lambda: QApplication.sendEvent(QApplication.instance(), QFileOpenEvent(sys.argv[2]))
    if sys.argv[1] == "early":  # as at a start by a double click, before anything is loaded
        send()
    else:
        window.ready.connect(send)
    window.ready.connect(lambda: window.playground.computed.connect(lambda _: told(window)))

def told(window):
    playground = window.playground
    if playground.document.path is not None:
        print(*playground.document.experiment.tokens, "|", window.windowTitle(), "|", playground.step_bar.message)
        window.close()

sys.exit(run(on_window=on_window))
"""


def told(when: str, path: Path) -> str:
    done = run_python("-c", PROGRAM, when, path)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_file_opened_from_the_desktop_is_shown_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "found.attnlab"
    attnlab.save(Experiment(("from", "finder"), [[1.0], [2.0]]), path)
    for when in ("early", "late"):
        assert told(when, path) == "from finder | found — attnlab |"


@pytest.mark.slow
def test_a_screenshot_waits_for_the_pinned_state(tmp_path: Path) -> None:
    e = attnlab.preset("journey")
    pictures = []
    for look in ("present", "difference"):
        shown = {"look": look, "pinned": {"device": "cpu", "dtype": "float32"}}
        save_session(Session(edits.configure(e, causal=True), {KEY: shown}, (e,)), tmp_path / "pinned.attnlab")
        files = [str(tmp_path / name) for name in ("pinned.attnlab", "shot.png")]
        run_python("-m", "attnlab", files[0], "--screenshot", files[1]).check_returncode()
        with Image.open(tmp_path / "shot.png") as picture:
            pictures.append(np.asarray(picture.crop((380, 150, 1120, 820)).convert("RGB")).astype(int))
    assert (abs(pictures[0] - pictures[1]).max(axis=2) > 32).mean() > 0.02  # of the canvas


@pytest.mark.slow
def test_a_screenshot_of_weights_shows_the_dialog_with_its_preview(tmp_path: Path) -> None:
    np.savez(tmp_path / "own.npz", W_q=np.eye(3), W_k=np.eye(3), W_v=np.eye(3))
    files = [str(tmp_path / name) for name in ("own.npz", "shot.png")]
    run_python("-m", "attnlab", files[0], "--screenshot", files[1], "--size", "1440x900").check_returncode()
    with Image.open(tmp_path / "shot.png") as picture:
        shown = picture.convert("RGB")
    assert len(shown.crop((800, 400, 1200, 700)).getcolors()) == 1  # the dialog, not the canvas, whose maps are here
    red, _, blue = np.moveaxis(np.asarray(shown.crop((680, 160, 960, 300)), int), -1, 0)
    assert (red - blue > 80).sum() > 800  # the diagonals of three matrices
