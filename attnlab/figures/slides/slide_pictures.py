"""Draws the pictures of a lesson beside the text of a slide, as large as there is room."""

from functools import lru_cache

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter

from attnlab.figures.palette import Palette
from attnlab.figures.slides.lens_chart import draw_chart
from attnlab.figures.slides.slide_content import SlidePicture
from attnlab.figures.slides.slide_layout import Box, Sheet, stack_boxes
from attnlab.figures.slides.slide_text import make_face

MOST_PIXELS = 40_000_000
"""Larger pictures are not decoded: a small file may hold a huge one."""
WIDTH, HEIGHT = 0.3, 30.0
"""The width of pictures beside the text, as a fraction of the inner width, and their height in hundredths."""


@lru_cache(maxsize=16)
def decode(data: bytes) -> QImage | None:
    """Return a picture; None if the bytes are none, or too large a one."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setAutoTransform(True)
    if reader.format().data() not in (b"png", b"jpeg"):
        return None
    size = reader.size()
    if not size.isValid() or size.width() * size.height() > MOST_PIXELS:
        return None
    image = reader.read()
    return None if image.isNull() else image


def draw_pictures(
    painter: QPainter, sheet: Sheet, y: float, pictures: tuple[SlidePicture, ...], palette: Palette
) -> float:
    """Draw pictures below one another at the right margin from ``y`` on; return the y of their end."""
    width, height = WIDTH * sheet.inner, HEIGHT * sheet.unit
    box = Box(sheet.left + sheet.inner - width, y, width, height)
    end = y
    for picture, place in zip(pictures, stack_boxes(box, len(pictures), sheet.unit), strict=True):
        if picture.chart is not None:
            draw_chart(painter, place, picture.chart, min(sheet.small, place.height / 8), palette)
            end = place.bottom
            continue
        image = decode(picture.data)
        if image is None:
            painter.setFont(make_face(sheet.small))
            painter.setPen(QColor(palette.muted))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(QRectF(place.x, place.y, place.width, place.height), flags, picture.alt or "?")
            end = place.bottom
            continue
        scale = min(place.width / image.width(), place.height / image.height())
        wide, high = image.width() * scale, image.height() * scale
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(place.right - wide, place.y, wide, high), image)
        end = place.y + high
    return end
