"""Paints a plane of arrows: grid, hull and mixture, projection, arrows, and names with leaders."""

from collections.abc import Callable, Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QPolygonF

from attnlab.figures.arrows.arrow_data import Arrow, ArrowsData, Mixture, find_foot
from attnlab.figures.arrows.arrow_layout import PlaneLayout, Sight, find_round_step, list_multiples
from attnlab.figures.arrows.dimension_lines import LINE, make_dimensions
from attnlab.figures.palette import Palette
from attnlab.figures.text import Face, Pen

FAINT = 0.55
"""The opacity of arrows that are not held."""
MANY = 128
"""Of more arrows than this, those that are not held are dots."""
LEAST_LINE = 0.01
"""Shorter lines, in pixels, are not drawn, such as the perpendicular of a key that lies along the query."""
TIPS = "dots are tips of arrows", "dots: tips"
"""What says so, the longer words first."""

FindFace = Callable[[str], Face | QFont]
"""Returns the font of a role, "caption" or "strong"."""


def paint_plane(
    painter: QPainter,
    data: ArrowsData,
    layout: PlaneLayout,
    palette: Palette,
    zoom: float,
    find_face: FindFace,
    ringed: int | None = None,
) -> None:
    """Paint a plane of arrows, of which the layout may know more; ``ringed`` is the arrow that has the keyboard."""
    parts = ArrowPainter(painter, data, layout.sight, palette, zoom, find_face)
    parts.paint_grid()
    if data.mixture is not None:
        parts.paint_mixture(data.mixture)
    parts.paint_projection()
    parts.paint_dimensions()
    parts.paint_names(layout.names, layout.column)
    parts.paint_arrows(ringed)
    parts.paint_context()


