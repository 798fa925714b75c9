"""Copies figures to the clipboard: as pixels for text documents, and as SVG for drawing programs."""

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from attnlab.figures.panels.figure_file import describe, draw_page_image, encode_png, encode_svg, lay_out_for
from attnlab.figures.panels.figure_source import Source
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.ui.base.clipboard import copy_data


def copy_figure(source: Source, spec: FigureSpec) -> QImage:
    """Copy a figure to the clipboard, and return it in pixels; if it cannot be drawn, the clipboard stays unchanged.

    Raises:
        AttnlabError: the figure cannot be drawn.
    """
    image, vectors = draw_page_image(lay_out_for(source, spec, ".png")), lay_out_for(source, spec, ".svg")
    data = QMimeData()
    data.setImageData(image)
    data.setData("image/png", encode_png(image))
    data.setData("image/svg+xml", encode_svg(vectors, *describe(vectors)))
    copy_data(data)
    return image
