"""Faults are shown as one sentence in the front window, with details to copy; repeats are counted."""

import subprocess
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QDialog, QFrame, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.base.fault_log import ERRORS, Fault, listen, log_path
from attnlab.ui.base import faults
from attnlab.ui.base.fault_bar import FaultBar
from attnlab.ui.base.fault_relay import FaultRelay
from tests.nursery import run_python

Provoked = Callable[[], list[str]]


def fail(message: str = "far away") -> BaseException:
    try:
        raise IndexError(message)
    except IndexError as error:
        return error


@pytest.fixture
def relay(qapp: QApplication, provoked: Provoked) -> Iterator[FaultRelay]:
    made = faults.show_faults()
    assert made is not None
    assert faults.show_faults() is made
    yield made
    made.forget()
    provoked()


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    widget.resize(900, 500)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def bar_of(qtbot: QtBot, window: QWidget) -> FaultBar:
    qtbot.waitUntil(lambda: window.findChild(FaultBar) is not None and window.findChild(FaultBar).isVisible())
    return window.findChild(FaultBar)


def test_a_fault_in_a_thread_is_shown_in_the_window(relay: FaultRelay, window: QWidget, qtbot: QtBot) -> None:
    thread = threading.Thread(target=faults.report, args=(fail(), "reading the file"))
    thread.start()
    thread.join()
    bar = bar_of(qtbot, window)
    told = "Something went wrong inside attnlab while reading the file: IndexError: far away."
    assert bar.sentence.text() == told
    qtbot.mouseClick(bar.copy, Qt.MouseButton.LeftButton)
    copied = QApplication.clipboard().text()
    assert copied.startswith(told)
    assert "PySide6" in copied
    assert "in fail" in copied
    assert bar.copy.text() == "Copied"
    QApplication.clipboard().clear()
    qtbot.mouseClick(bar.close_button, Qt.MouseButton.LeftButton)
    assert not bar.isVisible()


def test_repeats_are_counted_and_others_named(relay: FaultRelay, window: QWidget, qtbot: QtBot) -> None:
    error = fail()
    for _ in range(3):
        faults.report(error)
    bar = bar_of(qtbot, window)
    assert bar.sentence.text().endswith("IndexError: far away. It has happened 3 times.")
    faults.report(ValueError("another"))
    qtbot.waitUntil(lambda: bar.sentence.text().endswith("ValueError: another. The details list 1 more."))
    assert len([each for each in window.findChildren(FaultBar) if each.isVisible()]) == 1


def test_a_fault_is_shown_in_the_front_dialog_and_stays_when_it_closes(
    relay: FaultRelay, window: QWidget, qtbot: QtBot
) -> None:
    dialog = QDialog(window)
    dialog.resize(400, 300)
    column = QVBoxLayout(dialog)
    column.addStretch(1)
    save = QPushButton("Save")
    column.addWidget(save)
    dialog.open()
    faults.report(fail())
    bar = bar_of(qtbot, dialog)
    assert dialog.rect().contains(bar.geometry())
    assert bar.geometry().bottom() < save.geometry().top()  # the dialog's own buttons stay in reach
    told = bar.sentence.text()
    dialog.close()
    assert bar_of(qtbot, window).sentence.text() == told
    dialog.deleteLater()


def test_a_fault_during_a_popup_is_shown_in_its_window(relay: FaultRelay, window: QWidget, qtbot: QtBot) -> None:
    popup = QFrame(window, Qt.WindowType.Popup)
    popup.show()
    faults.report(fail())
    assert bar_of(qtbot, window).window() is window
    popup.close()


