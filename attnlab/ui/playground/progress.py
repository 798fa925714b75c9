"""Progress of a walk through the stages: a short bar for each, filled as far as it is computed. A click jumps there."""

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QAccessible, QColor, QMouseEvent, QPainter, QPaintEvent, Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of


@guarded
class Progress(QWidget):
    """Shows completed stages, the last perhaps partly; emits the clicked stage and the position in it."""

    spoken_role = QAccessible.Role.ProgressBar

    place_clicked = Signal(int, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count, self._done = 0, 0.0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(60)
        self.setAccessibleName("Steps")

    def set_progress(self, count: int, done: float, told: str) -> None:
        """Show ``done`` of ``count`` stages; ``told`` is the description for screen readers."""
        if told != self.toolTip():
            self.setToolTip(told)
            self.setAccessibleName(f"Steps: {told}")
            self.setAccessibleDescription(told)
        if (count, done) == (self._count, self._done):
            return
        if count != self._count:
            self.updateGeometry()
        self._count, self._done = count, done
        self.update()

    def _bar(self, index: int) -> QRectF:
        pitch = self.width() / max(self._count, 1)
        return QRectF(index * pitch, self.height() / 2 - 2, pitch - (6 if pitch > 12 else 2), 4)

    def sizeHint(self) -> QSize:
        return QSize(max(self._count, 1) * 27, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = palette_of(self), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for index in range(self._count):
            bar, share = self._bar(index), min(max(self._done - index, 0.0), 1.0)
            if share < 1:
                painter.setBrush(QColor(palette.hatch))
                painter.drawRoundedRect(bar, 2, 2)
            if share > 0:
                bar.setWidth(max(bar.width() * share, 4.0))
                painter.setBrush(QColor(palette.accent))
                painter.drawRoundedRect(bar, 2, 2)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._count:
            at = min(max(event.position().x() / self.width() * self._count, 0.0), self._count - 1e-6)
            self.place_clicked.emit(int(at), at - int(at))
