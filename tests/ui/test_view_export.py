"""The window of ``attnlab.view``: its maps are copied, saved and exported, by keys, buttons and menus."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPushButton
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.document.settings import Settings, load_settings, save_settings
from attnlab.files.maps_file import read_maps
from attnlab.ui.app.array_window import ArrayWindow
from attnlab.ui.export.export_dialog import ExportDialog
from tests.ui.viewed import let_go, within_a_loop

pytestmark = pytest.mark.usefixtures("after_view")
Look = Callable[..., ArrayWindow]
Key, Button, CTRL = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier.ControlModifier
WORDS = ("the", "cat", "sat")
X = np.random.default_rng(8).dirichlet(np.ones(3), (2, 4, 3))


def press(window: ArrayWindow, key: Qt.Key) -> None:
    QTest.keyClick(window.focusWidget() or window, key, CTRL)


def wait_for_word(window: ArrayWindow, start: str, qtbot: QtBot) -> str:
    qtbot.waitUntil(lambda: window.readout.text().startswith(start))
    return window.readout.text()


def dialog_of(window: ArrayWindow, qtbot: QtBot) -> ExportDialog:
    (dialog,) = window.findChildren(ExportDialog)
    qtbot.waitUntil(lambda: dialog.preview.image is not None)
    return dialog


def save_as(path: Path) -> None:
    """Type a path into the open file dialog and save, as a person would."""
    (dialog,) = (each for each in QApplication.topLevelWidgets() if isinstance(each, QFileDialog) and each.isVisible())
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(str(path))
    QTest.keyClick(field, Key.Key_Return)


def entries(menu: QMenu) -> dict[str, bool]:
    return {action.text(): action.isEnabled() for action in menu.actions() if action.text()}


@pytest.fixture(autouse=True)
def _no_native_dialogs(qapp: QApplication) -> None:
    qapp.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)


# Exporting


def test_ctrl_e_exports_the_visible_layer_and_head(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X, WORDS)
    window.choose(1, 2)
    press(window, Key.Key_E)
    dialog = dialog_of(window, qtbot)
    assert dialog.form.stages == ("layer-1",)
    assert dialog.form.heads.currentData() == 2
    assert list(entries(dialog.form.menu)) == ["Layer 0", "Layer 1", "Mean of 2 layers"]
    assert dialog.export_to(tmp_path / "a.png")
    assert wait_for_word(window, "Saved ", qtbot).endswith("a.png")
    drawn = QImage(str(tmp_path / "a.png"))
    expected = attnlab.figure(X, tokens=WORDS, layer=1, head=2)
    assert expected is not None
    assert drawn == QImage.fromData(expected)


def test_tables_are_exported_with_all_digits(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X, WORDS)
    window.choose("mean", 3)
    QTest.mouseClick(window.bar.export, Button.LeftButton)
    dialog = dialog_of(window, qtbot)
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.format.setCurrentIndex(dialog.form.format.findData("csv"))
    assert dialog.export_to(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["query", *WORDS]
    np.testing.assert_array_equal([list(map(float, row[1:])) for row in rows[1:]], X.mean(0)[3])


@pytest.mark.slow
def test_the_overview_exports_all_layers(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X, WORDS)
    window.choose("all", "all")
    window.tools.export()
    dialog = dialog_of(window, qtbot)
    assert dialog.form.stages == ("layer-0", "layer-1")
    assert dialog.export_to(tmp_path / "a.svg")
    svg = (tmp_path / "a.svg").read_text()
    assert "Layer 0" in svg
    assert "Layer 1" in svg


def test_only_the_choices_of_the_figure_are_remembered(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X[0, 0])
    save_settings(Settings(type_size=120))  # another window changed them meanwhile
    window.tools.export()
    dialog = dialog_of(window, qtbot)
    with qtbot.waitSignal(dialog.previewed):
        dialog.form.width_mm.setText("60")
    assert dialog.export_to(tmp_path / "a.png")
    settings, problems = load_settings()
    assert (settings.type_size, problems) == (120, ())
    assert "width_mm=60.0" in settings.figure
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(window, Key.Key_C)  # the picture has the same width
    assert QGuiApplication.clipboard().image().width() == QImage(str(tmp_path / "a.png")).width()


# Copying


def test_ctrl_c_copies_the_visible_maps_as_a_picture(look: Look) -> None:
    window = look(X, WORDS)
    window.choose(1, 2)
    press(window, Key.Key_C)
    image = QGuiApplication.clipboard().image()
    size = f"{image.width()} × {image.height()} pixels"
    assert window.readout.text() == f"Copied layer 1, head 2 as a picture, {size}"
    data = QGuiApplication.clipboard().mimeData()
    assert b"Attention, layer 1, head 2" in bytes(data.data("image/svg+xml").data())
    window.choose(1, 3)
    assert window.readout.text().startswith("Point at a cell")


def test_the_picture_of_the_overview_has_every_layer_and_head(look: Look) -> None:
    window = look(X, WORDS)
    window.choose("all", "all")
    press(window, Key.Key_C)
    svg = bytes(QGuiApplication.clipboard().mimeData().data("image/svg+xml").data()).decode()
    assert [f"L{i}·H{j}" in svg for i in range(2) for j in range(4)] == [True] * 8
    assert not window.tools.has_table


def test_an_impossible_picture_is_refused_in_the_window(look: Look) -> None:
    save_settings(Settings(figure=("dpi=2400", "width_mm=1000.0")))
    window = look(X)
    QGuiApplication.clipboard().setText("before")
    press(window, Key.Key_C)
    assert "is too large" in window.readout.text()
    assert window.readout.property("role") == "error"
    assert QGuiApplication.clipboard().text() == "before"


@pytest.mark.parametrize("title", ["LaTeX", "NumPy", "Markdown", "CSV"])
def test_the_menu_copies_the_numbers_as_text(title: str, look: Look, qtbot: QtBot) -> None:
    window = look(X, WORDS)
    window.choose(0, 1)
    (action,) = (each for each in window.bar.copy.menu().actions() if each.text() == f"Copy numbers as {title}")
    assert title in action.toolTip()
    action.trigger()
    assert wait_for_word(window, "Copied ", qtbot) == f"Copied layer 0, head 1 as {title}"
    text = QGuiApplication.clipboard().text()
    if title == "NumPy":
        np.testing.assert_array_equal(eval(text, {"np": np}), X[0, 1])
    elif title == "CSV":
        assert [row[0] for row in csv.reader(io.StringIO(text))] == ["query", *WORDS]
    else:
        assert f"{X[0, 1, 2, 0]:.4f}" in text


def test_all_heads_of_a_layer_are_copied_with_their_numbers(look: Look, qtbot: QtBot) -> None:
    window = look(X, WORDS)
    window.tools.copy_table("CSV")
    wait_for_word(window, "Copied layer 0, all heads", qtbot)
    rows = list(csv.reader(io.StringIO(QGuiApplication.clipboard().text())))
    assert rows[0] == ["head", "query", *WORDS]
    assert [row[:2] for row in rows[4:6]] == [["1", "the"], ["1", "cat"]]


def test_numbers_of_all_layers_are_not_copied(look: Look) -> None:
    window = look(X)
    menu = window.bar.copy.menu()
    assert set(entries(menu).values()) == {True}
    window.choose("all", 0)
    assert [text for text, on in entries(menu).items() if on] == ["Copy picture"]
    window.tools.copy_table("CSV")
    assert window.readout.text() == "Numbers are copied from one layer; choose a layer first."


def test_too_many_numbers_are_refused(look: Look, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.files.export.matrix_text.MOST_NUMBERS", 8)
    window = look(X[0, 0])
    window.tools.copy_table("CSV")
    wait_for_word(window, "9 numbers are too many for the clipboard", qtbot)


# Saving


@pytest.mark.slow
@pytest.mark.parametrize("x", [X, X[0].astype(np.float32), X[0, 0]], ids=lambda x: str(x.shape))
def test_ctrl_s_saves_a_file_that_view_opens_again(
    x: np.ndarray, look: Look, qtbot: QtBot, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    window = look(x, WORDS)
    for name in ("a.npz", "a.safetensors", "b"):
        path = tmp_path / (name if "." in name else f"{name}.npz")
        with subtests.test(name):
            window.activateWindow()
            qtbot.waitUntil(window.isActiveWindow)
            press(window, Key.Key_S)
            save_as(tmp_path / name)
            wait_for_word(window, f"Saved {path}; attnlab.view opens it again", qtbot)
            again = within_a_loop(lambda path=path: attnlab.view(str(path)))
            np.testing.assert_array_equal(again.maps.values, window.maps.values)
            assert again.maps.values.dtype == window.maps.values.dtype
            assert (again.maps.shape, again.maps.query_tokens) == (x.shape, WORDS)
            again.close()


def test_a_file_that_cannot_be_written_is_told(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X)
    window.tools.save_to(tmp_path / "none" / "a.npz")
    assert "there is no folder" in wait_for_word(window, str(tmp_path), qtbot)
    assert window.readout.property("role") == "error"
    window.tools.save_to(tmp_path / "a.csv")
    wait_for_word(window, "a.csv does not end in .npz or .safetensors.", qtbot)
    assert list(tmp_path.iterdir()) == []


def test_a_save_ends_although_the_window_is_closed(look: Look, qtbot: QtBot, tmp_path: Path) -> None:
    window = look(X)
    window.tools.save_to(tmp_path / "a.npz")
    window.close()
    let_go()
    qtbot.waitUntil((tmp_path / "a.npz").exists)
    np.testing.assert_array_equal(read_maps(tmp_path / "a.npz")[0].numpy(), X)


# Finding them


def test_buttons_and_menus_name_their_keys(look: Look) -> None:
    window = look(X)
    keys = {"Copy": "", "Save…": "(Ctrl+S)", "Export…": "(Ctrl+E)"}
    shown = [each for each in window.bar.findChildren(QPushButton) if each.text() in (*keys, "File")]
    assert [each.text() for each in shown if each.isVisible()] == list(keys)
    assert all(each.toolTip().endswith(keys[each.text()]) for each in shown if each.isVisible())
    assert window.bar.copy.menu().actions()[0].shortcut().toString() == "Ctrl+C"


def test_a_narrow_window_has_one_menu_for_all(look: Look) -> None:
    window = look(X)
    window.resize(320, 280)
    QApplication.processEvents()
    assert [each.isVisible() for each in (window.bar.copy, window.bar.save, window.bar.export)] == [False] * 3
    assert window.bar.more.isVisible()
    assert {"Copy picture", "Copy numbers as CSV", "Save…", "Export…"} <= entries(window.bar.more.menu()).keys()
    for each in (window.layer_pill, window.head_pill, window.bar.more):
        assert each.geometry().right() <= window.bar.width() - 16
    window.resize(900, 600)
    QApplication.processEvents()
    assert window.bar.heading.isVisible()
    assert window.bar.export.isVisible()


def test_the_context_menu_of_the_maps_has_the_same_entries(look: Look) -> None:
    window = look(X)
    window.sheet.customContextMenuRequested.emit(window.sheet.rect().center())
    (menu,) = window.sheet.findChildren(QMenu)
    assert list(entries(menu)) == list(entries(window.bar.more.menu()))
    menu.close()


# All layers and heads


def test_the_pills_show_all_layers_and_heads_and_a_click_opens_one(look: Look) -> None:
    window = look(X, WORDS)
    QTest.mouseClick(window.layer_pill, Button.LeftButton)
    popup = window.layer_pill.popup()
    assert popup is not None
    QTest.mouseClick(next(row for row in popup.rows() if row.text() == "all"), Button.LeftButton)
    assert window.sheet.data is not None
    assert len(window.sheet.data.values) == 8
    place = window.sheet.cell_rect(6, 1, 1).center().toPoint()
    QTest.mouseClick(window.sheet, Button.LeftButton, pos=place)
    assert (window.layer, window.head) == (1, 2)
