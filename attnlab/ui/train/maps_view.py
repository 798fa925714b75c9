"""The maps of all layers and heads, each in a card with its tokens: static parts are cached, cells are not."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_labels import LABEL_SPACING, draw_labels
from attnlab.figures.map_painter import draw_cells, draw_outlines
from attnlab.figures.scales import TO_ONE, find_scale, join_scales
from attnlab.figures.text import Pen
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.playground.shadow import draw_shadow
from attnlab.ui.train.layer_labels import (
    ARROW,
    SMALL_LABEL,
    find_group,
    list_labels,
    list_titles,
    measure_plain_shape,
    measure_shape,
    name_rows,
)
from attnlab.ui.train.map_cards import HEAD, PAD, Card, Shape, place_cards
from attnlab.ui.widgets.maps.map_widget import MapCell, PointedMaps, describe_cell
from attnlab.ui.widgets.maps.spoken_maps import join_cell, move_cell, name_cell, split_cell
from attnlab.ui.widgets.surface import draw_card

if TYPE_CHECKING:
    from attnlab.training.heads_off import Place
    from attnlab.training.look import LayerMaps


@guarded
class MapsView(PointedMaps):
    """Shows maps; ``map_opened`` carries the one to be shown large."""

    map_opened = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data: tuple[MapData, ...] = ()
        self._titles: tuple[str, ...] = ()
        self._spoken: tuple[tuple[str, ...], ...] = ()
        self._places: tuple[int, ...] = ()
        self._shapes: tuple[Shape, ...] = ()
        self._plain_shapes: tuple[Shape, ...] = ()
        self._plain = False
        self._layers: tuple[LayerMaps, ...] = ()
        self._cards: tuple[Card, ...] = ()
        self._focus = 0
        self._room = 0
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Attention maps")

    @property
    def data(self) -> tuple[MapData, ...]:
        """One map [1, rows, columns] for each card."""
        return self._data

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the cards."""
        return self._titles

    @property
    def cards(self) -> tuple[Card, ...]:
        """The layout of the cards."""
        return self._cards

    @property
    def room(self) -> int:
        """The height in pixels in which all maps can be seen at once; 0 before it is set."""
        return self._room

    def set_room(self, height: int) -> None:
        """Set the height in pixels in which all maps can be seen at once: if they fit, they fill it."""
        if height != self._room:
            self._room = height
            self._arrange()
            self.update()

    def restyle(self) -> None:
        self._measure()
        super().restyle()

    def _measure(self) -> None:
        alone = len(self._data) == 1
        self._plain_shapes = tuple(map(measure_plain_shape, self._layers))
        self._shapes = tuple(measure_shape(each, alone=alone) for each in self._layers)

    def show_maps(self, layers: Sequence["LayerMaps"], kind: str = "probability", group: str = "") -> None:
        """Show the maps of some layers, or only those of a group such as "cross", all on one scale.

        A card's layer counts all of them. Only new tokens or sizes change the layout.
        """
        scale = join_scales([find_scale(each.weights, kind, each.hidden) for each in layers] or [TO_ONE])
        self._places = tuple(place for place, each in enumerate(layers) if group in ("", find_group(each.layer)))
        layers = [layers[place] for place in self._places]
        self._data = tuple(
            MapData(each.weights[head : head + 1], kind, scale, each.hidden, *tokens, bold_rows=each.list_answers())
            for each, tokens in zip(layers, map(list_labels, layers), strict=True)
            for head in range(len(each.weights))
        )
        self._spoken = tuple(rows for each in layers for rows in [name_rows(each)] * len(each.weights))
        self._titles = list_titles(layers)
        before, self._layers, was_pointed = self._layers, tuple(layers), self._pointed is not None
        if list(map(_list_layout, before)) != list(map(_list_layout, layers)):
            self._measure()
            self._pointed, self._walked, self._focus = None, None, min(self._focus, max(len(self._data) - 1, 0))
            self._arrange()
        if was_pointed:
            self.cell_pointed.emit(self._pointed)
        self.setAccessibleDescription(f"{len(self._data)} maps; Enter opens one: {', '.join(self._titles)}")
        self.update()

    switch_requested = Signal(int)
    """A head is to be switched off or on again, only for looking, by the index of its map."""
    training_requested = Signal(int)
    """The run is to go on without a head, or with it again, by the index of its map."""

    def show_off(self, off: "frozenset[Place]", left_out: "frozenset[Place]") -> None:
        """Cross out the maps of heads that are off only for looking, and of those that the run leaves out."""
        self._off, self._left_out = off, left_out
        self.update()

    _off: "frozenset[Place]" = frozenset()
    _left_out: "frozenset[Place]" = frozenset()

    def is_off(self, index: int) -> bool:
        """Return whether the head of a map is off, only for looking or in the run."""
        return bool(self._off or self._left_out) and self.place_of(index) in self._off | self._left_out

    def is_left_out(self, index: int) -> bool:
        """Return whether the run leaves the head of a map out."""
        return bool(self._left_out) and self.place_of(index) in self._left_out

    describe: Callable[[int], str] = staticmethod(lambda _index: "")
    """Returns what the head of a map is worth, "" if that is unknown."""

    def shape(self) -> tuple[int, int, int]:
        """Return the number of maps, and the rows and columns of the largest: those of two layers may differ."""
        shapes = [each.values.shape[1:] for each in self._data]
        return len(shapes), max((rows for rows, _ in shapes), default=0), max((most for _, most in shapes), default=0)

    def count_cells(self) -> int:
        return sum(self._sizes())

    def _sizes(self) -> list[int]:
        return [int(each.values.size) for each in self._data]

    def _split(self, place: int) -> MapCell:
        for index, size in enumerate(self._sizes()):
            if place < size:
                return (index, *split_cell(self._data[index].values.shape, place)[1:])
            place -= size
        raise IndexError(place)

    def _join(self, cell: MapCell) -> int:
        index, row, column = cell
        return sum(self._sizes()[:index]) + join_cell(self._data[index].values.shape, (0, row, column))

    def name_cell(self, place: int) -> str:
        index, row, column = self._split(place)
        return name_cell(self.spell_out(index), (0, row, column), self._titles[index].replace(" · ", ", "))

    def locate_cell(self, place: int) -> QRectF:
        index, row, column = self._split(place)
        return QRectF(*self._cards[index].grid.rect(0, row, column)) if index < len(self._cards) else QRectF()

    def find_cell(self, at: QPointF) -> int | None:
        cell = self.cell_at(at)
        return self._join(cell) if cell is not None else None

    @property
    def current_cell(self) -> int | None:
        if self._walked is None or self._walked[0] >= len(self._data):
            return None
        index, row, column = self._walked
        rows, columns = self._data[index].values.shape[1:]
        return self._join(self._walked) if row < rows and column < columns else None

    def cell_text(self, cell: MapCell) -> str:
        """Return a cell's query and key tokens, and its exact number."""
        index, row, column = cell
        return describe_cell(self.spell_out(index), (0, row, column))

    def spell_out(self, index: int) -> MapData:
        """Return a map whose rows are named in words: "b (writes “a”)"."""
        return replace(self._data[index], row_labels=self._spoken[index])

    def cell_at(self, at: QPointF) -> MapCell | None:
        """Return the map, row and column at a point."""
        for index, card in enumerate(self._cards):
            if card.rect.contains(at.toPoint()):
                cell = card.grid.hit(at.x(), at.y())
                return (index, cell[1], cell[2]) if cell is not None else None
        return None

    def place_of(self, index: int) -> tuple[str, int]:
        """Return the layer and the head of a map, −1 for the mean of the heads."""
        for each in self._layers:
            if index < len(each.weights):
                return each.layer, -1 if each.averaged else index
            index -= len(each.weights)
        raise IndexError(index)

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point."""
        cell, card = self.cell_at(at), self._find_card(at)
        if card is None:
            return ""
        first = "Click to show this map large" if cell is None else f"{self._titles[card]}\n{self.cell_text(cell)}"
        worth = self.describe(card)
        looking = self.is_off(card) and not self.is_left_out(card)
        off = "Switched off, only for looking (Delete)" if looking else ""
        return "\n".join(filter(None, (first, worth, off)))

    def _find_card(self, at: QPointF) -> int | None:
        return next((i for i, card in enumerate(self._cards) if card.rect.contains(at.toPoint())), None)

    def _arrange(self) -> None:
        self._cards, _, self._plain = self._place_cards(self.width())
        shift = QPoint(_EDGE, _EDGE)
        self._cards = tuple(_move_card(self._name_card(card), shift) for card in self._cards)
        self.updateGeometry()
        super()._arrange()

    def _name_card(self, card: Card) -> Card:
        """Return a card with its layer among all, and head −1 if it shows the mean of the heads."""
        head = -1 if self._layers[card.layer].averaged else card.head
        return replace(card, layer=self._places[card.layer], head=head)

    def fits(self, height: int) -> bool:
        """Return whether all maps can be seen at once in a height in pixels, with short labels if need be."""
        room = height - 2 * _EDGE
        return place_cards(self._plain_shapes, self.width() - 2 * _EDGE, room)[1] <= room

    def _place_cards(self, width: int) -> tuple[tuple[Card, ...], int, bool]:
        """Return the cards, their height, and whether rows are labelled only with the token read.

        They are, if only so all maps can be seen at once.
        """
        room = self._room - 2 * _EDGE
        cards, height = place_cards(self._shapes, width - 2 * _EDGE, room)
        if height > room:
            plain, low = place_cards(self._plain_shapes, width - 2 * _EDGE, room)
            if low <= room:
                return plain, low, True
        return cards, height, False

    def _draw_picture(self) -> QPixmap:
        """Return the picture of background, cards, titles and tokens."""
        p, picture = self._palette, self._make_picture(self._palette.ground)
        painter = QPainter(picture)
        for card, data, title in zip(self._cards, self._data, self._titles, strict=True):
            draw_shadow(painter, card.rect)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_card(painter, QRectF(card.rect), p)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.attention))
            middle, side = card.rect.y() + px(HEAD) / 2 + 1, px(8)
            painter.drawRoundedRect(QRectF(card.rect.x() + px(PAD), middle - side / 2, side, side), 2, 2)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setPen(QColor(p.ink))
            pen, left = Pen(painter, font("caption_strong")), card.rect.x() + px(PAD) + px(14)
            room = card.rect.right() - left - px(6)
            short = title if pen.width(title) <= room else title.replace("head ", "")  # the number is enough
            pen.draw(left, middle, pen.elide(short, room))
            roomy = font("tiny").pixelSize() * LABEL_SPACING <= card.grid.cell_height
            if self._plain:
                data = replace(data, row_labels=[label.split(ARROW)[0] or label for label in data.row_labels])
            draw_labels(painter, card.grid, data, p, font("tiny", 1.0 if roomy else SMALL_LABEL), (None, None))
        painter.end()
        return picture

    def _open(self, index: int) -> None:
        if index < len(self._data):
            self._focus = index
            self.map_opened.emit(index)

    def sizeHint(self) -> QSize:
        return QSize(px(560), self.heightForWidth(px(560)))

    def heightForWidth(self, width: int) -> int:
        """Return the height of all cards in a width.

        Set as a fixed height when resized, it would make a scroll bar appear and disappear for ever: beside the bar
        the maps are smaller and need none. Scroll areas allow for this height.
        """
        return self._place_cards(width)[1] + 2 * _EDGE

    def keyPressEvent(self, event: QKeyEvent) -> None:
        heads = max((shape.heads for shape in self._shapes), default=1)
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -heads, Qt.Key.Key_Down: heads}
        way = ways.get(Qt.Key(event.key()))
        if (cell := self._find_next(event)) is not None:
            self._focus = cell[0]
            self.walk_to(cell)
        elif not self._ringed:  # the keys belong to the time line until Tab moves focus here
            super().keyPressEvent(event)
        elif way is not None:
            self._walked = None
            self._point_at(None)
            self._focus = min(max(self._focus + way, 0), max(len(self._data) - 1, 0))
            self.update()
            announce(self._titles[self._focus] if self._titles else "", self)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self._focus)
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self._data:
            self.switch_requested.emit(self._focus)
        else:
            super().keyPressEvent(event)

    def add_actions(self, menu: QMenu, index: int) -> None:
        """Add to the menu of a map what can be done with its head; nothing for the mean of the heads."""
        if self.place_of(index)[1] < 0:
            return
        left_out = self.is_left_out(index)
        if not left_out:
            text = "Switch this head on again" if self.is_off(index) else "Switch this head off, only for looking"
            menu.addAction(text, partial(self.switch_requested.emit, index))
        text = "Train on with this head" if left_out else "Train on without this head"
        menu.addAction(text, partial(self.training_requested.emit, index))

    def _find_next(self, event: QKeyEvent) -> MapCell | None:
        """Return the cell to which a key leads, which begins in the map with the ring."""
        start = self._walked if self.current_cell is not None else None
        found = move_cell(event, start, self.shape(), plain=False)
        if found is None or start is None:
            return (self._focus, 0, 0) if found is not None else None
        rows, columns = self._data[found[0]].values.shape[1:]
        return found[0], min(found[1], rows - 1), min(found[2], columns - 1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self._find_card(event.position())
        if index is not None and event.button() == Qt.MouseButton.LeftButton:
            self._open(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._still is None:
            self._still = self._draw_picture()
        painter = QPainter(self)
        seen: QRect = event.rect()
        ratio = self.devicePixelRatioF()
        painter.drawPixmap(QRectF(seen), self._still, QRectF(QPointF(seen.topLeft()) * ratio, seen.size() * ratio))
        for index, (card, data) in enumerate(zip(self._cards, self._data, strict=True)):
            if card.rect.intersects(seen):
                draw_cells(painter, card.grid, data, self._palette)
                if self.is_off(index):
                    _cross_out(painter, card, self._palette.bad)
        if self._pointed is not None:
            index, row, column = self._pointed
            draw_outlines(painter, self._cards[index].grid, [Outline(None, row, column, self._palette.ink, 1.5)])
        if self.hasFocus() and self._ringed and self._focus < len(self._cards):
            draw_focus_ring(painter, QRectF(self._cards[self._focus].rect), self._palette, 12)
        painter.end()


_EDGE = 4
"""Pixels around all cards for their shadows."""


def _cross_out(painter: QPainter, card: Card, colour: str) -> None:
    grid = card.grid
    box = QRectF(grid.x, grid.y, grid.cell_width * grid.columns, grid.cell_height * grid.rows)
    painter.setPen(QPen(QColor(colour), 2))
    painter.drawLine(box.topLeft(), box.bottomRight())
    painter.drawLine(box.topRight(), box.bottomLeft())


def _move_card(card: Card, shift: QPoint) -> Card:
    grid = replace(card.grid, x=card.grid.x + shift.x(), y=card.grid.y + shift.y())
    return Card(card.layer, card.head, card.rect.translated(shift), grid)


def _list_layout(layer: "LayerMaps") -> tuple[object, ...]:
    """Return what the cards of a layer are laid out by: other numbers alone move nothing."""
    return layer.layer, layer.weights.shape, layer.query_tokens, layer.key_tokens, layer.list_answers(), layer.writes
