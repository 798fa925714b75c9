"""Fixtures for every test: no display, separate settings, and a check that no test leaves anything running."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is loaded
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is loaded: spinning threads starve the window

import functools
import gc
import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import hypothesis
import pytest

from attnlab.base import fault_log
from tests import qt_in_threads
from tests.headless import WITHOUT_QT, needs_qt, runs_without_qt
from tests.patience import PATIENCE_MS

pytest_plugins = ["tests.quick"]

FIRST_MOUSE = (10, 10)  # where the mouse of the offscreen platform is when the program starts

GRACE_S = 20.0  # how long something that was told to stop may take to do so; only what does not takes so long

MUCH = 20_000  # new objects, after which garbage is looked for even where no widgets are

_failed = pytest.StashKey[bool]()
_collected, _folders = itertools.count(), itertools.count()
_started: WeakKeyDictionary[Any, str] = WeakKeyDictionary()  # timers, threads, animations -> where they were started

_NO_CLOCK: dict[str, Any] = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("dev", **_NO_CLOCK)
hypothesis.settings.register_profile("ci", **_NO_CLOCK, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "dev")

if WITHOUT_QT:
    sys.modules.update(dict.fromkeys(("PySide6", "shiboken6", "pyqtgraph")))  # None makes an import of it fail
else:
    from pytestqt.qtbot import QtBot

    class PatientBot(QtBot):  # type: ignore[misc]
        """Waits long enough for a busy machine, where pytest-qt would give up after five seconds."""

        waitActive = functools.partialmethod(QtBot.waitActive, timeout=PATIENCE_MS)
        waitExposed = functools.partialmethod(QtBot.waitExposed, timeout=PATIENCE_MS)
        waitSignal = functools.partialmethod(QtBot.waitSignal, timeout=PATIENCE_MS)
        waitSignals = functools.partialmethod(QtBot.waitSignals, timeout=PATIENCE_MS)
        waitUntil = functools.partialmethod(QtBot.waitUntil, timeout=PATIENCE_MS)

    @pytest.fixture
    def qtbot(qapp: Any, request: pytest.FixtureRequest) -> QtBot:
        _put_mouse_back(qapp)
        return PatientBot(request)

    def _put_mouse_back(app: Any) -> None:
        """Move the mouse to where Qt has it at first, with no button and no key down.

        What opens under it is entered, and left when it is covered; while a button is down, nothing is announced.
        """
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QCursor, QGuiApplication
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QWidget

        if app.platformName() != "offscreen":
            return
        if (QCursor.pos().x(), QCursor.pos().y()) != FIRST_MOUSE:
            QCursor.setPos(*FIRST_MOUSE)
        buttons = [button for button in Qt.MouseButton if button & QGuiApplication.mouseButtons()]
        if not buttons and QGuiApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
            buttons = [Qt.MouseButton.LeftButton]  # any event tells Qt that no key is down
        for button in buttons:
            QTest.mouseRelease(QWidget(), button)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--needs-qt", action="store_true", help="leave out the tests that make test-headless runs")
    if WITHOUT_QT:  # pytest-qt is off, and its options stand in pyproject.toml all the same
        for option in ("qt_api", "qt_log_level_fail", "qt_log_ignore"):
            parser.addini(option, "read by pytest-qt, which is off")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files and folders whose tests another run is for."""
    if WITHOUT_QT:
        return None if runs_without_qt(collection_path) else True
    return True if config.getoption("--needs-qt") and not needs_qt(collection_path) else None


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Make everything that runs remember who started it; once and for good, as unpatching Qt classes crashes it.

    And let no thread but this one collect garbage: a widget that dies in a worker takes all along.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background; programs started here inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _remember_starts(threading.Thread, "start")
    if not WITHOUT_QT:
        gc.set_threshold(0)  # Python itself never collects any more, and what asks whether it may is still told so
        from PySide6.QtCore import QAbstractAnimation, QThread, QTimer

        qt_in_threads.watch()
        for qt_class in (QAbstractAnimation, QThread, QTimer):
            _remember_starts(qt_class, "start")


def pytest_collection_finish() -> None:
    """Spare all later collections of garbage what stays to the end: modules, torch and the tests themselves."""
    gc.collect()
    gc.freeze()


def _remember_starts(owner: Any, method: str) -> None:
    original: Callable[..., Any] = getattr(owner, method)

    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        _started[self] = _call_site()
        return original(self, *(arg for arg in args if _is_of_start(arg)), **kwargs)

    setattr(owner, method, start)


def _is_of_start(arg: Any) -> bool:
    """Tell what ``start`` takes from what a signal that is connected to it sends along, which Qt itself would drop."""
    return isinstance(arg, int | Enum) and not isinstance(arg, bool)


def _call_site() -> str:
    """Return the innermost line of the project on the stack, or else the innermost line."""
    innermost = frame = sys._getframe(2)
    while frame.f_back is not None and not _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if not _is_ours(frame.f_code.co_filename):
        frame = innermost
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"


