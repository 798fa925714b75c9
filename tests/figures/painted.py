"""Pictures of maps for tests: drawing, and the colours that are found in them."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QImage, QPainter

from attnlab.figures.layout import Grid, Limits, arrange
from attnlab.figures.map_data import MapData
from attnlab.figures.palette import PALETTES, Palette, colour_map, compute_contrast
from attnlab.figures.raster import MAP_OF, find_indices
from attnlab.figures.scales import Scale

THEMES = pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)


SIDE = 480


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


# Numbers


def ink_in(image: QImage, grid: Grid, row: int, column: int, ground: int) -> list[QColor]:
    x, y, width, height = grid.rect(0, row, column)
    inside = colours_in(image, (x + 6, y + 6, width - 12, height - 12))
    return [QColor(colour) for colour in inside if colour != ground]


def nearly(one: QColor, other: QColor) -> bool:
    """Whether two colours differ by at most the softest edge of a letter."""
    pairs = zip(one.getRgb(), other.getRgb(), strict=True)  # type: ignore[arg-type, unused-ignore]
    return all(abs(a - b) <= 24 for a, b in pairs)


def rgb_of(colour: str) -> int:
    return QColor(colour).rgb() & 0xFFFFFF
