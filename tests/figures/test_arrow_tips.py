"""A plane of very many arrows: the held one is drawn whole, and the others are dots at their tips."""

import math

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from attnlab.figures.arrows.arrow_data import Arrow, ArrowsData
from attnlab.figures.arrows.arrow_layout import lay_out_plane
from attnlab.figures.arrows.arrow_painter import paint_plane
from attnlab.figures.palette import LIGHT
from attnlab.ui.base.fonts import face


def make_data(count: int) -> ArrowsData:
    """Return arrows all around, of which the first, which points up, is held."""
    angles = [math.pi / 2 + 2 * math.pi * i / count for i in range(count)]
    tips = [(math.cos(angle), math.sin(angle)) for angle in angles]
    arrows = (Arrow(i, tip, "query", f"word {i}", "", held=not i) for i, tip in enumerate(tips))
    return ArrowsData(tuple(arrows), ("column 0", "column 1"))


def paint(data: ArrowsData) -> tuple[QImage, QPointF, QPointF]:
    """Return a picture, and the pixels in the middle of the held arrow and of that opposite."""
    layout = lay_out_plane(data, QRectF(0, 0, 700, 500), 1.0, lambda text: 7.0 * len(text))
    image = QImage(700, 500, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)

    def find_face(role: str) -> QFont:
        return QFont(face(role, 1.0))

    paint_plane(painter, data, layout, LIGHT, 1.0, find_face)
    painter.end()
    return image, layout.sight.place((0.0, 0.6)), layout.sight.place((0.0, -0.6))


def is_blue(image: QImage, at: QPointF) -> bool:
    """Whether a vertical line of a blue passes a point."""
    near = [image.pixelColor(int(at.x()) + step, int(at.y())) for step in (-1, 0, 1)]
    return any(colour.blue() - colour.red() > 30 for colour in near)


@pytest.mark.usefixtures("qapp")
def test_of_many_arrows_only_the_held_one_has_a_shaft() -> None:
    for count, has_shaft in ((40, True), (400, False)):
        image, held, other = paint(make_data(count))
        assert is_blue(image, held)
        assert is_blue(image, other) == has_shaft
