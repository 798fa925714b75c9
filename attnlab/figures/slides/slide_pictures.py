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


def find_pictures_end(sheet: Sheet, y: float, pictures: tuple[SlidePicture, ...]) -> float:
    """Return the y of the end of the pictures that begin at ``y``, which is ``y`` itself without any."""
    return max((place.bottom() for _, _, place in _place_pictures(sheet, y, pictures)), default=y)


def draw_pictures(
    painter: QPainter, sheet: Sheet, y: float, pictures: tuple[SlidePicture, ...], palette: Palette
) -> None:
    """Draw pictures below one another at the right margin from ``y`` on."""
    for picture, image, place in _place_pictures(sheet, y, pictures):
        if picture.chart is not None:
            box = Box(place.x(), place.y(), place.width(), place.height())
            draw_chart(painter, box, picture.chart, min(sheet.small, box.height / 8), palette)
        elif image is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(place, image)
        else:
            painter.setFont(make_face(sheet.small))
            painter.setPen(QColor(palette.muted))
            flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
            painter.drawText(place, flags, picture.alt or "?")


def _place_pictures(
    sheet: Sheet, y: float, pictures: tuple[SlidePicture, ...]
) -> list[tuple[SlidePicture, QImage | None, QRectF]]:
    """Return each picture, its image if it is one that can be read, and its place."""
    width, height = WIDTH * sheet.inner, HEIGHT * sheet.unit
    box = Box(sheet.left + sheet.inner - width, y, width, height)
    found = []
    for picture, part in zip(pictures, stack_boxes(box, len(pictures), sheet.unit) if pictures else (), strict=True):
        place, image = QRectF(part.x, part.y, part.width, part.height), None
        if picture.chart is None and (image := decode(picture.data)) is not None:
            scale = min(part.width / image.width(), part.height / image.height())
            wide, high = image.width() * scale, image.height() * scale
            place = QRectF(part.right - wide, part.y, wide, high)
        found.append((picture, image, place))
    return found
