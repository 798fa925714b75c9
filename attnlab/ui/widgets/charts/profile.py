"""One long row as a bar chart with a bar for each key; the wheel zooms. Importing this module loads pyqtgraph."""

from collections.abc import Sequence

import numpy as np
from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.charts.plot_area import PlotArea
from attnlab.ui.widgets.charts.plots import pg


@guarded
class Profile(FollowsTheme, QWidget):
    """Shows values over their index; emits the index that was clicked."""

    spoken_role = QAccessible.Role.Chart

    index_clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: np.ndarray[tuple[int], np.dtype[np.float64]] = np.zeros(0)
        self._labels: Sequence[str] = ()
        self.plot = PlotArea(self)
        self.plot.getViewBox().setMouseEnabled(x=True, y=False)
        self._bars = pg.BarGraphItem(x=[0], height=[0], width=1.0, pen=None)
        self._marker = pg.InfiniteLine(angle=90, movable=False)
        self.plot.addItem(self._bars)
        self.plot.addItem(self._marker)
        self.plot.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.plot.scene().sigMouseClicked.connect(self._on_mouse_clicked)  # drags do not count
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.plot)

    def restyle(self) -> None:
        """Set the colours, the fonts and the height."""
        palette = palette_of(self)
        self.plot.setBackground(palette.surface)
        for name in ("left", "bottom"):
            axis = self.plot.getAxis(name)
            axis.setPen(palette.hairline)
            axis.setTextPen(palette.muted)
            axis.setTickFont(font("tiny"))
            axis.setStyle(tickLength=-3, tickTextOffset=3)
        self.plot.getAxis("left").setWidth(px(34))
        self._bars.setOpts(brush=palette.attention)
        self._marker.setPen(pg.mkPen(palette.accent, width=2))
        self.setFixedHeight(px(120))

    def set_profile(self, values: Sequence[float], labels: Sequence[str], current: int | None) -> None:
        """Show values, omitting NaN and ∞, with one index marked."""
        array = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0, posinf=0.0, neginf=0.0)
        if len(array) != len(self._values):
            self.plot.getViewBox().setLimits(xMin=-0.5, xMax=len(array) - 0.5, minXRange=4)
            self.plot.getViewBox().setXRange(-0.5, len(array) - 0.5, padding=0)
        self._values, self._labels = array, labels
        self._bars.setOpts(x=np.arange(len(array)), height=array, width=0.9)
        self.plot.getViewBox().setYRange(
            min(float(array.min(initial=0)), 0), float(array.max(initial=0)) or 1.0, padding=0.05
        )
        self._marker.setVisible(current is not None)
        if current is not None:
            self._marker.setPos(current)
        self.setAccessibleName(
            f"Profile of {len(array)} weights, the largest at {int(array.argmax()) if len(array) else 0}"
        )

    def index_at(self, position: QPointF) -> int | None:
        """Return the index under a point of the plot, in pixels of its scene."""
        if not self.plot.getViewBox().sceneBoundingRect().contains(position):
            return None
        index = round(self.plot.getViewBox().mapSceneToView(position).x())
        return index if 0 <= index < len(self._values) else None

    def _on_mouse_moved(self, position: QPointF) -> None:
        index = self.index_at(position)
        tip = "" if index is None else f"{index} {self._labels[index]}: {self._values[index]:.6g}"
        self.plot.setToolTip(plain_tip(tip))

    def _on_mouse_clicked(self, event: MouseClickEvent) -> None:
        index = self.index_at(event.scenePos())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self.index_clicked.emit(index)
