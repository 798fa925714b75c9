"""Cells of the canvas: pointed at, selected, walked by keys, and their tool tips."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QToolTip

import attnlab
from attnlab.attention.stages.explain import Cell
from attnlab.figures.palette import LIGHT

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Person
from tests.ui.test_canvas import selected

Key = Qt.Key

# One selection everywhere


def outlined(person: "Person", stage: str) -> set[tuple[int | None, int | None]]:
    """Return the rows and columns that are framed on a card."""
    outlines, _ = person.card(stage)._outlines()
    return {(outline.row, outline.column) for outline in outlines}


def test_pointing_at_a_weight_highlights_its_sources_and_results(person: "Person") -> None:
    person.point_at("weights", 2, 1)
    assert selected(person) == Cell("weights", 2, 1, 0)
    assert not person.document.view.pinned
    assert outlined(person, "weights") == {(2, 1)}
    assert outlined(person, "scores") == outlined(person, "scaled") == {(2, 1)}
    assert outlined(person, "queries") == {(2, None)}
    assert outlined(person, "keys") == outlined(person, "values") == {(1, None)}
    assert outlined(person, "inputs") == {(2, None), (1, None)}
    assert outlined(person, "context") == outlined(person, "output") == {(2, None)}
    strip = person.playground.inputs.tokens
    image = strip.viewport().grab().toImage()
    fills = [image.pixelColor(strip.chip_rect(i).topLeft() + QPoint(4, 12)).name().upper() for i in (2, 1, 0)]
    assert fills == [LIGHT.query_ink, LIGHT.key_ink, LIGHT.control]
    person.leave("weights")
    assert selected(person) is None
    assert outlined(person, "queries") == set()


def test_the_frame_of_a_cell_is_drawn(person: "Person") -> None:
    card = person.card("queries")
    edge = person.card("queries").cell_rect(2, 0).topLeft() + QPointF(1, 8)
    before = card.grab().toImage().pixelColor(edge.toPoint())
    person.point_at("weights", 2, 1)
    after = card.grab().toImage().pixelColor(edge.toPoint())
    assert after != before
    assert abs(after.hue() - QColor(LIGHT.query).hue()) < 15


def test_a_click_selects_a_cell_until_escape(person: "Person") -> None:
    person.click_cell("scores", 3, 0)
    person.point_at("weights", 1, 1)
    person.leave("weights")
    assert selected(person) == Cell("scores", 3, 0, 0)
    person.key(Key.Key_Escape)
    assert selected(person) is None
    person.point_at("weights", 1, 1)
    assert selected(person) == Cell("weights", 1, 1, 0)


def test_a_second_click_deselects_and_one_elsewhere_moves_the_selection(person: "Person") -> None:
    person.click_cell("scores", 3, 0)
    person.click_cell("keys", 2, 1)
    assert selected(person) == Cell("keys", 2, 1, 0)
    person.click_cell("keys", 2, 1)
    assert selected(person) is None


def test_a_selection_stays_while_numbers_change_and_goes_with_its_cell(person: "Person") -> None:
    person.click_cell("weights", 5, 5)
    person.drag_number(0, 0, 30, 90)
    person.settle()
    assert selected(person) == Cell("weights", 5, 5, 0)
    person.set_size("T", "3")
    person.settle()
    assert selected(person) is None
    assert outlined(person, "weights") == set()


def test_a_selected_weight_outlines_its_column_in_the_table(person: "Person") -> None:
    person.click_cell("queries", 1, 1)
    before = person.table.viewport().grab().toImage()
    person.click_cell("queries", 1, 0)
    assert person.table.viewport().grab().toImage() != before


def test_arrows_move_between_the_cells_of_a_card(person: "Person") -> None:
    card = person.card("weights")
    card.setFocus()
    person.key(Key.Key_Down, widget=card)
    for key in (Key.Key_Right, Key.Key_Down, Key.Key_Down, Key.Key_Left, Key.Key_Left, Key.Key_Left):
        person.key(key, widget=card)
    assert selected(person) == Cell("weights", 2, 0, 0)
    assert person.document.view.pinned
    assert person.document.view.step is None  # the arrows were the card's


def test_an_arrow_key_never_deselects_the_cell(person: "Person") -> None:
    card = person.card("weights")
    person.click_cell("weights", 0, 0)
    for key in (Key.Key_Left, Key.Key_Up, Key.Key_Left):
        person.key(key, widget=card)
        assert selected(person) == Cell("weights", 0, 0, 0)
        assert person.document.view.pinned


def test_pointing_elsewhere_does_not_collect_the_maps_again(person: "Person") -> None:
    person.point_at("weights", 1, 1)
    canvas = person.playground.canvas
    before = {name: card.data for name, card in canvas.cards.items()}
    of_heads, painted = canvas.heads._data, person.card("inputs").painted
    person.point_at("weights", 2, 1)
    assert all(canvas.cards[name].data is data for name, data in before.items())
    assert canvas.heads._data is of_heads
    assert outlined(person, "scores") == {(2, 1)}
    person.card("inputs").grab()
    assert person.card("inputs").painted > painted


def test_only_the_card_of_the_selected_cell_describes_it(person: "Person") -> None:
    person.point_at("weights", 2, 1)
    said = person.card("weights").accessibleDescription()
    assert said == f"starts → journey: {person.painted('weights')[0, 2, 1]!s}"
    assert person.card("scores").accessibleDescription() == ""
    person.leave("weights")
    assert person.card("weights").accessibleDescription() == ""
    person.point_at("weights", 2, 1)
    person.press("Causal")
    person.settle()
    assert person.card("weights").accessibleDescription() == (
        f"starts → journey: {person.painted('weights')[0, 2, 1]!s}"
    )


def test_signed_weights_are_shown_with_their_signs(person: "Person") -> None:
    person.drag_number(0, 0, 30, -900)
    person.choose("Weights", "÷ sum")
    person.settle()
    data, of_heads = person.card("weights").data, person.playground.canvas.heads._data
    assert data is not None
    assert of_heads is not None
    assert data.kind == of_heads.kind == "signed"
    assert data.limit == np.abs(data.values).max()


# The exact value on hover


def test_the_tool_tip_has_the_exact_value(person: "Person") -> None:
    tip = person.tip(person.card("weights"), person.cell("weights", 2, 1))
    assert tip == f"starts → journey: {person.painted('weights')[0, 2, 1]!s}"
    assert len(tip.split(": ")[1]) > 6
    person.choose("Device and number format", "CPU float64")
    person.settle()
    tip = person.tip(person.card("weights"), person.cell("weights", 2, 1))
    assert float(tip.split(": ")[1]) == person.painted("weights")[0, 2, 1]


def test_escape_hides_the_tool_tip_and_the_selection(person: "Person", qtbot: "QtBot") -> None:
    person.click_cell("weights", 2, 1)
    assert person.tip(person.card("weights"), person.cell("weights", 2, 1))
    person.key(Key.Key_Escape)
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_between_cells_there_is_no_tool_tip(person: "Person") -> None:
    assert person.tip(person.card("weights"), QPoint(3, 3)) == ""


def test_the_tool_tip_of_a_cell_has_the_number_of_its_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    numbers = attnlab.compute(person.experiment).array("weights")
    names = person.experiment.tokens
    for head in (0, 5, 7):
        tip = person.tip(person.card("weights"), person.cell("weights", 3, 1, head))
        assert f"{names[3]} → {names[1]}: {numbers[head, 3, 1]!s}" in tip
    person.choose("Show", "head 5")
    assert f": {numbers[5, 3, 1]!s}" in person.tip(person.card("weights"), person.cell("weights", 3, 1))
