"""Figures as PNG."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from attnlab.figures.panels.figure_file import draw_page_image, encode_png

    return encode_png(draw_page_image(page))


PNG = FigureFormat(".png", "PNG", _encode, order=10, in_pixels=True)
