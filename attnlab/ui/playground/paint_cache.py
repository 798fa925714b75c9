"""Cache of a card's static parts as pictures, so that an edit repaints only the numbers."""

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

LARGEST_PX = 4_000_000
"""Larger pictures, in pixels, are drawn each time and not cached: most of a card zoomed far in is not visible."""
MOST = 3
ROUND = 12
"""Height of the two ends of a widget that contain its round corners."""


class Kept:
    """Cache of the last few pictures of one thing, by the values they depend on."""

    def __init__(self) -> None:
        self._pictures: dict[tuple[object, ...], QPixmap] = {}

    def picture(
        self,
        key: tuple[object, ...],
        size: QSize,
        ratio: float,
        draw: Callable[[QPainter], None],
        ground: QColor | None,
    ) -> QPixmap:
        """Return the picture of a key, which includes its size. If not cached, draw it over ``ground`` (None: over
        nothing, as ``draw`` covers everything); ``size`` is in logical pixels."""
        picture = self._pictures.pop(key, None)
        if picture is None:
            picture = QPixmap(size * ratio)
            picture.setDevicePixelRatio(ratio)
            if ground is not None:
                picture.fill(ground)
            own = QPainter(picture)
            draw(own)
            own.end()
        self._pictures[key] = picture
        while len(self._pictures) > MOST or sum(p.width() * p.height() for p in self._pictures.values()) > LARGEST_PX:
            del self._pictures[next(iter(self._pictures))]
        return picture

    def has(self, key: tuple[object, ...]) -> bool:
        """Whether the picture of a key is cached."""
        return key in self._pictures

    def forget(self) -> None:
        """Keep only the newest picture."""
        for key in list(self._pictures)[:-1]:
            del self._pictures[key]


class Still:
    """Cache of the drawing of a whole widget until its key changes; a switch flipped back finds the old picture."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._ground: Callable[[], QPixmap] | None = None
        self._kept = Kept()
        self._drawn: deque[tuple[object, ...]] = deque(maxlen=MOST)

    def lie_on(self, ground: Callable[[], QPixmap]) -> None:
        """Let the widget paint the ground in its round corners itself, so that nothing below it need be painted."""
        self._ground = ground
        self._widget.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def forget(self) -> None:
        """Keep only the last drawing."""
        self._kept.forget()
        while len(self._drawn) > 1:
            self._drawn.popleft()

    def draw(self, painter: QPainter, depends_on: tuple[object, ...], draw: Callable[[QPainter], None]) -> None:
        """Let ``draw`` paint over the whole widget, or paint the cached result for the same ``depends_on``.

        The result is cached from the second time on: caching costs time on the first, when a switch moves all cards.
        """
        ratio, place = self._widget.devicePixelRatioF(), self._widget.geometry()
        ground = self._ground() if self._ground is not None else None

        def whole(own: QPainter) -> None:
            if ground is not None:
                _draw_ends(own, ground, place)
            draw(own)

        # Of the ground, only the widget's own shadow is visible, and it moves with it; beyond its edge it is empty.
        on_ground = ground is None or QRect(QPoint(), ground.deviceIndependentSize().toSize()).contains(place)
        where = place.size().toTuple() if ratio.is_integer() and on_ground else place.getRect()
        key = (where, ratio, *depends_on)
        too_large = place.width() * place.height() * ratio**2 > LARGEST_PX
        if too_large or not (key in self._drawn or self._kept.has(key)):
            self._drawn.append(key)
            painter.save()
            whole(painter)
            painter.restore()
            return
        clear = QColor(Qt.GlobalColor.transparent) if ground is None else None
        painter.drawPixmap(0, 0, self._kept.picture(key, place.size(), ratio, whole, clear))


def _draw_ends(painter: QPainter, ground: QPixmap, place: QRect) -> None:
    """Draw the part of a ground visible at a place: its corners; all of it where edges may lie within a pixel."""
    ratio = ground.devicePixelRatio()
    whole = place.translated(-place.topLeft())
    below = whole.adjusted(0, max(place.height() - ROUND, 0), 0, 0)
    for part in (whole.adjusted(0, 0, 0, ROUND - place.height()), below) if ratio.is_integer() else (whole,):
        source = QRect((part.topLeft() + place.topLeft()) * ratio, part.size() * ratio)
        painter.drawPixmap(QRectF(part), ground, QRectF(source))
