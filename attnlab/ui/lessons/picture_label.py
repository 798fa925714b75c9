"""The pictures and curves of a step in the panel beside the playground, as wide as the panel."""

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QAccessible, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.slides.lens_chart import draw_chart
from attnlab.figures.slides.lens_content import Chart
from attnlab.figures.slides.slide_content import SlidePicture
from attnlab.figures.slides.slide_layout import Box
from attnlab.figures.slides.slide_pictures import decode
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import palette_of

GAP = 6
MOST_HEIGHT = 260
CHART_HEIGHT, LOW_CHART_HEIGHT, LEAST_CHART_HEIGHT = 150, 110, 64
"""The height of a chart in pixels at 100 %, of each of several, and of one that gives way to a question."""


@guarded
class PictureLabel(QWidget):
    """Shows pictures below one another; hidden without any."""

    spoken_role = QAccessible.Role.Graphic

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[QImage | Chart, ...] = ()
        self._given = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_pictures(self, pictures: tuple[SlidePicture, ...]) -> None:
        """Show pictures and charts; pictures that cannot be decoded are left out."""
        found = ((each.chart or decode(each.data)) for each in pictures)
        self._shown = tuple(each for each in found if each is not None)
        self.setAccessibleName("; ".join(each.alt for each in pictures))
        self.setVisible(bool(self._shown))
        self._fit()
        self.update()

    @property
    def count(self) -> int:
        """The number of pictures and charts shown."""
        return len(self._shown)

    def give_way(self, excess: int) -> None:
        """Make the charts lower by as many pixels together, as far as they stay legible; 0 gives them their height."""
        charts = sum(isinstance(each, Chart) for each in self._shown)
        self._given = -(-excess // charts) if charts else 0
        self._fit()

    def _list_sizes(self) -> list[QSize]:
        return [self._measure(each) for each in self._shown]

    def _measure(self, shown: QImage | Chart) -> QSize:
        width = max(self.width(), 1)
        if isinstance(shown, Chart):
            usual = px(CHART_HEIGHT if self.count == 1 else LOW_CHART_HEIGHT)
            return QSize(width, max(usual - self._given, px(LEAST_CHART_HEIGHT)))
        return shown.size() * min(width / shown.width(), MOST_HEIGHT / shown.height(), 1.0)

    def _fit(self) -> None:
        self.setFixedHeight(sum(size.height() + GAP for size in self._list_sizes()) if self._shown else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        y = 0
        for each, size in zip(self._shown, self._list_sizes(), strict=True):
            if isinstance(each, Chart):
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                draw_chart(painter, Box(0, y, size.width(), size.height()), each, px(12), palette_of(self))
            else:
                self._draw_image(painter, QRectF(QPointF(0, y), size.toSizeF()), each)
            y += size.height() + GAP

    def _draw_image(self, painter: QPainter, place: QRectF, image: QImage) -> None:
        ratio = self.devicePixelRatioF()
        small = image.scaled(place.size().toSize() * ratio)
        small.setDevicePixelRatio(ratio)
        painter.drawImage(place.topLeft(), small)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()
