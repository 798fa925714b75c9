"""Figures as SVG."""

from typing import TYPE_CHECKING

from attnlab.figures.figure_format import FigureFormat

if TYPE_CHECKING:
    from attnlab.figures.panels.figure_page import Page


def _encode(page: "Page") -> bytes:
    from attnlab.figures.panels.figure_file import describe, encode_svg

    return encode_svg(page, *describe(page))


SVG = FigureFormat(".svg", "SVG", _encode, order=20)
