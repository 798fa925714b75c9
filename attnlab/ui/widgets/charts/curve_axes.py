"""The ground that curves are drawn on: a plot that leaves the mouse alone, and axes that people can read."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.figures.palette import Palette
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.widgets.charts.plot_area import PlotArea
from attnlab.ui.widgets.charts.plots import pg

Floats = NDArray[np.float64]
LARGEST = 1e100
"""What lies beyond is drawn here: the plot squares and subtracts."""
_PRESSES = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick)
_PASSED_ON = (QEvent.Type.Wheel, QEvent.Type.ContextMenu)


@guarded
class Plot(PlotArea):
    """A plot without mouse interaction; wheel events go to the parent."""

    def __init__(self, tool_tip: Callable[[QPointF], str], parent: QWidget) -> None:
        super().__init__(parent, {"left": Axis("left"), "bottom": Axis("bottom")})
        self._tool_tip = tool_tip
        self.getViewBox().setMouseEnabled(x=False, y=False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.show_axes(False)

    def show_axes(self, on: bool) -> None:
        """Show the axes, or none: those of nothing would be numbers that nobody measured."""
        for name in ("left", "bottom"):
            if self.getAxis(name).isVisible() != on:  # showing it again would lay all out anew
                self.getAxis(name).setVisible(on)

    def set_palette(self, palette: Palette) -> None:
        self.setBackground(palette.surface)
        for name in ("left", "bottom"):
            axis = self.getAxis(name)
            axis.setPen(palette.hairline)
            axis.setTextPen(palette.muted)
            axis.setTickFont(font("tiny"))
            axis.label.setFont(font("caption"))
            axis.setStyle(tickLength=3, tickTextOffset=4, autoExpandTextSpace=True)

    def sizeHint(self) -> QSize:
        return QSize(px(240), px(150))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            text = self._tool_tip(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        if event.type() in _PRESSES:
            return True
        if event.type() in _PASSED_ON:
            event.ignore()
            return False
        return bool(super().viewportEvent(event))


class Axis(pg.AxisItem):  # type: ignore[misc]
    """An axis with true minus signs, and no powers of ten put into its label."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [text.replace("-", "−") for text in super().tickStrings(values, scale, spacing)]


def on_axis(values: Sequence[float] | NDArray[np.floating], log: bool) -> Floats:
    """Return where values lie on an axis; NaN for those that have no place on it."""
    array = np.asarray(values, dtype=np.float64)
    array = np.where(np.isfinite(array), array, np.nan)
    if not log:
        return np.clip(array, -LARGEST, LARGEST)
    return np.log10(array, where=array > 0, out=np.full_like(array, np.nan))


def padded(low: float, high: float, from_zero: bool = False) -> tuple[float, float]:
    """Return a range with room at both ends; none at an end that is 0, so that bars stand on the axis."""
    room = (high - low or abs(high) or 1.0) * 0.05
    return (low if from_zero and low == 0 < high else low - room), (
        high if from_zero and high == 0 > low else high + room
    )


def log_ticks(low: float, high: float) -> list[list[tuple[float, str]]]:
    """Return the ticks of a logarithmic axis that shows 10^low to 10^high: powers of ten, or 1, 2, 5 for few."""
    powers = range(max(int(np.floor(low)), -323), min(int(np.ceil(high)), 308) + 1)  # more, no float holds
    factors = (1, 2, 5) if high - low < 2.5 else (1,)
    step = max(1, round((high - low) / 6))
    shown = [float(f * 10.0**p) for p in powers if p % step == 0 for f in factors]
    return [[(float(np.log10(v)), _tick(v)) for v in shown if low <= np.log10(v) <= high]]


def _tick(value: float) -> str:
    if 1e-3 <= value < 1e6:
        return f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.0e}".replace("e-0", "e−").replace("e-", "e−").replace("e+0", "e").replace("e+", "e")
