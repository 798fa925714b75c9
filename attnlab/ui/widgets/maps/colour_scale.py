"""A colour bar beside maps that have none of their own: what their colours mean, from the smallest to the largest."""

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.colour_bar import BAR_HEIGHT, draw_colour_bar, write_colour_ends
from attnlab.figures.map_data import MapData
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.widgets.maps.drawn import Drawn

WIDE = 110
"""The width of the bar in pixels at 100 %."""


@guarded
class ColourScale(Drawn):
    """Shows the scale of maps that share one."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._data = name, None  # type: tuple[str, MapData | None]
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)

    def show_scale(self, data: MapData) -> None:
        """Show the scale of a map."""
        self._data = data
        self.setAccessibleDescription(self.tool_tip(QPointF()))
        self.update()

    def tool_tip(self, at: QPointF) -> str:
        """Return the smallest and the largest value in words."""
        if self._data is None:
            return ""
        low, high = write_colour_ends(self._data)
        return f"{self._name}, from {low} to {high}"

    def restyle(self) -> None:
        super().restyle()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(px(WIDE), round(BAR_HEIGHT) + px(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._data is not None:
            painter = QPainter(self)
            draw_colour_bar(
                painter, QRectF(0, px(2), self.width(), BAR_HEIGHT), self._data, self._palette, font("tiny")
            )
            painter.end()
