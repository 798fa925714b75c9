"""A second sequence: typed, edited and pointed at, with its keys on every card."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QSpinBox

from attnlab.attention.stages.explain import Cell
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.fields.undo_fields import TextField
from attnlab.ui.widgets.tokens.token_strip import TokenStrip

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Button, Mod = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier
JOURNEY = ("Your", "journey", "starts", "with", "one", "step")


def write(person: "Person", text: str) -> TextField:
    """Type another second sentence."""
    field = person.find(TextField, "Second sentence")
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Key.Key_Delete)
    person.type(text)
    return field


def strip(person: "Person") -> TokenStrip:
    return person.find(TokenStrip, "Second sequence’s tokens")


def cross(person: "Person", text: str = "one small step") -> None:
    person.press("Second sequence")
    write(person, text)
    person.key(Key.Key_Return)
    person.settle()


def outlined(person: "Person") -> tuple[list[int], list[int]]:
    """Return the highlighted tokens of both sentences from the descriptions of the strips."""
    found = []
    for one in (person.playground.inputs.tokens, strip(person)):
        lit = []
        for index in range(len(one.tokens())):
            one.obey("home")
            for _ in range(index):
                one.obey("right")
            said = one.accessibleDescription()
            lit += [index] if said.endswith(("query", "key")) else []
        found.append(lit)
    return found[0], found[1]


def row_names(person: "Person") -> list[QImage]:
    """Return the painted name of each row of the open table, bold if the row is outlined."""
    cells = [person.table.grid().cell(row, 0) for row in range(person.in_table().shape[0])]
    image = person.table.viewport().grab().toImage()
    return [image.copy(0, cell.top() + 4, cell.left() - 4, cell.height() - 8) for cell in cells]


def test_bars_are_named_by_the_query_and_have_keys_of_the_second_sentence(person: "Person") -> None:
    cross(person)
    person.point_at("weights", 1, 2)
    bars = person.find(BarList, "Weights, row of", person.playground.explain)
    assert bars.accessibleName() == "Weights, row of “journey”"
    row = person.painted("weights")[0, 1]
    said = []
    for index, token in enumerate(("one", "small", "step")):
        assert bars.row_text(index) == f"{row[index]:.4f}"
        bars.setFocus()
        QTest.keyClick(bars, Key.Key_Home)
        for _ in range(index):
            QTest.keyClick(bars, Key.Key_Down)
        said.append(bars.accessibleDescription())
        assert said[-1] == f"{token}: {row[index]:.4f}, {index + 1} of 3"
    assert len(set(said)) == 3


def test_switching_the_second_sequence_on_and_off_changes_no_number(person: "Person") -> None:
    before = {stage: person.painted(stage).copy() for stage in ("weights", "output")}
    was = person.experiment
    person.press("Second sequence")
    person.settle()
    assert person.find(TextField, "Second sentence").text() == "Your journey starts with one step"
    assert strip(person).tokens() == JOURNEY
    for stage, numbers in before.items():
        np.testing.assert_array_equal(person.painted(stage), numbers)
    person.press("Second sequence")
    person.settle()
    assert not any(field.isVisible() for field in person.window.findChildren(TextField, "second_sentence"))
    np.testing.assert_array_equal(person.painted("weights"), before["weights"])
    assert person.history()[1:] == ["Second sequence on", "Second sequence off"]
    person.undo()
    person.undo()
    assert person.experiment is was


@pytest.mark.slow
def test_a_second_sentence_gives_every_card_its_keys(person: "Person") -> None:
    cross(person)
    keys = ("one", "small", "step")
    for stage in ("scores", "scaled", "weights"):
        assert person.labels(stage) == (JOURNEY, keys)
        assert person.painted(stage).shape == (1, 6, 3)
    for stage in ("memory", "keys", "values"):
        assert person.labels(stage)[0] == keys
    for stage in ("inputs", "queries", "context", "output"):
        assert person.labels(stage)[0] == JOURNEY
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    assert person.history()[1:] == ["Second sequence on", "Type the second sentence"]
    person.undo()
    assert person.experiment.memory_tokens == JOURNEY


@pytest.mark.slow
def test_pointing_at_a_cell_highlights_its_query_and_key(person: "Person") -> None:
    cross(person, "one small step for everyone and me too")
    e = person.experiment
    for stage, card in person.playground.canvas.cards.items():
        if card.isHidden() or card.data is None or card.folded:
            continue
        *_, rows, columns = card.data.values.shape
        for row, column in ((0, 0), (rows - 1, columns - 1)):
            person.point_at(stage, row, column)
            assert person.document.view.cell is not None, stage
            person.leave(stage)
    person.document.select(Cell("weights", 5, 7, 0), pin=True)
    assert outlined(person) == ([5], [7])
    assert (e.T_q, e.T_k) == (6, 8)
    person.document.select(Cell("keys", 6, 0, 0), pin=True)
    assert outlined(person) == ([], [6])


@pytest.mark.slow
def test_a_click_on_a_token_of_the_second_sentence_selects_its_key(person: "Person") -> None:
    cross(person)
    person.click(strip(person).viewport(), strip(person).chip_rect(2).center())
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row) == ("keys", 2)


@pytest.mark.slow
def test_the_tables_of_the_sequences_outline_keys_and_queries(person: "Person") -> None:
    cross(person)
    for title, row in (("X", 2), ("M", 1)):
        person.open_table(title)
        before = row_names(person)
        person.document.select(Cell("weights", 2, 1, 0), pin=True)
        now = row_names(person)
        assert [each for each in range(len(now)) if now[each] != before[each]] == [row], title
        person.document.select(None, pin=True)


@pytest.mark.slow
def test_tokens_of_the_second_sentence_can_be_edited_in_place(person: "Person") -> None:
    cross(person)
    chips = strip(person)
    chips.edit(1)
    editor = person.find(QLineEdit, "Token", chips)
    editor.selectAll()
    QTest.keyClicks(editor, "giant")
    QTest.keyClick(editor, Key.Key_Return)
    assert person.experiment.memory_tokens == ("one", "giant", "step")
    assert person.find(TextField, "Second sentence").text() == "one giant step"
    chips.setFocus()
    chips.obey("home")
    person.key(Key.Key_D, Mod.ControlModifier, chips)
    person.key(Key.Key_Right, Mod.AltModifier, chips)
    person.key(Key.Key_Delete, widget=chips)
    assert person.experiment.memory_tokens == ("one", "giant", "step")
    assert person.experiment.tokens == JOURNEY
    assert person.history()[-4:] == ["Rename token 1 to “giant”", "Duplicate “one”", "Move “one”", "Remove “one”"]


@pytest.mark.slow
def test_an_empty_second_sentence_is_refused_and_escape_restores_it(person: "Person") -> None:
    cross(person)
    before = person.experiment
    field = write(person, "")
    said = person.find(QLabel, "Message about the second sentence")
    assert said.text() == "The sentence is empty; type at least one word."
    assert not any(
        label.isVisible()
        for label in person.window.findChildren(QLabel)
        if label.accessibleName().startswith("Message about the sentence")
    )
    person.type("Two words")
    assert not said.isVisible()
    person.key(Key.Key_Escape)
    assert field.text() == "one small step"
    assert person.experiment is before


@pytest.mark.slow
def test_the_table_and_sizes_of_the_second_sequence_exist_with_it(person: "Person") -> None:
    cross(person)
    person.open_table("M")
    assert person.table.accessibleName() == "Numbers of M"
    np.testing.assert_array_equal(person.in_table().astype(np.float32), person.painted("memory")[0])
    person.type_number(1, 0, "2.5")
    person.settle()
    assert person.painted("memory")[0, 1, 0] == 2.5
    assert person.history()[-1] == "Type M[1, 0] = 2.5"
    for name, text in (("T_k", "5"), ("d_memory", "4")):
        box = person.find(QSpinBox, name)
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, text)
        QTest.keyClick(box, Key.Key_Return)
        assert person.history()[-1] == f"{name} = {text}"
    person.settle()
    assert person.painted("memory").shape == (1, 5, 4)
    assert person.painted("weights").shape == (1, 6, 5)
    person.press("Second sequence")
    assert person.message() == (
        "W_k and W_v have 4 rows, one for each number of the second sequence’s tokens; "
        "without it they need d_model = 3: set d_memory to 3 first."
    )
    assert person.playground.inputs.memory_switch.isChecked()
    person.undo()
    person.press("Second sequence")
    person.settle()
    assert person.experiment.memory_tokens is None
    assert person.table.accessibleName() == "Numbers of W_q"
    assert not any(box.isVisible() for box in person.playground.inputs.shape_bar.memory_sizes.values())


@pytest.mark.parametrize("second", [False, True])
def test_the_eye_of_a_token_hides_its_key_from_every_query(person: "Person", second: bool) -> None:
    if second:
        cross(person)
    chips = strip(person) if second else person.playground.inputs.tokens
    before = person.painted("weights").copy()
    token = chips.tokens()[1]
    chips.setFocus()
    chips.obey("home")
    person.key(Key.Key_Right, widget=chips)
    person.key(Key.Key_H, widget=chips)
    person.settle()
    assert (person.painted("weights")[..., 1] == 0).all()
    np.testing.assert_allclose(person.painted("weights").sum(-1), 1, atol=1e-6)
    assert "masked" in chips.accessibleDescription()
    assert person.history()[-1] == f"Mask “{token}”"
    person.key(Key.Key_H, widget=chips)
    person.settle()
    assert person.history()[-1] == f"Unmask “{token}”"
    np.testing.assert_array_equal(person.painted("weights"), before)
    assert person.experiment.config.mask is None


@pytest.mark.slow
def test_queries_of_cross_attention_cannot_be_masked(person: "Person") -> None:
    cross(person)
    chips, before = person.playground.inputs.tokens, person.experiment
    chips.setFocus()
    person.key(Key.Key_H, widget=chips)
    assert person.experiment is before


@pytest.mark.slow
def test_a_click_on_a_removed_second_sentence_changes_nothing(person: "Person") -> None:
    cross(person)
    field = person.find(TextField, "Second sentence")
    person.press("Second sequence")
    person.settle()
    before, undos = person.experiment, len(person.history())
    QTest.keyClick(field, Key.Key_A)
    assert (person.experiment, len(person.history())) == (before, undos)
    person.press("Second sequence")
    QTest.keyClick(field, Key.Key_B)
    assert person.experiment.memory_tokens is not None
