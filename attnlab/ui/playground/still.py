"""What on a card stays as it is while its numbers change: kept as a picture, so that an edit repaints numbers only."""

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFont, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from attnlab.ui.theme import font, scale

LARGEST_PX = 4_000_000
"""Pictures of more pixels are not kept but drawn each time: of a card zoomed far in, most cannot be seen."""
MOST = 3


class Still:
    """Keeps what was drawn over a widget until what it depends on changes."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._ground: Callable[[], QPixmap] | None = None
        self._kept: dict[tuple[object, ...], QPixmap] = {}

    def lie_on(self, ground: Callable[[], QPixmap]) -> None:
        """Let the widget paint the ground in its round corners itself, so that nothing under it need be painted."""
        self._ground = ground
        self._widget.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def draw(self, painter: QPainter, depends_on: tuple[object, ...], draw: Callable[[QPainter], None]) -> None:
        """Let ``draw`` paint over all of the widget, or paint again what it drew when all of this was the same."""
        ratio, place = self._widget.devicePixelRatioF(), self._widget.geometry()
        size = place.size() * ratio
        ground = self._ground() if self._ground is not None else None
        if size.width() * size.height() > LARGEST_PX:
            self._draw(painter, ground, draw)
            return
        key = (place, ratio, *depends_on)  # of the ground nothing is seen but its own shadow, which moves with it
        picture = self._kept.pop(key, None)
        if picture is None:
            picture = QPixmap(size)
            picture.setDevicePixelRatio(ratio)
            if ground is None:  # which would cover all of it
                picture.fill(Qt.GlobalColor.transparent)
            own = QPainter(picture)
            self._draw(own, ground, draw)
            own.end()
        self._keep(key, picture)
        painter.drawPixmap(0, 0, picture)

    def _keep(self, key: tuple[object, ...], picture: QPixmap) -> None:
        """Keep the newest pictures: a switch that is flipped back finds the one it had before."""
        self._kept[key] = picture
        while len(self._kept) > MOST or sum(p.width() * p.height() for p in self._kept.values()) > LARGEST_PX:
            del self._kept[next(iter(self._kept))]

    def _draw(self, painter: QPainter, ground: QPixmap | None, draw: Callable[[QPainter], None]) -> None:
        if ground is not None:
            ratio, place = ground.devicePixelRatio(), self._widget.geometry()
            source = QRect(place.topLeft() * ratio, place.size() * ratio)
            painter.drawPixmap(QRectF(self._widget.rect()), ground, QRectF(source))
        draw(painter)


@lru_cache(maxsize=256)
def _made(role: str, zoom: float, application_px: int) -> QFont:
    return font(role, zoom / scale())


def face(role: str, zoom: float) -> QFont:
    """Return a font at a zoom that already holds the program's size of type; to be read, not changed."""
    return _made(role, zoom, QGuiApplication.font().pixelSize())  # nothing else of the application's font ever changes
