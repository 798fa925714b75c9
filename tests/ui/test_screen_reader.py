"""What a screen reader finds in the playground: cells with row, column and value, and what changed, announced."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.ui.widgets.subscripts import FormulaLabel
from tests.ears import NAME, Ears, element, names

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier


def test_every_cell_of_a_card_says_row_column_and_value(person: "Person", listening: None) -> None:
    values = person.painted("weights")[0]
    tokens = person.labels("weights")[0]
    heard = names(person.card("weights"))
    assert len(heard) == values.size
    row, column = tokens.index("starts"), tokens.index("journey")
    assert heard[row * 6 + column] == f"weights, starts to journey, {values[row, column]:.4f}"
    assert element(person.card("weights")).role() == QAccessible.Role.Table


def test_numbered_columns_and_negative_numbers_are_said_in_words(person: "Person", listening: None) -> None:
    value = float(person.painted("queries")[0, 1, 0])
    said = names(person.card("queries"))[2]
    sign = "minus " if value < 0 else ""
    assert said == f"queries, journey, column 0, {sign}{abs(value):.4f}"


def test_a_cell_is_found_where_it_is_painted(person: "Person", listening: None) -> None:
    card = person.card("weights")
    at = card.mapToGlobal(person.cell("weights", 2, 1))
    found = element(card).childAt(at.x(), at.y())
    assert found.text(NAME).startswith("weights, starts to journey, ")
    assert found.rect().contains(at)


def test_masked_cells_say_so_and_not_their_value(person: "Person", listening: None) -> None:
    person.key(Key.Key_M, CTRL)
    person.settle()
    heard = names(person.card("weights"))
    assert heard[1] == "weights, Your to journey, hidden by the mask"
    assert heard[6] == f"weights, journey to Your, {person.painted('weights')[0, 1, 0]:.4f}"


def test_a_card_that_shows_the_scores_under_the_mask_says_both(sit_down: Callable[..., "Person"], ears: Ears) -> None:
    person = sit_down("causal-5x8")
    person.window.resize(1024, 640)
    person.settle()
    shared = person.playground.canvas.covered
    assert shared, "Scaled and Masked do not share a card"
    card = person.card("masked" if shared == "scaled" else "scaled")
    under = card.data.under if card.data is not None else None
    assert under is not None
    first = float(under[0, 0, 1])
    sign = "minus " if first < 0 else ""
    assert names(card)[1].endswith(f"hidden by the mask, before it {sign}{abs(first):.4f}")


def test_steps_to_come_say_no_value(person: "Person", listening: None) -> None:
    person.document.show(depth="row")
    person.key(Key.Key_Home)
    while person.document.view.at is None or person.document.view.at.stage != "queries":
        person.key(Key.Key_Right)
    heard = names(person.card("queries"))
    assert heard[-1].endswith("not computed yet")
    assert not heard[0].endswith("not computed yet")


@pytest.mark.slow
def test_a_held_cell_that_is_hidden_again_has_no_new_value(person: "Person", ears: Ears) -> None:
    person.click_cell("weights", 2, 1)
    person.document.show(at=Place("weights", -1))
    ears.forget()
    person.press("Causal")
    person.settle()
    person.wait_for(lambda: len(ears.said) == 2)
    assert ears.said == ["Causal on", "weights, starts to journey, not computed yet"]


def test_equal_tokens_are_told_apart_by_their_position(sit_down: Callable[..., "Person"], ears: Ears) -> None:
    person = sit_down("the-cat-sat")
    tokens = person.labels("weights")[0]
    twice = [place for place, token in enumerate(tokens) if tokens.count(token) > 1]
    if not twice:
        person.write_sentence("the cat the")
        person.key(Key.Key_Return)
        person.settle()
    heard = names(person.card("weights"))
    assert len(set(heard)) == len(heard)


def test_arrow_keys_read_each_cell_of_a_card(person: "Person", ears: Ears) -> None:
    card, values = person.card("weights"), person.painted("weights")[0]
    card.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Right):
        person.key(key, widget=card)
    tokens = person.labels("weights")[0]
    assert ears.read[-1] == f"weights, {tokens[1]} to {tokens[1]}, {values[1, 1]:.4f}"
    assert person.document.view.cell == Cell("weights", 1, 1, 0)
    ears.forget()
    for key, modifiers, cell in (
        (Key.Key_End, Qt.KeyboardModifier.NoModifier, (1, 5)),
        (Key.Key_Home, Qt.KeyboardModifier.NoModifier, (1, 0)),
        (Key.Key_End, CTRL, (5, 5)),
        (Key.Key_Home, CTRL, (0, 0)),
    ):
        person.key(key, modifiers, widget=card)
        assert person.document.view.cell == Cell("weights", *cell, 0)
        assert ears.read[-1].startswith(f"weights, {tokens[cell[0]]} to {tokens[cell[1]]}, ")
    focused = element(card).focusChild()
    assert focused.text(NAME) == ears.read[-1]


def test_home_and_end_walk_the_steps_while_no_cell_is_held(person: "Person", ears: Ears) -> None:
    card = person.card("weights")
    card.setFocus()
    person.key(Key.Key_Home, widget=card)
    assert person.document.view.step == 1
    person.key(Key.Key_End, widget=card)
    assert person.document.view.step is None


def test_control_and_an_arrow_begin_at_the_first_cell(person: "Person", ears: Ears) -> None:
    card = person.card("scores")
    card.setFocus()
    person.key(Key.Key_Right, CTRL, widget=card)
    assert person.document.view.cell == Cell("scores", 0, 0, 0)
    person.key(Key.Key_Right, CTRL, widget=card)
    assert person.document.view.cell == Cell("scores", 0, 1, 0)


def test_the_cells_of_every_head_are_walked(sit_down: Callable[..., "Person"], ears: Ears) -> None:
    person = sit_down("multi-head-8")
    card = person.card("weights")
    card.setFocus()
    person.key(Key.Key_Down, widget=card)
    person.key(Key.Key_PageDown, CTRL, widget=card)
    assert ears.read[-1].startswith("weights, head 1, ")
    assert person.document.view.cell == Cell("weights", 0, 0, 1)
    heads, values = person.playground.canvas.heads, person.painted("weights")
    heads.setFocus(Qt.FocusReason.TabFocusReason)
    person.key(Key.Key_Down, CTRL, widget=heads)
    person.key(Key.Key_Right, CTRL, widget=heads)
    tokens = person.labels("weights")[0]
    assert ears.read[-1] == f"weights, head 0, {tokens[0]} to {tokens[1]}, {values[0, 0, 1]:.4f}"
    for _ in range(len(values)):
        person.key(Key.Key_PageDown, CTRL, widget=heads)
    mean = float(np.mean(values[:, 0, 1], dtype=np.float64))
    assert ears.read[-1] == f"weights, mean of the heads, {tokens[0]} to {tokens[1]}, {mean:.4f}"


def test_a_folded_card_has_no_cells_but_says_why(person: "Person", listening: None) -> None:
    heads = person.playground.canvas.heads
    assert heads.folded
    assert names(heads) == []
    assert heads.folded in element(heads).text(NAME)


def test_the_table_of_numbers_is_read_cell_by_cell(person: "Person", ears: Ears) -> None:
    person.open_table("X")
    person.click_number(0, 0)
    person.key(Key.Key_Right, widget=person.table)
    value = float(person.in_table()[0, 1])
    assert ears.read[-1] == f"X, row Your, column 1, {value:.4f}"
    assert (
        len([name for name in names(person.table) if name.startswith("X, row ")])
        == person.experiment.embeddings.numel()
    )
    ears.forget()
    person.key(Key.Key_Up, widget=person.table)
    person.settle()
    assert f"X, row Your, column 1, {value + 0.1:.4f}" in ears.said


def test_tokens_and_bars_are_lists_of_items(person: "Person", ears: Ears) -> None:
    strip = person.playground.inputs.tokens
    assert element(strip).role() == QAccessible.Role.List
    assert names(strip)[:2] == ["Token 1 of 6: Your", "Token 2 of 6: journey"]
    strip.setFocus()
    person.key(Key.Key_Right, widget=strip)
    assert ears.read[-1] == "Token 2 of 6: journey"


@pytest.mark.slow
def test_a_map_of_512_tokens_is_walked_without_an_object_for_each_cell(person: "Person", ears: Ears) -> None:
    from attnlab.attention.edits.token_edits import resize_tokens

    person.document.edit("T = 512", lambda e: resize_tokens(e, 512))
    person.settle()
    card = person.card("weights")
    assert element(card).childCount() == 512 * 512
    card.setFocus()
    person.key(Key.Key_End, CTRL, widget=card)
    assert ears.read[-1].startswith("weights, ")
    assert person.document.view.cell == Cell("weights", 511, 511, 0)
    at = card.mapToGlobal(person.cell("weights", 300, 40))
    assert element(card).childAt(at.x(), at.y()).text(NAME).startswith("weights, ")


# Announcements


def test_a_switch_undo_and_redo_are_announced(person: "Person", ears: Ears) -> None:
    person.key(Key.Key_M, CTRL)
    person.settle()
    person.undo()
    person.settle()
    person.redo()
    person.settle()
    assert ears.said == ["Causal on", "Undid: Causal on", "Redid: Causal on"]


def test_a_jump_in_the_history_is_announced(person: "Person", ears: Ears) -> None:
    person.key(Key.Key_M, CTRL)
    person.press("Biases")
    person.press("Output W_o")
    person.settle()
    ears.forget()
    person.document.jump(0)
    person.settle()
    assert ears.said[0].startswith("Back to: ")


def test_an_edit_announces_the_new_value_of_the_held_cell(person: "Person", ears: Ears) -> None:
    person.click_cell("weights", 2, 1)
    person.settle()
    ears.forget()
    person.open_table("X")
    person.type_number(2, 0, "1.5")
    person.settle()
    value = person.painted("weights")[0, 2, 1]
    assert f"weights, starts to journey, now {value:.4f}" in ears.said
    ears.forget()
    person.key(Key.Key_M, CTRL)
    person.settle()
    assert ears.said == ["Causal on", f"weights, starts to journey, now {person.painted('weights')[0, 2, 1]:.4f}"]


def test_a_number_changed_by_a_key_is_said_once_and_a_switch_after_it(person: "Person", ears: Ears) -> None:
    person.open_table("W_q")
    table = person.playground.inputs.table
    table.setFocus()
    ears.forget()
    person.key(Key.Key_Up)
    person.settle()
    assert ears.said == ["W_q, row x0, column 0, 0.3961"]
    person.key(Key.Key_M, CTRL)
    person.settle()
    assert ears.said[1:] == ["Causal on"]
    labels = {element(label).text(NAME) for label in person.playground.inputs.findChildren(QLabel)}
    assert {"d_model", "d_k", "d_v"} <= labels


def test_a_label_with_subscripts_has_its_new_name_as_soon_as_it_is_told(qtbot: QtBot, ears: Ears) -> None:
    label = FormulaLabel("W_q")
    qtbot.addWidget(label)
    label.setText("W_k")
    assert ears.renamed == ["W_q", "W_k"]


def test_a_drag_announces_its_last_value_when_it_ends(person: "Person", ears: Ears) -> None:
    person.click_cell("weights", 2, 1)
    person.settle()
    person.open_table("X")
    ears.forget()
    person.drag_number(2, 0, *range(10, 200, 10))
    person.settle()
    now = [said for said in ears.said if ", now " in said]
    assert now[-1] == f"weights, starts to journey, now {person.painted('weights')[0, 2, 1]:.4f}"
    assert len(now) <= 2, "one for the last that was computed while the button was down, one for the end"
    assert len([said for said in ears.said if said.startswith("X, row starts, column 0, ")]) <= 1


def test_pointing_with_the_mouse_announces_nothing(person: "Person", ears: Ears) -> None:
    for column in range(4):
        person.point_at("weights", 2, column)
    assert (ears.said, ears.read) == ([], [])


def test_steps_and_heads_are_announced(sit_down: Callable[..., "Person"], ears: Ears) -> None:
    person = sit_down("multi-head-8")
    ears.forget()
    person.playground.canvas.setFocus()
    person.key(Key.Key_Home)
    assert ears.said[-1].startswith("1 of ")
    assert "Inputs" in ears.said[-1]
    person.key(Key.Key_End)
    assert ears.said[-1] == "All steps"
    person.playground.canvas.heads.setFocus()
    person.key(Key.Key_Right, widget=person.playground.canvas.heads)
    assert ears.said[-1] == "Showing head 0"
    person.document.show(head="mean")
    assert ears.said[-1] == "Showing the mean of the heads"


def test_a_card_alone_and_the_state_shown_are_announced(person: "Person", ears: Ears) -> None:
    card = person.card("weights")
    card.setFocus()
    person.key(Key.Key_Return, widget=card)
    assert ears.said[-1] == "Weights alone"
    person.key(Key.Key_Down, widget=card)
    person.key(Key.Key_Escape)
    assert ears.said[-1] == "All cards"
    assert card.hasFocus()
    person.key(Key.Key_Escape)
    assert person.playground.canvas.hasFocus()
    person.playground.comparison.toggle()
    person.key(Key.Key_M, CTRL)
    person.settle()
    person.playground.comparison.look("difference")
    assert ears.said[-1] == "Difference from the pinned state"
    assert names(card)[6].startswith("weights, difference, journey to Your, ")


def test_a_refusal_is_announced_and_named(person: "Person", ears: Ears) -> None:
    person.set_size("d_k", "0")
    said = person.message() or person.table_message()
    assert said
    assert said in ears.said


def test_odd_settings_are_announced(person: "Person", ears: Ears) -> None:
    person.choose("Score", "cosine")
    person.settle()
    odd = [said for said in ears.said if said.startswith("Unusual here: ")]
    assert odd == [
        f"Unusual here: {' '.join(person.playground.header.remarks.text.text().split())}".replace("−", "minus ")
    ]


def test_an_unexpected_error_is_announced(person: "Person", ears: Ears, provoked: Callable[[], list[str]]) -> None:
    from attnlab.base.fault_log import report

    report(IndexError("far away"), "adding")
    person.wait_for(lambda: bool(ears.said))
    assert ears.said[-1] == "Something went wrong inside attnlab while adding: IndexError: far away."
    assert provoked()


def test_the_palette_says_the_line_that_enter_would_choose(person: "Person", ears: Ears) -> None:
    person.key(Key.Key_K, CTRL)
    count = len(person.window.command_palette.list_found())
    assert ears.read[-1] == "Search the commands"
    assert ears.said[-1].endswith(f", 1 of {count}")
    person.type("causal")
    found = person.window.command_palette.list_found()
    assert ears.said[-1] == f"Causal mask, {found[0].section}, {found[0].shortcut}, 1 of {len(found)}"
    person.key(Key.Key_Down)
    assert ears.said[-1].startswith(found[1].title)
    person.type("qqq")
    assert ears.said[-1] == "No command matches. Esc closes."
    person.key(Key.Key_Escape)


def test_every_entry_of_the_menus_has_a_name(person: "Person", listening: None) -> None:
    rail = person.window.rail
    for button in (rail.menu_button, rail.help_button, rail.settings_button):
        menu = button.menu()
        menu.aboutToShow.emit()
        entries = [element(menu).child(i) for i in range(element(menu).childCount())]
        assert len(entries) > 2
        silent = [
            entry.role() for entry in entries if not entry.text(NAME) and entry.role() != QAccessible.Role.Separator
        ]
        assert not silent
