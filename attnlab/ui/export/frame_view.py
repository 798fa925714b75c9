"""A frame of a film, as large as fits."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from attnlab.ui.base.guard import guarded


@guarded
class FrameView(QLabel):
    """Shows a frame, shrunk to fit but never enlarged."""

    spoken_role = QAccessible.Role.Graphic

    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        self.setAccessibleName("Preview of the film")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_frame(self, image: QImage | None) -> None:
        """Show a frame, or none."""
        self.image = image
        self._draw()

    def _draw(self) -> None:
        if self.image is None or not self.width() or not self.height():
            self.clear()
            return
        ratio = self.devicePixelRatioF()
        room = self.size() * ratio
        image = self.image
        if image.width() > room.width() or image.height() > room.height():
            kept, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            image = image.scaled(room, kept, smooth)
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(ratio)
        self.setPixmap(pixmap)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()
