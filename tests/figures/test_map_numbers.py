"""Numbers and labels of maps: legible, inside their cells, shortened and thinned where there is little room."""

from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter

from attnlab.figures.cell_numbers import draw_numbers, write_cell_text
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import find_power
from attnlab.figures.map_labels import draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells
from attnlab.figures.palette import DARK_INK, LIGHT, LIGHT_INK, Palette, compute_contrast
from attnlab.figures.scales import find_scale
from attnlab.figures.text import Pen, _lay_out
from tests.figures.painted import (
    SIDE,
    THEMES,
    colours_in,
    data_of,
    expected,
    grid_of,
    ink_in,
    nearly,
    picture,
    strength,
)

pytestmark = pytest.mark.usefixtures("qapp")


@THEMES
@pytest.mark.parametrize("kind", ["signed", "probability"])
def test_text_in_a_cell_has_the_more_legible_colour(palette: Palette, kind: str, face: QFont) -> None:
    low = -1.0 if kind == "signed" else 0.0
    data = data_of(np.linspace(low, 1, 26, dtype=np.float32)[1:].reshape(1, 5, 5), kind)  # without an exact zero
    grid = grid_of(data)

    def draw(painter: QPainter) -> None:
        draw_cells(painter, grid, data, palette)
        assert draw_numbers(painter, grid, data, palette, face)

    image = picture(palette, draw)
    for row, column in np.ndindex(5, 5):
        ground = int(expected(data, palette)[0, row, column])
        inks = ink_in(image, grid, row, column, ground)
        assert inks, f"no number at {row}, {column}"
        name = QColor(ground).name()
        strongest = max(inks, key=lambda colour: compute_contrast(colour.name(), name))
        best = max(compute_contrast(DARK_INK, name), compute_contrast(LIGHT_INK, name))
        assert compute_contrast(strongest.name(), name) > 0.7 * best  # a thin stroke may fill no pixel wholly


def test_masked_cells_have_no_number(face: QFont) -> None:
    masked = np.array([[False, True], [False, False]])
    data = data_of(np.zeros((1, 2, 2), dtype=np.float32), masked=masked)
    grid = grid_of(data)
    plain = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))

    def draw(painter: QPainter) -> None:
        draw_cells(painter, grid, data, LIGHT)
        draw_numbers(painter, grid, data, LIGHT, face)

    written = picture(LIGHT, draw)
    for row, column in np.ndindex(2, 2):
        same = colours_in(plain, grid.rect(0, row, column)) == colours_in(written, grid.rect(0, row, column))
        assert same is bool(masked[row, column])


def test_numbers_that_do_not_fit_are_not_drawn(face: QFont) -> None:
    data = data_of(np.zeros((1, 40, 40), dtype=np.float32))
    grid = grid_of(data)
    drawn: list[bool] = []
    plain = picture(LIGHT, lambda painter: None)
    image = picture(LIGHT, lambda painter: drawn.append(draw_numbers(painter, grid, data, LIGHT, face)))
    assert drawn == [False]
    assert image == plain


def numbers_alone(values: list[list[float]], cell: float, *fonts: QFont) -> tuple[Grid, QImage, bool]:
    """Return the grid, the numbers drawn without the cells, and whether there are any."""
    array = np.array([values], dtype=np.float32)
    data = data_of(array, limit=float(np.abs(array[np.isfinite(array)]).max()))
    grid = grid_of(data, cell=cell)
    answers: list[bool] = []

    def draw(painter: QPainter) -> None:
        painter.fillRect(0, 0, SIDE, SIDE, QColor(LIGHT.hatch))  # both inks are seen on it
        answers.append(draw_numbers(painter, grid, data, LIGHT, *fonts))

    image = picture(LIGHT, draw)
    return grid, image, answers[0]


def test_the_smaller_font_is_used_where_only_it_fits_both_decimals(face: QFont) -> None:
    small = QFont(face)
    small.setPixelSize(7)
    values = [[-0.25] * 4] * 4
    _, first, _ = numbers_alone(values, 24, face)
    _, both, _ = numbers_alone(values, 24, face, small)
    _, second, _ = numbers_alone(values, 24, small)
    assert both == second != first


