"""The canvas from a small window to a large one, at every size of type: numbers stay, and nothing lies over another."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest
import torch
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QApplication

import attnlab
from attnlab.attention import edits
from attnlab.document.document import View
from attnlab.document.settings import Settings
from attnlab.figures.map_labels import LABEL_LETTERS
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.formula import draw_formula
from attnlab.ui.playground import stage_header
from attnlab.ui.playground.canvas_lengths import LEAST_PX, LEAST_STRIPE, NUMBER_PX, PADDING
from attnlab.ui.playground.canvas_plan import plan_canvas
from attnlab.ui.playground.card_needs import DECIMALS, LEGIBLE, collect_needs, count_digits

if TYPE_CHECKING:
    from attnlab.ui.playground.canvas_form import CanvasPlan
    from attnlab.ui.playground.card import StageCard
    from tests.ui.conftest import Person

SIZES = [(1024, 640), (1366, 768), (1440, 900), (1920, 1080), (3840, 2160)]
PRESETS = ["journey", "the-cat-sat", "cross-attention", "rope", "masks-source-for-target", "uneven-heads"]


@pytest.mark.parametrize("preset", PRESETS)
def test_numbers_have_room_and_cards_keep_apart_in_every_window(person: "Person", preset: str) -> None:
    for _ in show_in_every_size(person, preset):
        check_numbers(person)
        check_places(person)


def show_in_every_size(
    person: "Person", preset: str, sizes: Sequence[tuple[int, int]] = SIZES
) -> Iterator[tuple[int, int]]:
    """Show a preset on the canvas, and yield each size of the window once it is laid out."""
    person.playground.open_preset(preset)
    person.playground.lenses.open_lens("canvas")
    person.settle()
    for size in sizes:
        person.window.resize(*size)
        person.window.grab()  # which lays out what was asked for
        yield size


def check_numbers(person: "Person") -> None:
    """Hold every map of the promised size to its numbers, each with room in its cell."""
    canvas = person.playground.canvas
    plan = canvas.plan
    assert plan is not None
    assert plan.decimals >= 2
    font = face("map", plan.zoom)
    assert font.pixelSize() >= LEAST_PX
    metrics = QFontMetricsF(font)
    held = 0
    for name, card in canvas.cards.items():
        data, grid = card.data, card.grid
        if not card.isVisible() or data is None or grid is None or max(data.values.shape[1:]) > LEGIBLE:
            continue
        held += 1
        values = data.values[:, ~data.masked] if data.masked is not None else data.values
        widest = max(metrics.horizontalAdvance(f"{value:.{plan.decimals}f}".replace("-", "−")) for value in values.flat)
        assert widest <= grid.cell_width, name
        assert metrics.height() <= grid.cell_height + 1, name
    assert held >= 3


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["multi-head-8", "multi-head-causal", "head-average", "grouped-keys"])
def test_maps_of_several_heads_have_cells_that_can_be_told_apart(person: "Person", preset: str) -> None:
    for size in show_in_every_size(person, preset):
        check_places(person)
        grids = {name: card.grid for name, card in person.playground.canvas.cards.items() if card.isVisible()}
        several = {name: grid for name, grid in grids.items() if grid is not None and grid.count > 1}
        assert len(several) >= 4
        for name, grid in several.items():
            assert grid.cell_width >= (6 if grid.columns <= LEGIBLE else 2), f"{name} at {size}"


@pytest.mark.parametrize("preset", ["multi-head-8", "head-average"])
def test_maps_of_several_heads_have_numbers_in_a_large_window(person: "Person", preset: str) -> None:
    canvas = person.playground.canvas
    for width, _ in show_in_every_size(person, preset, [(2560, 1440), (3840, 2160)]):
        check_places(person)
        assert canvas.plan is not None
        if width == 3840:
            assert {"scores", "scaled", "weights"} <= canvas.plan.numbered
        several = {name: card for name, card in canvas.cards.items() if name in canvas.plan.per_line}
        assert "weights" in several or preset == "head-average"
        assert all(-(-8 // count) <= 2 for count in canvas.plan.per_line.values()), "tall cards leave others empty"
        for name, card in several.items():
            check_card_of_heads(card, canvas.plan, name)


def check_card_of_heads(card: "StageCard", plan: "CanvasPlan", name: str) -> None:
    """Hold the maps on a card to places inside it, to their titles, and to numbers with all decimals."""
    grid, data = card.grid, card.data
    assert grid is not None
    assert data is not None
    metrics = QFontMetricsF(face("map", plan.zoom))
    widest = max(
        metrics.horizontalAdvance(f"{value:.{plan.decimals}f}".replace("-", "−")) for value in data.values.flat
    )
    assert widest <= grid.cell_width - 1.25, name
    assert metrics.height() <= grid.cell_height + 1, name
    assert grid.per_row == plan.per_line[name]
    assert grid.gap[0] * grid.cell_height >= metrics.ascent(), f"{name}: the titles lie on the maps"
    assert grid.x - grid.label_width >= 0
    assert grid.x + grid.width <= card.width()
    assert grid.y - grid.label_height >= 0
    assert grid.y + grid.height <= card.height()


def test_a_card_without_planned_numbers_rounds_none_to_one_decimal(person: "Person") -> None:
    for _ in show_in_every_size(person, "head-ablated", [(1920, 1080)]):
        canvas = person.playground.canvas
        assert canvas.plan is not None
        assert "merged" not in canvas.plan.numbered
        card = canvas.cards["merged"]
        cell = card.cell_rect(1, 1)
        assert cell.width() > QFontMetricsF(face("cell", 1.0)).horizontalAdvance("−0.4") + 1.25, "one decimal would fit"
        inside = card.grab(cell.toRect().adjusted(3, 3, -3, -3)).toImage()
        colours = {inside.pixel(x, y) for x in range(inside.width()) for y in range(inside.height())}
        assert len(colours) == 1


def test_maps_of_heads_fill_the_width_beside_their_mean(person: "Person") -> None:
    for size in show_in_every_size(person, "multi-head-8"):
        card = person.playground.canvas.heads
        left, right = card.map_rect(0).left(), card.map_rect("mean").left()
        spread = [
            card.map_rect(head).left() for head in range(8) if card.map_rect(head).top() == card.map_rect(0).top()
        ]
        assert max(card.map_rect(head).right() for head in range(8)) < right, size
        after = right - max(spread) - card.map_rect(0).width()
        assert after <= max(0.2 * (right - left), 2 * card.map_rect(0).width()), size


@pytest.mark.parametrize("size", [(1366, 749), (1440, 900)])
def test_the_mean_of_few_heads_is_level_with_them(sit_down: Callable[..., "Person"], size: tuple[int, int]) -> None:
    person = sit_down(edits.configure(attnlab.preset("journey"), n_heads=2), size=size)
    card = person.playground.canvas.heads
    assert card.map_rect(0).top() == card.map_rect(1).top() == card.map_rect("mean").top()
    assert card.map_rect(0).size() == card.map_rect("mean").size()


def test_the_maps_of_two_heads_use_the_width_of_their_card(sit_down: Callable[..., "Person"]) -> None:
    """Square cells left most of the card empty, and were smaller than those of all other cards."""
    person = sit_down(edits.configure(attnlab.preset("journey"), n_heads=2), size=(1366, 768))
    card = person.playground.canvas.heads
    places = [card.map_rect(choice) for choice in (0, 1, "mean")]
    assert places[2].right() - places[0].left() > 0.85 * card.width()
    cell = person.card("weights").cell_rect(0, 0)
    assert places[0].width() / 6 > 0.6 * cell.width()  # which is as wide as its number
    assert places[0].height() / 6 > 0.7 * cell.height()


@pytest.mark.parametrize("type_size", [100, 130, 150, 175])
@pytest.mark.parametrize("preset", ["journey-linear", "attention-sink", "multi-head-8"])
def test_the_mean_is_at_least_as_large_as_a_head(
    sit_down: Callable[..., "Person"], preset: str, type_size: int
) -> None:
    e = attnlab.preset(preset)
    layer = e if e.n_heads > 1 else edits.configure(e, n_heads=2)
    card = sit_down(layer, size=(1366, 768), settings=Settings(type_size=type_size)).playground.canvas.heads
    head, mean = card.map_rect(0), card.map_rect("mean")
    assert mean.width() >= head.width()
    assert layer.n_heads > 2 or mean.width() <= 1.3 * head.width()


def test_the_mean_has_the_scale_of_the_heads_unless_it_would_be_nearly_blank(
    sit_down: Callable[..., "Person"],
) -> None:
    """Weights near 0.2 were lighter in the mean, on a scale to 0.2, than in the heads, on one to 0.3."""
    card = sit_down(edits.configure(attnlab.preset("journey-linear"), n_heads=2)).playground.canvas.heads
    (_, heads), (_, mean) = card.tiles.parts
    assert mean.scale == heads.scale
    card = sit_down("multi-head-8").playground.canvas.heads
    (_, heads), (_, mean) = card.tiles.parts
    assert (mean.limit, heads.limit) == pytest.approx((0.2, 0.8))


@pytest.mark.parametrize("preset", ["uneven-heads", "attention-sink"])
def test_maps_in_a_wide_card_of_heads_stand_together_in_its_middle(
    sit_down: Callable[..., "Person"], preset: str
) -> None:
    card = sit_down(preset, size=(1920, 1080)).playground.canvas.heads
    places = [card.map_rect(choice) for choice in (*range(attnlab.preset(preset).n_heads), "mean")]
    assert len({place.top() for place in places}) == 1
    for left, right in pairwise(places):
        assert right.left() - left.right() <= 1.5 * left.width()
    before, after = places[0].left(), card.width() - places[-1].right()
    assert abs(before - after) <= 0.6 * places[0].width()  # the labels of rows stand before the first


@pytest.mark.parametrize("type_size", [100, 110, 120, 140, 150])
def test_formulas_of_queries_keys_and_values_are_alike_and_never_tiny(
    sit_down: Callable[..., "Person"], monkeypatch: pytest.MonkeyPatch, type_size: int
) -> None:
    drawn: dict[str, float] = {}

    def draw(painter: QPainter, at: QPointF, latex: str, size_px: float, colour: str) -> float:
        drawn[latex] = size_px
        return draw_formula(painter, at, latex, size_px, colour)

    person = sit_down("journey", size=(1366, 768), settings=Settings(type_size=type_size))
    person.window.grab()
    monkeypatch.setattr(stage_header, "draw_formula", draw)
    person.window.change_settings(theme="dark")  # all headers are drawn again
    person.window.grab()
    sizes = [drawn.get(f"{letter} = X W_{letter.lower()}") for letter in "QKV"]
    assert sizes[0] == sizes[1] == sizes[2]
    assert min(drawn.values()) >= 0.8 * 13 * person.playground.canvas.plan.zoom - 0.01
    assert sizes[0] is not None or type_size > 100


def check_places(person: "Person") -> None:
    """Hold all cards to places beside each other, inside the width of the canvas."""
    canvas = person.playground.canvas
    shown = [card for card in (*canvas.cards.values(), canvas.heads) if card.isVisible()]
    for card in shown:
        assert card.x() >= 0
        assert card.geometry().right() < canvas.width(), f"{card.accessibleName()} is cut off"
    for one, other in combinations(shown, 2):
        assert not one.geometry().intersects(other.geometry()), f"{one.accessibleName()}, {other.accessibleName()}"


@pytest.mark.parametrize("size", [(1366, 768), (1440, 900)])
def test_words_beside_one_column_are_whole(sit_down: Callable[..., "Person"], size: tuple[int, int]) -> None:
    person = sit_down(edits.configure(attnlab.preset("journey"), n_heads=2), size=size)
    person.document.show(head=0)
    person.settle()
    person.window.grab()
    widest = QFontMetricsF(face("map", person.playground.canvas.plan.zoom)).horizontalAdvance("journey")
    for stage in ("queries", "context"):
        grid = person.card(stage).grid
        assert grid is not None
        assert grid.columns == 1
        assert grid.label_width - 6 >= widest, stage


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


def test_labels_above_the_mean_of_heads_are_as_whole_as_those_above_the_heads(
    sit_down: Callable[..., "Person"], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = torch.linspace(-1, 1, 12 * 12).reshape(12, 12)
    tokens = attnlab.preset("journey").tokens
    layer = attnlab.Experiment(tokens, numbers[:6], attnlab.Weights(numbers, numbers, numbers))
    person = sit_down(edits.configure(layer, n_heads=3), size=(1366, 768))
    labels: list[str] = []
    draw = Pen.draw_upwards

    def record(pen: Pen, x: float, y: float, text: str) -> None:
        labels.append(text)
        draw(pen, x, y, text)

    monkeypatch.setattr(Pen, "draw_upwards", record)
    person.playground.canvas.heads.still.forget()
    person.playground.canvas.heads.grab()
    assert labels == [*tokens] * 4


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
    assert plan.zoom * NUMBER_PX >= min(round(LEAST_PX * type_size / 100), LEAST_PX)
    assert max(place.right() for place in plan.places.values()) <= width


@pytest.mark.parametrize("preset", ["masks-source", "rope", "attention-sink"])
def test_no_line_of_cards_is_wider_than_the_canvas(qapp: QApplication, preset: str) -> None:
    """At about 1248 pixels the last card of a line would lie beyond the side if the break after the last map won."""
    trace = attnlab.compute(attnlab.preset(preset))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    for width in range(1100, 1420, 16):
        plan = plan_canvas(needs, float(width), 960.0, 1.0)
        assert max(place.right() for place in plan.places.values()) <= width, width


@pytest.mark.parametrize("preset", ["masks-source", "rope", "attention-sink"])
def test_all_cards_have_one_number_of_decimals(person: "Person", preset: str, decimals_drawn: list[int]) -> None:
    """Of one, the plan has no room for numbers with four decimals, but its cells have room for two."""
    for _ in show_in_every_size(person, preset, [(1920, 1080)]):
        decimals_drawn.clear()
        for name, card in person.playground.canvas.cards.items():
            if name != "inputs" and card.isVisible():
                card.grab()
        assert len(decimals_drawn) >= 200
        assert len(set(decimals_drawn)) == 1


def test_a_scrolling_canvas_prefers_fewer_decimals_to_cards_beyond_its_side(qapp: QApplication) -> None:
    trace = attnlab.compute(attnlab.preset("cross-attention"))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    plan = plan_canvas(needs, 792.0, 387.0, 1.75)
    assert plan.height > 387
    assert max(place.right() for place in plan.places.values()) <= 792


@pytest.mark.parametrize(("width", "scale"), [(655.0, 2.0), (655.0, 1.9), (792.0, 2.5)])
def test_type_is_smaller_before_a_card_reaches_beyond_the_side(qapp: QApplication, width: float, scale: float) -> None:
    trace = attnlab.compute(attnlab.preset("cross-attention"))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    plan = plan_canvas(needs, width, 387.0, scale)
    assert max(place.right() for place in plan.places.values()) <= width
    assert LEAST_PX <= plan.zoom * NUMBER_PX < round(LEAST_PX * scale)
    roomy = plan_canvas(needs, 2 * width, 387.0, scale)
    assert roomy.zoom * NUMBER_PX >= round(LEAST_PX * scale)


def test_least_is_cut_of_a_card_that_is_too_wide_in_any_case(qapp: QApplication) -> None:
    trace = attnlab.compute(attnlab.preset("cross-attention"))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    plan = plan_canvas(needs, 200.0, 387.0, 1.0)
    assert max(place.right() for place in plan.places.values()) > 200
    assert plan.decimals == DECIMALS[-1]


def test_rows_of_cards_side_by_side_are_level(person: "Person") -> None:
    """Turned labels of the weights are higher than the column numbers of the context."""
    person.window.change_settings(type_size=175)
    person.window.resize(1366, 768)
    person.window.grab()
    weights, context = (person.card(name) for name in ("weights", "context"))
    assert weights.y() == context.y()
    assert weights.grid is not None
    assert context.grid is not None
    assert (weights.grid.y, weights.grid.cell_height) == (context.grid.y, context.grid.cell_height)


def test_a_scrolling_canvas_keeps_room_for_the_labels_above_the_maps_of_heads(
    sit_down: Callable[..., "Person"],
) -> None:
    person = sit_down("head-average", size=(1920, 1080))
    person.window.grab()
    assert person.playground.canvas.is_longer
    grid = person.card("weights").grid
    assert grid is not None
    assert grid.cell_height >= 8
    assert grid.column_space > 0


def test_where_one_card_has_no_room_whatever_its_type_the_others_stay_inside(qapp: QApplication) -> None:
    trace = attnlab.compute(edits.resize(attnlab.preset("journey"), d_k=12, d_v=12))
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    plan = plan_canvas(needs, 372.0, 320.0, 1.75)
    beyond = {name for name, place in plan.places.items() if place.right() > 372}
    assert "queries" in beyond
    assert not beyond & {"inputs", "scores", "scaled", "weights"}


@pytest.mark.parametrize("type_size", [100, 175])
@pytest.mark.parametrize("size", SIZES[:4], ids=lambda size: f"{size[0]}x{size[1]}")
def test_columns_of_a_wide_layer_can_be_told_apart(qapp: QApplication, size: tuple[int, int], type_size: int) -> None:
    e = edits.resize(attnlab.preset("journey"), d_k=64, d_v=64)
    trace = attnlab.compute(e)
    needs = collect_needs(trace, View(), count_digits(trace, {}), pinned=False)
    folded = size[0] / type_size < 13
    width, height = size[0] - (190 if folded else 620), size[1] - 150
    plan = plan_canvas(needs, float(width), float(height), type_size / 100)
    assert max(place.right() for place in plan.places.values()) <= width
    wide = [need for group in needs.groups for need in group if need.columns == 64]
    assert len(wide) == 4
    for need in wide:
        inside = plan.places[need.name].width() - 2 * PADDING * plan.zoom - need.label * plan.zoom * NUMBER_PX - 8
        assert inside >= 64 * LEAST_STRIPE * plan.zoom - 1, need.name
