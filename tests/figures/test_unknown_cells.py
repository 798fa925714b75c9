"""Unknown cells of a map: empty frames, question marks, and nothing of what they hide."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QFont, QImage, QPainter

from attnlab.figures.cell_numbers import draw_numbers
from attnlab.figures.map_data import MapData
from attnlab.figures.map_painter import draw_cells
from attnlab.figures.palette import LIGHT, Palette, colour_map
from tests.figures.painted import (
    SIDE,
    THEMES,
    colour_at,
    colours_in,
    data_of,
    grid_of,
    middle,
    picture,
    rgb_of,
    strength,
)

pytestmark = pytest.mark.usefixtures("qapp")

# Cells that are not known


def hide(data: MapData, unknown: NDArray[np.bool_], mark: str = "") -> MapData:
    return replace(data, unknown=unknown, mark=mark)


@THEMES
@pytest.mark.parametrize("count", [1, 4])
def test_an_unknown_cell_is_an_empty_frame(palette: Palette, count: int, face: QFont) -> None:
    data = data_of(np.linspace(-1, 1, count * 16, dtype=np.float32).reshape(count, 4, 4))
    unknown = np.zeros((4, 4), bool)
    unknown[2, 1:] = unknown[3] = True
    grid, hidden = grid_of(data), hide(data, unknown)

    def draw(data: MapData) -> QImage:
        def both(painter: QPainter) -> None:
            draw_cells(painter, grid, data, palette)
            draw_numbers(painter, grid, data, palette, face)

        return picture(palette, both)

    whole, partly = draw(data), draw(hidden)
    for index in range(count):
        for row, column in np.ndindex(4, 4):
            x, y, width, height = (round(number) for number in grid.rect(index, row, column))
            cell = whole.copy(x + 3, y + 3, width - 6, height - 6), partly.copy(x + 3, y + 3, width - 6, height - 6)
            if not unknown[row, column]:
                assert cell[0] == cell[1]
                continue
            assert set(colours_in(partly, (x + 4, y + 4, width - 8, height - 8))) == {rgb_of(palette.surface)}
            edge = colours_in(partly, (x, y + height / 2, 4, 1))
            assert rgb_of(palette.surface) in edge
            assert set(edge) != {rgb_of(palette.surface)}, "no frame"


@THEMES
def test_an_unknown_cell_that_is_masked_stays_hatched(palette: Palette) -> None:
    masked = np.triu(np.ones((4, 4), bool), 1)
    data = data_of(np.zeros((1, 4, 4), dtype=np.float32), masked=masked)
    grid = grid_of(data)
    hidden = hide(data, np.ones((4, 4), bool))
    image = picture(palette, lambda painter: draw_cells(painter, grid, hidden, palette))
    x, y, width, height = grid.rect(0, 0, 3)
    assert strength(image, (x + 4, y + 4, width - 8, height - 8), palette) > 1.02
    assert hidden.empty is not None
    np.testing.assert_array_equal(hidden.empty[0], ~masked)


def test_each_map_has_its_own_unknown_cells() -> None:
    data = data_of(np.ones((2, 3, 3), dtype=np.float32))
    unknown = np.zeros((2, 3, 3), bool)
    unknown[1, 0, 0] = True
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, hide(data, unknown), LIGHT))
    full = int(colour_map("diverging", LIGHT)[-2]) & 0xFFFFFF
    assert colour_at(image, middle(grid, 0, 0, 0)) == full
    assert colour_at(image, middle(grid, 1, 0, 0)) == rgb_of(LIGHT.surface)


@THEMES
def test_only_a_blank_shows_a_question_mark(palette: Palette, face: QFont) -> None:
    data = data_of(np.full((1, 3, 3), 0.5, dtype=np.float32))
    unknown = np.zeros((3, 3), bool)
    unknown[1, 1] = True
    grid = grid_of(data)

    def inside(mark: str) -> float:
        hidden = hide(data, unknown, mark)
        image = picture(palette, lambda painter: draw_numbers(painter, grid, hidden, palette, face))
        x, y, width, height = grid.rect(0, 1, 1)
        return strength(image, (x + 4, y + 4, width - 8, height - 8), palette)

    assert inside("?") > 3
    assert inside("") == 1


@pytest.mark.parametrize("side", [700, 100])
def test_unknown_cells_smaller_than_pixels_are_empty(side: int) -> None:
    data = data_of(np.ones((1, 700, 700), dtype=np.float32))
    unknown = np.zeros((700, 700), bool)
    unknown[350:] = True
    grid = grid_of(data, side=min(side, SIDE))
    image = picture(LIGHT, lambda painter: draw_cells(painter, grid, hide(data, unknown), LIGHT))
    full = int(colour_map("diverging", LIGHT)[-2]) & 0xFFFFFF
    assert colour_at(image, middle(grid, 0, 100, 300)) == full
    assert colour_at(image, middle(grid, 0, 600, 300)) == rgb_of(LIGHT.surface)


def test_unknown_cells_do_not_change_how_numbers_are_written(face: QFont) -> None:
    values = np.array([[[0.1234, 0.5], [123.4, 0.25]]], dtype=np.float32)
    data, unknown = data_of(values), np.array([[False, False], [True, True]])
    grid = grid_of(data, side=100)

    def first_row(data: MapData) -> QImage:
        image = picture(LIGHT, lambda painter: draw_numbers(painter, grid, data, LIGHT, face))
        x, y, width, height = (round(number) for number in grid.rect(0, 0, None))
        return image.copy(x, y, width, height)

    assert first_row(data) == first_row(hide(data, unknown))
