"""attnlab.view in scripts, under IPython, without a display: who waits, who closes, what is freed."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.figures.array_maps import take_maps
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.app.open_windows import OpenWindows
from tests.patience import PATIENCE_S
from tests.ui.test_view import playground_of, press
from tests.ui.viewed import let_go, windows

pytestmark = pytest.mark.usefixtures("after_view")

Key = Qt.Key

# How long it lives


def test_an_unreferenced_window_stays_open_and_is_freed_when_closed(look: Callable[..., ArrayWindow]) -> None:
    window = look(np.eye(3))
    there = weakref.ref(window)
    del window
    gc.collect()
    found = there()
    assert found is not None
    assert found.isVisible()
    press(found, Key.Key_Escape)
    let_go()
    assert not isValid(found)
    del found
    gc.collect()
    assert there() is None


def test_ctrl_w_closes_only_the_current_window(look: Callable[..., ArrayWindow]) -> None:
    first, second = look(np.eye(2)), look(np.eye(3))
    QTest.keyClick(second, Key.Key_W, Qt.KeyboardModifier.ControlModifier)
    let_go()
    assert windows() == [first]


def test_without_an_event_loop_view_waits_for_the_window(qapp: QApplication) -> None:
    other = QWidget()
    other.show()
    seen: list[str] = []

    def close() -> None:
        (window,) = windows()
        seen.append(window.windowTitle())
        window.close()

    for x in (np.eye(2), np.eye(3)):  # the first one's end is not to end the second one's wait
        QTimer.singleShot(0, qapp, close)
        assert attnlab.view(x) is None
    assert seen == ["Maps [2, 2] — attnlab", "Maps [3, 3] — attnlab"]
    assert other.isVisible()
    other.close()
    other.deleteLater()


def test_a_script_continues_when_the_playground_is_closed(qapp: QApplication, qtbot: QtBot) -> None:
    def close() -> None:
        (window,) = windows()
        assert isinstance(window, MainWindow)
        window.ready.connect(window.close)

    QTimer.singleShot(0, qapp, close)
    assert attnlab.view(attnlab.preset("journey")) is None
    assert windows() == []
    assert gc.isenabled()


class _Events:
    """IPython's events: registered functions are called before and after each cell."""

    def __init__(self) -> None:
        self.callbacks: dict[str, list[Callable[[object], None]]] = {"pre_run_cell": [], "post_run_cell": []}

    def register(self, event: str, callback: Callable[[object], None]) -> None:
        self.callbacks[event].append(callback)

    def unregister(self, event: str, callback: Callable[[object], None]) -> None:
        self.callbacks[event].remove(callback)

    def trigger(self, event: str) -> None:
        for callback in self.callbacks[event]:
            callback(None)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Replace IPython, which the tests do not require: its loop runs between cells only."""
    shell = SimpleNamespace(active_eventloop="qt6", events=_Events())
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    return shell


def test_under_ipython_view_returns_at_once(shell: SimpleNamespace) -> None:
    window = attnlab.view(np.eye(3))
    assert windows() == [window]


def test_under_ipython_without_a_loop_view_waits(shell: SimpleNamespace, qapp: QApplication) -> None:
    shell.active_eventloop = None
    QTimer.singleShot(0, qapp, lambda: windows()[0].close())
    assert attnlab.view(np.eye(3)) is None


def test_under_ipython_garbage_is_collected_only_within_cells(shell: SimpleNamespace, qtbot: QtBot) -> None:
    opened = [attnlab.view(attnlab.preset("journey")) for _ in range(2)]
    shell.events.trigger("post_run_cell")
    assert not gc.isenabled()
    shell.events.trigger("pre_run_cell")
    assert gc.isenabled()
    shell.events.trigger("post_run_cell")
    for window, collected in zip(opened, (False, True), strict=True):
        playground_of(window, qtbot)
        assert window is not None
        window.close()
        let_go()
        assert gc.isenabled() is collected
    assert shell.events.callbacks == {"pre_run_cell": [], "post_run_cell": []}


# Where it cannot be


def test_calling_view_in_a_thread_is_refused() -> None:
    told: list[str] = []

    def call() -> None:
        try:
            attnlab.view(np.eye(2))
        except AttnlabError as error:
            told.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert told == ["view was called in a thread; windows need the main thread."]


def script(code: str, **environment: str) -> str:
    """Run a script in a process without a display, with changes of the environment."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    env = {name: value for name, value in os.environ.items() if name not in names} | environment
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False, timeout=PATIENCE_S
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.strip()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is always a display")
def test_without_a_display_view_is_refused_with_an_alternative() -> None:
    code = "import attnlab\ntry: attnlab.view([[1.0]])\nexcept attnlab.AttnlabError as error: print(error)"
    assert script(code) == (
        "There is no display to open a window on; “attnlab export SOURCE -o OUT.png” draws a figure without one."
    )