@functools.cache
def _is_ours(path: str) -> bool:
    return path != __file__ and "site-packages" not in path and ("attnlab" in path or "test" in path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report: Any = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def leaves_nothing_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that leaves a thread, timer or animation running or a window standing, and say where it began.

    A test that failed already is left alone: what its traceback holds on to stays alive.
    """
    threads = set(threading.enumerate())
    windows = set(_windows())
    _started.clear()
    yield
    leaks = [*_leaked_windows(windows), *_leaked_runners(), *_leaked_threads(threads)]
    if not WITHOUT_QT and ("qapp" in request.fixturenames or gc.get_count()[0] > MUCH):
        whole = next(_collected) % 50 == 49
        gc.collect(2 if whole else 1)
        if whole:
            gc.freeze()  # what a run keeps grows, and later collections skip it
    if leaks and not request.node.stash.get(_failed, False):
        pytest.fail("left behind:\n  " + "\n  ".join(leaks), pytrace=False)


@pytest.fixture(autouse=True)
def tells_no_fault(request: pytest.FixtureRequest, config_dir: Path) -> Iterator[None]:
    """Fail the test in which attnlab reported an unexpected error; one that provokes it takes it: ``provoked``."""
    fault_log.take()
    _forget_faults()
    yield
    faults = fault_log.take()
    if faults and not request.node.stash.get(_failed, False):
        pytest.fail("reported:\n" + "\n".join(f"{each.sentence}\n{each.details}" for each in faults), pytrace=False)


def _forget_faults() -> None:
    """Forget faults of earlier tests, so that this one's window does not show them."""
    fault_relay = sys.modules.get("attnlab.ui.base.fault_relay")
    if fault_relay is not None and (relay := fault_relay.show_faults()) is not None:
        relay.forget()


@pytest.fixture(autouse=True)
def makes_classes_of_qt_in_the_windows_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in which another thread created a Qt class, which may crash a running window."""
    qt_in_threads.made.clear()
    yield
    if qt_in_threads.made and not request.node.stash.get(_failed, False):
        pytest.fail("made beside the window:\n  " + "\n  ".join(qt_in_threads.made), pytrace=False)


@pytest.fixture
def provoked() -> Callable[[], list[str]]:
    """Return a function that takes the faults reported so far: ["IndexError: list index out of range"]."""
    return lambda: [fault.reason for fault in fault_log.take()]


def _leaked_threads(before: set[threading.Thread]) -> list[str]:
    late = time.monotonic() + GRACE_S
    leaks = []
    for thread in set(threading.enumerate()) - before:
        if isinstance(thread, threading._DummyThread):  # a thread of Qt that ran Python; its QThread is looked at above
            continue
        thread.join(max(0.0, late - time.monotonic()))
        if thread.is_alive():
            leaks.append(f"thread {thread.name}, started at {_started.get(thread, 'a place unknown')}")
    return leaks


def _leaked_runners() -> list[str]:
    """Stop and return every QTimer, QThread and animation that this test left running."""
    if WITHOUT_QT:
        return []
    from PySide6.QtCore import QThread, QThreadPool
    from shiboken6 import isValid

    leaks = []
    for runner, place in list(_started.items()):
        if isinstance(runner, threading.Thread) or not isValid(runner) or not _runs(runner):
            continue
        leaks.append(f"{type(runner).__name__} {runner.objectName()!r}, started at {place}")
        runner.quit() if isinstance(runner, QThread) else runner.stop()
    pool = QThreadPool.globalInstance()
    if pool is not None and pool.activeThreadCount() and not pool.waitForDone(int(GRACE_S * 1000)):
        leaks.append(f"{pool.activeThreadCount()} tasks in the global QThreadPool")
    return leaks


def _runs(runner: Any) -> bool:
    from PySide6.QtCore import QAbstractAnimation, QThread, QTimer

    if isinstance(runner, QTimer):
        return runner.isActive()
    if isinstance(runner, QThread):
        return runner.isRunning() and not runner.wait(int(GRACE_S * 1000))
    return isinstance(runner, QAbstractAnimation) and runner.state() == QAbstractAnimation.State.Running


def _leaked_windows(before: set[Any]) -> list[str]:
    """Close and return every window that this test opened without ``qtbot.addWidget``."""
    if WITHOUT_QT:
        return []
    left = [window for window in _windows() if window not in before]
    for generation in (1, 2):  # the first is quick, and has all that was made since the test before
        if left:
            left.clear()
            gc.collect(generation)  # a window without a parent lives as long as a reference, and cycles are no leak
            left = [window for window in _windows() if window not in before]
    leaks = []
    for window in left:
        state = "visible" if window.isVisible() else "hidden"
        leaks.append(f"{state} window {type(window).__name__} {window.windowTitle() or window.objectName()!r}")
        window.close()
        window.deleteLater()
    return leaks


def _windows() -> list[Any]:
    """Return the top-level windows, after deleting those marked for deletion."""
    if WITHOUT_QT:
        return []
    from PySide6.QtCore import QCoreApplication, QEvent
    from PySide6.QtWidgets import QApplication

    if not isinstance(QApplication.instance(), QApplication):
        return []
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    return [
        w for w in QApplication.topLevelWidgets() if w.parent() is None and w.metaObject().className() != "QTipLabel"
    ]


@pytest.fixture(scope="session", autouse=True)
def forked_trainings() -> Iterator[None]:
    """Let tests fork their training processes, where a new one would load torch each time; see tests/nursery.py."""
    from tests import nursery

    if not nursery.AVAILABLE:
        yield
        return
    nursery.process._start_process = nursery.start_process  # type: ignore[assignment]
    yield
    nursery.process._start_process = nursery.real_start
    nursery.close()


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    """Seed the random numbers of every test."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.manual_seed(0)  # torch.manual_seed formats a traceback for devices not yet there
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(0)


@pytest.fixture(autouse=True)
def config_dir(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give every test an empty folder of settings; attnlab takes it from ATTNLAB_CONFIG_DIR."""
    folder = tmp_path_factory.getbasetemp() / f"config-{next(_folders)}"
    folder.mkdir()
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(folder))
    if not WITHOUT_QT:
        from PySide6.QtCore import QSettings

        for file_format in (QSettings.Format.NativeFormat, QSettings.Format.IniFormat):
            QSettings.setPath(file_format, QSettings.Scope.UserScope, str(folder))
    return folder
