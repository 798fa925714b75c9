"""The scroll bar of the canvas: visible while the cards are longer than their room."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QScrollBar, QWidget

from attnlab.ui.base.theme import scale
from attnlab.ui.playground.canvas_lengths import MARGIN

LINE_PX, LINES = 22, 3
"""The height of a line at 100 % type, and how many lines a notch of the wheel scrolls."""
HANDLE_MARGIN = 2
"""The pixels beside the handle, as in the style sheet."""
NOTCH = 120
"""The angle of a notch of the wheel, in the unit of Qt, an eighth of a degree."""


class CanvasScrollBar(QScrollBar):
    """A vertical scroll bar at the right edge of its parent; its value is how far the cards are scrolled up."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._canvas = parent
        self.hide()

    def show_extent(self, height: int, offset: int) -> None:
        """Show the bar for cards of a height in pixels that begin at a y, without a signal; hide it if all fit."""
        room = self._canvas.height()
        longer = height - room
        self.setVisible(longer > 0 or offset < 0)
        if self.isHidden():
            return
        wide = self.sizeHint().width()
        self.setGeometry(self._canvas.width() - wide, 0, wide, room)
        self.blockSignals(True)
        self.setRange(min(0, -offset), max(longer, -offset))
        self.setPageStep(room)
        self.setSingleStep(round(LINE_PX * scale()))
        self.setValue(-offset)
        self.blockSignals(False)
        self.raise_()

    def find_edge(self) -> float:
        """Return the x at which the handle begins, or the canvas ends if the bar is hidden."""
        return float(self._canvas.width() if self.isHidden() else self.x() + HANDLE_MARGIN)

    def turn_wheel(self, angle: int) -> None:
        """Scroll by a turn of the wheel."""
        self.setValue(self.value() - round(angle / NOTCH * LINES * LINE_PX * scale()))

    def show_place(self, place: QRectF) -> None:
        """Scroll until a rectangle of the canvas is visible, its top first."""
        over = max(place.bottom() + MARGIN - self._canvas.height(), 0.0)
        over = min(over, place.top() - MARGIN) if place.top() - over < MARGIN else over
        if over:
            self.setValue(self.value() + round(over))
