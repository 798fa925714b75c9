"""Dropped and chosen files open by their ending: one session or lesson, all weights; others are reported."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.walk import Place
from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.weights.weights_dialog import WeightsDialog

if TYPE_CHECKING:
    from tests.ui.conftest import Person

LESSON = "---\nattnlab: 1\ntitle: Mine\n---\n\n## First\n\n```state\npreset: the-cat-sat\n```\n\nLook.\n"


def drop(window: MainWindow, *paths: Path) -> None:
    """Drop files on a window."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    action, buttons, at = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, QPoint(200, 200)
    enter = QDragEnterEvent(at, action, mime, buttons, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(window, QDropEvent(QPointF(at), action, mime, buttons, Qt.KeyboardModifier.NoModifier))


def session(folder: Path, name: str) -> Path:
    attnlab.save(Experiment((name,), [[1.0]]), folder / f"{name}.attnlab")
    return folder / f"{name}.attnlab"


def test_of_several_files_the_first_opens_with_a_message(person: "Person", tmp_path: Path) -> None:
    person.document.show(at=Place("scores"))  # what is said of its step goes, what is said of the files stays
    drop(person.window, *(session(tmp_path, name) for name in ("a", "b", "c")))
    person.settle()
    assert person.experiment.tokens == ("a",)
    assert person.history()[1:] == ["Open a.attnlab"]
    assert person.message() == "A window shows one file at a time; of 3 only a.attnlab was opened."


def test_the_dialog_opens_every_kind_of_file(person: "Person", tmp_path: Path) -> None:
    np.save(tmp_path / "W_q.npy", np.eye(3))
    (tmp_path / "mine.md").write_text(LESSON, encoding="utf-8")

    def choose(path: Path) -> None:
        person.key(Qt.Key.Key_O, Qt.KeyboardModifier.ControlModifier)
        (dialog,) = (d for d in person.window.findChildren(QFileDialog) if d.isVisible())
        assert f"*{path.suffix}" in dialog.nameFilters()[0]
        dialog.selectFile(str(path))
        dialog.accept()

    choose(tmp_path / "W_q.npy")
    person.settle()
    (weights,) = person.window.findChildren(WeightsDialog)
    weights.reject()
    choose(tmp_path / "mine.md")
    person.settle()
    assert person.window.lessons is not None
    assert person.window.lessons.player.slide is not None


def test_an_error_of_the_first_file_is_reported(person: "Person", tmp_path: Path) -> None:
    (tmp_path / "odd.zip").write_bytes(b"nothing")
    drop(person.window, tmp_path / "odd.zip", session(tmp_path, "a"))
    person.settle()
    assert person.message() == f"{tmp_path / 'odd.zip'} is not an attnlab session, which ends in .attnlab."


@pytest.mark.parametrize("ending", [".md", ".MD", ".markdown"])
def test_an_opened_lesson_can_be_walked(person: "Person", tmp_path: Path, ending: str) -> None:
    (tmp_path / f"mine{ending}").write_text(LESSON, encoding="utf-8")
    drop(person.window, tmp_path / f"mine{ending}")
    person.settle()
    assert person.window.lessons is not None
    assert person.window.lessons.player.slide is not None
    assert person.experiment.tokens == attnlab.preset("the-cat-sat").tokens


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("talk.pdf", "is not an attnlab session, which ends in .attnlab."),
        ("cut.attnlab", "is not an attnlab session, or only a part of one."),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_ending_of_a_session(
    person: "Person", tmp_path: Path, name: str, reason: str
) -> None:
    before = person.experiment
    (tmp_path / name).write_bytes(b"%PDF-1.4")
    drop(person.window, tmp_path / name)
    person.settle()
    assert person.message() == f"{tmp_path / name} {reason}"
    assert person.experiment is before


def test_a_folder_is_reported_as_such(person: "Person", tmp_path: Path) -> None:
    drop(person.window, tmp_path)
    person.settle()
    assert person.message() == f"{tmp_path} is a folder; a session is a file that ends in .attnlab."


def test_a_file_dropped_while_loading_opens_afterwards(
    open_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    window = open_window(Source(preset="journey"))
    drop(window, session(tmp_path, "early"))
    with qtbot.waitSignal(window.ready):
        window.load()
    assert window.playground is not None
    playground = window.playground
    qtbot.waitUntil(lambda: playground.document.experiment.tokens == ("early",))
    qtbot.waitUntil(
        lambda: playground.reply is not None and playground.reply.request.experiment is playground.document.experiment,
    )
    assert window.windowTitle() == "early — attnlab"
