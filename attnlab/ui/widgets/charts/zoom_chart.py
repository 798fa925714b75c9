"""A line chart whose x axis is enlarged: with the wheel, by framing a part, or with the keys."""

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import draw_focus_ring, px
from attnlab.ui.widgets.charts.line_chart import LineChart

Stretch = tuple[float, float]
PER_DEGREE = 1.0015
"""The zoom of an eighth of a degree of the wheel, as on the canvas."""
BY_KEY, PAN = 1.5, 0.25
"""The zoom of a press of + or −, and the share of the axis that ← and → move by."""
LEAST = 4.0
"""The shortest part that can be enlarged, in units of x."""
LEAST_FRAME = 6
"""The least width of a part that is framed, in pixels at 100 %; less is a click."""
_IN = (Qt.Key.Key_Plus, Qt.Key.Key_Equal)
_WAYS = {Qt.Key.Key_Left: -PAN, Qt.Key.Key_Right: PAN}
ZOOM_TIP = "Ctrl+wheel or Shift+drag enlarges a part, double click shows all; keys: + − ← → 0"


@guarded
class ZoomChart(KeepsKeys, LineChart):
    """Zooms its x axis about the pointer, or about the cursor with keys; ``stretch_changed`` carries the new part.

    The wheel alone zooms too, unless it scrolls the panel around the chart.
    """

    stretch_changed = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None, *, x_name: str = "step") -> None:
        super().__init__(name, parent, x_name=x_name)
        self._frame: tuple[float, float] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def tool_tip(self, at: QPointF) -> str:
        """Return the values near a point, else how to zoom."""
        return super().tool_tip(at) or ZOOM_TIP

    def zoom(self, factor: float, at: float) -> None:
        """Enlarge by a factor, so that an x stays where it is; a factor below 1 shows more."""
        left, right = self.x_range
        width = max((right - left) / factor, min(LEAST, self.x_end))
        left = at - (at - left) / (right - left) * width
        self._take((left, left + width))

    def pan(self, share: float) -> None:
        """Show a part to the right of this one, by a share of its width; negative for the left."""
        if self.stretch is not None:
            left, right = self.stretch
            self._take((left + share * (right - left), right + share * (right - left)))

    def show_all(self) -> None:
        """Show the whole axis."""
        self._take((0.0, self.x_end))

    def _take(self, wanted: Stretch) -> None:
        """Show a part, moved into the axis; all of it if it is not shorter."""
        width = wanted[1] - wanted[0]
        left = min(max(wanted[0], 0.0), max(self.x_end - width, 0.0))
        stretch = (left, left + width) if width < self.x_end * 0.999 else None
        if stretch != self.stretch:
            self.show_stretch(stretch)
            self.stretch_changed.emit(stretch)

    def _is_in_scrolled_panel(self) -> bool:
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        return isinstance(parent, QScrollArea) and parent.verticalScrollBar().maximum() > 0

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned, modifiers = event.angleDelta(), event.modifiers()
        across = turned.x() or (turned.y() if modifiers & Qt.KeyboardModifier.ShiftModifier else 0)
        if across and not modifiers & Qt.KeyboardModifier.ControlModifier:
            self.pan(-PAN * across / 120)
        elif modifiers & Qt.KeyboardModifier.ControlModifier or not self._is_in_scrolled_panel():
            self.zoom(PER_DEGREE ** (turned.y() or turned.x()), self.scale().value_x(event.position().x()))
        else:
            event.ignore()
            return
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        left = event.button() == Qt.MouseButton.LeftButton
        if left and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._frame = (event.position().x(), event.position().x())
            self.update()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._frame is not None:
            self._frame = (self._frame[0], event.position().x())
            self.update()
        else:
            super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        frame, self._frame = self._frame, None
        if frame is not None:
            self.update()
            left, right = (self.scale().value_x(x) for x in sorted(frame))
            if abs(frame[1] - frame[0]) >= px(LEAST_FRAME):
                (low, high), least = self.x_range, min(LEAST, self.x_end)
                left, right = max(left, low), min(right, high)
                self._take((left, max(right, left + least)))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.show_all()

    def keeps_key(self, event: QKeyEvent) -> bool:
        """Return whether a key zooms; those that move an enlarged part go to the time line while all is shown."""
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            return False
        key = event.key()
        return key in (*_IN, Qt.Key.Key_Minus) or (self.stretch is not None and (key in _WAYS or key == Qt.Key.Key_0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keeps_key(event):
            super().keyPressEvent(event)
            return
        key, (left, right) = Qt.Key(event.key()), self.x_range
        cursor = self.cursor_x
        about = cursor if cursor is not None and left <= cursor <= right else (left + right) / 2
        if key in _WAYS:
            self.pan(_WAYS[key])
        elif key == Qt.Key.Key_0:
            self.show_all()
        else:
            self.zoom(BY_KEY if key in _IN else 1 / BY_KEY, about)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._frame is None and not self.hasFocus():
            return
        painter, p = QPainter(self), self._palette
        if self._frame is not None:
            area, (left, right) = self.scale().area, sorted(self._frame)
            frame = QRectF(QPointF(left, area.top()), QPointF(right, area.bottom())).intersected(area)
            fill = QColor(p.accent)
            fill.setAlphaF(0.12)
            painter.fillRect(frame, fill)
            painter.setPen(QPen(QColor(p.accent), 1))
            painter.drawRect(frame)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, 6)
        painter.end()
