"""Paints a scene on any painter: the screen, a picture, SVG or PDF."""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPainterPath, QPen, QPolygonF

from attnlab.figures.diagram.scene import FACES, Area, Band, Box, Cells, Label, Point, Polyline, Scene, Sign, Stroke
from attnlab.figures.map_painter import to_image
from attnlab.figures.palette import Palette
from attnlab.figures.panels.figure_type import make_figure_font
from attnlab.figures.raster import colour_cells
from attnlab.figures.scales import Scale

_HEAD = 6.0, 3.2
"""The length and half the width of an arrow head."""
_BEND = 6.0
_BAND_STEPS = 32


@lru_cache(maxsize=16)
def find_face(name: str) -> QFont:
    """Return the font of a face; its size is in units of the scene."""
    size, bold = FACES[name]
    font = make_figure_font(12, QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    font.setPixelSize(round(size))
    if name == "section":
        font.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 104)
    return font


def measure_label(text: str, face: str) -> float:
    """Return the width of a text in units of the scene."""
    return _metrics(face).horizontalAdvance(text)


@lru_cache(maxsize=16)
def _metrics(face: str) -> QFontMetricsF:
    return QFontMetricsF(find_face(face))


def paint_scene(painter: QPainter, scene: Scene, palette: Palette) -> None:
    """Paint all shapes from back to front, in units of the scene."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for shape in scene.shapes:
        painter.save()
        _PAINT[type(shape)](painter, shape, palette)
        painter.restore()


def _colour(palette: Palette, name: str, alpha: float = 1.0) -> QColor:
    """Return a colour of the palette; "attention:40" is one with 40 % of its strength."""
    name, _, strength = name.partition(":")
    colour = QColor(getattr(palette, name))
    colour.setAlphaF(alpha * (float(strength) / 100 if strength else 1.0))
    return colour


def _paint_label(painter: QPainter, label: Label, palette: Palette) -> None:
    painter.setFont(find_face(label.face))
    painter.setPen(_colour(palette, label.ink))
    metrics = _metrics(label.face)
    x = label.x - label.across * metrics.horizontalAdvance(label.text)
    painter.drawText(QPointF(x, label.y + (metrics.ascent() - metrics.descent()) / 2), label.text)


def _paint_box(painter: QPainter, box: Box, palette: Palette) -> None:
    painter.setPen(QPen(_colour(palette, box.line), box.width) if box.line else Qt.PenStyle.NoPen)
    painter.setBrush(_colour(palette, box.fill) if box.fill else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(*box.rect), box.radius, box.radius)


def _paint_stroke(painter: QPainter, stroke: Stroke, palette: Palette) -> None:
    colour = _colour(palette, stroke.ink, stroke.alpha)
    pen = QPen(colour, stroke.width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap, Qt.PenJoinStyle.RoundJoin)
    if stroke.dashed:
        pen.setDashPattern([4 / stroke.width, 3 / stroke.width])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    points = list(stroke.points)
    size = max(1.0, stroke.width / 2.2)
    end = points[-1]
    if stroke.arrow:
        points[-1] = _towards(end, points[-2], _HEAD[0] * size * 0.8)
    painter.drawPath(_make_curve(points) if stroke.curve else _make_path(points))
    if stroke.arrow:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        before = (end[0], end[1] + 1) if stroke.curve else stroke.points[-2]
        painter.drawPolygon(_make_head(before, end, size))


def _paint_polyline(painter: QPainter, line: Polyline, palette: Palette) -> None:
    pen = QPen(_colour(palette, line.ink, line.alpha), line.width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if line.dashed:
        pen.setDashPattern([4 / line.width, 3 / line.width])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF([QPointF(*point) for point in line.points]))


def _paint_area(painter: QPainter, area: Area, palette: Palette) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_colour(palette, area.ink, area.alpha))
    painter.drawPolygon(QPolygonF([QPointF(*point) for point in area.points]))


def _make_curve(points: list[Point]) -> QPainterPath:
    """Return a smooth path upwards from the first point to the last."""
    path = QPainterPath(QPointF(*points[0]))
    for (x0, y0), (x1, y1) in pairwise(points):
        middle = (y0 + y1) / 2
        path.cubicTo(QPointF(x0, middle), QPointF(x1, middle), QPointF(x1, y1))
    return path


def _make_path(points: list[Point]) -> QPainterPath:
    path = QPainterPath(QPointF(*points[0]))
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        path.lineTo(QPointF(*_towards(corner, before, _BEND)))
        path.quadTo(QPointF(*corner), QPointF(*_towards(corner, after, _BEND)))
    path.lineTo(QPointF(*points[-1]))
    return path


def _towards(start: Point, end: Point, length: float) -> Point:
    dx, dy = end[0] - start[0], end[1] - start[1]
    whole = (dx * dx + dy * dy) ** 0.5
    share = min(length / whole, 0.5) if whole else 0.0
    return start[0] + dx * share, start[1] + dy * share


def _make_head(before: Point, end: Point, size: float) -> QPolygonF:
    dx, dy = end[0] - before[0], end[1] - before[1]
    whole = max((dx * dx + dy * dy) ** 0.5, 1e-6)
    dx, dy = dx / whole, dy / whole
    length, half = _HEAD[0] * size, _HEAD[1] * size
    foot = end[0] - dx * length, end[1] - dy * length
    sides = (foot[0] - dy * half, foot[1] + dx * half), (foot[0] + dy * half, foot[1] - dx * half)
    return QPolygonF([QPointF(*end), QPointF(*sides[0]), QPointF(*sides[1])])


def _paint_band(painter: QPainter, band: Band, palette: Palette) -> None:
    (x0, y0, w0), (x1, y1, w1) = band.foot, band.head
    middle, sides = _make_curve([(x0, y0), (x1, y1)]), (list[QPointF](), list[QPointF]())
    for at in range(_BAND_STEPS + 1):
        share = at / _BAND_STEPS
        point, end = middle.pointAtPercent(share), w0 if share < 0.5 else w1
        half = (band.waist + (end - band.waist) * (2 * share - 1) ** 2) / 2
        sides[0].append(point - QPointF(half, 0))
        sides[1].append(point + QPointF(half, 0))
    path = QPainterPath()
    path.addPolygon(QPolygonF([*sides[0], *reversed(sides[1])]))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_colour(palette, band.ink, band.alpha))
    painter.drawPath(path)


def _paint_cells(painter: QPainter, cells: Cells, palette: Palette) -> None:
    rows, columns = cells.values.shape
    left, top, width, height = cells.rect
    across, down = width / columns, height / rows
    colours = colour_cells(cells.values[None], cells.kind, Scale(cells.limit), palette, cells.masked)[0]
    gap = 0.0 if min(across, down) < 3 else 0.08 * min(across, down) if not cells.dots else 0.2 * min(across, down)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setOpacity(cells.alpha)
    hatch = _colour(palette, "hatch", 0.55)
    if not gap:
        if cells.masked is not None:
            colours = np.where(cells.masked, np.uint32(hatch.rgba()), colours)
        image = to_image(np.ascontiguousarray(colours), QImage.Format.Format_ARGB32)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(QRectF(*cells.rect), image)
        return
    for (row, column), argb in np.ndenumerate(colours):
        hidden = cells.masked is not None and bool(cells.masked[row, column])
        painter.setBrush(hatch if hidden else QColor.fromRgba(int(argb)))
        rect = QRectF(left + column * across, top + row * down, across, down).adjusted(gap, gap, -gap, -gap)
        if cells.dots:
            side = min(rect.width(), rect.height())
            painter.drawEllipse(rect.center(), side / 2, side / 2)
        else:
            painter.drawRect(rect)


def _paint_sign(painter: QPainter, sign: Sign, palette: Palette) -> None:
    colour, half = _colour(palette, sign.ink), sign.size / 2
    centre, arm = QPointF(sign.x, sign.y), half * 0.5
    circled = sign.kind not in ("up", "down", "stop", "square")
    filled = sign.kind in ("tick", "cross")
    if circled:
        painter.setPen(QPen(colour, 1.3))
        painter.setBrush(colour if filled else _colour(palette, "surface"))
        painter.drawEllipse(centre, half - 0.7, half - 0.7)
    elif sign.kind == "square":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(sign.x - half, sign.y - half, sign.size, sign.size), 2, 2)
        return
    ink = _colour(palette, "surface") if filled else colour
    painter.setPen(QPen(ink, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    strokes = {
        "plus": (((-1, 0), (1, 0)), ((0, -1), (0, 1))),
        "tick": (((-0.9, 0.1), (-0.2, 0.7), (0.9, -0.6)),),
        "cross": (((-0.7, -0.7), (0.7, 0.7)), ((-0.7, 0.7), (0.7, -0.7))),
        "down": (((-1, -0.5), (0, 0.5), (1, -0.5)),),
        "up": (((-1, 0.5), (0, -0.5), (1, 0.5)),),
        "stop": (((-1, 0), (1, 0)),),
    }.get(sign.kind)
    if strokes is None:
        painter.setFont(find_face("strong"))
        painter.drawText(
            QRectF(sign.x - half, sign.y - half, sign.size, sign.size), Qt.AlignmentFlag.AlignCenter, sign.kind
        )
        return
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for points in strokes:
        painter.drawPolyline(QPolygonF([QPointF(sign.x + x * arm, sign.y + y * arm) for x, y in points]))


_PAINT: dict[type, Callable[[QPainter, Any, Palette], None]] = {
    Label: _paint_label,
    Box: _paint_box,
    Stroke: _paint_stroke,
    Polyline: _paint_polyline,
    Area: _paint_area,
    Band: _paint_band,
    Cells: _paint_cells,
    Sign: _paint_sign,
}
