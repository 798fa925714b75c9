"""Figures of the canvas draw every wire, between the cards, in all formats."""

from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest

import attnlab
from attnlab.attention.stages.flow import Link
from attnlab.attention.stages.table import sources
from attnlab.attention.stages.trace import Trace
from attnlab.figures.palette import LIGHT
from attnlab.figures.panels.figure_canvas import LEAST_CARD, break_rows, find_canvas_rows
from attnlab.figures.panels.figure_file import draw_figure, encode_figure
from attnlab.figures.panels.figure_page import Page, lay_out_page
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_wires import Point, Routes, Span, Wire, count_lanes

pytestmark = pytest.mark.usefixtures("qapp")
PRESETS = ("journey", "multi-head-causal", "cross-attention", "rope", "qk-norm", "mask-after-softmax", "dropout")
Rect = tuple[float, float, float, float]


def trace_of(preset: str) -> Trace:
    return attnlab.compute(attnlab.preset(preset))


def canvas(preset: str, width_mm: float, **options: object) -> Page:
    return lay_out_page(trace_of(preset), FigureSpec(canvas=True, width_mm=width_mm, **options))  # type: ignore[arg-type]


def pieces(wire: Wire) -> list[tuple[float, float, float, float]]:
    """Return the straight pieces of a wire as left, top, right and bottom."""
    return [(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])) for a, b in pairwise(wire.points)]


@pytest.mark.parametrize("width_mm", [60, 85, 120, 180])
@pytest.mark.parametrize("preset", PRESETS)
def test_wires_stay_inside_the_figure_and_outside_cards(preset: str, width_mm: float) -> None:
    page = canvas(preset, width_mm)
    for wire in page.wires:
        for left, top, right, bottom in pieces(wire):
            assert left == right or top == bottom, "wires are level or upright"
            assert left >= 0
            assert top >= 0
            assert right <= page.width
            assert bottom <= page.height
            for x, y, w, h in page.cards:
                assert right <= x + 1e-6 or left >= x + w - 1e-6 or bottom <= y + 1e-6 or top >= y + h - 1e-6


@pytest.mark.parametrize("width_mm", [60, 85, 120, 180])
@pytest.mark.parametrize("preset", PRESETS)
def test_wires_of_two_cards_never_overlap(preset: str, width_mm: float) -> None:
    for one, other in combinations(canvas(preset, width_mm).wires, 2):
        if one.points[0] == other.points[0]:
            continue
        for a in pieces(one):
            for b in pieces(other):
                shared = [min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1)]
                assert min(shared) < -2 or max(shared) < 2, "what runs side by side keeps away"


@pytest.mark.parametrize("width_mm", [85, 180])
@pytest.mark.parametrize("preset", PRESETS)
def test_every_stage_has_a_wire_from_each_of_its_sources(preset: str, width_mm: float) -> None:
    trace, page = trace_of(preset), canvas(preset, width_mm)
    cards = {each.stage.name: card for (_, _, each), card in zip(page.panels, page.cards, strict=True)}
    expected = {
        (source.name, name) for name in trace.all_stages for source in sources(trace.stage(name), trace.experiment)
    }
    found = {(at(cards, wire.points[0]), at(cards, wire.points[-1])) for wire in page.wires}
    assert found == expected
    for wire in page.wires:
        assert wire.role == trace.stage(at(cards, wire.points[0])).role


def at(cards: dict[str, Rect], point: Point) -> str:
    """Return the card on whose outline a point lies."""
    (name,) = (
        name
        for name, (x, y, w, h) in cards.items()
        if x - 1e-6 <= point[0] <= x + w + 1e-6 and y - 1e-6 <= point[1] <= y + h + 1e-6
    )
    return name