def test_the_bar_is_above_the_status_bar_and_inside_a_small_window(
    relay: FaultRelay, window: QWidget, qtbot: QtBot
) -> None:
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addStretch(1)
    foot = QFrame()
    foot.setProperty("ground", "bottom")
    foot.setFixedHeight(52)
    column.addWidget(foot)
    faults.report(fail("a long text " * 20))
    bar = bar_of(qtbot, window)
    for width, height in ((900, 500), (360, 320)):
        window.resize(width, height)
        qtbot.waitUntil(lambda: bar.geometry().bottom() < foot.mapTo(window, QPoint()).y())
        assert window.rect().contains(bar.geometry())
        assert bar.sentence.height() >= bar.sentence.heightForWidth(bar.sentence.width())


CHILD = """
    import sys, threading
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication
    from attnlab.base import fault_log
    from attnlab.ui.base import faults

    class Unclean:
        def __del__(self):
            raise OSError("unclean")

    def in_thread():
        raise KeyError("of a thread")

    app = QApplication([])
    before = sys.excepthook, threading.excepthook, sys.unraisablehook
    restore = faults.install()
    def provoke():
        thread = threading.Thread(target=in_thread); thread.start(); thread.join()
        unclean = Unclean(); del unclean
        QTimer.singleShot(0, app.quit)
        int("x")
    QTimer.singleShot(0, provoke)
    app.exec()
    restore()
    assert before == (sys.excepthook, threading.excepthook, sys.unraisablehook)
    print([each.reason for each in fault_log.take()])
"""


def child(text: str) -> subprocess.CompletedProcess[str]:
    return run_python("-c", textwrap.dedent(text))


def test_errors_in_slots_threads_and_clean_up_reach_the_log(config_dir: Path) -> None:
    ended = child(CHILD)
    assert ended.returncode == 0, ended.stderr
    reasons = ["KeyError: 'of a thread'", "OSError: unclean", "ValueError: invalid literal for int() with base 10: 'x'"]
    assert ended.stdout.strip() == str(reasons)
    assert all(reason in log_path(ERRORS).read_text(encoding="utf-8") for reason in reasons)
    assert not log_path("crashes.log").read_text(encoding="utf-8")


def test_a_crash_writes_its_stacks_to_the_log(config_dir: Path) -> None:
    ended = child("""
        import faulthandler
        from attnlab.base.crash_log import watch_crashes
        watch_crashes()
        faulthandler._sigsegv()
    """)
    assert ended.returncode != 0
    text = log_path("crashes.log").read_text(encoding="utf-8")
    assert "Python" in text.splitlines()[0]
    assert "<string>" in text


def test_errors_of_a_script_are_not_reported(config_dir: Path) -> None:
    ended = child("""
        from attnlab.base import fault_log
        from attnlab.ui.base import faults
        import atexit
        atexit.register(lambda: print(fault_log.take()))
        faults.install(only_ours=True)
        from attnlab.attention.examples.presets import preset
        preset("nobody's")
    """)
    assert ended.returncode == 1
    assert ended.stdout.strip() == "[]"
    assert "Traceback" in ended.stderr


def test_a_fault_during_another_report_is_reported(
    relay: FaultRelay, window: QWidget, qtbot: QtBot, provoked: Provoked
) -> None:
    with relay._lock:
        again = relay._lock.acquire(blocking=False)
        assert again, "the thread would wait for itself for ever"
        relay._lock.release()
        faults.report(fail())
    assert "far away" in bar_of(qtbot, window).sentence.text()
    provoked()


def test_a_failing_fault_bar_does_not_cause_a_loop(
    window: QWidget, qtbot: QtBot, provoked: Provoked, monkeypatch: pytest.MonkeyPatch
) -> None:
    relay = FaultRelay(QApplication.instance())  # type: ignore[arg-type]
    monkeypatch.setattr(relay, "_show", lambda: [][0])
    told: list[Fault] = []
    end = listen(told.append)
    faults.report(fail())
    qtbot.waitUntil(lambda: len(told) == 2)
    qtbot.waitUntil(lambda: window.findChild(FaultBar) is not None)  # by the relay of the application, again
    QApplication.processEvents()
    end()
    assert [each.doing for each in told] == ["", "showing a fault"]
    relay.deleteLater()
    provoked()