def test_a_plain_script_views_several_arrays_without_torch() -> None:
    code = """
import sys, attnlab
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attnlab.ui.app.array_window import ArrayWindow
app = QApplication([])
for n in (1, 2):
    QTimer.singleShot(0, app, lambda: [w.close() for w in app.topLevelWidgets() if isinstance(w, ArrayWindow)])
    print(attnlab.view([[1 / n] * n] * n))
print("torch" in sys.modules)
"""
    assert script(code, QT_QPA_PLATFORM="offscreen").split() == ["None", "None", "False"]


@pytest.mark.slow
def test_an_open_window_does_not_keep_the_interpreter_alive() -> None:
    code = """
import attnlab
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
app = QApplication([])
def call():
    window = attnlab.view(attnlab.preset("journey"))
    window.ready.connect(lambda: app.exit(0))
QTimer.singleShot(0, app, call)
app.exec()
print("end")
"""
    assert script(code, QT_QPA_PLATFORM="offscreen") == "end"


@pytest.mark.slow
def test_a_save_of_a_closed_window_is_completed_before_the_script_ends(tmp_path: Path) -> None:
    code = f"""
import threading, attnlab
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from attnlab.ui.base import jobs
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.playground import saver
saver.LEAVE_S = 0.0
save, leave, ending = saver.save_session, jobs.leave, threading.Event()
def slow(*given):
    ending.wait()
    save(*given)
saver.save_session = slow
jobs.leave = lambda: (ending.set(), leave())[1]
def act(window):
    window.playground.files.save_to(Path({str(tmp_path / "mine.attnlab")!r}))
    window.close()
def find():
    window = next(each for each in app.topLevelWidgets() if isinstance(each, MainWindow))
    window.ready.connect(lambda: act(window))
app = QApplication([])
QTimer.singleShot(0, app, find)
print(attnlab.view(attnlab.preset("journey")))
"""
    assert script(code, QT_QPA_PLATFORM="offscreen") == "None"
    assert attnlab.load(tmp_path / "mine.attnlab").tokens == attnlab.preset("journey").tokens


def test_faults_of_open_windows_are_reported_and_errors_of_the_script_are_not(
    qtbot: QtBot, provoked: Callable[[], list[str]]
) -> None:
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    windows = OpenWindows.of(QApplication.instance())  # type: ignore[arg-type]
    first, second = QWidget(), QWidget()
    for window in (first, second):
        windows.keep(window)
    assert sys.excepthook is not hooks[0]
    try:
        take_maps("no array", None)
    except AttnlabError as error:
        ours = error.with_traceback(error.__traceback__.tb_next if error.__traceback__ else None)
    sys.excepthook(type(ours), ours, ours.__traceback__)
    assert [reason.partition(":")[0] for reason in provoked()] == [type(ours).__name__]
    first.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert sys.excepthook is not hooks[0]
    second.close()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == hooks
