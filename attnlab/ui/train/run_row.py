"""A row of the list of runs: a dot in the colour of its curves, filled while they are shown, its name and its loss."""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from attnlab.base.number_text import four_decimals
from attnlab.figures.text import Pen
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of


@guarded
class RunRow(FollowsTheme, QAbstractButton):
    """Checked while the curves of its run are shown; a click or Space changes that, a double click or Enter opens."""

    opened = Signal()

    def __init__(self, name: str, loss: float, colour: str, tip: str) -> None:
        super().__init__()
        self._colour = colour
        self.loss = ""
        self.setText(name)
        self.show_loss(loss)
        self.setCheckable(True)
        self.setToolTip(tip)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_loss(self, loss: float) -> None:
        """Show another loss; NaN shows nothing."""
        self.loss = "" if math.isnan(loss) else four_decimals(loss)
        self.setAccessibleName(f"{self.text()}: loss {self.loss}" if self.loss else self.text())
        self.update()

    def restyle(self) -> None:
        """Take the height of the size of type."""
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(px(200), px(26))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.opened.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, middle, radius = palette_of(self), self.height() / 2, px(5)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(getattr(p, self._colour) if self.isChecked() else p.muted)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(QPointF(radius + 1, middle), radius - 0.5, radius - 0.5)
        wide = QFontMetricsF(font("number")).horizontalAdvance(self.loss)
        painter.setPen(QColor(p.muted))
        Pen(painter, font("number")).draw(self.width() - wide, middle, self.loss)
        painter.setPen(QColor(p.ink))
        pen, left = Pen(painter, font("text")), 2 * radius + px(10)
        pen.draw(left, middle, pen.elide(self.text(), self.width() - left - wide - px(8), middle=True))
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), p, 6)
        painter.end()
