"""Writes diagrams as PNG, SVG and PDF, with the painter of the screen."""

from PySide6.QtCore import QMarginsF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QImage, QPageLayout, QPageSize, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from attnlab.base.errors import AttnlabError
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import paint_scene
from attnlab.figures.palette import Palette
from attnlab.figures.panels.figure_file import PIXELS, encode_png, open_buffer, paint_on
from attnlab.figures.panels.figure_svg import improve_svg

ENDINGS = (".png", ".svg", ".pdf")
PIXEL_RATIO = 3.0
"""Pixels of a picture for each unit of a scene: 300 to the inch if it is printed as large as on paper."""
_POINTS = 0.75
"""Points of paper for each unit."""
_PDF_DPI = 1200


def encode_diagram(scene: Scene, palette: Palette, ending: str, title: str) -> bytes:
    """Return the bytes of a file with one of the ``ENDINGS``. It needs a QGuiApplication.

    Raises:
        AttnlabError: the ending does not exist, or the picture would be too large.
    """
    if ending not in ENDINGS:
        raise AttnlabError(f"A diagram cannot have the ending {ending!r}; it can be {', '.join(ENDINGS)}.")
    if ending == ".png":
        return encode_png(draw_diagram(scene, palette))
    return _encode_svg(scene, palette, title) if ending == ".svg" else _encode_pdf(scene, palette, title)


def draw_diagram(scene: Scene, palette: Palette) -> QImage:
    """Return a diagram as an image.

    Raises:
        AttnlabError: it would be too large.
    """
    size = QSize(round(scene.width * PIXEL_RATIO), round(scene.height * PIXEL_RATIO))
    if size.width() * size.height() > PIXELS:
        raise AttnlabError(f"A diagram of {size.width()} × {size.height()} pixels is too large; fold its layers.")
    image = QImage(size, QImage.Format.Format_RGB32)
    image.fill(QColor(palette.surface))
    with paint_on(image) as painter:
        painter.scale(PIXEL_RATIO, PIXEL_RATIO)
        paint_scene(painter, scene, palette)
    return image


def _encode_svg(scene: Scene, palette: Palette, title: str) -> bytes:
    data, buffer = open_buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(round(scene.width), round(scene.height)))
    generator.setViewBox(QRectF(0, 0, scene.width, scene.height))
    generator.setTitle(title)
    generator.setDescription(f"The model, drawn by attnlab: {title}.")
    with paint_on(generator) as painter:
        painter.fillRect(QRectF(0, 0, scene.width, scene.height), QColor(palette.surface))
        paint_scene(painter, scene, palette)
    return improve_svg(bytes(data.data()).decode(errors="replace")).encode()


def _encode_pdf(scene: Scene, palette: Palette, title: str) -> bytes:
    data, buffer = open_buffer()
    writer = QPdfWriter(buffer)
    writer.setTitle(title)
    writer.setCreator("attnlab")
    writer.setResolution(_PDF_DPI)
    size = QSizeF(scene.width, scene.height) * _POINTS
    paper = QPageSize(size, QPageSize.Unit.Point, "Diagram", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(paper, QPageLayout.Orientation.Portrait, QMarginsF(0, 0, 0, 0)))
    with paint_on(writer) as painter:
        painter.scale(_POINTS * _PDF_DPI / 72, _POINTS * _PDF_DPI / 72)
        painter.fillRect(QRectF(0, 0, scene.width, scene.height), QColor(palette.surface))
        paint_scene(painter, scene, palette)
    buffer.close()
    return bytes(data.data())
