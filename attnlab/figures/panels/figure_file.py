"""Writes figures as PNG, SVG and PDF from one layout with one drawing routine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSaveFile, QSize, QSizeF
from PySide6.QtGui import QColor, QImage, QImageWriter, QPageLayout, QPageSize, QPaintDevice, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from attnlab.base.errors import AttnlabError, FileError
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.panels.figure_colours import make_palette
from attnlab.figures.panels.figure_page import Page, draw_page, lay_out_page
from attnlab.figures.panels.figure_source import Source
from attnlab.figures.panels.figure_spec import MM_PER_INCH, POINTS_PER_INCH, FigureSpec
from attnlab.figures.panels.figure_svg import improve_svg

PIXELS = 120_000_000
"""The largest figure in pixels; a larger one could fill the memory and no printer would need it."""

VECTOR_DPI = 600
_SIDE_PX = 32_000
_SVG_DPI, _PDF_DPI = 25_400, 1200
"""The resolution of sizes in a file: a thousandth of a millimetre, and Qt's own for a PDF."""


def encode_figure(source: Source, spec: FigureSpec, ending: str) -> bytes:
    """Return the bytes of a figure file with this ending. It needs a QGuiApplication.

    Raises:
        AttnlabError: the ending, the stage or the head does not exist, or the size cannot be drawn.
    """
    if ending not in FIGURES:
        raise AttnlabError(f"A figure cannot have the ending {ending!r}; it can be {', '.join(FIGURES)}.")
    return FIGURES[ending].encode(lay_out_for(source, spec, ending))


def lay_out_for(source: Source, spec: FigureSpec, ending: str) -> Page:
    """Return the layout of a figure for a file with this ending; errors as :func:`encode_figure`.

    Maps in vector files have the resolution of good printers, whatever the requested dots per inch.
    """
    return lay_out_page(source, spec if FIGURES[ending].in_pixels else replace(spec, dpi=max(spec.dpi, VECTOR_DPI)))


def write_figure(path: str | os.PathLike[str], source: Source, spec: FigureSpec) -> None:
    """Write a figure atomically in the format of the file's ending; errors as :func:`encode_figure`.

    Raises:
        FileError: the file cannot be written.
    """
    data = encode_figure(source, spec, os.path.splitext(os.fspath(path))[1].lower())
    file = QSaveFile(os.fspath(path))
    file.setDirectWriteFallback(True)  # for special files such as pipes
    written = file.open(QIODevice.OpenModeFlag.WriteOnly) and file.write(data) > 0 and file.commit()
    if not written:
        raise FileError(f"{os.fspath(path)} cannot be written: {file.errorString()}.")


def draw_figure(source: Source, spec: FigureSpec) -> QImage:
    """Return a figure as an image of exactly the requested pixels. Errors as :func:`encode_figure`."""
    return draw_page_image(lay_out_page(source, spec))


def draw_page_image(page: Page) -> QImage:
    """Return a page as an image at its dots per inch, with a transparent background if the spec says so.

    Raises:
        AttnlabError: the page is too large.
    """
    width, height = page.pixels
    if max(width, height) > _SIDE_PX or width * height > PIXELS:
        raise AttnlabError(f"A figure of {width} × {height} pixels is too large; use fewer dots per inch or one head.")
    clear = page.spec.ground == "transparent"
    kind = QImage.Format.Format_ARGB32_Premultiplied if clear else QImage.Format.Format_RGB32
    image = QImage(width, height, kind)
    image.fill(0 if clear else QColor(make_palette(page.spec.colour_map, dark=page.spec.dark).surface).rgb())
    with paint_on(image) as painter:
        painter.scale(page.ratio, page.ratio)
        draw_page(painter, page)
    image.setDotsPerMeterX(round(page.spec.dpi * 1000 / MM_PER_INCH))
    image.setDotsPerMeterY(round(page.spec.dpi * 1000 / MM_PER_INCH))
    return image


def encode_png(image: QImage) -> bytes:
    """Return an image as PNG, including its dots per inch."""
    data, buffer = open_buffer()
    writer = QImageWriter(buffer, QByteArray(b"png"))
    if not writer.write(image):
        raise FileError(f"The figure cannot be written as PNG: {writer.errorString()}.")
    return bytes(data.data())


def encode_svg(page: Page, title: str, description: str) -> bytes:
    """Return a page as SVG with text as text, its size in millimetres, a title and a description."""
    data, buffer = open_buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(_SVG_DPI)
    width, height = (round(side * _SVG_DPI / MM_PER_INCH) for side in page.size_mm)
    generator.setSize(QSize(width, height))
    generator.setViewBox(QRectF(0, 0, page.width, page.height))
    generator.setTitle(title)
    generator.setDescription(description)
    with paint_on(generator) as painter:
        draw_page(painter, page)
    return improve_svg(bytes(data.data()).decode(errors="replace")).encode()


def encode_pdf(page: Page, title: str) -> bytes:
    """Return a page as a PDF with one page of the figure's size."""
    data, buffer = open_buffer()
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("attnlab")
    writer.setResolution(_PDF_DPI)
    size = QSizeF(*page.size_mm) / MM_PER_INCH * POINTS_PER_INCH
    paper = QPageSize(size, QPageSize.Unit.Point, "Figure", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(paper, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    with paint_on(writer) as painter:
        painter.scale(_PDF_DPI / page.spec.units_per_inch, _PDF_DPI / page.spec.units_per_inch)
        draw_page(painter, page)
    buffer.close()
    return bytes(data.data())


def describe(page: Page) -> tuple[str, str]:
    """Return the title of a figure and one sentence that describes it."""
    stages = ", ".join(each.name for _, _, each in page.panels)
    title = page.spec.title or ": ".join(filter(None, (" ".join(page.title), stages)))
    parts = [f"{each.name} {each.which} ({each.shape})".replace("  ", " ") for _, _, each in page.panels]
    return title, f"Maps drawn by attnlab: {'; '.join(parts)}."


@contextmanager
def paint_on(device: QPaintDevice) -> Iterator[QPainter]:
    """Provide a painter that always ends, because a painter that outlives its device crashes the process."""
    painter = QPainter(device)
    try:
        yield painter
    finally:
        painter.end()


def open_buffer() -> tuple[QByteArray, QBuffer]:
    """Return an empty array and the open buffer that fills it; both must be kept while it is written."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return data, buffer
