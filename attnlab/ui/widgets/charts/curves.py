"""Several named curves or bars in one plot, with a legend above. Importing this module loads pyqtgraph."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_text, text_width, write_html
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.charts.curve_axes import Floats, Plot, add_margins, log_ticks, on_axis
from attnlab.ui.widgets.charts.plots import pg
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.subscripts import FormulaLabel
from attnlab.ui.widgets.surface import Surface

Style = Literal["line", "points", "bars", "dashed"]
Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over positions: ``role`` is one of the palette's colours by name ("query", "muted") or ``#RRGGBB``."""

    name: str
    x: Sequence[float] | NDArray[np.floating]
    y: Sequence[float] | NDArray[np.floating]
    role: str = "neutral"
    style: Style = "line"


@guarded
class Curves(FollowsTheme, Surface):
    """A card with curves, points and bars; a tool tip shows the values of the nearest point."""

    spoken_role = QAccessible.Role.Chart

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = FormulaLabel(title, "title", self)  # with a parent: without one it would open as a window
        self._title.setVisible(bool(title))
        self._curves: tuple[Curve, ...] = ()
        self._lines: list[pg.PlotDataItem] = []
        self._bars: list[pg.BarGraphItem] = []
        self._labels, self._log, self._x_ticks = ("", ""), (False, False), dict[float, str]()
        self._points: list[tuple[Floats, Floats]] = []
        self._keys: list[_Key] = []
        self._legend = QWidget(self)
        FlowLayout(self._legend, gap=4)
        self.plot = Plot(self.tool_tip, self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 8)
        layout.setSpacing(4)
        layout.addWidget(self._title)
        layout.addWidget(self._legend)
        layout.addWidget(self.plot, 1)

    @property
    def curves(self) -> tuple[Curve, ...]:
        """The curves that are shown."""
        return self._curves

    def restyle(self) -> None:
        """Set the height, and draw the curves in the present colours."""
        self.setMinimumHeight(px(220))
        if self._curves:
            self._draw()

    def set_title(self, title: str) -> None:
        """Change the title; the next curves take it over for screen readers."""
        self._title.setText(title)

    def show_curves(
        self,
        curves: Sequence[Curve],
        *,
        x_label: str,
        y_label: str,
        log_x: bool = False,
        log_y: bool = False,
        x_ticks: Ticks | None = None,
    ) -> None:
        """Show curves; NaN, ∞ and, on a logarithmic axis, values not above 0 leave gaps.

        ``x_ticks`` puts texts at positions instead of round numbers.
        """
        self._curves, self._labels, self._log = tuple(curves), (x_label, y_label), (log_x, log_y)
        self._x_ticks = dict(x_ticks or ())
        self._draw()
        told = "; ".join(_describe_curve(curve) for curve in self._curves)
        title = self._title.text() or f"{y_label} against {x_label}"
        self.setAccessibleName(f"{title}: {told}" if told else title)

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point of the plot: the nearest value, "" outside."""
        box = self.plot.getViewBox()
        if not box.sceneBoundingRect().contains(at):
            return ""
        found = [
            (float(distances[i]), curve, i)
            for curve, (x, y) in zip(self._curves, self._points, strict=True)
            if np.isfinite(distances := self._distances(x, y, at)).any()
            for i in [int(np.nanargmin(distances))]
        ]
        if not found:
            return ""
        _, curve, i = min(found, key=lambda each: each[0])
        x, y = float(curve.x[i]), float(curve.y[i])
        return f"{curve.name}\n{self._labels[0]} {self._x_ticks.get(x, _exact(x))}: {_exact(y)}"

    def _distances(self, x: Floats, y: Floats, at: QPointF) -> Floats:
        """Return the distance in pixels of each point from a place; NaN for points that are not drawn."""
        box = self.plot.getViewBox()
        (left, right), (low, high) = box.viewRange()
        rect = box.sceneBoundingRect()
        across = rect.left() + (x - left) / (right - left) * rect.width()
        down = rect.bottom() - (y - low) / (high - low) * rect.height()
        return np.asarray(np.hypot(across - at.x(), down - at.y()), dtype=np.float64)

    def _draw(self) -> None:
        self._points = self._place_points()
        x_range, y_range = self._ranges()
        lines = [i for i, curve in enumerate(self._curves) if curve.style != "bars"]
        bars = [i for i, curve in enumerate(self._curves) if curve.style == "bars"]
        self._reuse(len(lines), len(bars))
        for item, i in zip(self._lines, lines, strict=True):
            self._draw_line(item, i)
        for item, i in zip(self._bars, bars, strict=True):
            self._draw_bars(item, i, y_range[0] if self._log[1] else 0.0)
        self.plot.getViewBox().setRange(xRange=x_range, yRange=y_range, padding=0)
        self.plot.show_axes(bool(self._curves))
        self._draw_axes(x_range, y_range)
        self._draw_keys()

    def _place_points(self) -> list[tuple[Floats, Floats]]:
        """Return each curve's points in coordinates of the axes; bars of several curves stand side by side."""
        bars = [curve for curve in self._curves if curve.style == "bars"]
        placed = []
        for curve in self._curves:
            x, y = on_axis(curve.x, self._log[0]), on_axis(curve.y, self._log[1])
            if curve.style == "bars":
                x = x + (bars.index(curve) - (len(bars) - 1) / 2) * self._bar_width(curve)
            placed.append((x, np.where(np.isfinite(x), y, np.nan)))
        return placed

    def _bar_width(self, curve: Curve) -> float:
        x = np.unique(on_axis(curve.x, self._log[0]))
        step = float(np.diff(x[np.isfinite(x)]).min(initial=np.inf))
        return 0.8 * (step if np.isfinite(step) else 1.0) / sum(c.style == "bars" for c in self._curves)

    def _ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the ranges of both axes: all values, and 0 on a linear y axis."""
        nothing = [np.zeros(0)]
        x = np.concatenate(nothing + [x[np.isfinite(y)] for x, y in self._points])
        y = np.concatenate(nothing + [y[np.isfinite(y)] for _, y in self._points])
        room = max((self._bar_width(c) for c in self._curves if c.style == "bars"), default=0.0) / 2
        x_low, x_high = (float(x.min()) - room, float(x.max()) + room) if x.size else (0.0, 1.0)
        y_low, y_high = (float(y.min()), float(y.max())) if y.size else (0.0, 1.0)
        if not self._log[1]:
            y_low, y_high = min(y_low, 0.0), max(y_high, 0.0)
        return add_margins(x_low, x_high), add_margins(y_low, y_high, from_zero=bool(room) and not self._log[1])

    def _reuse(self, lines: int, bars: int) -> None:
        """Have this many items of each kind; existing ones are reused, since creating takes longer than drawing."""
        while len(self._lines) > lines:
            self.plot.removeItem(self._lines.pop())
        while len(self._bars) > bars:
            self.plot.removeItem(self._bars.pop())
        while len(self._lines) < lines:
            self._lines.append(pg.PlotDataItem(connect="finite", antialias=True))
            self.plot.addItem(self._lines[-1])
        while len(self._bars) < bars:
            self._bars.append(pg.BarGraphItem(x=[], height=[], width=1.0, pen=None))
            self.plot.addItem(self._bars[-1])
            self._bars[-1].setZValue(-1)

    def _draw_line(self, item: pg.PlotDataItem, index: int) -> None:
        curve, (x, y) = self._curves[index], self._points[index]
        palette = palette_of(self)
        colour = colour_of(curve, palette)
        if curve.style == "points":
            shown = np.isfinite(y)
            item.setData(
                x[shown],
                y[shown],
                pen=None,
                symbol="o",
                symbolSize=px(9),
                symbolBrush=colour,
                symbolPen=pg.mkPen(palette.surface, width=1.5),
            )
            item.setZValue(2)
            return
        dashed = curve.style == "dashed"
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        item.setData(x, y, pen=pg.mkPen(colour, width=1.25 if dashed else 2, style=style), symbol=None)
        item.setZValue(0 if dashed else 1)

    def _draw_bars(self, item: pg.BarGraphItem, index: int, ground: float) -> None:
        curve, (x, y) = self._curves[index], self._points[index]
        shown = np.isfinite(y)
        item.setOpts(
            x=x[shown],
            y0=np.full(int(shown.sum()), ground),
            height=y[shown] - ground,
            width=0.92 * self._bar_width(curve),
            brush=colour_of(curve, palette_of(self)),
        )

    def _draw_axes(self, x_range: tuple[float, float], y_range: tuple[float, float]) -> None:
        bottom, left = self.plot.getAxis("bottom"), self.plot.getAxis("left")
        for axis, label in ((bottom, self._labels[0]), (left, self._labels[1])):
            axis.setLabel(write_html(label))
        ticks = [(on_axis([x], self._log[0])[0], text) for x, text in self._x_ticks.items()]
        bottom.setTicks([ticks] if ticks else log_ticks(*x_range) if self._log[0] else None)
        left.setTicks(log_ticks(*y_range) if self._log[1] else None)

    def _draw_keys(self) -> None:
        layout = self._legend.layout()
        assert layout is not None
        while len(self._keys) > len(self._curves):
            key = self._keys.pop()
            layout.removeWidget(key)
            key.hide()
            key.deleteLater()
        while len(self._keys) < len(self._curves):
            self._keys.append(_Key(self._legend))
            layout.addWidget(self._keys[-1])
        for key, curve in zip(self._keys, self._curves, strict=True):
            key.show_curve(curve)
        self._legend.setVisible(bool(self._curves))


@guarded
class _Key(QWidget):
    """An entry of the legend: a sample of a curve, and its name."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._curve = Curve("", (), ())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFont(font("caption"))

    def show_curve(self, curve: Curve) -> None:
        self._curve = curve
        self.setFont(font("caption"))
        self.setAccessibleName(curve.name)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        width = text_width(self._curve.name, self.font())
        return QSize(px(24) + math.ceil(width) + px(8), self.fontMetrics().height() + px(4))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, middle = palette_of(self), self.height() / 2
        colour = QColor(colour_of(self._curve, palette))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if self._curve.style == "points":
            painter.drawEllipse(QPointF(px(9), middle), px(4), px(4))
        elif self._curve.style == "bars":
            painter.drawRect(px(4), round(middle) - px(5), px(10), px(10))
        else:
            dashed = self._curve.style == "dashed"
            painter.setPen(
                QPen(colour, 1.25 if dashed else 2, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine)
            )
            painter.drawLine(QPointF(0, middle), QPointF(px(18), middle))
        painter.setPen(QColor(palette.muted))
        draw_text(painter, px(24), middle, self._curve.name, self.font())
        painter.end()


def colour_of(curve: Curve, palette: Palette) -> str:
    """Return a curve's colour in a theme."""
    return curve.role if curve.role.startswith("#") else palette.role(curve.role)


def _exact(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _describe_curve(curve: Curve) -> str:
    """Return a curve in words: the number of points and their range."""
    y = np.asarray(curve.y, dtype=np.float64)
    finite = y[np.isfinite(y)]
    if not finite.size:
        return f"{curve.name}: no values"
    if len(y) == 1:
        return f"{curve.name}: {_exact(float(y[0]))} at {_exact(float(curve.x[0]))}"
    return (
        f"{curve.name}: {len(y)} {'bars' if curve.style == 'bars' else 'points'}, "
        f"{_exact(float(finite.min()))} to {_exact(float(finite.max()))}"
    )
