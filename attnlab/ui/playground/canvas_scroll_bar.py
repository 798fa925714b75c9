"""The scroll bars of the canvas: each is visible while the cards are longer or wider than their room."""

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
    """A scroll bar at the right or the lower edge of its parent; its value is how far the cards are scrolled."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self._canvas = parent
        self._upright = orientation is Qt.Orientation.Vertical
        self.hide()

    @property
    def _room(self) -> int:
        return self._canvas.height() if self._upright else self._canvas.width()

    def show_extent(self, extent: int, offset: int) -> None:
        """Show the bar for cards of a height or width in pixels that begin at a y or x, without a signal; hide it if
        all fit.
        """
        longer = extent - self._room
        self.setVisible(longer > 0 or offset < 0)
        if self.isHidden():
            return
        self._lie_at_edge()
        self.blockSignals(True)
        self.setRange(min(0, -offset), max(longer, -offset))
        self.setPageStep(self._room)
        self.setSingleStep(round(LINE_PX * scale()))
        self.setValue(-offset)
        self.blockSignals(False)
        self.raise_()

    def _lie_at_edge(self) -> None:
        width, height = self._canvas.width(), self._canvas.height()
        if self._upright:
            thick = self.sizeHint().width()
            self.setGeometry(width - thick, 0, thick, height)
        else:
            thick = self.sizeHint().height()
            self.setGeometry(0, height - thick, width - thick, thick)  # the corner is the upright one's

    def find_edge(self) -> float:
        """Return the x at which the handle of an upright bar begins, or the canvas ends if the bar is hidden."""
        return float(self._canvas.width() if self.isHidden() else self.x() + HANDLE_MARGIN)

    def turn_wheel(self, angle: int) -> None:
        """Scroll by a turn of the wheel."""
        self.setValue(self.value() - round(angle / NOTCH * LINES * LINE_PX * scale()))

    def show_place(self, place: QRectF) -> None:
        """Scroll until a rectangle of the canvas is visible, its top first; one that is too wide stays as it is."""
        if not self.isVisible():
            return
        start, end = (place.top(), place.bottom()) if self._upright else (place.left(), place.right())
        if not self._upright and end - start + 2 * MARGIN > self._room:
            return
        over = max(end + MARGIN - self._room, 0.0)
        over = min(over, start - MARGIN) if start - over < MARGIN else over
        if over:
            self.setValue(self.value() + round(over))
