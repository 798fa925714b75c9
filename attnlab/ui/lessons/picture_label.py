"""The pictures of a step in the panel beside the playground, as wide as the panel."""

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QAccessible, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.slides.slide_content import SlidePicture
from attnlab.figures.slides.slide_pictures import decode
from attnlab.ui.base.guard import guarded

GAP = 6
MOST_HEIGHT = 260


@guarded
class PictureLabel(QWidget):
    """Shows pictures below one another; hidden without any."""

    spoken_role = QAccessible.Role.Graphic

    def __init__(self) -> None:
        super().__init__()
        self._images: tuple[QImage, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_pictures(self, pictures: tuple[SlidePicture, ...]) -> None:
        """Show pictures; those that cannot be decoded are left out."""
        self._images = tuple(image for each in pictures if (image := decode(each.data)) is not None)
        self.setAccessibleName("; ".join(each.alt for each in pictures))
        self.setVisible(bool(self._images))
        self._fit()
        self.update()

    @property
    def count(self) -> int:
        """The number of pictures shown."""
        return len(self._images)

    def _list_sizes(self) -> list[QSize]:
        width = max(self.width(), 1)
        scales = (min(width / image.width(), MOST_HEIGHT / image.height(), 1.0) for image in self._images)
        return [image.size() * scale for image, scale in zip(self._images, scales, strict=True)]

    def _fit(self) -> None:
        self.setFixedHeight(sum(size.height() + GAP for size in self._list_sizes()) if self._images else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        y = 0
        ratio = self.devicePixelRatioF()
        for image, size in zip(self._images, self._list_sizes(), strict=True):
            small = image.scaled(size * ratio)
            small.setDevicePixelRatio(ratio)
            painter.drawImage(QPointF(0, y), small)
            y += size.height() + GAP

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit()
