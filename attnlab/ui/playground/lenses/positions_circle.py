"""A pair of columns of the sinusoidal encoding as a point on the unit circle, and its rotation from t to t + φ."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.attention.measures.rotation import frequencies, rotation, rotation_error
from attnlab.attention.registries.positions import sinusoidal
from attnlab.attention.stages.arithmetic import number
from attnlab.figures.text import Pen
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.base.themed import FollowsTheme, palette_of

LENGTH = 100
"""The error is the largest over positions 0 to this one."""
BLOCK = 8
"""The number of rows and columns of the matrix that are shown."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A pair of columns at t and at t + φ, its ω, and the error of the whole rotation in two precisions."""

    d_model: int
    block: NDArray[np.float64]
    omega: float
    position: int
    offset: int
    pair: int
    before: tuple[float, float]
    after: tuple[float, float]
    float32: float
    float64: float

    @property
    def angle(self) -> float:
        """The angle of the pair's rotation, in radians."""
        return self.omega * self.offset


def turn(d_model: int, position: int, offset: int, pair: int) -> Turn:
    """Return the page's values; (sin, cos) of the pair are read from the encoding."""
    encoding = sinusoidal(position + offset + 1, d_model)[:, 2 * pair : 2 * pair + 2]
    before, after = ((float(encoding[t, 0]), float(encoding[t, 1])) for t in (position, position + offset))
    errors = [rotation_error(d_model, LENGTH, offset, dtype) for dtype in (torch.float32, torch.float64)]
    block, omega = rotation(d_model, offset)[:BLOCK, :BLOCK].numpy(), float(frequencies(d_model)[pair])
    return Turn(d_model, block, omega, position, offset, pair, before, after, *errors)


@guarded
class Circle(FollowsTheme, QWidget):
    """The unit circle with the pair at t, the pair at t + φ, and the arc between them."""

    spoken_role = QAccessible.Role.Graphic

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._turn: Turn | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Circle")

    def restyle(self) -> None:
        """Set the least size."""
        self.setMinimumSize(px(112), px(220))

    def show_turn(self, shown: Turn) -> None:
        """Show another rotation."""
        self._turn = shown
        told = f"from {pair_text(shown.before)} at t = {shown.position} to {pair_text(shown.after)} at {later(shown)}"
        self.setAccessibleName(f"Circle: {told}")
        self.setAccessibleDescription(told)
        self.update()

    def place(self, point: tuple[float, float]) -> QPointF:
        """Return the position of a pair (sin, cos), in pixels."""
        middle, radius = self._middle()
        return QPointF(middle.x() + radius * point[0], middle.y() - radius * point[1])

    def _middle(self) -> tuple[QPointF, float]:
        room = QRectF(self.rect())
        return room.center(), max(min(room.width() / 2 - 48 * scale(), room.height() / 2 - 26 * scale()), 12 * scale())

    def _paint_ground(self, painter: QPainter) -> None:
        middle, radius = self._middle()
        painter.setPen(QPen(QColor(palette_of(self).hairline), 1))
        for dx, dy in ((1, 0), (0, 1)):
            arm = QPointF(dx, dy) * radius
            painter.drawLine(middle - arm, middle + arm)
        painter.setPen(QPen(QColor(palette_of(self).hatch), 1.5))
        painter.drawEllipse(middle, radius, radius)
        pen = Pen(painter, face("caption", scale()))
        painter.setPen(QColor(palette_of(self).muted))
        pen.draw(middle.x() + radius - 4, middle.y() + 9 * scale(), "sin", 1.0)
        pen.draw(middle.x() + 5, middle.y() - radius + 10 * scale(), "cos")

    def _paint_turn(self, painter: QPainter, shown: Turn) -> None:
        """Draw the arc clockwise, the direction of growing positions, with an arrow; the text gives whole turns."""
        middle, radius = self._middle()
        inner, colour = radius * 0.5, QColor(palette_of(self).attention)
        start, rest = shown.omega * shown.position, math.degrees(shown.angle) % 360
        painter.setPen(QPen(colour, 2))
        square = QRectF(middle.x() - inner, middle.y() - inner, 2 * inner, 2 * inner)
        painter.drawArc(square, round((90 - math.degrees(start)) * 16), round(-rest * 16))
        if rest * inner < 90:  # too short for an arrow
            return
        end = start + math.radians(rest)
        tip = QPointF(middle.x() + inner * math.sin(end), middle.y() - inner * math.cos(end))
        along, out = QPointF(math.cos(end), math.sin(end)), QPointF(math.sin(end), -math.cos(end))
        size = min(5 * scale(), inner * 0.1)
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([tip, tip - along * 2 * size + out * size, tip - along * 2 * size - out * size]))

    def _paint_point(self, painter: QPainter, point: tuple[float, float], colour: str, text: str) -> None:
        middle, _ = self._middle()
        at = self.place(point)
        painter.setPen(QPen(QColor(colour), 1.5))
        painter.drawLine(middle, at)
        painter.setBrush(QColor(colour))
        painter.drawEllipse(at, 4.5 * scale(), 4.5 * scale())
        pen = Pen(painter, face("caption_strong", scale()))
        painter.setPen(QColor(palette_of(self).ink))
        out = 12 * scale()
        pen.draw(at.x() + out * point[0], at.y() - out * point[1], text, 0.5 - 0.5 * point[0], 0.5 + 0.5 * point[1])

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        if self._turn is not None:
            shown, p = self._turn, palette_of(self)
            self._paint_turn(painter, shown)
            self._paint_point(painter, shown.before, p.query, "t")
            if shown.offset:
                self._paint_point(painter, shown.after, p.key, "t + φ")
        painter.end()


def later(shown: Turn) -> str:
    return f"t + φ = {shown.position + shown.offset}"


def pair_text(point: tuple[float, float]) -> str:
    return ", ".join(map(number, point))
