"""The program's icons: line drawings in resources/icons, in any colour and sharp at any size."""

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from attnlab.base import assets
from attnlab.figures.palette import Palette
from attnlab.ui.base.theme import mix_disabled

_SHARP = (1, 2, 3)  # device pixel ratios to draw for


def icon(name: str, palette: Palette, size_px: int = 20) -> QIcon:
    """Return an icon by the name of its file, in the palette's muted colour; checked it is accent, disabled faint.

    Raises FileError for a name that does not exist.
    """
    return QIcon(_make_icon(name, palette, size_px))


@lru_cache(maxsize=256)
def _make_icon(name: str, palette: Palette, size_px: int) -> QIcon:
    made = QIcon()
    states = (
        (palette.muted, QIcon.Mode.Normal, QIcon.State.Off),
        (palette.ink, QIcon.Mode.Active, QIcon.State.Off),
        (palette.accent, QIcon.Mode.Normal, QIcon.State.On),
        (palette.accent, QIcon.Mode.Active, QIcon.State.On),
        (mix_disabled(palette), QIcon.Mode.Disabled, QIcon.State.Off),
    )
    for colour, mode, state in states:
        for ratio in _SHARP:
            made.addPixmap(pixmap(name, colour, size_px, ratio), mode, state)
    return made


def pixmap(name: str, colour: str, size_px: int = 20, ratio: float = 1.0) -> QPixmap:
    """Return one drawing of an icon, ``size_px`` wide and high, for a screen of the given device pixel ratio."""
    made = QPixmap.fromImage(_image(name, colour, round(size_px * ratio)))
    made.setDevicePixelRatio(ratio)
    return made


@lru_cache(maxsize=1024)  # about 4 kB each; a theme change needs about 400, and drawing them took a tenth of its time
def _image(name: str, colour: str, side: int) -> QImage:
    """Return an icon drawn ``side`` pixels wide and high."""
    drawing = _renderer(name, colour)  # first, as an error during painting would crash the program
    made = QImage(QSize(side, side), QImage.Format.Format_ARGB32_Premultiplied)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    drawing.render(painter, QRectF(0, 0, side, side))
    painter.end()
    return made


def draw_icon(painter: QPainter, rect: QRectF, name: str, colour: str) -> None:
    """Draw an icon into a rectangle."""
    _renderer(name, colour).render(painter, rect)


def _renderer(name: str, colour: str) -> QSvgRenderer:
    return QSvgRenderer(QByteArray(_drawing(name).replace(b"currentColor", colour.encode())))


@lru_cache(maxsize=64)
def _drawing(name: str) -> bytes:
    return assets.read_bytes(f"icons/{name}.svg")
