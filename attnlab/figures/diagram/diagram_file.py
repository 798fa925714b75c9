"""Writes scenes, such as the diagram of a model or the curves of a run, with the painter of the screen."""

from PySide6.QtCore import QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QImage, QPageLayout, QPageSize, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from attnlab.base.errors import AttnlabError
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import paint_scene
from attnlab.figures.figure_format import FigureFormat
from attnlab.figures.figure_formats import FIGURES
from attnlab.figures.palette import Palette
from attnlab.figures.panels.figure_file import PIXELS, encode_png, open_buffer, paint_on
from attnlab.figures.panels.figure_spec import MM_PER_INCH, POINTS_PER_INCH
from attnlab.figures.panels.figure_svg import improve_svg

PIXEL_RATIO = 3.0
"""Pixels of a picture for each unit of a scene."""
_DPI = 96
"""Units to the inch, so that files of all formats are equally large."""
_PDF_DPI = 1200


def list_scene_formats() -> dict[str, FigureFormat]:
    """Return the formats of figures that can hold a scene, by ending."""
    return {ending: each for ending, each in FIGURES.items() if each.encode_scene is not None}


def encode_diagram(scene: Scene, palette: Palette, ending: str, title: str) -> bytes:
    """Return the bytes of a file in the format of an ending. It needs a QGuiApplication.

    Raises:
        AttnlabError: the ending does not exist, or the picture would be too large.
    """
    formats = list_scene_formats()
    encode = formats[ending].encode_scene if ending in formats else None
    if encode is None:
        raise AttnlabError(f"This figure cannot have the ending {ending!r}; it can be {', '.join(formats)}.")
    return encode(scene, palette, title)


def encode_scene_png(scene: Scene, palette: Palette) -> bytes:
    """Return a scene as PNG; errors as :func:`draw_diagram`."""
    return encode_png(draw_diagram(scene, palette))


def draw_diagram(scene: Scene, palette: Palette) -> QImage:
    """Return a diagram as an image.

    Raises:
        AttnlabError: it would be too large.
    """
    size = QSize(round(scene.width * PIXEL_RATIO), round(scene.height * PIXEL_RATIO))
    if size.width() * size.height() > PIXELS:
        raise AttnlabError(
            f"A figure of {size.width()} × {size.height()} pixels is too large; fold layers, or show fewer positions."
        )
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(QColor(palette.surface))
    with paint_on(image) as painter:
        painter.scale(PIXEL_RATIO, PIXEL_RATIO)
        paint_scene(painter, scene, palette)
    dots_per_metre = round(PIXEL_RATIO * _DPI / MM_PER_INCH * 1000)
    image.setDotsPerMeterX(dots_per_metre)
    image.setDotsPerMeterY(dots_per_metre)
    return image


def encode_scene_svg(scene: Scene, palette: Palette, title: str) -> bytes:
    """Return a scene as SVG with its title."""
    data, buffer = open_buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(_DPI)
    generator.setSize(QSize(round(scene.width), round(scene.height)))
    generator.setViewBox(QRectF(0, 0, scene.width, scene.height))
    generator.setTitle(title)
    generator.setDescription(f"Drawn by attnlab: {title}.")
    with paint_on(generator) as painter:
        painter.fillRect(QRectF(0, 0, scene.width, scene.height), QColor(palette.surface))
        paint_scene(painter, scene, palette)
    return improve_svg(bytes(data.data()).decode(errors="replace")).encode()


def encode_scene_pdf(scene: Scene, palette: Palette, title: str) -> bytes:
    """Return a scene as PDF with its title, on a page of its size."""
    data, buffer = open_buffer()
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("attnlab")
    writer.setResolution(_PDF_DPI)
    size = QSizeF(scene.width, scene.height) / _DPI * POINTS_PER_INCH
    paper = QPageSize(size, QPageSize.Unit.Point, "Figure", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(paper, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    with paint_on(writer) as painter:
        painter.scale(_PDF_DPI / _DPI, _PDF_DPI / _DPI)
        painter.fillRect(QRectF(0, 0, scene.width, scene.height), QColor(palette.surface))
        paint_scene(painter, scene, palette)
    buffer.close()
    return bytes(data.data())
