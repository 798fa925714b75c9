"""Sentences that name files, shortened so that their ends stay: the reason of an error comes last."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

LEAST = 16
"""A path is not shortened below the width of so many characters."""


def shorten_paths(text: str, metrics: QFontMetrics, room: float) -> str:
    """Return a text with the middle of its paths cut, the longest first, until it fits into ``room`` in pixels."""
    paths = [word for word in text.split(" ") if "/" in word or "\\" in word]
    for path in sorted(paths, key=len, reverse=True):
        over = metrics.horizontalAdvance(text) - room
        if over <= 0:
            break
        width = max(metrics.horizontalAdvance(path) - over, LEAST * metrics.averageCharWidth())
        text = text.replace(path, metrics.elidedText(path, Qt.TextElideMode.ElideMiddle, int(width)), 1)
    return text