@pytest.mark.parametrize(("values", "cell"), [([[-1.31, 0.38]], 24.0), ([[173.0, 12.0]], 28.0)])
def test_numbers_that_may_not_be_rounded_are_left_out(values: list[list[float]], cell: float, face: QFont) -> None:
    data = data_of(np.array([values], dtype=np.float32), limit=200.0)
    drawn: list[bool] = []
    for rounded in (True, False):

        def draw(painter: QPainter, rounded: bool = rounded) -> None:
            drawn.append(
                draw_numbers(painter, grid_of(data, cell=cell), data, LIGHT, face, decimals=2, rounded=rounded)
            )

        picture(LIGHT, draw)
    assert drawn == [True, False]


def test_labels_of_groups_lose_their_first_word_where_they_would_touch(face: QFont) -> None:
    data = replace(data_of(np.zeros((1, 2, 8), dtype=np.float32)), column_group=4, group_labels=("head 0", "head 1"))
    short = replace(data, group_labels=("0", "1"))
    pictures = []
    for cell, labels in ((24.0, data), (9.0, data), (9.0, short)):
        grid = replace(grid_of(labels, cell=cell), y=24.0, label_height=24.0)
        drawn = partial(draw_labels, grid=grid, data=labels, palette=LIGHT, font=face, strong=(None, None))
        pictures.append(picture(LIGHT, drawn))
    assert pictures[1] == pictures[2] != picture(LIGHT, lambda painter: None)
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize(
    "values",
    [
        [[173.0, 1.46], [88.1704, 2.0]],
        [[-0.11, 0.38], [1.0, 0.02]],
        [[-1.31, 0.38], [1.0, 0.02]],
        [[3.7e5, 1.5], [-12.0, 0.0]],
        [[3e38, -3e38], [1e-9, 7.0]],
        [[float("nan"), 0.5], [float("-inf"), 0.25]],
    ],
)
@pytest.mark.parametrize("cell", [20, 22, 24, 30, 46])
def test_numbers_stay_inside_their_cells(values: list[list[float]], cell: float, face: QFont) -> None:
    small = QFont(face)
    small.setPixelSize(9)
    grid, image, drawn = numbers_alone(values, cell, face, small)
    blank = QColor(LIGHT.hatch)
    edges = [round(grid.x + column * grid.cell_width) + 1 for column in (1, 2)]  # beyond the gap between cells
    assert all(nearly(image.pixelColor(x, y), blank) for x in edges for y in range(SIDE))
    lines = [round(grid.y + row * grid.cell_height) for row in (1, 2)]
    assert all(nearly(image.pixelColor(x, y), blank) for x in range(SIDE) for y in lines)
    if drawn:
        shades = [set(colours_in(image, grid.rect(0, row, column))) for row, column in np.ndindex(2, 2)]
        assert all(len(found) > 1 for found in shades)  # all cells or none


def test_a_cell_of_22_pixels_has_room_for_two_decimals_with_or_without_a_sign(face: QFont) -> None:
    small = QFont(face)
    small.setPixelSize(9)
    _, written, drawn = numbers_alone([[1.85, 0.4], [0.02, 1.31]], 22, face, small)
    _, rounded, _ = numbers_alone([[1.85, 0.4], [0.04, 1.31]], 22, face, small)
    assert drawn
    assert written != rounded
    _, written, drawn = numbers_alone([[-0.11, 0.4], [0.02, 0.31]], 22, face, small)
    _, rounded, _ = numbers_alone([[-0.12, 0.4], [0.02, 0.31]], 22, face, small)
    assert drawn
    assert written != rounded


@pytest.mark.parametrize("width", range(8, 60))
def test_a_shortened_label_is_never_wider_than_its_room(width: int, face: QFont) -> None:
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    pen = Pen(painter, face)
    shown = [pen.elide(text, width) for text in ("starts", "journey", "Donaudampfschiff")]
    widths = [pen.width(text) for text in shown]
    painter.end()
    assert max(widths) <= width + 2  # metrics and layout round differently
    assert all(shown)


@pytest.mark.parametrize("size", range(9, 24))
def test_a_label_in_a_room_of_its_own_width_is_whole(size: int, face: QFont) -> None:
    """A column of answers is as wide as its widest token, which was cut if it was an “m”."""
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    larger = QFont(face)
    larger.setPixelSize(size)
    pen = Pen(painter, larger)
    cases = tuple(product(("m", "w", "starts", "journey", "Donaudampfschiff"), (False, True)))
    shown = [pen.elide(text, pen.width(text), middle=middle) for text, middle in cases]
    painter.end()
    assert shown == [text for text, _ in cases]


