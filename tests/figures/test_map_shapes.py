"""Vector files contain cells as shapes, without blurred or unnecessary pictures."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator, QSvgRenderer

from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.map_painter import draw_cells
from attnlab.figures.palette import LIGHT
from attnlab.figures.raster import colour_cells
from attnlab.figures.scales import TO_ONE

pytestmark = pytest.mark.usefixtures("qapp")


def grid(side: float = 20.3, n: int = 4) -> Grid:
    return Grid(10, 10, side, side, n, n, 1, 1, (0, 0), 0, 0)


def data(n: int = 4, *, masked: bool = False, unknown: bool = False) -> MapData:
    values = np.linspace(0, 1, n * n, dtype=np.float32).reshape(1, n, n)
    mask = np.triu(np.ones((n, n), bool), 1) if masked else None
    hidden = np.arange(n * n).reshape(n, n) >= n * (n - 1) if unknown else None
    labels = tuple(map(str, range(n)))
    return MapData(values, "probability", TO_ONE, mask, labels, labels, unknown=hidden)


def svg(path: Path, shown: MapData, where: Grid) -> str:
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(120, 120))
    generator.setViewBox(QRectF(0, 0, 120, 120))
    painter = QPainter(generator)
    draw_cells(painter, where, shown, LIGHT)
    painter.end()
    return path.read_text(encoding="utf-8")


def test_an_svg_has_cells_as_shapes_and_no_picture(tmp_path: Path) -> None:
    text = svg(tmp_path / "a.svg", data(), grid())
    assert "<image" not in text
    assert text.count("fill=") >= 16  # every cell has a colour of its own here


def test_a_cell_of_an_svg_has_its_colour_up_to_its_edge(tmp_path: Path) -> None:
    shown, where = data(), grid()
    svg(tmp_path / "a.svg", shown, where)
    image = QImage(1200, 1200, QImage.Format.Format_ARGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    QSvgRenderer(str(tmp_path / "a.svg")).render(painter)
    painter.end()
    wanted = colour_cells(shown.values, "probability", TO_ONE, LIGHT, None)
    for row, column in ((0, 3), (2, 1), (3, 3)):
        x, y, width, height = where.rect(0, row, column)
        for across in (0.1, 0.5, 0.9):
            found = image.pixel(round(10 * (x + across * width)), round(10 * (y + 0.5 * height)))
            assert found == int(wanted[0, row, column]), (row, column, across)


@pytest.mark.parametrize("side", [20.3, 2.0])
def test_a_pdf_contains_no_lossy_picture_of_cells(tmp_path: Path, side: float) -> None:
    writer = QPdfWriter(str(tmp_path / "a.pdf"))
    painter = QPainter(writer)
    draw_cells(painter, grid(side, 30), data(30, masked=True), LIGHT)
    painter.end()
    assert b"DCTDecode" not in (tmp_path / "a.pdf").read_bytes()


def test_masked_cells_are_hatched_and_unknown_ones_framed(tmp_path: Path) -> None:
    plain = svg(tmp_path / "a.svg", data(), grid())
    masked = svg(tmp_path / "b.svg", data(masked=True), grid())
    unknown = svg(tmp_path / "c.svg", data(unknown=True), grid())
    assert LIGHT.hatch.lower() in masked.lower()
    assert LIGHT.hatch.lower() not in plain.lower()
    assert LIGHT.hairline.lower() in unknown.lower()
    assert LIGHT.hairline.lower() not in plain.lower()


def test_only_masked_cells_are_hatched(tmp_path: Path) -> None:
    shown, where = data(masked=True), grid()
    svg(tmp_path / "a.svg", shown, where)
    image = QImage(1200, 1200, QImage.Format.Format_ARGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    QSvgRenderer(str(tmp_path / "a.svg")).render(painter)
    painter.end()
    for row in range(4):
        for column in range(4):
            x, y, width, height = where.rect(0, row, column)
            middle = round(10 * (y + height / 2))
            found = {image.pixel(across, middle) for across in range(round(10 * x) + 20, round(10 * (x + width)) - 20)}
            assert (QColor(LIGHT.hatch).rgb() in found) == (column > row), (row, column)
