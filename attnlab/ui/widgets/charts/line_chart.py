"""Long curves that grow while one watches: drawn fast, with a cursor, levels to compare with, and a way to a moment."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.text import Pen
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, mixed, px
from attnlab.ui.widgets.charts.chart_scale import Floats, Scale, decimated, polylines, tick_text, ticks
from attnlab.ui.widgets.maps.drawn import Drawn

FAINT = 0.35
"""How far what is noisy is mixed with the ground."""
NEAR, NEAR_MARK = 24, 5
"""How near to a curve, or to a mark, one has to point to read it, in pixels at 100 %."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve of ``y`` over rising ``x``: ``colour`` is a palette's field by name ("accent", "key"); ``faint`` mixes
    it with the ground, for what is noisy."""

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    colour: str = "accent"
    width: float = 1.75
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """A value to compare with, drawn as a thin line with its name."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Upright:
    """A place on the x axis where something happened, drawn as a thin upright with its name."""

    name: str
    x: float


@guarded
class LineChart(Drawn):
    """Shows lines from x = 0 on; a press announces the x it asks for."""

    x_chosen = Signal(float)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: tuple[Line, ...] = ()
        self._levels: tuple[Level, ...] = ()
        self._marks: tuple[Upright, ...] = ()
        self._x_end, self._log = 1.0, False
        self._y_range: tuple[float, float] | None = None
        self._unit = ""
        self._cursor: float | None = None
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The curves shown."""
        return self._lines

    @property
    def levels(self) -> tuple[Level, ...]:
        """The values that are drawn to compare with."""
        return self._levels

    @property
    def marks(self) -> tuple[Upright, ...]:
        """The places that are marked."""
        return self._marks

    @property
    def cursor_x(self) -> float | None:
        """Where the cursor stands."""
        return self._cursor

    def show_lines(
        self,
        lines: Sequence[Line],
        *,
        x_end: float = 0.0,
        log_y: bool = False,
        y_range: tuple[float, float] | None = None,
        levels: Sequence[Level] = (),
        unit: str = "",
    ) -> None:
        """Show curves over x from 0 to at least ``x_end``; y as far as they reach, or as ``y_range`` says, with its
        ``unit`` such as "%".

        On a logarithmic axis what is not above 0 leaves a gap, as does what is not finite on any.
        """
        self._lines, self._levels, self._log, self._y_range = tuple(lines), tuple(levels), log_y, y_range
        self._unit = f"\N{NO-BREAK SPACE}{unit}" if unit else ""
        ends = [float(line.x[-1]) for line in self._lines if len(line.x)]
        self._x_end = max([x_end, *ends, 1.0])
        self._describe()
        self._arrange()

    def show_marks(self, marks: Sequence[Upright]) -> None:
        """Mark places on the x axis."""
        if tuple(marks) != self._marks:
            self._marks = tuple(marks)
            self._describe()
            self._arrange()

    def show_cursor(self, x: float | None) -> None:
        """Stand at an x, or nowhere."""
        if x != self._cursor:
            self._cursor = x
            self.update()

    def scale(self) -> Scale:
        """Return how values lie on the pixels just now."""
        margin = QFontMetricsF(font("tiny")).horizontalAdvance("0.0000") + px(4)
        area = QRectF(margin, px(6), self.width() - margin - px(6), self.height() - px(6) - px(18))
        return Scale(area, self._x_end, *(self._y_range or self._reach()), self._log)

    def tool_tip(self, at: QPointF) -> str:
        """Return what the tool tip says at a point: x and the values of the curves near it."""
        scale = self.scale()
        if not scale.area.adjusted(-px(4), -px(4), px(4), px(4)).contains(at):
            return ""
        x = scale.value_x(at.x())
        found = []
        marked = [f"{m.name} at step {m.x:,.0f}" for m in self._marks if abs(scale.x(m.x) - at.x()) <= px(NEAR_MARK)]
        for line in self._lines:
            i = int(np.argmin(np.abs(line.x - x))) if len(line.x) else -1
            if i >= 0 and np.isfinite(line.y[i]):
                off = abs(scale.y(float(line.y[i])) - at.y())
                found.append((off, f"{line.name}: {_exact(float(line.y[i]))}{self._unit} at step {int(line.x[i]):,}"))
        near = [text for off, text in sorted(found)[:4] if off <= px(NEAR)]
        levels = [f"{level.name}: {_exact(level.y)}" for level in self._levels if near == []]
        return "\n".join([*near, *levels, *marked])

    def _reach(self) -> tuple[float, float]:
        """Return the y that there are, with a little room; 0 is on the axis where all lies above it."""
        every = [np.asarray(line.y, dtype=np.float64) for line in self._lines]
        every.append(np.array([level.y for level in self._levels]))
        y: Floats = np.concatenate(every)
        y = y[np.isfinite(y) & (y > 0 if self._log else True)]
        if not y.size:
            return (0.1, 1.0) if self._log else (0.0, 1.0)
        low, high = float(y.min()), float(y.max())
        if self._log:
            return low / 1.1, max(high * 1.1, low * 1.5)
        low = min(low, 0.0)
        return low, high + 0.05 * (high - low or 1.0)

    def _describe(self) -> None:
        marks = (f"{mark.name} at step {mark.x:,.0f}" for mark in self._marks)
        self.setAccessibleDescription("; ".join([*map(_described, self._lines), *marks]))

    def _drawn(self) -> QPixmap:
        """Return all but the cursor: thousands of points are not to be drawn for every move of it."""
        ratio, p, scale = self.devicePixelRatioF(), self._palette, self.scale()
        picture = self._blank(p.surface)
        painter = QPainter(picture)
        self._draw_axes(painter, scale)
        self._draw_marks(painter, scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(scale.area.adjusted(-1, -2, 2, 2))
        for line in self._lines:
            colour: str = getattr(p, line.colour)
            painter.setPen(QPen(QColor(mixed(colour, p.surface, FAINT) if line.faint else colour), line.width))
            x, y = decimated(line.x, line.y, scale.left_value, scale.right_value, int(scale.area.width() * ratio))
            for polyline in polylines(x, y, scale):
                painter.drawPolyline(polyline)
        painter.end()
        return picture

    def _draw_axes(self, painter: QPainter, scale: Scale) -> None:
        p, area = self._palette, scale.area
        pen = Pen(painter, font("tiny"))
        for value in ticks(scale.low, scale.high, self._log, max(2, int(area.height() / px(34)))):
            y = round(scale.y(value)) + 0.5
            painter.setPen(QColor(p.hairline))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(p.muted))
            pen.draw(area.left() - px(5), y, f"{tick_text(value)}{self._unit}", 1.0)
        for value in ticks(0.0, self._x_end, False, max(2, int(area.width() / px(64)))):
            text, x = tick_text(value), scale.x(value)
            pen.draw(
                min(max(x, pen.width(text) / 2), area.right() - pen.width(text) / 2 + px(4)),
                area.bottom() + px(4),
                text,
                0.5,
                0.0,
            )
        for level in self._levels:
            y = scale.y(level.y)
            if area.top() <= y <= area.bottom():
                painter.setPen(QPen(QColor(p.muted), 1, Qt.PenStyle.DashLine))
                painter.drawLine(QPointF(area.left(), round(y) + 0.5), QPointF(area.right(), round(y) + 0.5))
                pen.draw(area.right(), round(y) - 1, level.name, 1.0, 1.0)

    def _draw_marks(self, painter: QPainter, scale: Scale) -> None:
        """Draw the uprights; a name that would lie on that of its neighbour is left to the tool tip."""
        area, pen, free = scale.area, Pen(painter, font("tiny")), -math.inf
        painter.setPen(QPen(QColor(self._palette.attention), 1))
        for mark in sorted(self._marks, key=lambda each: each.x):
            x, width = round(scale.x(mark.x)) + 0.5, pen.width(mark.name) + px(4)
            if not area.left() <= x <= area.right() + 1:
                continue
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            left = x + px(4) if x + width <= area.right() else x - width
            if left >= free:
                pen.draw(left, area.top(), mark.name, 0.0, 0.0)
                free = max(left + width, x)

    def sizeHint(self) -> QSize:
        return QSize(px(260), px(140))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(140), px(96))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._choose(event)

    def _choose(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            x = self.scale().value_x(event.position().x())
            self.x_chosen.emit(min(max(x, 0.0), self._x_end))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._still is None:
            self._still = self._drawn()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._still)
        if self._cursor is not None:
            scale = self.scale()
            x = round(scale.x(self._cursor)) + 0.5
            painter.setPen(QPen(QColor(self._palette.ink), 1))
            painter.drawLine(QPointF(x, scale.area.top()), QPointF(x, scale.area.bottom()))
        painter.end()


def _exact(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _described(line: Line) -> str:
    finite = np.asarray(line.y)[np.isfinite(line.y)]
    if not finite.size:
        return f"{line.name}: nothing yet"
    return f"{line.name}: {_exact(float(finite[0]))} at first, {_exact(float(finite[-1]))} now"