def test_only_numbers_inside_the_clip_are_drawn(face: QFont) -> None:
    data = data_of(np.linspace(0.1, 0.9, 2 * 90000, dtype=np.float32).reshape(2, 300, 300))
    grid = arrange((0, 0, 18000, 18000), 300, 300, 2, Limits(60, 30, 40, 30, 12), square=False)
    window = QRectF(7000, 60, 300, 200)

    def draw(painter: QPainter) -> None:
        painter.translate(-window.topLeft())
        draw_labels(painter, grid, data, LIGHT, face, (None, None))
        draw_numbers(painter, grid, data, LIGHT, face)

    def clipped(painter: QPainter) -> None:
        painter.setClipRect(QRectF(0, 0, 300, 200))
        draw(painter)

    part, before = picture(LIGHT, clipped), _lay_out.cache_info()
    picture(LIGHT, clipped)
    after = _lay_out.cache_info()
    assert after.hits + after.misses - before.hits - before.misses < 1000
    whole = picture(LIGHT, draw)
    assert part.copy(0, 0, 300, 200) == whole.copy(0, 0, 300, 200)
    assert len(colours_in(part, (0, 0, 300, 200))) > 3


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.12345, 4, "0.1235"),
        (0.12345, 2, "0.12"),
        (-0.5, 2, "−0.50"),
        (-0.00001, 4, "0.0000"),
        (-0.0, 2, "0.00"),
        (float("nan"), 4, "NaN"),
        (float("inf"), 2, "∞"),
        (float("-inf"), 2, "−∞"),
        (123456.0, 2, "1e5"),
        (-3e38, 2, "−3e38"),
        (12.345, 4, "12.3450"),
    ],
)
def test_a_number_in_a_cell_is_short_and_has_a_true_minus_sign(value: float, decimals: int, text: str) -> None:
    assert write_cell_text(value, decimals) == text


@pytest.mark.parametrize(("limit", "end"), [(133194.0, "1.3e5"), (99999.0, "99999"), (5.33e-8, "5.3e−8")])
def test_the_end_of_a_colour_bar_has_two_digits(limit: float, end: str) -> None:
    assert write_colour_ends(data_of(np.ones((1, 2, 2)), limit=limit)) == (f"−{end}", end)


# Labels, titles, outlines, colour bar


def test_labels_are_left_and_above_and_strong_ones_in_ink(face: QFont) -> None:
    data = data_of(np.zeros((1, 3, 3), dtype=np.float32))
    grid = grid_of(data, labels=60)

    image = picture(LIGHT, lambda painter: draw_labels(painter, grid, data, LIGHT, face, (1, None)))
    beside = [strength(image, (0, grid.rect(0, row, 0)[1], grid.x, grid.cell_height), LIGHT) for row in range(3)]
    assert min(beside) > 2
    assert beside[1] > 1.5 * max(beside[0], beside[2])
    above = strength(image, (grid.x, 0, grid.width, grid.y), LIGHT)
    assert 2 < above < beside[1]


def test_crowded_labels_are_thinned_but_the_strong_one_is_kept(face: QFont) -> None:
    data = data_of(np.zeros((1, 200, 2), dtype=np.float32))
    grid = grid_of(data, labels=60)

    def lines(strong: int | None) -> int:
        image = picture(LIGHT, lambda painter: draw_labels(painter, grid, data, LIGHT, face, (strong, None)))
        surface = QColor(LIGHT.surface).rgb() & 0xFFFFFF
        rows = [any(int(image.pixel(x, y)) & 0xFFFFFF != surface for x in range(int(grid.x))) for y in range(SIDE)]
        return sum(1 for before, here in zip([False, *rows], rows, strict=False) if here and not before)

    assert 5 <= lines(None) <= SIDE / 10
    image = picture(LIGHT, lambda painter: draw_labels(painter, grid, data, LIGHT, face, (101, None)))
    y = grid.rect(0, 101, 0)[1]
    assert strength(image, (0, y - 6, grid.x, 12), LIGHT) > 1.5 * strength(image, (0, 0, grid.x, 40), LIGHT)


