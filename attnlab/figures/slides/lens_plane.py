"""Draws a plane of arrows on a slide, under its title and with its sentence below it."""

from dataclasses import replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter

from attnlab.figures.arrows.arrow_data import ArrowsData
from attnlab.figures.arrows.arrow_layout import lay_out_plane
from attnlab.figures.arrows.arrow_painter import paint_plane
from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_content import Plane
from attnlab.figures.slides.slide_layout import Box
from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.text import find_key, measure_text

AT_100 = 12.0
"""The size of labels, in pixels, in which the plane's own sizes are those of a window at 100 %."""
LEAST_HEIGHT, ROOMY_HEIGHT = 130.0, 150.0
"""The least height of a plane with its axes at 100 %, without and with a caption: in a lower one the arrows would have
no length."""
MOST_CAPTION = 0.5
"""The largest part of the box's height for a caption; one that needs more did not fit."""


def draw_plane(
    painter: QPainter, box: Box, plane: Plane, size: float, palette: Palette, *, answered: bool
) -> tuple[str, ...]:
    """Draw a plane into a box, with type of a size in pixels; return the parts that did not fit.

    Before the answer neither the context and its weights nor the sentence with the numbers are drawn; their place stays
    empty.
    """
    title = QRectF(box.x, box.y, box.width, 1.5 * size)
    painter.setFont(make_face(1.1 * size, bold=True))
    painter.setPen(QColor(palette.ink))
    painter.drawText(title, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), plane.title)
    flags = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop)
    painter.setFont(make_face(size))
    room = QRectF(box.x, box.y, box.width, box.height)
    needed = painter.boundingRect(room, flags, plane.caption).height() if plane.caption else 0.0
    zoom = size / AT_100
    fits = needed <= min(MOST_CAPTION * box.height, box.height - title.height() - ROOMY_HEIGHT * zoom)
    below = needed if fits else 0.0
    if below and answered:
        painter.setPen(QColor(palette.muted))
        painter.drawText(QRectF(box.x, box.bottom - below, box.width, below), flags, plane.caption)
    area = QRectF(box.x, title.bottom(), box.width, box.height - title.height() - below)
    key = find_key(make_face(size, bold=True))
    if area.height() < LEAST_HEIGHT * zoom:
        return (plane.title,)

    def find_face(role: str) -> QFont:
        return make_face(size, bold=role == "strong")

    layout = lay_out_plane(plane.arrows, area, zoom, lambda text: measure_text(text, key))
    shown = plane.moving or plane.arrows
    shown = shown if answered else _cover(shown)
    painter.save()
    if plane.moving is not None:
        painter.setClipRect(area)
    paint_plane(painter, shown, layout, palette, zoom, find_face)
    painter.restore()
    return () if fits else (plane.caption,)


def _cover(data: ArrowsData) -> ArrowsData:
    """Return arrows that tell neither weights nor lengths: without the mixture, and with rings of the usual size."""
    projection = replace(data.projection, length="?", along="?") if data.projection is not None else None
    arrows = tuple(replace(arrow, size=0.0) for arrow in data.arrows)
    return replace(data, mixture=None, projection=projection, arrows=arrows)
