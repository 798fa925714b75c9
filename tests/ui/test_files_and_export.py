"""Sessions saved, opened and dropped; exports of the visible stage. Failures are one sentence and lose nothing."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QContextMenuEvent, QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPushButton

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.stages.explain import Cell
from attnlab.compute.engine import devices
from attnlab.files.source import Source
from attnlab.ui.app.help_window import HelpWindow
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
CTRL = Mod.ControlModifier
ENDINGS = ("png", "svg", "pdf", "csv", "npy", "npz", "safetensors")


def dialog_of(person: "Person") -> QFileDialog:
    """Return the open dialog, once visible."""
    found = [dialog for dialog in person.window.findChildren(QFileDialog) if dialog.isVisible()]
    assert len(found) == 1
    return found[0]


def field_of(person: "Person") -> QLineEdit:
    """Return the file name field of the open dialog."""
    field = dialog_of(person).findChild(QLineEdit, "fileNameEdit")
    assert isinstance(field, QLineEdit)
    return field


def name_in_dialog(person: "Person", path: Path) -> None:
    """Type a path into the open file dialog and press Enter."""
    dialog, field = dialog_of(person), field_of(person)
    field.setText(str(path))
    QTest.keyClick(field, Key.Key_Return)
    person.wait_for(lambda: not dialog.isVisible())


def drop(person: "Person", path: Path) -> None:
    """Drop a file on the window."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    action, buttons, at = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, QPoint(200, 200)
    enter = QDragEnterEvent(at, action, mime, buttons, Mod.NoModifier)
    QApplication.sendEvent(person.window, enter)
    assert enter.isAccepted()
    QApplication.sendEvent(person.window, QDropEvent(QPointF(at), action, mime, buttons, Mod.NoModifier))


def same(one: Experiment, other: Experiment) -> bool:
    tensors = [(one.embeddings, other.embeddings)]
    tensors += [
        (getattr(one.weights, name), getattr(other.weights, name))
        for name in ("W_q", "W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o")
    ]
    equal = all(a is b is None or (a is not None and b is not None and torch.equal(a, b)) for a, b in tensors)
    return equal and one.tokens == other.tokens and one.config.causal == other.config.causal


# Sessions


