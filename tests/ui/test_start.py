"""The start: the window appears before torch is loaded, opens an example, and reports files that fail."""

import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from tests.patience import PATIENCE_S
from tests.ui.explained import read_explained

if TYPE_CHECKING:
    from attnlab.document.first import First
    from attnlab.ui.playground.playground import Playground
    from tests.ui.conftest import Person

PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication, QLabel
from attnlab.ui.app.application import run

def on_window(window):
    wanted = {"torch", "attnlab.attention.stages.table", "attnlab.lessons.parse", "yaml", "ziamath"}
    slow_to_load = {"email", "importlib.metadata", "secrets", "subprocess"}  # torch brings them later
    def report(*_):
        print(sorted(wanted & set(sys.modules)), flush=True)
    def report_first(*_):
        print(sorted((wanted | slow_to_load) & set(sys.modules)), flush=True)
    window.first_painted.connect(report_first)
    window.ready.connect(report)
    window.ready.connect(window.close)
    window.ready.connect(QApplication.quit)

sys.exit(run(on_window=on_window))
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.quick
def test_the_window_is_painted_before_torch_is_imported() -> None:
    answer = python(PROGRAM)
    assert (answer.returncode, answer.stderr) == (0, "")
    painted, ready = answer.stdout.splitlines()
    assert painted == "[]"
    assert ready == "['attnlab.attention.stages.table', 'torch']"


