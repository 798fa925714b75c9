"""The plot that curves are drawn on, without mouse interaction, and its axes."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QSize, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.base.counted import format_whole
from attnlab.base.number_text import trim_exponent
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.charts.plot_area import PlotArea
from attnlab.ui.widgets.charts.plots import pg

Floats = NDArray[np.float64]
LARGEST = 1e100
"""Greater values are drawn at this limit: the plot squares and subtracts them."""
_PRESSES = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease, QEvent.Type.MouseButtonDblClick)
_PASSED_ON = (QEvent.Type.Wheel, QEvent.Type.ContextMenu)


@guarded
class Plot(FollowsTheme, PlotArea):
    """A plot without mouse interaction; wheel events go to the parent."""

    def __init__(self, tool_tip: Callable[[QPointF], str], parent: QWidget) -> None:
        super().__init__(parent, {"left": Axis("left"), "bottom": Axis("bottom")})
        self._tool_tip = tool_tip
        self.getViewBox().setMouseEnabled(x=False, y=False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.show_axes(False)

    def show_axes(self, on: bool) -> None:
        """Show or hide the axes; a plot without curves has none."""
        for name in ("left", "bottom"):
            if self.getAxis(name).isVisible() != on:  # showing it again would repeat the layout
                self.getAxis(name).setVisible(on)

    def restyle(self) -> None:
        """Set the colours and fonts of the ground and the axes."""
        palette = palette_of(self)
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
    """An axis with true minus signs and no powers of ten in its label."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.enableAutoSIPrefix(False)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [text.replace("-", "−") for text in super().tickStrings(values, scale, spacing)]


def on_axis(values: Sequence[float] | NDArray[np.floating], log: bool) -> Floats:
    """Return the positions of values on an axis; NaN for values that it cannot show."""
    array = np.asarray(values, dtype=np.float64)
    array = np.where(np.isfinite(array), array, np.nan)
    if not log:
        return np.clip(array, -LARGEST, LARGEST)
    return np.log10(array, where=array > 0, out=np.full_like(array, np.nan))


def add_margins(low: float, high: float, from_zero: bool = False) -> tuple[float, float]:
    """Return a range with a margin at each end; none at an end that is 0, so that bars stand on the axis."""
    room = (high - low or abs(high) or 1.0) * 0.05
    return (low if from_zero and low == 0 < high else low - room), (
        high if from_zero and high == 0 > low else high + room
    )


def log_ticks(low: float, high: float) -> list[list[tuple[float, str]]]:
    """Return the ticks of a logarithmic axis from 10^low to 10^high: powers of ten, with 2 and 5 times them if few."""
    powers = range(max(int(np.floor(low)), -323), min(int(np.ceil(high)), 308) + 1)  # the range of floats
    factors = (1, 2, 5) if high - low < 2.5 else (1,)
    step = max(1, round((high - low) / 6))
    shown = [float(f * 10.0**p) for p in powers if p % step == 0 for f in factors]
    return [[(float(np.log10(v)), _tick(v)) for v in shown if low <= np.log10(v) <= high]]


def _tick(value: float) -> str:
    if 1e-3 <= value < 1e6:
        return f"{value:g}" if value < 1e3 else format_whole(value)
    return trim_exponent(f"{value:.0e}").replace("-", "−")
