"""The spotlight of a presentation, which dims everything except around the mouse."""

from typing import cast

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QCursor, QHideEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from attnlab.figures.palette import compute_luminance
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of

RADIUS, RADII = 14.0, (5.0, 40.0)
"""The radius, and its limits, in hundredths of the height."""
DIM, DIM_DARK = 0.72, 0.82
"""How much light and dark slides are dimmed."""


@guarded
class Spotlight(QWidget):
    """Lies above the slide and its table, lens and fields, which still take the mouse; hidden, it dims nothing."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.at = QPointF()
        """Its centre."""
        self._over, self._radius = over, RADIUS
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def toggle(self) -> None:
        """Switch it on around the mouse, or around the centre if the mouse is elsewhere; or off."""
        if self.isVisible():
            self.hide()
            return
        self.cover_all()
        here = QPointF(self.mapFromGlobal(QCursor.pos()))
        self.at = here if self.rect().contains(here.toPoint()) else QPointF(self.rect().center())
        self.show()

    def cover_all(self) -> None:
        """Lie above all that the window shows, in its size."""
        self.setGeometry(self._over.rect())
        self.raise_()

    def resize_by(self, steps: float) -> None:
        """Resize it by steps of the mouse wheel."""
        self._radius = min(max(self._radius * 1.15**steps, RADII[0]), RADII[1])
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the mouse, whichever part of the slide it is over."""
        if event.type() == QEvent.Type.MouseMove:
            self.at = self.mapFromGlobal(cast(QMouseEvent, event).globalPosition())
            self.update()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        if (app := QCoreApplication.instance()) is not None:
            app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        if (app := QCoreApplication.instance()) is not None:
            app.removeEventFilter(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        dark = QPainterPath()
        dark.setFillRule(Qt.FillRule.OddEvenFill)
        dark.addRect(QRectF(self.rect()))
        radius = self._radius * self.height() / 100
        dark.addEllipse(self.at, radius, radius)
        shade = QColor("#000000")
        shade.setAlphaF(DIM if compute_luminance(palette_of(self).ground) > 0.2 else DIM_DARK)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(dark, shade)
        painter.end()