def test_a_session_survives_saving_bit_for_bit(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down()
    person.write_sentence("Mine is longer, שלום 🙂")
    person.drag_number(0, 0, 37)
    person.press("Causal")
    person.press("Biases")
    person.choose("Device and number format", "CPU float64")
    person.key(Key.Key_S, CTRL)
    name_in_dialog(person, tmp_path / "mine")
    person.playground.files.finish()
    path = tmp_path / "mine.attnlab"
    assert path.exists()
    assert person.window.windowTitle() == "mine — attnlab"
    person.settle()
    saved, shown = person.experiment, person.painted("weights").copy()

    other = sit_down("the-cat-sat")
    other.key(Key.Key_O, CTRL)
    name_in_dialog(other, path)
    other.settle()
    assert same(other.experiment, saved)
    np.testing.assert_array_equal(other.painted("weights"), shown)
    assert other.document.scene.dtype == "float64"
    assert other.window.windowTitle() == "mine — attnlab"
    assert other.history()[-1] == "Open mine.attnlab"
    other.undo()
    assert other.experiment.tokens == ("The", "cat", "sat")


def test_a_workspace_is_left_for_a_session_that_is_opened(person: "Person", tmp_path: Path) -> None:
    attnlab.save(attnlab.preset("the-cat-sat"), tmp_path / "mine.attnlab")
    person.window.show_workspace("lessons")
    for path, shown in ((None, "lessons"), (tmp_path / "mine.attnlab", "playground")):
        person.key(Key.Key_O, CTRL)
        dialog = person.window.findChild(QFileDialog)
        assert person.window.current == "lessons"
        if path is None:
            dialog.reject()
            person.wait_for(lambda: person.window.findChild(QFileDialog) is None)
        else:
            name_in_dialog(person, path)
        assert person.window.current == shown
    person.settle()
    assert person.experiment.tokens == ("The", "cat", "sat")


def saved_where_nobody_reads(person: "Person", folder: Path) -> Path:
    """Save, change something, and replace the file by a pipe, whose writer waits for a reader."""
    slow = folder / "slow.attnlab"
    assert person.playground.files.save_to(slow)
    person.press("Causal")
    slow.unlink()
    os.mkfifo(slow)
    return slow


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_the_window_responds_while_a_file_is_written(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person, copy = sit_down(), tmp_path / "copy.attnlab"
    slow = saved_where_nobody_reads(person, tmp_path)
    person.key(Key.Key_S, CTRL)
    assert person.message() == f"Saving {slow}…"
    person.press("Causal")
    person.settle()
    assert not person.experiment.config.causal
    assert person.window.windowTitle() == "slow • — attnlab"
    copy.write_bytes(slow.read_bytes())
    person.wait_for(lambda: person.message() == f"Saved {slow}")
    assert attnlab.load(copy).config.causal
    assert person.window.windowTitle() == "slow • — attnlab"  # what came after the key is not in the file
    person.undo()
    assert person.window.windowTitle() == "slow — attnlab"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_window_closes_after_files_are_written(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person, read = sit_down(remember=True), list[bytes]()
    slow = saved_where_nobody_reads(person, tmp_path)
    person.key(Key.Key_S, CTRL)
    reader = Thread(target=lambda: read.append(slow.read_bytes()))
    reader.start()
    person.window.close()
    reader.join()
    (tmp_path / "copy.attnlab").write_bytes(read[0])
    assert attnlab.load(tmp_path / "copy.attnlab").config.causal
    assert not sit_down(remember=True).message()


def test_a_file_name_is_suggested_for_a_new_session(person: "Person") -> None:
    person.key(Key.Key_S, CTRL)
    assert field_of(person).text() == "your-journey-starts.attnlab"
    dialog_of(person).reject()


def test_a_session_given_on_the_command_line_opens(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    path = tmp_path / "given.attnlab"
    attnlab.save(Experiment(("a", "b"), [[1.0, 2.0], [3.0, 4.0]]), path)
    person = sit_down(Source(path=path))
    assert person.window.windowTitle() == "given — attnlab"
    assert person.experiment.tokens == ("a", "b")
    assert person.history() == ["Open given.attnlab"]
    person.press("Causal")
    person.key(Key.Key_S, CTRL)
    person.playground.files.finish()
    assert attnlab.load(path).config.causal


def test_saving_again_does_not_ask_for_a_name(person: "Person", tmp_path: Path) -> None:
    first, second = tmp_path / "one.attnlab", tmp_path / "two.attnlab"
    person.key(Key.Key_S, CTRL)
    name_in_dialog(person, first)
    person.playground.files.finish()
    person.press("Causal")
    person.key(Key.Key_S, CTRL)
    person.playground.files.finish()
    assert attnlab.load(first).config.causal
    person.key(Key.Key_S, CTRL | Mod.ShiftModifier)
    assert Path(field_of(person).text()).name == "one-2.attnlab"
    name_in_dialog(person, second)
    person.playground.files.finish()
    assert person.window.windowTitle() == "two — attnlab"
    assert attnlab.load(second).config.causal


def test_a_file_dropped_on_the_window_opens(person: "Person", tmp_path: Path) -> None:
    path = tmp_path / "dropped.attnlab"
    attnlab.save(Experiment(("x",), [[1.0]]), path)
    drop(person, path)
    person.settle()
    assert person.experiment.tokens == ("x",)


@pytest.mark.parametrize("content", [None, b"", b"not a session", b"PK\x03\x04 broken"])
def test_an_invalid_session_is_reported_and_changes_nothing(
    person: "Person", tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "odd.attnlab"
    if content is not None:
        path.write_bytes(content)
    before = person.document.scene
    drop(person, path)
    person.settle()
    assert "odd.attnlab" in person.message()
    assert person.message().endswith(".")
    assert "\n" not in person.message()
    assert person.document.scene is before
    assert person.window.windowTitle() == "Your journey starts… — attnlab"


def test_a_failed_save_is_reported_and_keeps_the_work(person: "Person", tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    person.press("Causal")
    before = person.document.scene
    assert not person.playground.files.save_to(tmp_path / "file" / "mine.attnlab")
    assert "mine.attnlab" in person.message()
    assert person.document.scene is before
    assert person.window.windowTitle() == "Your journey starts… • — attnlab"


def test_a_session_of_a_missing_device_opens_on_another(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    from attnlab.files.sessions.session_file import save_scene

    path = tmp_path / "elsewhere.attnlab"
    view = {"device": "cuda:77", "dtype": "float8", "title": "Elsewhere"}
    save_scene(Experiment(("x",), [[1.0]]), path, view)
    person = sit_down(Source(path=path))
    here = "cuda" if "cuda" in devices() else "cpu"
    assert (person.document.scene.device, person.document.scene.dtype) == (here, "float32")


def test_files_are_remembered_newest_first(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down()
    paths = [tmp_path / "a.attnlab", tmp_path / "b.attnlab"]
    for path in paths:
        person.playground.files.save_to(path)
    drop(person, paths[0])
    person.settle()
    assert person.window.settings.recent == (str(paths[0]), str(paths[1]))


# Export


def open_export(person: "Person") -> ExportDialog:
    """Press Export and return the dialog once its preview shows."""
    person.press("Export", QPushButton)
    found = [dialog for dialog in person.window.findChildren(ExportDialog) if dialog.isVisible()]
    assert len(found) == 1
    person.wait_for(lambda: found[0].preview.image is not None or not found[0].form.is_figure)
    return found[0]


def export(person: "Person", path: Path) -> None:
    dialog = open_export(person)
    kinds = dialog.form.format
    kinds.setCurrentIndex(kinds.findData(path.suffix.removeprefix(".")))
    person.press("Save…")
    name_in_dialog(person, path)


def test_an_exported_array_equals_the_cards(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    person = sit_down("multi-head-causal")
    export(person, tmp_path / "all.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "all.npy"), person.painted("weights"))
    assert f"Saved {tmp_path / 'all.npy'}" == person.message()
    person.choose("Show", "head 3")
    export(person, tmp_path / "three.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "three.npy"), person.painted("weights")[0])
    person.choose("Show", "mean")
    export(person, tmp_path / "mean.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "mean.npy"), person.painted("weights")[0])


def test_the_visible_stage_is_exported(person: "Person", tmp_path: Path) -> None:
    person.click_cell("scores", 1, 1)
    export(person, tmp_path / "scores.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), person.painted("scores")[0])
    person.key(Key.Key_Escape)
    person.document.show(alone="keys")
    export(person, tmp_path / "keys.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "keys.npy"), person.painted("keys")[0])
    person.document.show(alone=None)


def test_an_exported_table_has_tokens_all_digits_and_empty_fields(person: "Person", tmp_path: Path) -> None:
    person.press("Causal")
    person.settle()
    person.click_cell("masked", 3, 3)
    export(person, tmp_path / "masked.csv")
    rows = list(csv.reader((tmp_path / "masked.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0][-6:] == ["Your", "journey", "starts", "with", "one", "step"]
    assert [row[0] for row in rows[1:]] == ["Your", "journey", "starts", "with", "one", "step"]
    for i, row in enumerate(rows[1:]):
        assert [np.float32(field) for field in row[1 : i + 2]] == person.painted("masked")[0, i, : i + 1].tolist()
        assert row[i + 2 :] == [""] * (5 - i)


def test_an_exported_picture_is_a_picture(person: "Person", tmp_path: Path) -> None:
    export(person, tmp_path / "weights.png")
    with Image.open(tmp_path / "weights.png") as picture:
        assert min(picture.size) > 200
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 20


def test_the_chosen_format_sets_the_file_ending(person: "Person", tmp_path: Path) -> None:
    dialog = open_export(person)
    kinds = dialog.form.format
    assert [kinds.itemText(i) for i in range(kinds.count())] == [
        "PNG",
        "SVG",
        "PDF",
        "Table (CSV)",
        "NumPy array (NPY)",
        "NumPy archive (NPZ)",
        "safetensors",
    ]
    kinds.setCurrentText("Table (CSV)")
    person.press("Save…")
    files = dialog_of(person)
    field = files.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(field, QLineEdit)
    assert field.text() == "journey-weights.csv"
    files.setDirectory(str(tmp_path))
    QTest.keyClick(field, Key.Key_Return)
    assert (tmp_path / "journey-weights.csv").exists()


def test_an_unknown_ending_is_refused_with_the_known_ones(person: "Person", tmp_path: Path) -> None:
    dialog = open_export(person)
    for kind, known in (("PNG", ".png, .svg, .pdf"), ("Table (CSV)", ".csv, .npy, .npz, .safetensors")):
        dialog.form.format.setCurrentText(kind)
        assert not dialog.export_to(tmp_path / "weights.docx")
        assert dialog.message.text() == f"weights.docx does not end in {known}."
        assert dialog.save_button.isEnabled()  # for another name
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_is_reported(person: "Person", tmp_path: Path) -> None:
    dialog = open_export(person)
    for ending in ENDINGS:
        dialog.form.format.setCurrentIndex(dialog.form.format.findData(ending))
        assert not dialog.export_to(tmp_path / "missing" / f"weights.{ending}")
        assert f"weights.{ending}" in dialog.message.text()


def test_overflowed_numbers_are_exported_as_infinity(sit_down: Callable[..., "Person"], tmp_path: Path) -> None:
    huge = torch.full((2, 2), 3e38)
    person = sit_down(Experiment(("a", "b"), huge, Weights(huge, huge, huge), AttentionConfig()))
    person.document.select(Cell("queries", 0, 0, 0), pin=True)
    for ending in ENDINGS:
        export(person, tmp_path / f"q.{ending}")
        assert (tmp_path / f"q.{ending}").exists(), person.message()
    assert "inf" in (tmp_path / "q.csv").read_text(encoding="utf-8")


def test_a_refusal_goes_when_the_next_dialog_opens_and_a_warning_stays(
    sit_down: Callable[..., "Person"], tmp_path: Path
) -> None:
    person = sit_down()
    person.playground.files.open(tmp_path / "missing.attnlab")
    person.settle()
    assert "missing.attnlab" in person.message()
    person.key(Key.Key_F1)
    person.wait_for(lambda: person.message() == "")
    help_window = person.window.findChild(HelpWindow)
    assert help_window is not None
    help_window.close()
    person.playground.open_preset("naive-softmax-overflow")
    person.settle()
    warning = person.message()
    assert warning.startswith("weights: 14 of 36 values are")
    person.key(Key.Key_F1)
    person.wait_for(lambda: isinstance(QApplication.activeWindow(), HelpWindow))
    assert person.message() == warning


def test_a_message_of_a_dialog_goes_with_the_dialog(person: "Person") -> None:
    person.key(Key.Key_F1)
    person.wait_for(lambda: isinstance(QApplication.activeWindow(), HelpWindow))
    person.window.say("The folder of the log cannot be shown.")
    assert person.message() == "The folder of the log cannot be shown."
    window = person.window.findChild(HelpWindow)
    assert window is not None
    QTest.keyClick(window, Key.Key_Escape)
    person.wait_for(lambda: person.message() == "")


def test_the_table_of_a_lens_is_saved_with_every_digit(person: "Person", tmp_path: Path) -> None:
    person.playground.lenses.open_lens("statistics")
    person.settle()
    tables = {each.title.text(): each for each in person.window.findChildren(NumberTable)}
    table = tables["Rows of weights"]

    def save(path: Path) -> None:
        at = table.view.viewport().rect().center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, table.view.viewport().mapToGlobal(at))
        QApplication.sendEvent(table.view.viewport(), event)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(action for action in menu.actions() if action.text() == "Save as CSV…").trigger()
        menu.close()
        assert field_of(person).text() == "journey-rows-of-weights.csv"
        name_in_dialog(person, path)

    save(tmp_path / "rows.csv")
    header, *rows = csv.reader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines())
    assert [row[header.index("query")] for row in rows] == list(person.experiment.tokens)
    weights = attnlab.compute(person.experiment)["weights"][0]
    np.testing.assert_allclose([float(row[header.index("largest")]) for row in rows], weights.max(-1).values)
    assert str(tmp_path / "rows.csv") in person.playground.step_bar.message
    save(tmp_path / "none" / "rows.csv")
    assert "rows.csv cannot be written" in person.playground.step_bar.message
