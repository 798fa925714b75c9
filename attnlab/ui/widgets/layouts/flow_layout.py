"""A layout that puts its items in rows, left to right, and starts a new row when one is full."""

from collections.abc import Iterable

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayoutItem, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.layouts.items_layout import ItemsLayout

MOST_WIDTHS = 16
"""The most widths for which a layout keeps its places."""


def flow(sizes: Iterable[tuple[int, int]], width: int, gap: int) -> list[QRect]:
    """Return the rectangles of boxes of these sizes in rows of a width, centred vertically in their row.

    A box wider than a row is cut to it.
    """
    places: list[QRect] = []
    row: list[QRect] = []
    x = y = tall = 0
    for wide, high in sizes:
        wide = min(wide, max(width, 1))
        if row and x + wide > width:
            places += _centre_row(row, tall)
            row, x, y, tall = [], 0, y + tall + gap, 0
        row.append(QRect(x, y, wide, high))
        x, tall = x + wide + gap, max(tall, high)
    return places + _centre_row(row, tall)


def _centre_row(row: list[QRect], tall: int) -> list[QRect]:
    return [place.translated(0, (tall - place.height()) // 2) for place in row]


def _find_least_width(item: QLayoutItem) -> int:
    """Return the least width of an item in pixels; the item of a widget of fixed size would tell the preferred one."""
    widget = item.widget()
    return (widget.minimumSizeHint() if widget is not None else item.minimumSize()).width()


@guarded
class FlowLayout(ItemsLayout):
    """Rows of widgets, each in its preferred size, ``gap`` pixels apart both ways.

    With ``shrinks`` they have their least widths where those fit in fewer rows than the preferred ones.
    """

    def __init__(self, parent: QWidget | None = None, gap: int = 8, *, shrinks: bool = False) -> None:
        super().__init__(parent, QMargins(), gap)
        self._shrinks = shrinks
        self._known: dict[int, list[tuple[QLayoutItem, QRect]]] = {}

    def invalidate(self) -> None:
        self._known = {}
        super().invalidate()

    def _places(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        """Return the items and their rectangles in a width, cached, as Qt asks for the same heights again and again."""
        if width not in self._known:
            if len(self._known) >= MOST_WIDTHS:
                self._known.clear()
            self._known[width] = self._flow(width)
        return self._known[width]

    def _list_shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _flow(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        return self._flow_items(self._list_shown(), width)

    def _flow_items(self, shown: list[QLayoutItem], width: int) -> list[tuple[QLayoutItem, QRect]]:
        inside = width - self.contentsMargins().left() - self.contentsMargins().right()
        sizes = [item.sizeHint().toTuple() for item in shown]
        if self._shrinks and self._measure_row(sizes) > inside:
            least = [(_find_least_width(item), high) for item, (_, high) in zip(shown, sizes, strict=True)]
            sizes = least if self._count_rows(least, inside) < self._count_rows(sizes, inside) else sizes
        for i, item in enumerate(shown):
            if sizes[i][0] > inside and item.hasHeightForWidth():  # it wraps into rows of its own
                sizes[i] = inside, item.heightForWidth(inside)
        return list(zip(shown, flow(sizes, inside, self._gap), strict=True))

    def _count_rows(self, sizes: list[tuple[int, int]], width: int) -> int:
        return sum(place.x() == 0 for place in flow(sizes, width, self._gap))

    def _measure_row(self, sizes: list[tuple[int, int]]) -> int:
        return sum(wide for wide, _ in sizes) + self._gap * max(len(sizes) - 1, 0)

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        lowest = max((place.y() + place.height() for _, place in self._places(width)), default=0)
        return lowest + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        margins = self.contentsMargins()
        items = [item.sizeHint() for item in self._list_shown()]
        wide = sum(size.width() for size in items) + self._gap * max(len(items) - 1, 0)
        tall = max((size.height() for size in items), default=0)
        return QSize(wide + margins.left() + margins.right(), tall + margins.top() + margins.bottom())

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        items = [item.minimumSize() for item in self._list_shown()]
        wide = max((size.width() for size in items), default=0)
        tall = max((size.height() for size in items), default=0)
        return QSize(wide + margins.left() + margins.right(), tall + margins.top() + margins.bottom())

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        corner = rect.topLeft() + QPoint(self.contentsMargins().left(), self.contentsMargins().top())
        for item, place in self._places(rect.width()):
            item.setGeometry(place.translated(corner))