def test_the_rail_stays_where_it_is_when_the_first_workspace_arrives(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = open_window()
    window.grab()  # which lays out what was asked for
    before = window.rail.menu_button.mapTo(window, QPoint(0, 0))
    with qtbot.waitSignal(window.ready):
        window.load()
    window.grab()
    assert window.rail.menu_button.mapTo(window, QPoint(0, 0)) == before


def test_torch_waits_for_the_first_paint_on_any_platform(open_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = open_window(shown=False)
    window.load()
    assert "attnlab-loader" not in [thread.name for thread in threading.enumerate()]
    with qtbot.waitSignal(window.ready):
        window.show()


def test_without_torch_the_window_reports_it_and_can_be_closed() -> None:
    code = PROGRAM.replace("import sys\n", "import sys\nsys.modules['torch'] = None\n", 1).replace(
        "    window.ready.connect(report)\n",
        "    def read(*_):\n"
        "        print([label.text() for label in window.findChildren(QLabel) if label.isVisible()][0], flush=True)\n"
        "        QApplication.quit()\n"
        "    window.starting.loader.loaded.connect(read)\n",
    )
    answer = python(code)
    assert (answer.returncode, answer.stderr) == (0, "")
    sentence = answer.stdout.splitlines()[-1]
    assert sentence.startswith("torch could not be loaded: ")
    assert "attnlab doctor" in sentence


def broken(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(
        f"import sys, types\n{before}\nfrom attnlab.cli.main import main\nsys.exit(main({list(arguments)!r}))"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("sys.modules['torch'] = None", "torch could not be loaded: "),
        ("sys.modules['torch'] = types.ModuleType('torch')", "torch could not be loaded: "),
        ("sys.modules['safetensors'] = None", "A part is missing (import of safetensors halted"),
        (
            "import attnlab.ui.app.loader as l\nl._MODULES = ('attnlab.nowhere',)",
            "attnlab: Something went wrong inside attnlab while starting: ModuleNotFoundError: ",
        ),
        (
            "import attnlab.compute.service as s\ndef fail(*_): raise RuntimeError('no room')\ns.compute = fail",
            "no room",
        ),
    ],
    ids=["missing", "half installed", "another part is missing", "a fault of its own", "cannot compute"],
)
def test_a_failed_screenshot_ends_with_one_sentence(before: str, words: str, tmp_path: Path) -> None:
    answer = broken(before, "--screenshot", str(tmp_path / "x.png"))
    assert answer.returncode == 2
    sentence = answer.stderr.splitlines()[-1]
    assert words in sentence
    assert answer.stderr == f"{sentence}\n" or answer.stderr.startswith("Traceback")  # of a fault of its own
    assert not (tmp_path / "x.png").exists()


@pytest.mark.slow
def test_ctrl_c_in_the_terminal_ends_the_program() -> None:
    code = (
        PROGRAM.replace("window.ready.connect(window.close)", "window.ready.connect(interrupt)")
        .replace("    window.ready.connect(QApplication.quit)\n", "")
        .replace(
            "def on_window",
            "def interrupt():\n    import os, signal\n    os.kill(os.getpid(), signal.SIGINT)\n\ndef on_window",
        )
    )
    assert python(code).returncode == -signal.SIGINT


@pytest.mark.slow
def test_without_pyqtgraph_nothing_is_printed() -> None:
    code = PROGRAM.replace("import sys\n", "import sys\nsys.modules['pyqtgraph'] = None\n", 1)
    answer = python(
        code.replace(
            "    window.ready.connect(window.close)\n    window.ready.connect(QApplication.quit)\n",
            "    window.starting.loader.later.done.connect(QApplication.quit)\n",
        )
    )
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_window_opens_with_a_worked_example(person: "Person") -> None:
    assert person.window.windowTitle() == "Your journey starts… — attnlab"
    assert person.playground.inputs.sentence.text() == "Your journey starts with one step"
    shown = [name for name, card in person.playground.canvas.cards.items() if card.isVisible()]
    assert shown == ["inputs", "queries", "keys", "values", "scores", "scaled", "weights", "context", "output"]
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    assert not person.find(QPushButton, "Export").isHidden()
    assert person.message() == ""


def test_while_loading_the_window_says_so_and_ignores_keys(
    open_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = open_window()
    assert [label.text() for label in window.findChildren(QLabel) if label.isVisible()] == ["Loading the mathematics…"]
    for action in window.actions_list:
        if action.id not in ("quit", "palette", "full-screen"):
            window.actions_list.run(action.id)
    window.escape()
    window.show_workspace("lessons")
    assert window.lessons is None
    window.change_settings(type_size=100, theme="light")
    with qtbot.waitSignal(window.ready):
        window.load()


class Windows(QObject):
    """Records every window that appears."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


def test_no_other_window_appears_while_loading(open_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window, windows = open_window(), Windows()
    window.activateWindow()
    app = QApplication.instance()
    assert app is not None
    app.installEventFilter(windows)
    with qtbot.waitSignal(window.ready):
        window.load()
    app.removeEventFilter(windows)
    assert windows.shown == []
    assert window.isActiveWindow()  # and the keyboard is still here


def test_the_first_numbers_are_painted_once_when_the_layouts_are_settled(
    open_window: Callable[..., MainWindow], qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnlab.ui.playground.stage_face import StageFace

    window, make, paint = open_window(), MainWindow.make_playground, StageFace.paintEvent
    painted: Counter[str] = Counter()

    def make_and_compute(window: MainWindow, first: "First") -> "Playground":
        playground = make(window, first)
        with playground.service.between():  # so that the numbers are there before the layouts are settled
            return playground

    def count(face: StageFace, event: QPaintEvent) -> None:
        painted[face.objectName()] += 1
        paint(face, event)

    monkeypatch.setattr(MainWindow, "make_playground", make_and_compute)
    monkeypatch.setattr(StageFace, "paintEvent", count)
    with qtbot.waitSignal(window.ready):
        window.load()
    qapp.processEvents()
    assert window.playground is not None
    cards = [f"card-{name}" for name, card in window.playground.canvas.cards.items() if card.isVisible()]
    assert painted == dict.fromkeys(cards, 1)


def test_closing_while_loading_leaves_no_thread(open_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    before = set(threading.enumerate())
    window = open_window()
    window.load()
    qtbot.waitUntil(lambda: "attnlab-loader" in [thread.name for thread in threading.enumerate()])
    window.close()
    qtbot.waitUntil(lambda: set(threading.enumerate()) <= before)
    assert window.playground is None


def test_the_window_can_be_closed_twice(sit_down: "Callable[..., Person]") -> None:
    person = sit_down()
    assert person.window.close()
    assert person.window.close()


def test_the_rail_shows_the_workspaces(person: "Person") -> None:
    buttons = [button for button in person.window.rail.findChildren(QToolButton) if button.text()]
    assert {button.text() for button in buttons} == {"Menu", "Play", "Lessons", "Train", "Models", "Help", "Settings"}
    (play,) = (button for button in buttons if button.text() == "Play")
    assert play.isChecked()
    person.click(play)
    person.key(Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert play.isChecked()
    assert person.playground.canvas.isVisible()


def test_a_newcomers_first_minute(person: "Person") -> None:
    """Change a sentence, drag a weight, flip the mask, read the arithmetic of one cell, and undo it all."""
    first = person.document.scene
    begun = {name: person.painted(name).copy() for name in ("queries", "scores", "weights", "output")}
    person.write_sentence("My journey ends here")
    person.key(Qt.Key.Key_Return)
    person.drag_number(0, 0, 25, 80)
    person.press("Causal")
    person.settle()
    assert person.labels("weights")[0] == ("My", "journey", "ends", "here")
    person.click_cell("weights", 2, 1)
    told = {
        label.accessibleName().partition(":")[0]: label.text()
        for label in person.playground.explain.findChildren(QLabel)
    }
    assert told["Value of the cell"] == f"{person.painted('weights')[0, 2, 1]:.4f}"
    assert "Softmax, e^{scaled} ÷ sum of the row" in read_explained(person)
    person.table.setFocus()
    for _ in range(3):
        person.undo()
    person.settle()
    assert person.document.scene is first
    for name, numbers in begun.items():
        np.testing.assert_array_equal(person.painted(name), numbers)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Source(preset="nope"), ("nope", "journey")),
        (Source(path=Path("/nowhere/at/all.attnlab")), ("/nowhere/at/all.attnlab",)),
    ],
)
def test_a_file_that_cannot_be_opened_is_named_and_the_example_opens(
    sit_down: "Callable[..., Person]", source: Source, words: tuple[str, ...]
) -> None:
    person = sit_down(source)
    assert all(word in person.message() for word in words)
    assert person.experiment.tokens == ("Your", "journey", "starts", "with", "one", "step")


def test_a_file_that_is_not_a_session_is_named(sit_down: "Callable[..., Person]", tmp_path: Path) -> None:
    path = tmp_path / "notes.attnlab"
    path.write_text("not a session")
    assert "notes.attnlab" in sit_down(Source(path=path)).message()
