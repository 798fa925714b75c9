"""The picture below the cards of the canvas: their shadows and the wires."""

from collections.abc import Sequence

from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages.flow import Link
from attnlab.ui.base.themed import palette_of
from attnlab.ui.playground.shadow import draw_shadow
from attnlab.ui.playground.wires import Room, draw_wires


class CanvasGround:
    """The picture of a canvas, kept until it is old."""

    def __init__(self, canvas: QWidget) -> None:
        self._canvas = canvas
        self.picture = QPixmap()
        self.is_old = True
        """Whether the cards have moved since it was drawn."""

    def draw(self, wires: Sequence[Link], room: Room) -> None:
        """Draw the wires between the cards, and a shadow below each card."""
        ratio = self._canvas.devicePixelRatioF()
        size = self._canvas.size() * ratio
        if (self.picture.size(), self.picture.devicePixelRatio()) != (size, ratio):  # allocating anew is slow
            self.picture = QPixmap(size)
            self.picture.setDevicePixelRatio(ratio)
        palette = palette_of(self._canvas)
        self.picture.fill(QColor(palette.ground))
        painter = QPainter(self.picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_wires(painter, wires, room, palette)
        for rect in room.places.values():
            draw_shadow(painter, rect.toRect())
        painter.end()
        self.is_old = False
