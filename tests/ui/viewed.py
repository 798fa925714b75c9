"""Opens arrays in the window of ``attnlab.view``, as a cell of a notebook does."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, Qt, QTimer
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.base.errors import AttnlabError
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.app.main_window import MainWindow


def within_a_loop(call: Callable[[], Any]) -> Any:
    """Call a function like a cell of a notebook, inside a running event loop, and end the loop."""
    loop, answers = QEventLoop(), []

    def go() -> None:
        try:
            answers.append(call())
        except AttnlabError as error:
            answers.append(error)
        finally:
            loop.quit()

    QTimer.singleShot(0, go)
    loop.exec()
    if isinstance(answers[0], AttnlabError):
        raise answers[0]
    return answers.pop()


def windows() -> list[QWidget]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, ArrayWindow | MainWindow) and w.isVisible()]


def let_go() -> None:
    """Delete closed windows."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def after_view(qapp: QApplication) -> Iterator[None]:
    """Close open windows and restore the application's style."""
    before = qapp.palette(), qapp.font(), qapp.styleSheet()
    yield
    for window in windows():
        window.close()
    let_go()
    QToolTip.hideText()
    qapp.processEvents()
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Unknown)
    qapp.setStyleSheet(before[2])
    qapp.setPalette(before[0])
    qapp.setFont(before[1])


@pytest.fixture
def look(qtbot: QtBot, after_view: None) -> Callable[..., ArrayWindow]:
    """View an array in a focused window."""

    def look_at(x: object, tokens: object = None) -> ArrayWindow:
        window = within_a_loop(lambda: attnlab.view(x, tokens))
        assert isinstance(window, ArrayWindow)
        qtbot.waitUntil(window.isActiveWindow)
        return window

    return look_at
