"""Every change can be undone without limit, one gesture at a time, and by a click in the history."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QListWidget, QRadioButton, QSpinBox, QToolButton

import attnlab
from attnlab.document.settings import load_settings
from attnlab.ui.base.themed import palette_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton


def strip_key(key: Qt.Key, modifiers: Qt.KeyboardModifier = Mod.NoModifier) -> "Callable[[Person], None]":
    def do(person: "Person") -> None:
        strip = person.playground.inputs.tokens
        strip.setFocus()
        person.key(key, modifiers, strip)

    return do


def _wheel(person: "Person") -> None:
    person.click_number(1, 1)
    person.turn(person.table.viewport(), person.table.grid().cell(1, 1).center(), 2)


def _paste(person: "Person") -> None:
    person.click_number(0, 0)
    person.paste("7\t8\n9\t10")


def _clear(person: "Person") -> None:
    person.click_number(2, 1)
    person.key(Key.Key_Delete)


EDITS: "dict[str, Callable[[Person], object]]" = {
    "sentence": lambda p: p.write_sentence("Quite another one"),
    "remove": strip_key(Key.Key_Delete),
    "duplicate": strip_key(Key.Key_D, Mod.ControlModifier),
    "move": strip_key(Key.Key_Right, Mod.AltModifier),
    "add": strip_key(Key.Key_Insert),
    "type": lambda p: p.type_number(0, 0, "5"),
    "drag": lambda p: p.drag_number(0, 0, 20, 60),
    "wheel": _wheel,
    "paste": _paste,
    "clear": _clear,
    "fill": lambda p: p.playground.inputs.fill_bar.random_button.click(),
    "T": lambda p: p.set_size("T", "3"),
    "d_model": lambda p: p.set_size("d_model", "5"),
    "d_k": lambda p: p.set_size("d_k", "3"),
    "d_v": lambda p: p.set_size("d_v", "3"),
    "output": lambda p: p.press("Output W_o"),
    "biases": lambda p: p.press("Biases"),
    "causal": lambda p: p.press("Causal"),
    "scale": lambda p: p.choose("Scale", "none"),
    "own scale": lambda p: p.type_into_pill("Scale", "3"),
    "heads": lambda p: p.choose("Heads", "2"),
    "dtype": lambda p: p.choose("Device and number format", "CPU float64"),
    "preset": lambda p: p.playground.open_preset("causal-5x8"),
}


def everything(person: "Person") -> dict[str, object]:
    """Return the visible state of the layer."""
    person.settle()
    numbers = {
        name: card.data.values.tobytes()
        for name, card in person.playground.canvas.cards.items()
        if card.data is not None and card.isVisible()
    }
    top = person.playground.top_bar
    return numbers | {
        "tokens": person.playground.inputs.tokens.tokens(),
        "title": top.title_button.title().rstrip(" •"),
        "switches": (top.switches.causal.isChecked(), person.playground.inputs.shape_bar.biases.isChecked()),
        "pills": [pill.value_text() for pill in (top.switches.scale, top.switches.heads, top.device)],
    }


@pytest.mark.slow
def test_every_change_is_one_step_of_undo_and_redo(person: "Person", subtests: pytest.Subtests) -> None:
    before = everything(person)
    for name, edit in EDITS.items():
        with subtests.test(name=name):
            edit(person)
            person.table.setFocus()
            after = everything(person)
            assert after != before
            assert len(person.history()) == 2
            person.undo()
            assert everything(person) == before
            person.redo()
            assert everything(person) == after
            person.key(Key.Key_Z, Mod.ControlModifier)
            person.key(Key.Key_Y, Mod.ControlModifier)
            assert everything(person) == after
            person.undo()
            assert everything(person) == before


@pytest.mark.slow
def test_all_changes_can_be_undone_and_redone(person: "Person") -> None:
    seen = [everything(person)]
    for name, edit in EDITS.items():
        if name in ("remove", "duplicate", "move", "type", "drag", "T", "output", "causal", "scale", "dtype", "preset"):
            edit(person)
            person.table.setFocus()
            seen.append(everything(person))
    for state in reversed(seen[:-1]):
        person.undo()
        assert everything(person) == state
    person.undo()  # there is nothing before the beginning
    assert everything(person) == seen[0]
    for state in seen[1:]:
        person.redo()
        assert everything(person) == state


@pytest.mark.slow
def test_undo_has_no_limit(person: "Person") -> None:
    before = everything(person)
    person.click_number(0, 0)
    for _ in range(150):
        person.key(Key.Key_Up)
    assert len(person.history()) == 151
    for _ in range(150):
        person.undo()
    assert everything(person) == before


def test_one_drag_is_one_step(person: "Person") -> None:
    person.drag_number(0, 0, *range(5, 200, 3))
    person.drag_number(0, 0, 10)
    assert len(person.history()) == 3


def test_undo_during_a_drag_starts_a_new_step(person: "Person") -> None:
    start = person.in_table()[0, 0]
    view, at = person.table.viewport(), person.table.grid().cell(0, 0).center()
    QTest.mousePress(view, Button.LeftButton, Mod.NoModifier, at)
    for x in (10, 40):
        person._move_to(view, view.mapToGlobal(at) + _across(x), Button.LeftButton, Mod.NoModifier)
    person.undo()
    assert person.in_table()[0, 0] == start
    person._move_to(view, view.mapToGlobal(at) + _across(60), Button.LeftButton, Mod.NoModifier)
    QTest.mouseRelease(view, Button.LeftButton, Mod.NoModifier, at + _across(60))
    assert person.in_table()[0, 0] == pytest.approx(start + 0.6)
    person.undo()
    assert person.in_table()[0, 0] == start


def _across(x: int) -> object:
    from PySide6.QtCore import QPoint

    return QPoint(x, 0)


def test_a_new_edit_drops_undone_steps(person: "Person") -> None:
    person.press("Causal")
    person.press("Biases")
    person.undo()
    person.press("Output W_o")
    assert person.history() == ["Open Your journey starts…", "Causal on", "W_o on"]
    before = everything(person)
    person.redo()
    assert everything(person) == before


def test_a_refused_edit_adds_no_step_and_drops_none(person: "Person") -> None:
    person.press("Causal")
    person.undo()
    person.type_number(0, 0, "abc")
    person.key(Key.Key_Escape)
    person.click_number(2, 1)
    person.paste("1\t2\n3\t4")
    assert person.table_message() != ""
    person.redo()
    assert person.experiment.config.causal


def test_buttons_name_the_step(person: "Person") -> None:
    undo, redo = person.find(QToolButton, "Undo"), person.find(QToolButton, "Redo")
    assert (undo.isEnabled(), redo.isEnabled()) == (False, False)
    assert undo.toolTip() == "Nothing to undo"
    person.press("Causal")
    assert undo.toolTip() == "Undo “Causal on”"
    person.click(undo)
    assert not person.experiment.config.causal
    assert redo.toolTip() == "Redo “Causal on”"
    person.click(redo)
    assert person.experiment.config.causal


# The list


def open_history(person: "Person") -> QListWidget:
    person.press("History", QToolButton)
    popup = person.playground.history
    person.wait_for(popup.isVisible)
    return person.find(QListWidget, "History", popup)


def test_a_click_in_the_history_goes_to_that_state(person: "Person") -> None:
    states = [everything(person)]
    for name in ("causal", "type", "dtype"):
        EDITS[name](person)
        states.append(everything(person))
    shown = open_history(person)
    rows = [shown.item(row).text() for row in range(shown.count())]
    assert rows == ["Open Your journey starts…", "Causal on", "Type W_q[0, 0] = 5", "CPU float64"]
    assert shown.currentRow() == 3
    for row in (1, 3, 0, 2):
        person.click(shown.viewport(), shown.visualItemRect(shown.item(row)).center())
        assert everything(person) == states[row]
        assert shown.currentRow() == row
        muted = QColor(palette_of(shown).muted)
        assert [shown.item(i).foreground().color() == muted for i in range(4)] == [i > row for i in range(4)]
    person.key(Key.Key_Escape, widget=person.playground.history)
    assert not person.playground.history.isVisible()


def test_keys_walk_through_the_history(person: "Person") -> None:
    person.press("Causal")
    person.press("Biases")
    shown = open_history(person)
    QTest.keyClick(shown, Key.Key_Up)
    QTest.keyClick(shown, Key.Key_Up)
    QTest.keyClick(shown, Key.Key_Return)
    assert person.document.history.index == 0
    person.playground.history.hide()


def test_the_history_shows_its_memory_and_limit(sit_down: "Callable[..., Person]", config_dir: "Path") -> None:
    person = sit_down(remember=True)
    person.press("Causal")
    open_history(person)
    popup = person.playground.history
    assert popup.used.text() == "Uses 1 MiB of at most 512 MiB."
    person.click(person.find(QRadioButton, "128 MiB", popup))
    assert popup.used.text() == "Uses 1 MiB of at most 128 MiB."
    popup.hide()
    kept, _ = load_settings()
    assert kept.history_mib == 128
    person.window.close()
    person = sit_down(remember=True, settings=kept)
    assert person.document.history.budget == 128 << 20
    person.document.set_history_budget(1)
    person.press("Show the inputs")  # which this window is too small for
    for name in ("Biases", "Output W_o", "Causal"):
        person.press(name)
    open_history(person)
    assert popup is not person.playground.history
    assert person.playground.history.used.text().endswith(" 2 older steps dropped.")
    assert person.history() == ["W_o on", "Causal on"]
    person.playground.history.hide()


# What was open


def test_undo_goes_back_past_opening_a_preset_or_file(person: "Person", tmp_path: "Path") -> None:
    path = tmp_path / "mine.attnlab"
    person.press("Causal")
    assert person.playground.files.save_to(path)
    assert person.window.windowTitle() == "mine — attnlab"
    person.playground.open_preset("the-cat-sat")
    person.settle()
    assert person.window.windowTitle() == "The cat sat — attnlab"
    person.undo()
    person.settle()
    assert person.window.windowTitle() == "mine — attnlab"
    assert person.experiment.config.causal
    person.redo()
    assert person.window.windowTitle() == "The cat sat — attnlab"


def test_after_undoing_an_opening_the_other_file_is_not_overwritten(person: "Person", tmp_path: "Path") -> None:
    first, second = tmp_path / "first.attnlab", tmp_path / "second.attnlab"
    person.playground.files.save_to(first)
    person.playground.open_preset("the-cat-sat")
    person.playground.files.save_to(second)
    before = second.read_bytes()
    person.settle()
    person.undo()
    person.press("Causal")
    person.key(Key.Key_S, Mod.ControlModifier)
    person.playground.files.finish()
    assert second.read_bytes() == before
    assert attnlab.load(first).config.causal
    assert person.window.windowTitle() == "first — attnlab"


def test_undo_to_the_saved_state_marks_it_as_unchanged(person: "Person", tmp_path: "Path") -> None:
    person.press("Causal")
    assert person.window.windowTitle() == "Your journey starts… • — attnlab"
    person.playground.files.save_to(tmp_path / "mine.attnlab")
    assert person.window.windowTitle() == "mine — attnlab"
    person.press("Biases")
    assert person.window.windowTitle() == "mine • — attnlab"
    person.undo()
    assert person.window.windowTitle() == "mine — attnlab"
    person.undo()
    assert person.window.windowTitle() == "mine • — attnlab"


def test_undo_does_not_change_the_view(person: "Person") -> None:
    person.click_cell("weights", 2, 2)
    person.press("Causal")
    person.settle()
    person.undo()
    person.settle()
    cell = person.document.view.cell
    assert cell is not None
    assert cell.stage == "weights"
    assert any(label.text() == "Weights" for label in person.playground.explain.findChildren(QLabel))


def test_undo_shares_unchanged_parts(person: "Person") -> None:
    w_k = person.experiment.weights.W_k
    person.type_number(0, 0, "5")
    assert person.experiment.weights.W_k is w_k
    np.testing.assert_array_equal(person.painted("inputs")[0], person.experiment.embeddings.numpy())


@pytest.mark.parametrize("name", ["T", "d_model", "d_k", "d_v", "Seed"])
def test_undo_reaches_the_window_from_every_number_field(person: "Person", name: str) -> None:
    before = person.experiment
    person.playground.toggle_causal()
    box = person.find(QSpinBox, name)
    box.setFocus()
    person.undo()
    assert person.experiment is before


def test_nothing_is_undone_that_is_out_of_sight(person: "Person") -> None:
    person.type_number(0, 0, "5")
    edited = person.in_table()
    person.window.show_workspace("train")
    person.undo()
    person.window.show_workspace("playground")
    np.testing.assert_array_equal(person.in_table(), edited)
    person.undo()
    assert (person.in_table() != edited).any()
