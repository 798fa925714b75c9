"""Fonts at a zoom, created once each: creating a font takes longer than drawing a number with it."""

from functools import lru_cache

from PySide6.QtGui import QGuiApplication

from attnlab.figures.text import Face
from attnlab.ui.base.theme import font, scale


def face(role: str, zoom: float) -> Face:
    """Return the font of a role at a zoom that includes the size of type; callers must not change it."""
    return _make_face(
        role, zoom, QGuiApplication.font().pixelSize()
    )  # nothing else of the application's font ever changes


@lru_cache(maxsize=256)
def _make_face(role: str, zoom: float, application_px: int) -> Face:
    return Face(font(role, zoom / scale()))
