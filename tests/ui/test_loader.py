"""Several windows can load at once: a script opens them one after the other without waiting."""

import gc
import sys
import threading
from collections.abc import Callable

from pytestqt.qtbot import QtBot

import attnlab
from attnlab.document.scene import Scene
from attnlab.ui.app.loader import Loader, sources_unread
from attnlab.ui.app.main_window import MainWindow
from tests.patience import PATIENCE_MS


def test_no_garbage_is_collected_until_the_last_window_has_loaded(qtbot: QtBot) -> None:
    assert gc.isenabled()
    one, other = (Loader(Scene(attnlab.preset("journey"), "Experiment")) for _ in range(2))
    for loader in (one, other):
        with qtbot.waitSignal(loader.loaded, timeout=PATIENCE_MS):
            loader.start()
    assert not gc.isenabled()
    one.stop()
    one.stop()
    assert not gc.isenabled()
    other.stop()
    assert gc.isenabled()


def test_imports_in_two_threads_skip_source_reading_and_restore_the_hook() -> None:
    feature = sys.modules["__feature__"]
    before, entered, leave = feature._mod_uses_pyside, threading.Event(), threading.Event()  # type: ignore[attr-defined]

    def load() -> None:
        with sources_unread():
            entered.set()
            leave.wait(PATIENCE_MS / 1000)

    other = threading.Thread(target=load)
    with sources_unread():
        other.start()
        assert entered.wait(PATIENCE_MS / 1000)
        assert not feature._mod_uses_pyside(sys.modules["attnlab.ui.app.loader"].threading)  # type: ignore[attr-defined]
    assert feature._mod_uses_pyside is not before  # type: ignore[attr-defined]
    leave.set()
    other.join()
    assert feature._mod_uses_pyside is before  # type: ignore[attr-defined]


def test_two_windows_can_load_at_once(open_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    windows = [open_window() for _ in range(2)]
    with qtbot.waitSignals([window.ready for window in windows], timeout=PATIENCE_MS):
        for window in windows:
            window.load()
    assert all(window.playground is not None and window.playground.reply is not None for window in windows)
    assert gc.isenabled()
