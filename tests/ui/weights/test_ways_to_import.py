"""Weights are imported by menu, drop and paste; a block pasted into a table still fills the table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog

from attnlab.ui.weights.weights_dialog import WeightsDialog
from tests.ui.weights.weights_user import WeightsUser, open_weights

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
TABLE = "1.5\t2\n0.5\t-1\n0\t0.25\n"


@pytest.fixture(autouse=True)
def clipboard(qapp: QApplication) -> Iterator[None]:
    yield
    QGuiApplication.clipboard().clear()


def make_user(person: "Person") -> WeightsUser:
    """Return the newly opened dialog, after its first preview."""
    dialog = person.window.findChild(WeightsDialog)
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        pass
    return WeightsUser(person, dialog)


def urls(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


@pytest.fixture
def file(tmp_path: Path) -> Path:
    np.savez(tmp_path / "a.npz", W_q=np.ones((3, 2)))
    return tmp_path / "a.npz"


def test_the_menu_opens_a_file_dialog(person: "Person", file: Path) -> None:
    person.key(Key.Key_I, Mod.ControlModifier)
    asked = person.window.findChild(QFileDialog)
    assert asked is not None
    assert "*.safetensors" in asked.nameFilters()[0]
    asked.filesSelected.emit([str(file)])
    asked.close()
    user = make_user(person)
    assert "Weights from a.npz" in user.texts()
    user.close()


def test_files_can_be_dropped_on_the_window(person: "Person", file: Path, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text('{"W_q": [[1, 2], [3, 4], [5, 6]]}')
    for dropped, n_heads in ((file, 2), (tmp_path / "b.json", 1)):
        data, where = urls(dropped), QPointF(300, 300)
        copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        person.window.dropEvent(QDropEvent(where, copy, data, left, Mod.NoModifier))
        user = make_user(person)
        user.choose("Heads", str(n_heads))
        user.bring_in()
        assert person.experiment.n_heads == n_heads
    assert person.experiment.weights.W_q.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_another_file_can_be_dropped_on_the_dialog(person: "Person", file: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "W_k.npy", np.ones((3, 2)))
    user = open_weights(person, [file])
    data, where = urls(tmp_path / "W_k.npy"), QPointF(300, 300)
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    with person.qtbot.waitSignal(user.dialog.previewed):
        user.dialog.dropEvent(QDropEvent(where, copy, data, left, Mod.NoModifier))
    assert "Weights from W_k.npy" in user.texts()
    assert user.dialog.form.rows["W_q"].find_part() is None
    assert user.dialog.form.rows["W_k"].find_part() is not None
    user.close()


def test_a_text_table_can_be_pasted(person: "Person") -> None:
    person.playground.canvas.setFocus()
    person.paste(TABLE)
    user = make_user(person)
    assert "Weights from the clipboard" in user.texts()
    user.choose("W_v array", "pasted")
    user.bring_in()
    assert person.experiment.weights.W_v is not None
    assert person.experiment.weights.W_v.tolist() == [[1.5, 2], [0.5, -1], [0, 0.25]]
    assert person.history()[-1] == "Weights from the clipboard"


def test_copied_files_can_be_pasted(person: "Person", file: Path) -> None:
    QGuiApplication.clipboard().setMimeData(urls(file))
    person.window.actions_list.run("paste-weights")
    user = make_user(person)
    assert "Weights from a.npz" in user.texts()
    user.close()


def test_an_empty_clipboard_is_reported(person: "Person") -> None:
    QGuiApplication.clipboard().clear()
    person.window.actions_list.run("paste-weights")
    assert person.message().startswith("The clipboard holds neither text nor files")
    assert person.window.findChild(WeightsDialog) is None


def test_a_block_is_still_pasted_into_the_open_table(person: "Person") -> None:
    person.click_number(0, 0)
    person.paste("7\t8\n")
    assert person.window.findChild(WeightsDialog) is None
    assert person.in_table()[0, :2].tolist() == [7, 8]


def test_text_is_still_pasted_into_the_sentence(person: "Person") -> None:
    person.playground.inputs.sentence.setFocus()
    person.playground.inputs.sentence.selectAll()
    person.paste("one two")
    assert person.window.findChild(WeightsDialog) is None
    assert person.playground.inputs.sentence.text() == "one two"
    person.key(Key.Key_Return)


def test_the_summary_of_a_guess_names_only_what_is_still_chosen(person: "Person", tmp_path: Path) -> None:
    np.savez(tmp_path / "plain.npz", a=np.ones((3, 2)), b=np.ones((3, 2)), c=np.ones((3, 2)), d=np.ones((2, 3)))
    user = open_weights(person, [tmp_path / "plain.npz"])
    begin = "No name is known; taken in the file’s order: W_q is a, W_k is b, W_v is c"
    assert f"{begin}, W_o is d." in user.texts()
    assert not user.offers("Why?")
    user.choose("W_o array", "none")
    assert f"{begin}." in user.texts()
    assert "W_o is d" not in user.texts()
    user.choose("W_o array", "d")
    assert f"{begin}, W_o is d." in user.texts()
    user.close()
    linear = {f"{name}_proj.weight": np.ones((2, 3)) for name in "qkv"}
    np.savez(tmp_path / "linear.npz", **linear)  # type: ignore[arg-type]
    user = open_weights(person, [tmp_path / "linear.npz"])
    assert "W_q, W_k, W_v found by the names of 3 arrays. Transposed, as in nn.Linear." in user.texts()
    user.choose("W_k array", "none")
    assert "W_q, W_v found by the names of 2 arrays. Transposed, as in nn.Linear." in user.texts()
    user.close()
