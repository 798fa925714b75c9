"""Copying and saving code and matrices: the open experiment and the visible stage, with a message in the bar."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMenu, QWidget

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.walk import Place
from attnlab.files.export.code_notebook import notebook
from attnlab.files.export.matrix_text import FORMATS, make_input_table
from attnlab.files.export.script import script
from attnlab.files.export.stage_tables import table
from attnlab.files.export.terminal_table import label
from attnlab.ui.export.code_export import MOST_NUMBERS, TITLES
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.widgets.numbers.number_view import NumberView
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture(autouse=True)
def _empty_clipboard(qapp: QApplication) -> Iterator[None]:
    QGuiApplication.clipboard().setText("nothing")
    yield
    QGuiApplication.clipboard().clear()


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


def told(person: "Person", act: Callable[[], object]) -> str:
    """Do something and return the message in the bar afterwards."""
    with person.qtbot.waitSignal(person.playground.code.done):
        act()
    assert person.message()
    return person.message()


def run(person: "Person", action: str) -> str:
    return told(person, lambda: person.window.actions_list.run(action))


def menu_on(widget: QWidget, at: QPoint) -> QMenu:
    """Press the right button and return the context menu."""
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at), Mod.NoModifier)
    QApplication.sendEvent(widget, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def entry(menu: QMenu, title: str) -> Any:
    return next(action for action in menu.actions() if action.text().partition("\t")[0] == title)


def copied(person: "Person", menu: QMenu, title: str, form: str) -> str:
    """Choose a format in the submenu, and return the message in the bar."""
    inner = entry(menu, title).menu()
    note = told(person, entry(inner, form).trigger)
    menu.close()
    return note


@pytest.mark.parametrize("form", FORMATS)
def test_the_visible_stage_is_copied(sit_down: "Callable[..., Person]", form: str) -> None:
    person = sit_down("journey")
    note = run(person, f"copy-{form}")
    assert note == f"Copied weights of head 0, 6 × 6, as {TITLES[form]}"
    assert clipboard() == FORMATS[form](table(attnlab.compute(attnlab.preset("journey")), "weights", 0))


def test_the_selected_cells_stage_is_copied_first_with_the_visible_head(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    person.click_cell("scores", 1, 2, 3)
    assert run(person, "copy-csv") == "Copied scores of all 8 heads, 10 × 10 each, as CSV"
    assert clipboard() == FORMATS["csv"](table(trace, "scores", "all"))
    person.playground.view_control.choose_head("mean")
    assert run(person, "copy-csv") == "Copied scores of the mean head, 10 × 10, as CSV"
    assert clipboard() == FORMATS["csv"](table(trace, "scores", "mean"))
    person.playground.view_control.choose_head(5)
    assert run(person, "copy-csv") == "Copied scores of head 5, 10 × 10, as CSV"
    assert clipboard() == FORMATS["csv"](table(trace, "scores", 5))


def test_the_focused_table_is_copied(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    person.open_table("W_q")
    person.click_number(0, 0)
    assert run(person, "copy-latex") == "Copied W_q, 3 × 2, as LaTeX"
    assert clipboard() == FORMATS["latex"](make_input_table(person.experiment, "W_q"))
    person.click_number(2, 1, Mod.ShiftModifier)
    person.click_number(1, 0)
    person.click_number(2, 1, Mod.ShiftModifier)
    assert run(person, "copy-numpy") == "Copied 2 × 2 of W_q, as NumPy"
    made = eval(clipboard(), {"np": np})
    np.testing.assert_array_equal(made, make_input_table(person.experiment, "W_q").values[1:3])
    person.click_cell("queries", 0, 0)
    assert run(person, "copy-latex") == "Copied queries of head 0, 6 × 2, as LaTeX"


def test_a_copied_block_keeps_the_labels_of_its_own_rows_and_columns(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    person.open_table("X")
    person.click_number(2, 1)
    person.click_number(3, 2, Mod.ShiftModifier)
    assert run(person, "copy-csv") == "Copied 2 × 2 of X, as CSV"
    assert clipboard() == "row,1,2\nstarts,0.85,0.64\nwith,0.58,0.33\n"


def test_the_context_menu_of_a_table_copies_it(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    person.open_table("X")
    viewport = person.table.viewport()
    menu = menu_on(viewport, person.table.grid().cell(2, 1).center())
    assert copied(person, menu, "Copy as", "Markdown") == "Copied X, 6 × 3, as Markdown"
    assert [line.split("|")[1].strip() for line in clipboard().splitlines()[2:]] == list(person.experiment.tokens)


def test_the_context_menu_of_a_card_copies_the_map_under_the_pointer(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    card = person.card("weights")
    menu = menu_on(card, person.cell("weights", 4, 4, 6))
    assert copied(person, menu, "Copy weights of head 6 as", "LaTeX") == "Copied weights of head 6, 10 × 10, as LaTeX"
    assert clipboard() == FORMATS["latex"](table(attnlab.compute(person.experiment), "weights", 6))
    title = menu_on(card, QPoint(30, 18))
    assert copied(person, title, "Copy weights of all 8 heads as", "CSV").startswith("Copied weights of all 8 heads")
    output = menu_on(person.card("output"), person.cell("output", 0, 0))
    assert copied(person, output, "Copy output as", "CSV") == "Copied output, 10 × 64, as CSV"


def test_the_context_menu_of_a_card_copies_its_picture(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    menu = menu_on(person.card("weights"), person.cell("weights", 4, 4, 6))
    note = told(person, entry(menu, "Copy picture").trigger)
    menu.close()
    data = QGuiApplication.clipboard().mimeData()
    assert note == f"Copied weights of head 6 as a picture, 1417 × {data.imageData().height()} pixels"
    assert data.imageData().width() == 1417
    drawing = bytes(data.data("image/svg+xml").data()).decode()
    assert all(f">{label(token)}</text>" in drawing for token in person.experiment.tokens)


def test_a_card_without_numbers_has_no_context_menu(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    person.key(Key.Key_Home, widget=person.playground.canvas)
    assert person.card("weights").data is None
    assert person.playground.code.make_card_menu(person.card("weights"), QPoint(40, 90)) is None


def test_the_pinned_state_or_the_difference_is_copied_if_visible(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    before = attnlab.compute(person.experiment).array("scores")[0]
    person.playground.comparison.toggle()
    person.open_table("W_q")
    person.type_number(0, 0, "2")
    person.settle()
    person.click_cell("scores", 0, 0)
    now = attnlab.compute(person.experiment).array("scores")[0]

    def numbers() -> Any:
        rows = list(csv.reader(io.StringIO(clipboard())))[1:]
        return np.array([row[1:] for row in rows], dtype=np.float32)

    for look, what, values in (
        ("present", "scores", now),
        ("pinned", "pinned scores", before),
        ("difference", "difference of scores", now - before),
    ):
        person.playground.comparison.look(look)
        assert run(person, "copy-csv") == f"Copied {what} of head 0, 6 × 6, as CSV"
        np.testing.assert_array_equal(numbers(), values)
    person.playground.comparison.look("present")


def test_a_copied_difference_has_the_numbers_that_export_writes(
    sit_down: "Callable[..., Person]", tmp_path: Path
) -> None:
    person = sit_down("multi-head-8")
    person.playground.comparison.toggle()
    person.open_table("W_q")
    person.type_number(0, 0, "2.7")
    person.settle()
    person.playground.comparison.look("difference")
    for head in ("mean", "all", 3):
        told(person, partial(person.playground.code.copy_stage, "csv", "weights", head))
        person.playground.files.export_stage("weights", head)
        (dialog,) = person.window.findChildren(ExportDialog)
        dialog.form.format.setCurrentIndex(dialog.form.format.findData("csv"))
        assert dialog.export_to(tmp_path / f"{head}.csv")
        copied, exported = (
            [[np.float32(number) for number in row[-10:]] for row in list(csv.reader(io.StringIO(text)))[1:]]
            for text in (clipboard(), (tmp_path / f"{head}.csv").read_text())
        )
        assert copied == exported
        person.wait_for(lambda: person.window.findChild(ExportDialog) is None)
    person.playground.comparison.look("present")


def test_the_number_of_the_held_cell_is_copied_with_every_digit(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("causal-5x8")
    person.click_cell("weights", 3, 1)
    note = told(person, lambda: person.key(Key.Key_C, Mod.ControlModifier))
    assert np.float32(clipboard()) == person.painted("weights")[0, 3, 1]
    assert note == f"Copied {clipboard()}"
    person.click_cell("weights", 1, 3)
    note = told(person, lambda: person.key(Key.Key_C, Mod.ControlModifier))
    assert note == "The held cell has no number to copy: masked."
    person.click_cell("scores", 3, 1)
    person.document.show(at=Place("scores", asked=((3, 1),)))
    note = told(person, lambda: person.key(Key.Key_C, Mod.ControlModifier))
    assert "covered" in note, "the answer to a question is not for copying"
    person.playground.let_go()
    assert run(person, "copy-number") == "Click the cell of a map first; then its number can be copied."


def test_the_held_cell_follows_the_head_and_its_number_is_copied(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    person.click_cell("weights", 3, 1, 2)
    for head in ("mean", 5, "mean", "all", 3):
        person.playground.view_control.choose_head(head)
        person.settle()
        told(person, lambda: person.key(Key.Key_C, Mod.ControlModifier))
        shown = float(person.painted("weights")[0, 3, 1])
        assert float(clipboard()) == pytest.approx(shown)
        assert person.find(QLabel, "Value of the cell").text() == f"{shown:.4f}"
    person.playground.lenses.open_lens("statistics")
    said = "No map in view has the held cell; click a cell of one, then its number can be copied."
    assert run(person, "copy-number") == said


def test_selected_text_and_rows_are_copied_not_the_number_of_the_held_cell(person: "Person") -> None:
    person.write_sentence(f"Your {'journey' * 5}")
    person.key(Key.Key_Return)
    person.settle()
    person.click_cell("weights", 1, 0)
    label = next(each for each in person.playground.explain.findChildren(FormulaLabel) if "takes" in each.text())
    label.setFocus()
    label.setSelection(0, len(label.markup))
    person.key(Key.Key_C, Mod.ControlModifier, label)
    assert clipboard() == label.text().replace("\N{NO-BREAK SPACE}", " ")
    person.window.actions_list.run("lens-statistics")
    person.settle()
    view = person.find(NumberView, "Rows of weights")
    view.setFocus()
    person.key(Key.Key_C, Mod.ControlModifier, view)
    assert len(clipboard().splitlines()) == 1 + 2, "the titles, and a row for each token"


def test_the_script_is_that_of_the_current_state(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("causal-5x8")
    person.open_table("W_q")
    person.type_number(0, 0, "2")
    person.settle()
    assert run(person, "copy-script") == "Copied the PyTorch script"
    assert clipboard() == script(person.experiment, person.document.scene.title, person.document.scene.dtype)
    names: dict[str, Any] = {}
    lines = clipboard().partition("\nfor name")[0].splitlines()
    exec("\n".join(line for line in lines if "set_printoptions" not in line), names)
    torch.testing.assert_close(names["stages"]["weights"], attnlab.compute(person.experiment)["weights"])


@pytest.mark.parametrize(("action", "ending"), [("save-script", ".py"), ("save-notebook", ".ipynb")])
def test_code_is_saved_to_the_chosen_path(
    sit_down: "Callable[..., Person]", tmp_path: Path, action: str, ending: str
) -> None:
    person = sit_down("journey")
    person.window.actions_list.run(action)
    dialog = next(each for each in person.window.findChildren(QFileDialog) if each.isVisible())
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(field, QLineEdit)
    assert field.text() == f"journey{ending}"
    field.setText(str(tmp_path / "mine"))
    assert told(person, lambda: QTest.keyClick(field, Key.Key_Return)) == f"Saved {tmp_path / 'mine'}{ending}"
    written = (tmp_path / f"mine{ending}").read_text()
    e, title = person.experiment, person.document.scene.title
    assert written == (script(e, title) if ending == ".py" else notebook(e, title))
    assert ending == ".py" or json.loads(written)["nbformat"] == 4
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"mine{ending}"]


def test_the_layers_of_a_stack_are_told_apart_by_the_names_of_files(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("induction")
    for layer in (1, 2):
        person.choose("Layer", f"{layer} of 2")
        person.settle()
        person.playground.files.export_stage("weights", "all")
        (dialog,) = person.window.findChildren(ExportDialog)
        assert dialog.form.name.text() == f"induction-layer-{layer}-weights"
        dialog.close()
        person.wait_for(lambda: person.window.findChild(ExportDialog) is None)
    person.window.actions_list.run("save-script")
    files = next(each for each in person.window.findChildren(QFileDialog) if each.isVisible())
    assert [each.text() for each in files.findChildren(QLineEdit, "fileNameEdit")] == ["induction-layer-2.py"]
    files.close()


def test_a_failed_save_is_reported_in_one_sentence(sit_down: "Callable[..., Person]", tmp_path: Path) -> None:
    person = sit_down("journey")
    (tmp_path / "folder.py").mkdir()
    said = told(person, lambda: person.playground.code.save_code(tmp_path / "folder.py", ".py"))
    assert said == f"{tmp_path / 'folder.py'} cannot be written: it is a folder."


@pytest.mark.slow
def test_too_many_numbers_are_not_copied(sit_down: "Callable[..., Person]") -> None:
    n = 514
    e = Experiment(tuple(map(str, range(n))), torch.eye(n)[:, :4], config=attnlab.AttentionConfig(n_heads=4))
    person = sit_down("journey")
    person.document.edit("Open", lambda _: e)
    person.settle()
    assert 4 * n * n > MOST_NUMBERS
    person.window.actions_list.run("all-heads")
    assert run(person, "copy-csv") == (
        "1,056,784 numbers are too many for the clipboard; use File › Export to write them to a table."
    )
    assert clipboard() == "nothing"
    person.playground.view_control.choose_head(1)
    assert run(person, "copy-csv") == f"Copied weights of head 1, {n} × {n}, as CSV"
    assert len(clipboard().splitlines()) == n + 1
