"""Maps pixel by pixel: each cell has the colour of its number, hatching if masked, and legible text."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import QApplication

from attnlab.figures.cell_numbers import draw_numbers, write_cell_text
from attnlab.figures.colour_bar import draw_colour_bar
from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import draw_labels, draw_titles
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.palette import DARK, DARK_INK, LIGHT, LIGHT_INK, PALETTES, Palette, colour_map, compute_contrast
from attnlab.figures.raster import MAP_OF, NOT_A_NUMBER, find_indices
from attnlab.figures.scales import Scale
from attnlab.figures.text import Pen, _lay_out
from attnlab.ui.base.theme import apply_theme

pytestmark = pytest.mark.usefixtures("qapp")
THEMES = pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
SIDE = 480


@pytest.fixture
def face(qapp: QApplication) -> QFont:
    """The program's own face, at the size of numbers in cells, in a program that is dressed as it is for people."""
    apply_theme(qapp, "light", 100)
    made = QFont("Inter")
    made.setPixelSize(10)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


def data_of(
    values: NDArray[np.floating],
    kind: str = "signed",
    limit: float = 1.0,
    masked: NDArray[np.bool_] | None = None,
    titles: tuple[str, ...] = (),
) -> MapData:
    _, rows, columns = values.shape
    return MapData(
        values, kind, Scale(limit), masked, [f"r{i}" for i in range(rows)], [f"c{i}" for i in range(columns)], titles
    )


def grid_of(data: MapData, side: float = SIDE, ratio: float = 1.0, cell: float = 60.0, labels: float = 0.0) -> Grid:
    count, rows, columns = data.values.shape
    limits = Limits(cell, cell, labels, labels)
    return arrange((0, 0, side, side), rows, columns, count, limits, square=False, ratio=ratio)


def picture(palette: Palette, draw: Callable[[QPainter], object], ratio: float = 1.0) -> QImage:
    """Return a picture drawn on a surface of the theme."""
    image = QImage(round(SIDE * ratio), round(SIDE * ratio), QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(palette.surface))
    painter = QPainter(image)
    draw(painter)
    painter.end()
    return image


def middle(grid: Grid, index: int, row: int, column: int) -> QPoint:
    x, y, width, height = grid.rect(index, row, column)
    return QPoint(int(x + width / 2), int(y + height / 2))


def colour_at(image: QImage, point: QPoint) -> int:
    ratio = image.devicePixelRatio()
    return int(image.pixel(round(point.x() * ratio), round(point.y() * ratio))) & 0xFFFFFF


def colours_in(image: QImage, rect: tuple[float, float, float, float]) -> list[int]:
    x, y, width, height = (round(number) for number in rect)
    return [int(image.pixel(i, j)) & 0xFFFFFF for i in range(x, x + width) for j in range(y, y + height)]


def strength(image: QImage, rect: tuple[float, float, float, float], palette: Palette) -> float:
    """Return the strongest contrast to the surface within a rectangle; 1 if nothing is drawn."""
    return max(compute_contrast(QColor(colour).name(), palette.surface) for colour in set(colours_in(image, rect)))


def expected(data: MapData, palette: Palette) -> NDArray[np.uint32]:
    table = colour_map(MAP_OF[data.kind], palette) & np.uint32(0xFFFFFF)
    return table[find_indices(data.values, data.kind, data.scale)]


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


# Numbers


def ink_in(image: QImage, grid: Grid, row: int, column: int, ground: int) -> list[QColor]:
    x, y, width, height = grid.rect(0, row, column)
    inside = colours_in(image, (x + 6, y + 6, width - 12, height - 12))
    return [QColor(colour) for colour in inside if colour != ground]


@THEMES
@pytest.mark.parametrize("kind", ["signed", "probability"])
def test_text_in_a_cell_has_the_more_legible_colour(palette: Palette, kind: str, face: QFont) -> None:
    low = -1.0 if kind == "signed" else 0.0
    data = data_of(np.linspace(low, 1, 25, dtype=np.float32).reshape(1, 5, 5), kind)
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


def nearly(one: QColor, other: QColor) -> bool:
    """Whether two colours differ by at most the softest edge of a letter."""
    pairs = zip(one.getRgb(), other.getRgb(), strict=True)  # type: ignore[arg-type, unused-ignore]
    return all(abs(a - b) <= 24 for a, b in pairs)


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


@THEMES
def test_several_maps_are_titled(palette: Palette, face: QFont) -> None:
    data = data_of(np.zeros((4, 5, 5), dtype=np.float32), titles=("head 0", "head 1", "head 2", "mean"))
    limits = Limits(20, 20, 0, 12, 12)
    grid = arrange((0, 0, SIDE, SIDE), 5, 5, 4, limits, square=True)
    image = picture(palette, lambda painter: draw_titles(painter, grid, data, palette, face))
    for index in range(4):
        x, y, width, _ = grid.rect(index, None, None)
        assert strength(image, (x, max(y - 12, 0), width, 12), palette) > 2


def test_one_map_needs_no_title(face: QFont) -> None:
    data = data_of(np.zeros((1, 5, 5), dtype=np.float32), titles=("head 0",))
    grid = grid_of(data, labels=12)
    plain = picture(LIGHT, lambda painter: None)
    assert picture(LIGHT, lambda painter: draw_titles(painter, grid, data, LIGHT, face)) == plain


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


def rgb_of(colour: str) -> int:
    return QColor(colour).rgb() & 0xFFFFFF


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


def test_a_frame_around_a_row_too_narrow_for_it_does_not_cover_it() -> None:
    data = data_of(np.zeros((1, 60, 60), dtype=np.float32))
    grid = grid_of(data)
    image = picture(LIGHT, lambda painter: draw_outlines(painter, grid, [Outline(0, 30, None, "#FF0000")]))
    x, y, width, height = grid.rect(0, 30, None)
    inside = colours_in(image, (x + width / 2, y + 2, 1, height - 4))
    assert rgb_of("#FF0000") not in inside
