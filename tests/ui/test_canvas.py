"""The canvas: a card for every stage, wires, zoom, pan, one enlarged card, heads, from 1×1 to 512×512."""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.stages.explain import Cell
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.playground.canvas_card import shorten_fold
from attnlab.ui.playground.canvas_lengths import MARGIN
from attnlab.ui.playground.stage_maps import shorten_figures

if TYPE_CHECKING:
    from tests.ui.conftest import Person


Key, Mod = Qt.Key, Qt.KeyboardModifier


ROWS = [["inputs", "queries", "keys", "values"], ["scores", "masked"], ["weights", "context"]]


def selected(person: "Person") -> Cell | None:
    return person.document.view.cell


# What is there


def test_the_cards_lie_as_the_flow(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey")
    person.press("Causal")
    person.settle()
    below = 0
    for row in ROWS:
        cards = [person.card(name) for name in row]
        assert all(card.isVisible() for card in cards)
        assert len({card.y() for card in cards}) == 1
        assert all(a.geometry().right() < b.x() for a, b in pairwise(cards))
        assert cards[0].y() > below
        below = cards[0].geometry().bottom()
    assert person.card("output").folded == "same as the context"
    assert person.card("output").y() > person.card("context").geometry().bottom()
    assert person.playground.canvas.heads.folded == "one head"


def test_every_card_describes_its_stage_and_shape(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    told = {name: (card.accessibleName(), card.shape_text()) for name, card in person.playground.canvas.cards.items()}
    assert told["weights"][0].startswith("Weights: 8 heads, 5 by 5. ")
    assert told["weights"][1] == "8 × 5×5"
    assert told["inputs"][0].startswith("Inputs: 5 by 64. ")
    assert told["output"][1] == "5×64"
    assert person.labels("weights") == (("The", "cat", "sat", "on", "the"),) * 2


def test_wires_run_along_the_computation(person: "Person") -> None:
    wires = {(wire.source, wire.target, wire.role) for wire in person.playground.canvas.wires()}
    assert ("queries", "scores", "query") in wires
    assert ("keys", "scores", "key") in wires
    assert ("values", "context", "value") in wires
    assert ("weights", "context", "attention") in wires
    assert ("scaled", "weights", "neutral") in wires
    person.press("Causal")
    person.settle()
    wires = {(wire.source, wire.target, wire.role) for wire in person.playground.canvas.wires()}
    assert ("scaled", "weights", "neutral") not in wires
    assert {("scores", "masked", "neutral"), ("masked", "weights", "neutral")} <= wires  # it shows the scaled ones too


def test_cells_have_the_colour_of_their_number(person: "Person") -> None:
    image = person.card("weights").grab().toImage()
    shades = []
    for row, column in ((0, 0), (2, 1), (4, 4)):
        corner = person.card("weights").cell_rect(row, column).topLeft() + QPointF(4, 4)
        shades.append((person.painted("weights")[0, row, column], image.pixelColor(corner.toPoint()).lightnessF()))
    shades.sort()
    assert shades[0][1] > shades[-1][1]  # the larger the weight, the darker


# Zoom and pan


def wheel(person: "Person", stage: str, notches: float) -> None:
    card = person.card(stage)
    person.turn(card, card.rect().center(), notches)


def test_the_wheel_zooms_about_the_mouse(person: "Person") -> None:
    canvas, card = person.playground.canvas, person.card("scores")
    before = card.geometry()
    centre = card.mapTo(canvas, card.rect().center())
    wheel(person, "scores", 4)
    assert canvas.zoom > 1.5
    assert card.width() == pytest.approx(before.width() * canvas.zoom, abs=2)
    assert abs(card.mapTo(canvas, card.rect().center()).x() - centre.x()) <= 2
    wheel(person, "scores", -50)
    assert canvas.zoom == 0.5
    person.key(Key.Key_9, Mod.ControlModifier)
    assert canvas.zoom == 1
    assert card.geometry() == before


def numbers_shown(person: "Person", stage: str) -> bool:
    """Whether numbers are painted in the cells, in light or dark ink."""
    card = person.card(stage)
    image = card.grab().toImage()
    inside = card.cell_rect(0, 0).adjusted(3, 3, -3, -3).toRect()
    colours = {
        image.pixel(x, y) for x in range(inside.left(), inside.right()) for y in range(inside.top(), inside.bottom())
    }
    return len(colours) > 3


def test_numbers_are_hidden_in_small_cells_and_shown_after_zooming_in(
    sit_down: Callable[..., "Person"],
) -> None:
    person = sit_down("journey")
    person.set_size("T", "40")
    person.settle()
    assert not numbers_shown(person, "weights")
    person.turn(person.card("weights"), person.cell("weights", 0, 0), 12, Mod.ControlModifier)
    assert numbers_shown(person, "weights")


def test_cards_that_fit_cannot_be_dragged_away(person: "Person") -> None:
    canvas = person.playground.canvas
    before = [card.geometry() for card in canvas.cards.values()]
    person.drag(canvas, QPoint(3, 3), (20, 10), (60, 25))
    assert [card.geometry() for card in canvas.cards.values()] == before
    canvas.zoom_at(2.0, QPointF(canvas.rect().center()))
    for by in (QPointF(5000, 5000), QPointF(-9000, -9000)):
        canvas.pan(by)
        shown = [card for card in canvas.cards.values() if card.isVisible()]
        right, bottom = (max(getattr(c.geometry(), side)() for c in shown) for side in ("right", "bottom"))
        assert min(card.x() for card in shown) <= 2 * MARGIN + 1
        assert min(card.y() for card in shown) <= 2 * MARGIN + 1
        assert right >= canvas.width() - 2 * MARGIN - 2
        assert bottom >= canvas.height() - 2 * MARGIN - 2


def test_a_drag_pans_and_selects_nothing(person: "Person") -> None:
    canvas, card = person.playground.canvas, person.card("weights")
    canvas.zoom_at(1.3, QPointF(canvas.rect().center()))
    before = card.pos()
    person.drag(canvas, QPoint(3, 3), (20, 10), (60, 25))
    assert card.pos() - before == QPoint(60, 25)
    person.drag(card, person.cell("weights", 2, 2), (2, 1), (-30, 0), (-60, -25))
    assert card.pos() - before == QPoint(0, 0)
    assert selected(person) is None


def test_a_click_with_a_slight_movement_is_a_click(person: "Person") -> None:
    before = person.card("weights").pos()
    person.drag(person.card("weights"), person.cell("weights", 2, 2), (1, 1))
    assert selected(person) == Cell("weights", 2, 2, 0)
    assert person.card("weights").pos() == before


def test_a_double_click_on_the_background_fits_all_cards(person: "Person") -> None:
    canvas = person.playground.canvas
    wheel(person, "scores", 5)
    person.key(Key.Key_9, Mod.ControlModifier)
    person.drag(canvas, QPoint(3, 3), (60, 25))
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert canvas.zoom == 1
    assert person.card("inputs").x() < 40


# One card alone


def double_click_title(person: "Person", stage: str) -> None:
    QTest.mouseDClick(person.card(stage), Qt.MouseButton.LeftButton, pos=QPoint(40, 18))


def test_a_double_click_on_a_title_enlarges_the_card(person: "Person") -> None:
    before = person.card("weights").width()
    double_click_title(person, "weights")
    shown = [name for name, card in person.playground.canvas.cards.items() if card.isVisible()]
    assert shown == ["weights"]
    assert not person.playground.canvas.heads.isVisible()
    assert person.card("weights").width() > before
    assert not person.card("context").isVisible()
    person.click_cell("weights", 3, 3)
    assert selected(person) == Cell("weights", 3, 3, 0)
    double_click_title(person, "weights")
    assert person.card("weights").width() == before


def test_the_maps_of_eight_heads_stand_in_the_middle_of_an_enlarged_card(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8")
    person.window.resize(1366, 768)
    double_click_title(person, "weights")
    person.settle()
    card = person.card("weights")
    grid = card.grid
    assert grid is not None
    assert grid.lines > 1
    above, below = grid.y - grid.label_height, card.height() - grid.y - grid.height
    assert below <= above + 4


def test_escape_restores_the_canvas_and_then_deselects(person: "Person") -> None:
    double_click_title(person, "scores")
    person.click_cell("scores", 0, 1)
    person.key(Key.Key_Escape)
    assert person.card("weights").isVisible()
    assert selected(person) == Cell("scores", 0, 1, 0)
    person.key(Key.Key_Escape)
    assert selected(person) is None


def test_enter_on_a_card_enlarges_it(person: "Person") -> None:
    card = person.card("keys")
    card.setFocus()
    person.key(Key.Key_Return, widget=card)
    assert not person.card("weights").isVisible()
    person.key(Key.Key_Return, widget=card)
    assert person.card("weights").isVisible()


def test_an_unrevealed_card_cannot_be_enlarged(person: "Person") -> None:
    person.key(Key.Key_Home)
    assert person.card("weights").data is None
    double_click_title(person, "weights")
    person.key(Key.Key_Return, widget=person.card("weights"))
    assert person.document.view.alone is None


def test_removing_the_enlarged_stage_restores_the_canvas(person: "Person") -> None:
    double_click_title(person, "scaled")
    person.choose("Scale", "none")
    person.settle()
    assert person.card("weights").isVisible()


# Heads


def test_the_choice_of_heads_applies_to_every_card(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    everything = {name: person.painted(name).copy() for name in ("queries", "scores", "weights", "context")}
    assert all(len(maps) == 8 for maps in everything.values())
    person.choose("Show", "head 3")
    for name, maps in everything.items():
        np.testing.assert_array_equal(person.painted(name), maps[3:4])
    person.choose("Show", "mean")
    for name, maps in everything.items():
        np.testing.assert_allclose(person.painted(name), maps.mean(0, keepdims=True), rtol=1e-5, atol=1e-7)
    person.choose("Show", "all heads")
    for name, maps in everything.items():
        np.testing.assert_array_equal(person.painted(name), maps)


def test_a_click_on_a_small_map_selects_its_head_and_a_second_one_all(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    heads = person.playground.canvas.heads
    assert heads.choices == (*range(8), "mean")

    def middle(choice: int | str) -> QPoint:
        return heads.map_rect(choice).center().toPoint()

    person.click(heads, middle(5))
    assert person.document.view.head == 5
    assert heads.accessibleName() == "Heads: 8, showing 5"
    person.click(heads, middle("mean"))
    assert person.document.view.head == "mean"
    person.click(heads, middle("mean"))
    assert person.document.view.head == "all"


def test_keys_select_the_heads(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("uneven-heads")
    heads = person.playground.canvas.heads
    heads.setFocus()
    seen = []
    for _ in range(4):
        person.key(Key.Key_Right, widget=heads)
        seen.append(person.document.view.head)
    assert seen == [0, 1, "mean", "all"]


def test_a_selected_cell_follows_the_visible_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    person.click_cell("weights", 3, 1, index=2)
    assert selected(person) == Cell("weights", 3, 1, 2)
    person.choose("Show", "head 6")
    assert selected(person) == Cell("weights", 3, 1, 6)
    person.choose("Show", "mean")
    assert selected(person) == Cell("weights", 3, 1, None)


# From 1 × 1 to 512 × 512, and every script


def test_the_smallest_layer_is_shown(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down(Experiment(("one",), [[2.0]], Weights([[3.0]], [[0.5]], [[-1.0]])))
    assert {name: person.painted(name).item() for name in ("queries", "keys", "scores", "weights", "output")} == {
        "queries": 6,
        "keys": 1,
        "scores": 6,
        "weights": 1,
        "output": -2,
    }
    person.click_cell("weights", 0, 0)
    assert selected(person) == Cell("weights", 0, 0, 0)


@pytest.mark.parametrize("heads", [1, 8])
def test_a_layer_of_512_tokens_is_shown(sit_down: Callable[..., "Person"], heads: int) -> None:
    e = Experiment([f"t{i}" for i in range(512)], torch.randn(512, 16), config=AttentionConfig(heads, causal=True))
    person = sit_down(e)
    assert person.painted("weights").shape == (heads, 512, 512)
    person.card("weights").grab()
    row, column = (300, 7)
    person.click_cell("weights", row, column, index=heads - 1)
    cell = selected(person)
    assert cell is not None
    grid = person.card("weights").grid
    assert grid is not None
    assert abs(cell.row - row) * grid.cell_height <= 1  # several cells share a pixel
    assert abs(cell.column - column) * grid.cell_width <= 1
    assert cell.head == heads - 1
    person.turn(person.card("weights"), person.cell("weights", row, column, heads - 1), 12)
    person.window.grab()


SCRIPTS = (
    "שלום",
    "مرحبا بالعالم",
    "注",
    "意",
    "🙂",
    "👩‍👩‍👧‍👦",
    "é" * 3,
    "Donaudampfschifffahrtsgesellschaftskapitän" * 5,
    "the",
    "the",
    "",
    " ",
    "<b>&amp;",
    "\t\n",
    "{x}_%s",
)


@pytest.mark.slow
def test_tokens_of_any_script_are_shown(sit_down: Callable[..., "Person"]) -> None:
    torch.manual_seed(0)
    person = sit_down(Experiment(SCRIPTS, torch.randn(len(SCRIPTS), 4)))
    assert person.labels("weights") == (SCRIPTS, SCRIPTS)
    assert person.playground.inputs.tokens.tokens() == SCRIPTS
    for index in range(len(SCRIPTS)):
        person.click_cell("weights", index, index)
        assert selected(person) == Cell("weights", index, index, 0)
        person.window.grab()
    tip = person.tip(person.card("weights"), person.cell("weights", 12, 0))
    shown = QTextDocument()
    shown.setHtml(tip)
    assert shown.toPlainText().startswith("<b>&amp; → שלום: ")  # as it was typed, and no markup


def test_a_right_to_left_desktop_keeps_queries_left_and_keys_above(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey")
    person.window.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    first, last = person.card("weights").cell_rect(0, 0), person.card("weights").cell_rect(0, 5)
    assert first.x() < last.x()
    person.window.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_lines_of_narrow_cards_are_abbreviated_before_they_are_cut(qapp: QApplication) -> None:
    image = QImage(10, 10, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    pen = Pen(painter, face("map", 1.0))
    whole, figures = "same as the context", "largest change 0.1535"
    assert shorten_fold(whole, pen, pen.width(whole)) == whole
    assert shorten_fold(whole, pen, pen.width("= context") + 1) == "= context"
    assert shorten_figures(figures, pen, pen.width(figures)) == figures
    assert shorten_figures(figures, pen, pen.width("max Δ 0.1535") + 1) == "max Δ 0.1535"
    painter.end()
