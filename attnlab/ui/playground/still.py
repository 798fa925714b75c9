"""What on a card stays as it is while its numbers change: kept as a picture, so that an edit repaints numbers only."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from attnlab.ui.theme import font, scale

LARGEST_PX = 4_000_000
"""Pictures of more pixels are not kept but drawn each time: of a card zoomed far in, most cannot be seen."""


class Still:
    """Keeps what was drawn until what it depends on changes."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._picture = QPixmap()

    def draw(
        self, painter: QPainter, widget: QWidget, depends_on: tuple[object, ...], draw: Callable[[QPainter], None]
    ) -> None:
        """Let ``draw`` paint over all of a widget, or paint again what it drew when all of this was the same."""
        ratio = widget.devicePixelRatioF()
        size = widget.size() * ratio
        if size.width() * size.height() > LARGEST_PX:
            draw(painter)
            return
        key = (widget.width(), widget.height(), ratio, *depends_on)
        if key != self._key:
            self._picture = QPixmap(size)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            own = QPainter(self._picture)
            draw(own)
            own.end()
            self._key = key
        painter.drawPixmap(0, 0, self._picture)


def face(role: str, zoom: float) -> QFont:
    """Return a font at a zoom that already holds the program's size of type."""
    return font(role, zoom / scale())
