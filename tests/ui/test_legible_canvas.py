"""The canvas from a small window to a large one, at every size of type: numbers stay, and nothing lies over another."""

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
import torch
from PySide6.QtGui import QFontMetricsF

import attnlab
from attnlab.document.document import View
from attnlab.figures.map_painter import LABEL_LETTERS
from attnlab.ui.base.fonts import face
from attnlab.ui.playground.canvas_plan import LEAST_PX, NUMBER_PX, plan_canvas
from attnlab.ui.playground.card_needs import LEGIBLE, collect_needs, count_digits

if TYPE_CHECKING:
    from attnlab.ui.playground.card import StageCard
    from tests.ui.conftest import Person

SIZES = [(1024, 640), (1366, 768), (1440, 900), (1920, 1080), (3840, 2160)]
PRESETS = ["journey", "the-cat-sat", "cross-attention", "rope", "masks-source-for-target"]


def open_at(person: "Person", preset: str, size: tuple[int, int]) -> list["StageCard"]:
    """Open a preset in a window of a size; return the cards with maps."""
    person.playground.open_preset(preset)
    person.settle()
    person.window.resize(*size)
    person.window.grab()  # which lays out what was asked for
    cards = person.playground.canvas.cards.values()
    return [card for card in cards if card.isVisible() and card.data is not None and not card.folded]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("preset", PRESETS)
def test_every_number_has_room_in_its_cell(person: "Person", preset: str, size: tuple[int, int]) -> None:
    cards = open_at(person, preset, size)
    plan = person.playground.canvas.plan
    assert plan is not None
    assert plan.decimals >= 2
    legible = [card for card in cards if card.data is not None and max(card.data.values.shape[1:]) <= LEGIBLE]
    assert len(legible) >= 3
    for card in legible:
        assert card.grid is not None
        assert card.data is not None
        font = face("map", plan.zoom)
        assert font.pixelSize() >= LEAST_PX
        metrics = QFontMetricsF(font)
        values = card.data.values[:, ~card.data.masked] if card.data.masked is not None else card.data.values
        widest = max(metrics.horizontalAdvance(f"{value:.{plan.decimals}f}".replace("-", "−")) for value in values.flat)
        assert widest <= card.grid.cell_width, card.stage.name
        assert metrics.height() <= card.grid.cell_height + 1, card.stage.name


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("preset", PRESETS)
def test_cards_do_not_overlap_or_leave_the_canvas(person: "Person", preset: str, size: tuple[int, int]) -> None:
    open_at(person, preset, size)
    canvas = person.playground.canvas
    shown = [card for card in (*canvas.cards.values(), canvas.heads) if card.isVisible()]
    for card in shown:
        assert card.x() >= 0
        assert card.geometry().right() < canvas.width(), f"{card.accessibleName()} is cut off"
    for one, other in combinations(shown, 2):
        assert not one.geometry().intersects(other.geometry()), f"{one.accessibleName()}, {other.accessibleName()}"


@pytest.mark.parametrize("size", SIZES[:3], ids=lambda size: f"{size[0]}x{size[1]}")
def test_labels_of_fourteen_letters_are_not_shortened(sit_down: Callable[..., "Person"], size: tuple[int, int]) -> None:
    e = attnlab.preset("journey")
    tokens = ("representation", *e.tokens[1:])
    assert len(tokens[0]) == LABEL_LETTERS
    person = sit_down(attnlab.Experiment(tokens, e.embeddings, e.weights, config=e.config))
    person.window.resize(*size)
    person.window.grab()
    card = person.card("weights")
    assert card.grid is not None
    font = face("map", person.playground.canvas.plan.zoom)
    whole = QFontMetricsF(font).horizontalAdvance(tokens[0])
    assert card.grid.label_width - 6 >= whole
    assert max(card.grid.column_space - 6, card.grid.cell_width) >= whole


@pytest.mark.parametrize("type_size", [80, 100, 150, 250])
@pytest.mark.parametrize(("tokens", "width", "height"), [(8, 900, 440), (12, 1200, 700), (12, 3700, 2000)])
def test_maps_up_to_the_promised_size_keep_their_numbers(
    sit_down: Callable[..., "Person"], tokens: int, width: int, height: int, type_size: int
) -> None:
    words = tuple(f"token{place}" for place in range(tokens))
    numbers = torch.linspace(-1.9, 1.9, tokens * tokens).reshape(tokens, tokens)
    trace = attnlab.compute(attnlab.Experiment(words, numbers, attnlab.Weights(*[numbers / tokens] * 3)))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    plan = plan_canvas(needs, float(width), float(height), type_size / 100)
    assert {need.name for group in needs.groups for need in group} <= plan.numbered
    assert plan.zoom * NUMBER_PX >= round(LEAST_PX * type_size / 100)
