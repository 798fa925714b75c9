"""The preview of a figure, as large as fits: the same layout, drawn by the same function as the file."""

from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.palette import LIGHT
from attnlab.figures.panels.figure_page import Page, draw_steps
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.slices import Slices
from attnlab.ui.base.themed import palette_of

_MARGIN, _SQUARE = 16, 8
_LARGEST = 2.5
"""The greatest enlargement of small figures: more would hide how small they are."""


@guarded
class FigurePreview(QWidget):
    """Shows a page, drawn one line of maps at a time so that the window stays responsive; ``drawn`` when complete."""

    spoken_role = QAccessible.Role.Graphic

    drawn = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page: Page | None = None
        self._text = ""
        self.image: QImage | None = None
        self._slices = Slices(self)
        self._slices.finished.connect(self._on_finished)
        self.setAccessibleName("Preview of the figure")
        self.setToolTip("The figure as it will be written")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 120)

    @property
    def page(self) -> Page | None:
        """The page shown."""
        return self._page

    def show_page(self, page: Page | None, text: str = "") -> None:
        """Show a page; or a text if there is none."""
        self._page, self._text = page, text
        self._draw()

    def stop(self) -> None:
        """Stop drawing."""
        self._slices.stop()

    def _draw(self) -> None:
        if self._page is None:
            self._slices.stop()
            self.image = None
            self.update()
            return
        self._slices.start(self._draw_in_steps(self._page), doing="drawing the figure")

    def _draw_in_steps(self, page: Page) -> Iterator[None]:
        scale = self._find_scale(page) * self.devicePixelRatioF()
        size = QSize(max(round(page.width * scale), 1), max(round(page.height * scale), 1))
        image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        try:
            painter.scale(scale, scale)
            yield from draw_steps(painter, page)  # if cancelled, this generator is closed before the painter
        finally:
            painter.end()
        image.setDevicePixelRatio(self.devicePixelRatioF())
        self.image = image

    def _find_scale(self, page: Page) -> float:
        room = max(self.width() - 2 * _MARGIN, 1), max(self.height() - 2 * _MARGIN, 1)
        return min(room[0] / page.width, room[1] / page.height, _LARGEST)

    @Slot(str)
    def _on_finished(self, problem: str) -> None:
        if problem:  # show no figure rather than the previous one
            self.image, self._text = None, problem
        self.update()
        self.drawn.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.image is None or self._page is None:
            painter.setPen(QColor(palette_of(self).muted))
            wrap = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignCenter
            painter.drawText(QRectF(self.rect()).adjusted(_MARGIN, 0, -_MARGIN, 0), int(wrap), self._text)
            return
        size = self.image.deviceIndependentSize()
        at = QPointF(round((self.width() - size.width()) / 2), round((self.height() - size.height()) / 2))
        rect = QRectF(at, size)
        if self._page.spec.ground == "transparent":
            _draw_squares(painter, rect)
        painter.drawImage(at, self.image)
        painter.setPen(QColor(palette_of(self).hairline))
        painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))


def _draw_squares(painter: QPainter, rect: QRectF) -> None:
    """Draw the chequered squares that stand for transparency, in the colours of paper."""
    painter.save()
    painter.setClipRect(rect)
    painter.fillRect(rect, QColor(LIGHT.surface))
    for line in range(int(rect.height() // _SQUARE) + 1):
        for place in range(line % 2, int(rect.width() // _SQUARE) + 1, 2):
            left, top = rect.x() + place * _SQUARE, rect.y() + line * _SQUARE
            painter.fillRect(QRectF(left, top, _SQUARE, _SQUARE), QColor(LIGHT.control))
    painter.restore()
