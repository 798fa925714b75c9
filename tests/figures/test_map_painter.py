"""Maps pixel by pixel: each cell has the colour of its number, hatching if masked, and legible text."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.figures.colour_bar import draw_colour_bar
from attnlab.figures.map_data import Outline
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.palette import DARK, LIGHT, Palette, colour_map
from attnlab.figures.raster import MAP_OF, NOT_A_NUMBER
from tests.figures.painted import (
    SIDE,
    THEMES,
    colour_at,
    colours_in,
    data_of,
    expected,
    grid_of,
    middle,
    picture,
    rgb_of,
    strength,
)

pytestmark = pytest.mark.usefixtures("qapp")


# Cells


@THEMES
@pytest.mark.parametrize("kind", ["signed", "probability"])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_the_centre_of_every_cell_has_its_colour(palette: Palette, kind: str, ratio: float) -> None:
    values = np.random.default_rng(3).uniform(-1, 1, (1, 6, 7)).astype(np.float32)
    data = data_of(np.abs(values) if kind == "probability" else values, kind)
    grid = grid_of(data, ratio=ratio)
    image = picture(palette, lambda painter: draw_cells(painter, grid, data, palette), ratio)
    for row, column in np.ndindex(6, 7):
        assert colour_at(image, middle(grid, 0, row, column)) == expected(data, palette)[0, row, column]


def test_narrow_cells_without_numbers_are_framed_row_by_row() -> None:
    data = replace(data_of(np.zeros((1, 4, 64), np.float32)), unknown=np.tile([[False], [False], [True], [True]], 64))
    grid = grid_of(data, cell=30.0)
    assert 5 <= grid.cell_width < 9
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))
    line, (x, y, width, height) = QColor(LIGHT.hairline).rgb() & 0xFFFFFF, grid.rect(0, 2, 0)
    row = colours_in(image, (x, y, grid.width, height))
    assert 0 < row.count(line) <= 2 * (grid.width + height)
    assert line not in colours_in(image, grid.rect(0, 0, 0))
    assert width == grid.cell_width


def test_cells_of_a_reduced_slide_do_not_blend() -> None:
    data = data_of(np.array([[[-1, 1], [1, -1]]], np.float32))
    grid = grid_of(data, cell=120.0)

    def draw(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.scale(0.7, 0.7)
        draw_cells(painter, grid, data, LIGHT)
        assert painter.testRenderHint(QPainter.RenderHint.SmoothPixmapTransform)

    image = picture(LIGHT, draw)
    for row, column in np.ndindex(2, 2):
        x, y, width, height = (0.7 * length for length in grid.rect(0, row, column))
        shown = colours_in(image, (x + 0.15 * width, y + 0.15 * height, 0.7 * width, 0.7 * height))
        assert set(shown) == {expected(data, LIGHT)[0, row, column]}


@THEMES
def test_maps_are_separate_and_have_their_own_numbers(palette: Palette) -> None:
    values = np.random.default_rng(4).uniform(0, 1, (5, 4, 4)).astype(np.float32)
    data = data_of(values, "probability")
    grid = grid_of(data, side=200)
    image = picture(palette, lambda painter: draw_cells(painter, grid, data, palette))
    for index, row, column in np.ndindex(5, 4, 4):
        assert colour_at(image, middle(grid, index, row, column)) == expected(data, palette)[index, row, column]
    assert grid.per_row > 1
    x, y, width, _ = grid.rect(0, None, None)
    between = QPoint(int(x + width + grid.gap[1] * grid.cell_width / 2), int(y + 3))
    assert colour_at(image, between) == QColor(palette.surface).rgb() & 0xFFFFFF


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (64, 64), (300, 200)])
def test_maps_of_any_shape_fill_their_place(shape: tuple[int, int]) -> None:
    data = data_of(np.ones((1, *shape), dtype=np.float32), "probability")
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))
    full = int(colour_map("sequential", LIGHT)[254]) & 0xFFFFFF
    for row, column in ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] // 2)):
        assert colour_at(image, middle(grid, 0, row, column)) == full


@THEMES
def test_one_strong_weight_among_thousands_is_visible(palette: Palette) -> None:
    values = np.zeros((1, 2000, 2000), dtype=np.float32)
    values[0, 1234, 567] = 1
    data = data_of(values, "probability")
    grid = grid_of(data)
    image = picture(palette, lambda painter: draw_cells(painter, grid, data, palette))
    full = int(colour_map("sequential", palette)[254]) & 0xFFFFFF
    assert full in colours_in(image, (0, 0, SIDE, SIDE))


@THEMES
def test_masked_cells_are_hatched_and_have_no_map_colour(palette: Palette) -> None:
    masked = np.triu(np.ones((4, 4), dtype=bool), 1)
    data = data_of(np.full((1, 4, 4), 0.7, dtype=np.float32), "probability", masked=masked)
    grid = grid_of(data)
    image = picture(palette, lambda painter: draw_cells(painter, grid, data, palette))
    x, y, width, height = grid.rect(0, 0, 3)
    inside = colours_in(image, (x + 6, y + 6, width - 12, height - 12))
    assert int(colour_map("sequential", palette)[178]) & 0xFFFFFF not in inside
    assert QColor(palette.control).rgb() & 0xFFFFFF in inside  # the ground of the hatching
    assert len(set(inside)) > 2  # and its lines
    assert colour_at(image, middle(grid, 0, 3, 0)) == expected(data, palette)[0, 3, 0]


def test_a_large_causal_map_shows_a_triangle() -> None:
    masked = np.triu(np.ones((900, 900), dtype=bool), 1)
    values = np.where(masked, -np.inf, 1.0).astype(np.float32)[None]
    data = data_of(values, masked=masked)
    grid = grid_of(data)
    assert grid.cell_width < 1
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))
    full = int(colour_map("diverging", LIGHT)[254]) & 0xFFFFFF
    below, above = middle(grid, 0, 800, 100), middle(grid, 0, 100, 800)
    assert colour_at(image, below) == full
    assert colour_at(image, above) != full
    assert NOT_A_NUMBER & 0xFFFFFF not in colours_in(image, (0, 0, SIDE, SIDE))


@THEMES
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_looks_different_from_numbers_and_masked_cells(palette: Palette, bad: float) -> None:
    values = np.zeros((1, 3, 3), dtype=np.float32)
    values[0, 1, 2] = bad
    data = data_of(values)
    grid = grid_of(data)
    image = picture(palette, lambda painter: draw_cells(painter, grid, data, palette))
    assert colour_at(image, middle(grid, 0, 1, 2)) == NOT_A_NUMBER & 0xFFFFFF
    others = {colour_at(image, middle(grid, 0, row, 0)) for row in range(3)}
    assert NOT_A_NUMBER & 0xFFFFFF not in others


def test_the_gap_between_framed_cells_has_the_surface_colour() -> None:
    data = data_of(np.ones((1, 2, 2), dtype=np.float32))
    grid = grid_of(data)
    assert grid.framed
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))
    x, y, width, height = grid.rect(0, 0, 0)
    surface = QColor(LIGHT.surface).rgb() & 0xFFFFFF
    assert colour_at(image, QPoint(int(x), int(y))) == surface  # a round corner
    full = expected(data, LIGHT)[0, 0, 0]
    assert colour_at(image, QPoint(int(x + width / 2), int(y + height / 2))) == full


@pytest.mark.parametrize(
    ("outline", "at"),
    [
        (Outline(0, 2, 1, "#FF0000"), (2, 1)),
        (Outline(0, 2, None, "#FF0000"), (2, 0)),
        (Outline(None, None, 3, "#FF0000"), (0, 3)),
    ],
)
def test_an_outline_surrounds_its_cells(outline: Outline, at: tuple[int, int]) -> None:
    data = data_of(np.zeros((1, 5, 5), dtype=np.float32))
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_outlines(painter, grid, [outline]))
    red = QColor("#FF0000").rgb() & 0xFFFFFF
    x, y, width, height = grid.rect(0, *at)
    edge = colours_in(image, (x, y, 4, height)) + colours_in(image, (x, y, width, 4))
    assert red in edge
    assert red not in colours_in(image, (x + 6, y + 6, width - 12, height - 12))


def test_an_outline_of_a_tiny_cell_is_visible() -> None:
    data = data_of(np.zeros((1, 480, 480), dtype=np.float32))
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_outlines(painter, grid, [Outline(0, 100, 200, "#FF0000")]))
    x, y, _, _ = grid.rect(0, 100, 200)
    reddish = [c for c in colours_in(image, (x - 3, y - 3, 7, 7)) if QColor(c).red() > QColor(c).green() + 60]
    assert len(reddish) >= 6


def test_an_outline_of_an_absent_map_is_not_drawn() -> None:
    data = data_of(np.zeros((1, 3, 3), dtype=np.float32))
    grid = grid_of(data)
    plain = picture(LIGHT, lambda painter: None)
    assert picture(LIGHT, lambda painter: draw_outlines(painter, grid, [Outline(4, 0, 0, "#FF0000")])) == plain


def test_signed_maps_that_are_all_0_have_no_colour_bar(face: QFont) -> None:
    data = data_of(np.zeros((1, 2, 2), dtype=np.float32), "signed", 1.0)
    assert picture(LIGHT, lambda painter: draw_colour_bar(painter, QRectF(20, 20, 256, 18), data, LIGHT, face)) == (
        picture(LIGHT, lambda painter: None)
    )


@THEMES
@pytest.mark.parametrize("kind", ["signed", "probability"])
def test_a_colour_bar_covers_the_colours_of_the_map(palette: Palette, kind: str, face: QFont) -> None:
    data = data_of(np.zeros((1, 2, 2), dtype=np.float32), kind, 2.5 if kind == "signed" else 1.0)
    image = picture(palette, lambda painter: draw_colour_bar(painter, QRectF(20, 20, 256, 18), data, palette, face))
    table = colour_map(MAP_OF[kind], palette)
    for x, entry in ((21, 0), (148, 127), (274, 254)):
        found, wanted = QColor(colour_at(image, QPoint(x, 22))), QColor(int(table[entry]) & 0xFFFFFF)
        assert all(abs(a - b) <= 8 for a, b in zip(found.getRgb()[:3], wanted.getRgb()[:3], strict=True)), (
            x,
            found.name(),
            wanted.name(),
        )
    for x in (20, 256):  # the numbers at both ends
        assert strength(image, (x, 25, 20, 14), palette) > 2


def test_the_two_themes_differ(face: QFont) -> None:
    data = data_of(np.linspace(-1, 1, 9, dtype=np.float32).reshape(1, 3, 3))
    grid = grid_of(data)
    light = picture(LIGHT, lambda painter: draw_cells(painter, grid, data, LIGHT))
    assert light != picture(LIGHT, lambda painter: draw_cells(painter, grid, data, DARK))


def test_a_frame_around_a_row_too_narrow_for_it_does_not_cover_it() -> None:
    data = data_of(np.zeros((1, 60, 60), dtype=np.float32))
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_outlines(painter, grid, [Outline(0, 30, None, "#FF0000")]))
    x, y, width, height = grid.rect(0, 30, None)
    inside = colours_in(image, (x + width / 2, y + 2, 1, height - 4))
    assert rgb_of("#FF0000") not in inside