class ArrowPainter:
    """Paints the parts of one plane in one palette; ``zoom`` is the size of type."""

    def __init__(
        self,
        painter: QPainter,
        data: ArrowsData,
        sight: Sight,
        palette: Palette,
        zoom: float,
        find_face: FindFace,
    ) -> None:
        self._painter, self._data, self._sight = painter, data, sight
        self._palette, self._zoom, self._find_face = palette, zoom, find_face
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _paint_line(self, start: QPointF, end: QPointF) -> None:
        """Paint a line unless it has no length: Qt would write an outline without points to PDF files."""
        if _distance(start, end) > LEAST_LINE:
            self._painter.drawLine(start, end)

    def paint_grid(self) -> None:
        """Paint lines at round numbers, their numbers, and the names of the axes."""
        z, sight, painter, room = self._zoom, self._sight, self._painter, self._sight.room
        left, right, down, up = sight.ends()
        pen = Pen(painter, self._find_face("caption"))
        size = find_round_step(64 * z / sight.unit)
        for x in list_multiples(size, left, right):
            at = sight.place((x, 0)).x()
            painter.setPen(QPen(QColor(self._palette.hairline), 1))
            painter.drawLine(QPointF(at, room.top()), QPointF(at, room.bottom()))
            painter.setPen(QColor(self._palette.muted))
            pen.draw(at, room.bottom() + 10 * z, _tick(x), 0.5)
        for y in list_multiples(size, down, up):
            at = sight.place((0, y)).y()
            painter.setPen(QPen(QColor(self._palette.hairline), 1))
            painter.drawLine(QPointF(room.left(), at), QPointF(room.right(), at))
            painter.setPen(QColor(self._palette.muted))
            pen.draw(room.left() - 6 * z, at, _tick(y), 1.0)
        across, upwards = self._data.names
        pen.draw(room.left(), room.bottom() + 26 * z, pen.elide(across, room.width()) + " →")
        if upwards:
            pen.draw(room.left() - 30 * z, room.top() - 16 * z, "↑ " + pen.elide(upwards, room.width()))

    def paint_mixture(self, mixture: Mixture) -> None:
        """Paint the hull, a line from the mixture to each part, as thick as its share, and the equal mixture."""
        painter, p, z = self._painter, self._palette, self._zoom
        corners = [self._sight.place(self._data.arrows[i].tip) for i in mixture.hull]
        fill = QColor(p.value)
        painter.setPen(QPen(fill, 1.5 * z))
        fill.setAlphaF(0.13)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF(corners))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        line, at = QColor(p.attention), self._sight.place(mixture.tip)
        line.setAlphaF(0.6)
        for index, share in mixture.parts:
            if share:
                painter.setPen(QPen(line, min(max(abs(share) * 14 * z, 0.5), 14 * z)))
                self._paint_line(at, self._sight.place(self._data.arrows[index].tip))
        painter.setPen(QPen(QColor(p.muted), 1.2 * z, Qt.PenStyle.DashLine))
        painter.drawEllipse(self._sight.place(mixture.equal), 5 * z, 5 * z)

    def paint_context(self) -> None:
        """Paint the point of the mixture, over the arrows."""
        mixture, painter, p, z = self._data.mixture, self._painter, self._palette, self._zoom
        if mixture is None:
            return
        at = self._sight.place(mixture.tip)
        painter.setPen(QPen(QColor(p.surface), 1.5 * z))
        painter.setBrush(QColor(p.attention))
        painter.drawEllipse(at, 6 * z, 6 * z)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def paint_projection(self) -> None:
        """Paint the band along the query to the foot of the key, dashed perpendiculars, and the right angle."""
        projection, z, p, painter = self._data.projection, self._zoom, self._palette, self._painter
        if projection is None:
            return
        origin, band = self._sight.place((0, 0)), QColor(p.key)
        for index in (*projection.others, projection.key):
            foot, tip = self._sight.place(find_foot(self._data, index)), self._sight.place(self._data.arrows[index].tip)
            strong = index == projection.key
            if strong:
                band.setAlphaF(0.22)
                painter.setPen(QPen(band, 12 * z, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
                self._paint_line(origin, foot)
            line = QColor(p.ink if strong else p.muted)
            line.setAlphaF(1.0 if strong else 0.5)
            painter.setPen(QPen(line, (1.4 if strong else 1) * z, Qt.PenStyle.DashLine))
            self._paint_line(tip, foot)
            if strong:
                self._paint_right_angle(foot, tip, origin)

    def _paint_right_angle(self, foot: QPointF, tip: QPointF, origin: QPointF) -> None:
        side = 7 * self._zoom
        up, back = _unit(foot, tip), _unit(foot, origin)
        if up is None or back is None or _distance(foot, tip) < 2 * side:
            return
        self._painter.setPen(QPen(QColor(self._palette.ink), self._zoom))
        self._painter.drawPolyline(QPolygonF([foot + up * side, foot + up * side + back * side, foot + back * side]))

    def paint_dimensions(self) -> None:
        """Paint the lengths of the query and of the key along it, beside the query."""
        painter, z, p = self._painter, self._zoom, self._palette
        strong = Pen(painter, self._find_face("strong"))
        dimensions = make_dimensions(self._data, self._sight.place, z, strong.width)
        if not all(self._sight.room.contains(each.bounds) for each in dimensions):
            return  # while a tip is dragged, the plane stays as it is
        for each in dimensions:
            painter.setPen(QPen(QColor(p.role(each.role)), 1.2 * z))
            painter.drawLine(*each.line)
            for point in each.line:
                painter.drawLine(point - each.end, point + each.end)
            painter.setPen(QColor(p.role_ink(each.role)))
            strong.draw(each.words.center().x(), each.words.center().y() - LINE * z / 2, each.number, 0.5)
        caption = Pen(painter, self._find_face("caption"))
        painter.setPen(QColor(p.muted))
        for each in dimensions:
            caption.draw(each.words.center().x(), each.words.center().y() + LINE * z / 2, each.caption, 0.5)

    def paint_arrows(self, ringed: int | None) -> None:
        """Paint the arrows, held ones last and strong, with a ring to hold; ``ringed`` has the keyboard."""
        many = len(self._data.arrows) > MANY
        if many:
            self._paint_tips()
        for strong in (False, True):
            for index, arrow in enumerate(self._data.arrows):
                if arrow.held == strong and (strong or not many or index == ringed):
                    self._paint_arrow(arrow, index == ringed)

    def _paint_tips(self) -> None:
        """Paint the arrows that are not held as dots at their tips: drawn whole, so many would hide each other."""
        painter, z, p, room = self._painter, self._zoom, self._palette, self._sight.room
        painter.setPen(Qt.PenStyle.NoPen)
        for arrow in self._data.arrows:
            if not arrow.held:
                colour = QColor(p.muted if arrow.hidden else p.role(arrow.role))
                colour.setAlphaF(FAINT)
                painter.setBrush(colour)
                radius = max(arrow.size - 1.5, 1.5) * z if arrow.size else 2.2 * z
                painter.drawEllipse(self._sight.place(arrow.tip), radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QColor(p.muted))
        pen = Pen(painter, self._find_face("caption"))
        free = room.width() - pen.width(pen.elide(self._data.names[0], room.width()) + " →") - 12 * z
        told = next((words for words in TIPS if pen.width(words) <= free), "")
        pen.draw(room.right(), room.bottom() + 26 * z, told, 1.0)

    def _paint_arrow(self, arrow: Arrow, ringed: bool) -> None:
        painter, z, p = self._painter, self._zoom, self._palette
        colour, tip = QColor(p.muted if arrow.hidden else p.role(arrow.role)), self._sight.place(arrow.tip)
        shaft = QColor(colour)
        shaft.setAlphaF(1.0 if arrow.held else 0.25 if arrow.hidden else FAINT)
        painter.setPen(QPen(shaft, (2.6 if arrow.held else 1.2) * z))
        self._paint_line(self._sight.place((0, 0)), tip)
        radius = arrow.size * z or (7 if arrow.held else 3.8) * z
        painter.setPen(QPen(colour, (2.4 if arrow.held else 1.2) * z))
        painter.setBrush(QColor(p.surface))
        painter.drawEllipse(tip, radius, radius)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if ringed:
            painter.setPen(QPen(QColor(p.accent), 2 * z))
            painter.drawEllipse(tip, radius + 4 * z, radius + 4 * z)

    def paint_names(self, heights: Mapping[int, float], column: QRectF) -> None:
        """Paint the labels of arrows at given heights in a column, with a leader to each tip."""
        painter, z, p = self._painter, self._zoom, self._palette
        named = self._data.list_named()
        for index, y in heights.items():
            if index >= len(named):
                continue
            arrow = named[index]
            tip, x = self._sight.place(arrow.tip), column.left()
            leader = QPainterPath(tip)
            middle = x - 16 * z
            leader.cubicTo(QPointF(middle, tip.y()), QPointF(middle - 8 * z, y), QPointF(x - 2 * z, y))
            colour = QColor(p.muted if arrow.hidden else p.role(arrow.role))
            painter.setPen(QPen(colour if arrow.held else QColor(p.hatch), (1.4 if arrow.held else 0.8) * z))
            painter.drawPath(leader)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(QPointF(x + 3 * z, y), 3 * z, 3 * z)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            pen = Pen(painter, self._find_face("strong" if arrow.held else "caption"))
            painter.setPen(QColor(p.role_ink(arrow.role) if arrow.held and not arrow.hidden else p.muted))
            pen.draw(x + 10 * z, y, pen.elide(arrow.label, column.width() - 10 * z))


def _tick(value: float) -> str:
    return f"{value + 0.0:.6g}".replace("-", "−")


def _distance(one: QPointF, other: QPointF) -> float:
    return float(np.hypot(one.x() - other.x(), one.y() - other.y()))


def _unit(start: QPointF, end: QPointF) -> QPointF | None:
    length = _distance(start, end)
    return (end - start) / length if length > 0 else None