def test_letters_above_cells_that_are_narrower_do_not_run_together(face: QFont) -> None:
    data = replace(data_of(np.zeros((1, 2, 60), dtype=np.float32)), column_labels=("m",) * 60)
    grid = grid_of(data, side=SIDE, labels=1.5 * face.pixelSize())
    assert grid.cell_width < QFontMetricsF(face).horizontalAdvance("m")

    image = picture(LIGHT, lambda painter: draw_labels(painter, grid, data, LIGHT, face, (None, None)))
    inked = [strength(image, (x, 0, 1, grid.y), LIGHT) > 1.1 for x in range(int(grid.x), SIDE)]
    letters = sum(here and not before for before, here in zip([False, *inked], inked, strict=False))
    assert letters == 60 // 2


def test_columns_too_narrow_for_two_letters_of_their_words_have_no_labels(face: QFont) -> None:
    """The labels above the weights of 13 tokens were "c s o t it ti a e i"."""
    words = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"]
    data = replace(data_of(np.zeros((1, 10, 10), dtype=np.float32)), column_labels=words)

    def inked(side: float) -> float:
        grid = replace(grid_of(data, cell=side, labels=1.5 * face.pixelSize()), label_width=0)
        image = picture(LIGHT, lambda painter: draw_labels(painter, grid, data, LIGHT, face, (None, None)))
        return strength(image, (grid.x, 0, SIDE - grid.x, grid.y), LIGHT)

    assert inked(8) == 1
    assert inked(30) > 2


@THEMES
def test_several_maps_are_titled(palette: Palette, face: QFont) -> None:
    data = data_of(np.zeros((4, 5, 5), dtype=np.float32), titles=("head 0", "head 1", "head 2", "mean"))
    limits = Limits(20, 20, 0, 12, 12)
    grid = arrange((0, 0, SIDE, SIDE), 5, 5, 4, limits, square=True)
    image = picture(palette, lambda painter: draw_titles(painter, grid, data, palette, face))
    for index in range(4):
        x, y, width, _ = grid.rect(index, None, None)
        assert strength(image, (x, max(y - 12, 0), width, 12), palette) > 2


def test_two_states_of_a_head_never_have_the_same_title(face: QFont, monkeypatch: pytest.MonkeyPatch) -> None:
    titles = "head 0 · column 0, pinned", "head 0 · column 0", "head 1 · column 1, pinned", "head 1 · column 1"
    data = data_of(np.zeros((4, 5, 1), dtype=np.float32), titles=titles)
    written: list[str] = []
    draw = Pen.draw
    monkeypatch.setattr(Pen, "draw", lambda pen, x, y, text, *at: (written.append(text), draw(pen, x, y, text, *at)))
    for wide in range(12, 120, 2):
        written.clear()
        grid = Grid(4, 20, wide / 2, 12, 5, 1, 4, 4, (1, 1), 0, 12, 12)
        picture(LIGHT, lambda painter, grid=grid: draw_titles(painter, grid, data, LIGHT, face))
        assert written[0] != written[1]
        assert written[2] != written[3]
    assert written[:2] == ["head 0 · 0, pinned", "head 0 · 0"]


def test_a_short_title_of_a_head_still_names_its_layer(face: QFont, monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of(np.zeros((2, 5, 1), dtype=np.float32), titles=("L0 H11", "L2 H11"))
    written: list[str] = []
    draw = Pen.draw
    monkeypatch.setattr(Pen, "draw", lambda pen, x, y, text, *at: (written.append(text), draw(pen, x, y, text, *at)))
    for wide in (80, 32):
        grid = Grid(4, 20, wide / 2, 12, 5, 1, 2, 2, (1, 1), 0, 12, 12)
        picture(LIGHT, lambda painter, grid=grid: draw_titles(painter, grid, data, LIGHT, face))
    assert written == ["L0 H11", "L2 H11", "0.11", "2.11"]


def test_one_map_needs_no_title(face: QFont) -> None:
    data = data_of(np.zeros((1, 5, 5), dtype=np.float32), titles=("head 0",))
    grid = grid_of(data, labels=12)
    plain = picture(LIGHT, lambda painter: None)
    assert picture(LIGHT, lambda painter: draw_titles(painter, grid, data, LIGHT, face)) == plain


def test_the_power_of_ten_of_the_smallest_numbers_has_a_factor() -> None:
    values = np.array([[[-5e-324, 1e-309]]])
    data = replace(data_of(values, "signed"), scale=find_scale(values, "signed", None))
    powered = replace(data, exponent=find_power(data))
    assert powered.power == "× 10⁻³⁰⁸"
    assert powered.values[0, 0, 1] * powered.factor == pytest.approx(0.1)