def test_a_narrow_figure_has_fewer_cards_in_a_row_but_all_of_them() -> None:
    rows = find_canvas_rows(trace_of("cross-attention"))
    assert max(map(len, break_rows(rows, 321))) == 2
    assert [name for row in break_rows(rows, 321) for name in row] == [name for row in rows for name in row]
    assert break_rows(rows, 2000) == rows
    assert break_rows(rows, 100) == [[name] for row in rows for name in row]
    assert all(card[2] >= LEAST_CARD for card in canvas("qk-norm", 85).cards)


def test_cards_of_a_row_have_equal_heights_and_gaps() -> None:
    page = canvas("multi-head-causal", 180)
    for one, other in combinations(page.cards, 2):
        if one[1] == other[1]:
            assert one[3] == other[3]
            assert one[0] + one[2] < other[0] or other[0] + other[2] < one[0]
    for (x, y, each), card in zip(page.panels, page.cards, strict=True):
        assert (x, y) == card[:2]
        assert each.layout.width == pytest.approx(card[2])
        assert each.layout.height <= card[3]


def test_a_given_height_includes_the_wires() -> None:
    page = canvas("journey", 180, height_mm=120)
    assert page.size_mm == pytest.approx((180, 120))
    assert max(y + h for _, y, _, h in page.cards) <= page.height
    with pytest.raises(attnlab.AttnlabError, match="too small for its type"):
        canvas("journey", 180, height_mm=40)


def test_each_wire_in_an_svg_has_the_colour_of_its_source() -> None:
    root = ElementTree.fromstring(encode_figure(trace_of("journey"), FigureSpec(canvas=True), ".svg"))
    groups = root.iter("{http://www.w3.org/2000/svg}g")
    strokes = {each.get("stroke", "").lower() for each in groups if len(each)}
    for role in ("query", "key", "value", "attention"):
        assert LIGHT.role(role).lower() in strokes


def test_a_png_has_the_wires_of_the_page() -> None:
    trace, spec = trace_of("journey"), FigureSpec(canvas=True, width_mm=180, dpi=192, ground="transparent")
    page, image = lay_out_page(trace, spec), draw_figure(trace, spec)
    for role in ("query", "key", "value"):
        (wire,) = (wire for wire in page.wires if wire.role == role)
        (left, y, right, _) = max(pieces(wire), key=lambda each: each[2] - each[0])
        colour = image.pixelColor(round((left + right) / 2 * page.ratio), int(y * page.ratio))
        assert colour.alpha() == 255
        assert colour.name() == LIGHT.role(role).lower()


def test_shared_segments_of_wires_are_as_thin_as_the_others() -> None:
    """Lines thinner than a pixel are translucent, but not where two overlap."""
    trace, spec = trace_of("journey"), FigureSpec(canvas=True, width_mm=180, dpi=48, ground="transparent")
    page, image = lay_out_page(trace, spec), draw_figure(trace, spec)
    y = page.wires[0].points[1][1]
    middles = [(a + b) / 2 for a, b in pairwise(card[0] + card[2] / 2 for card in page.cards[:4])]
    column = [[image.pixelColor(round(m * page.ratio), row).alpha() for row in range(int(y) + 3)] for m in middles]
    assert max(column[0]) > 0
    assert column[0] == column[1] == column[2]


def test_wires_that_skip_rows_run_to_their_right() -> None:
    cards = {name: Span(i, 0, 0.0, 100.0) for i, name in enumerate("abcd")}
    links = [Link("a", "b", "query"), Link("a", "d", "query"), Link("b", "c", "key"), Link("b", "d", "key")]
    assert count_lanes(cards, links) == 2
    routes = Routes(cards, links, 110.0)
    tops, heights = [0.0, 200.0, 400.0, 600.0], [100.0] * 4
    rightmost = [max(x for x, _ in wire.points) for wire in routes.wires(tops, heights)]
    assert sorted(rightmost[i] for i in (1, 3)) == [110, 119]
    assert max(rightmost[0], rightmost[2]) < 100
    assert routes.space_above(3) > routes.space_above(0)
