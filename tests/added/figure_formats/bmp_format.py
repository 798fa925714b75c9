"""A throw-away format of figures: bitmaps."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from PySide6.QtCore import QBuffer, QIODevice

    from attnlab.figures.panels.figure_file import draw_page_image

    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    draw_page_image(page).save(buffer, "BMP")
    return bytes(buffer.data().data())


BMP = FigureFormat(".bmp", "BMP", _encode, order=1000, in_pixels=True)
