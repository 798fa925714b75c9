"""The preset gallery: every worked example with a picture of its weights, by group, and a search field."""

import re
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QIcon, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from attnlab.attention.examples.presets import PRESETS
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.gallery_tiles import NAME, Thumbnail, TileDelegate, draw_thumbnail, thumbnail
from attnlab.ui.widgets.popup import Popup

__all__ = ["PresetGallery", "Thumbnail", "draw_thumbnail", "thumbnail"]

Key = Qt.Key
SIZE = QSize(944, 640)
_ENTER = (Key.Key_Return, Key.Key_Enter)
_DOWN, _UP = (Key.Key_Down, Key.Key_PageDown), (Key.Key_Up, Key.Key_PageUp)
_ASIDE = (Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_End)


@guarded
class PresetGallery(FollowsTheme, Popup):
    """A popup with all presets below the headings of their groups; pictures are requested when they become visible.

    The presets are listed when the popup is first shown. Typing filters by name, title and description; the arrows
    move over the tiles, Enter opens the marked one.
    """

    preset_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thumbnails: dict[str, Thumbnail] = {}
        self._icons: dict[str, QIcon] = {}
        self._asked: set[str] = set()
        self._request: Callable[[str], None] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        self.field = self._make_field()
        self.list = self._make_list()
        self.nothing = QLabel("No example has this in its name, title or description.")
        self.nothing.setProperty("role", "muted")
        self.nothing.setContentsMargins(12, 8, 12, 8)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.field)
        for part in (self.nothing, self.list):
            column.addWidget(part, 1)

    def _make_field(self) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText("Search the examples")
        field.setAccessibleName("Search the presets")
        field.setToolTip("Shows the examples with every word in their name, title or description")
        field.textChanged.connect(self._on_text_changed)
        field.installEventFilter(self)
        return field

    def _make_list(self) -> QListWidget:
        tiles = QListWidget()
        tiles.setAccessibleName("Presets")
        tiles.setViewMode(QListWidget.ViewMode.IconMode)
        tiles.setMovement(QListWidget.Movement.Static)
        tiles.setResizeMode(QListWidget.ResizeMode.Adjust)
        tiles.setMouseTracking(True)
        tiles.setFrameShape(QFrame.Shape.NoFrame)
        tiles.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tiles.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        tiles.itemClicked.connect(self._on_item_clicked)
        tiles.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        tiles.setItemDelegate(TileDelegate(tiles))
        tiles.installEventFilter(self)
        return tiles

    def restyle(self) -> None:
        """Draw the pictures in the present colours, and measure the tiles again."""
        self._icons.clear()
        if self.list.count():
            self._list_found()

    @Slot(object, object)
    def on_thumbnail(self, name: str, data: Thumbnail) -> None:
        """Show a preset's picture."""
        self._thumbnails[name] = data
        for item in self.tiles():
            if item.data(NAME) == name:
                self._draw(item)

    def missing(self) -> list[str]:
        """Return the names of the visible presets whose picture has not arrived yet."""
        seen = self.list.viewport().rect()
        in_sight = (item.data(NAME) for item in self.tiles() if self.list.visualItemRect(item).intersects(seen))
        return [name for name in in_sight if name not in self._thumbnails]

    def tiles(self) -> list[QListWidgetItem]:
        """Return the listed presets in order, without the headings."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [item for item in items if item.data(NAME) is not None]

    def popup(self, at: QPoint, current: str, request: Callable[[str], None]) -> None:
        """Show the gallery with the current preset marked; ``request`` is called for each picture coming in view."""
        self._request = request
        self.field.clear()
        if not self.list.count():
            self._list_found()
        self._place(at)
        self.show()
        self.field.setFocus()
        for item in self.tiles():
            if item.data(NAME) == current:
                self.list.setCurrentItem(item)
                self.list.scrollToItem(item)
        self._ask()

    def _place(self, at: QPoint) -> None:
        """Move to a point, or as near as the screen's edges allow; no larger than the screen."""
        screen = QGuiApplication.screenAt(at) or self.screen()
        room = screen.availableGeometry().adjusted(8, 8, -8, -8)
        width, height = min(px(SIZE.width()), room.width()), min(px(SIZE.height()), room.height())
        height = max(min(height, room.bottom() - at.y()), min(height, px(360)))
        self.resize(width, height)
        self.move(min(at.x(), room.right() - width), min(at.y(), room.bottom() - height))

    def _list_found(self) -> None:
        """List the presets that match the field, each group below its heading; the best match is marked."""
        words = self.field.text().casefold().split()
        self.list.clear()
        heading = None
        for preset in PRESETS.values():
            said = f"{preset.name} {preset.title} {preset.about}".casefold()
            if not all(word in said for word in words):
                continue
            if preset.group != heading:
                self._add_heading(preset.group)
                heading = preset.group
            self._add_tile(preset.name, preset.title, preset.about)
        self.nothing.setVisible(not self.list.count())
        self.list.setVisible(bool(self.list.count()))
        if tiles := self.tiles():
            best = min(tiles, key=lambda item: _rank(item, self.field.text()))
            self.list.setCurrentItem(best)
            self.list.scrollToItem(self.list.item(0) if best is tiles[0] else best)
        self._ask()

    def _add_heading(self, group: str) -> None:
        item = QListWidgetItem(group)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def _add_tile(self, name: str, title: str, about: str) -> None:
        item = QListWidgetItem(title)
        item.setData(NAME, name)
        item.setToolTip(about)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{title}: {about}")
        self.list.addItem(item)
        self._draw(item)

    def _draw(self, item: QListWidgetItem) -> None:
        name = item.data(NAME)
        data = self._thumbnails.get(name)
        if data is None:
            return
        if name not in self._icons:
            self._icons[name] = QIcon(draw_thumbnail(data, palette_of(self), self.devicePixelRatioF()))
        item.setIcon(self._icons[name])

    def _ask(self) -> None:
        """Request the visible pictures, each once."""
        if self._request is None or not self.isVisible():
            return
        for name in self.missing():
            if name not in self._asked:
                self._asked.add(name)
                self._request(name)

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(NAME) is not None:
            self.hide()
            self.preset_chosen.emit(item.data(NAME))

    def _walk(self, key: int) -> bool:
        """Move the mark: sideways in order, up and down to the nearest tile; False if there is none further."""
        tiles, current = self.tiles(), self.list.currentItem()
        if current not in tiles:
            return False
        at = tiles.index(current)
        match key:
            case Key.Key_Left | Key.Key_Right:
                to = at + (1 if key == Key.Key_Right else -1)
            case Key.Key_Home | Key.Key_End:
                to = 0 if key == Key.Key_Home else len(tiles) - 1
            case _:
                to = self._in_column(tiles, at, key)
        if to == at or not 0 <= to < len(tiles):
            return False
        self.list.setCurrentItem(tiles[to])
        self.list.scrollToItem(self.list.item(0) if to == 0 else tiles[to])  # scroll to the heading with the first tile
        return True

    def _in_column(self, tiles: list[QListWidgetItem], at: int, key: int) -> int:
        """Return the index of the tile one row, or with Page Up and Down one page, from the tile at an index."""
        rects = [self.list.visualItemRect(item) for item in tiles]
        by = 1 if key in (Key.Key_Up, Key.Key_Down) else self.list.viewport().height() - rects[at].height()
        way = 1 if key in (Key.Key_Down, Key.Key_PageDown) else -1
        ahead = {i: way * (rect.y() - rects[at].y()) for i, rect in enumerate(rects)}
        ahead = {i: far for i, far in ahead.items() if far > 0}
        if not ahead:
            return at
        row = min((far for far in ahead.values() if far >= by), default=max(ahead.values()))
        return min((i for i in ahead if ahead[i] == row), key=lambda i: abs(rects[i].x() - rects[at].x()))

    def _field_key(self, event: QKeyEvent) -> bool:
        if event.key() not in (_DOWN if self.field.text() else _DOWN + _ASIDE):
            return False
        self.list.setFocus()
        self._walk(event.key())
        return True

    def _list_key(self, event: QKeyEvent) -> bool:
        if event.key() in _DOWN + _UP + _ASIDE:
            if not self._walk(event.key()) and event.key() in _UP:
                self.field.setFocus()
            return True
        if event.key() == Key.Key_Backspace or (event.text().isprintable() and event.text()):
            self.field.setFocus()
            QApplication.sendEvent(self.field, event)
            return True
        return False

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        self._list_found()

    @Slot(int)
    def _on_scrolled(self, value: int) -> None:
        self._ask()

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self._choose(item)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Send the field's arrows to the tiles, and text typed over the tiles to the field."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _ENTER:
                self._choose(self.list.currentItem())
                return True
            return self._field_key(event) if watched is self.field else self._list_key(event)
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ask()


def _rank(item: QListWidgetItem, typed: str) -> tuple[bool, bool, bool]:
    """Return how well a tile matches what is typed, the least for the best: "eight" is not meant to find "weight"."""
    name, title, typed = item.data(NAME).casefold(), item.text().casefold(), typed.casefold().strip()
    words = [rf"\b{re.escape(word)}" for word in typed.split()]
    texts = title, f"{name} {title} {item.toolTip().casefold()}"
    begun = [all(re.search(word, text) for word in words) for text in texts]
    return not any(each.startswith(typed) for each in (name, title)), not begun[0], not begun[1]
