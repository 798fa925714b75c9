"""The command palette: type a few letters of an action and run it."""

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QCursor, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QVBoxLayout, QWidget
from shiboken6 import isValid

from attnlab.ui.app.command_list import CommandDelegate, CommandModel, Found, search
from attnlab.ui.base.actions import ActionList
from attnlab.ui.base.announcing import announce
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import palette_of

_ROWS = 10
_SHADOW = 16  # width of the soft shadow, in pixels
_MOVES = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS, Qt.Key.Key_PageUp: -_ROWS}


@guarded
class CommandPalette(QWidget):
    """Covers the top of its window while open; ``open`` shows it; a choice, Esc or a click elsewhere closes it."""

    def __init__(self, actions: ActionList, window: QWidget) -> None:
        super().__init__(window)
        self._actions = actions
        self._came_from: QWidget | None = None
        self._mouse = QPoint()  # its last position on the screen
        self.setAccessibleName("Command palette")
        self._field = QLineEdit(self)
        self._field.setPlaceholderText("What do you want to do?")
        self._field.setAccessibleName("Search the commands")
        self._field.textChanged.connect(self._on_text_changed)
        self._field.installEventFilter(self)
        self._model = CommandModel(self)
        self._list = QListView(self)
        self._list.setAccessibleName("Commands")
        self._list.setModel(self._model)
        self._list.setItemDelegate(CommandDelegate(self._model, self))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setUniformItemSizes(True)
        self._list.setMouseTracking(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.clicked.connect(self._on_clicked)
        self._nothing = QLabel("No command matches. Esc closes.", self)
        self._nothing.setProperty("role", "muted")
        self._nothing.setContentsMargins(8, 4, 8, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(_SHADOW + 8, _SHADOW + 8, _SHADOW + 8, _SHADOW + 8)
        column.setSpacing(8)
        for part in (self._field, self._list, self._nothing):
            column.addWidget(part)
        self.hide()

    def open(self, query: str = "") -> None:
        """Show the palette with a query already typed; if it is open, close it."""
        if self.isVisible():
            self.close_palette()
            return
        self._came_from = QApplication.focusWidget()
        self._mouse = QCursor.pos()
        self._field.setText(query)
        self._on_text_changed(query)
        self._place()
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)
        self._tell()
        app = QApplication.instance()
        if app is not None:
            app.installEventFilter(self)

    def close_palette(self) -> None:
        """Close the palette without running anything, and return the focus to where it was."""
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        if self.isVisible():
            self.hide()
            came_from, self._came_from = self._came_from, None
            if came_from is not None and isValid(came_from) and came_from.isVisible():  # it may have been deleted
                came_from.setFocus(Qt.FocusReason.PopupFocusReason)
        self._came_from = None

    def list_found(self) -> list[Found]:
        """Return the actions in the list, in order."""
        return list(self._model.found)

    def current(self) -> str | None:
        """Return the id of the line that Enter would choose."""
        index = self._list.currentIndex()
        return self._model.found[index.row()].id if index.isValid() else None

    def _place(self) -> None:
        window = self.window()
        width = min(px(560), window.width() - 16) + 2 * _SHADOW
        room = window.height() - px(64)
        rows = max(1, min(_ROWS, len(self._model.found), (room - px(80)) // px(32)))
        self._list.setFixedHeight(rows * px(32) + 2)
        self._list.setVisible(bool(self._model.found))
        self._nothing.setVisible(not self._model.found)
        self.setGeometry((window.width() - width) // 2, px(56) - _SHADOW, width, self.sizeHint().height())

    def _move(self, step: int) -> None:
        """Select the next enabled line; several steps stop at the ends, a single step past an end wraps round."""
        usable = [row for row, found in enumerate(self._model.found) if found.enabled]
        if not usable:
            return
        row = self._list.currentIndex().row()
        at = usable.index(row) if row in usable else -1
        to = (at + step) % len(usable) if abs(step) == 1 else min(max(at + step, 0), len(usable) - 1)
        self._select(usable[to])

    def _select(self, row: int) -> None:
        self._list.setCurrentIndex(self._model.index(row))

    def _choose(self, row: int) -> None:
        found = self._model.found[row]
        if found.enabled:
            self.close_palette()
            self._actions.run(found.id, found.part)

    def _on_text_changed(self, query: str) -> None:
        self._model.show(search(self._actions, query))
        self._move(1)
        if self.isVisible():
            self._place()
            self._tell()

    def _tell(self) -> None:
        """Announce the line that Enter would choose, and how many there are: the focus stays in the field."""
        chosen, count = self._list.currentIndex(), len(self._model.found)
        index = chosen if chosen.isValid() else self._model.index(0)
        line = index.data(Qt.ItemDataRole.AccessibleTextRole)
        announce(f"{line}, {index.row() + 1} of {count}" if count else self._nothing.text(), self)

    def _on_mouse_moved(self, event: QMouseEvent) -> None:
        """Select the line under the mouse, but only if the mouse moved, not if the list scrolled beneath it."""
        there = event.globalPosition().toPoint()
        index = self._list.indexAt(event.position().toPoint())
        if there != self._mouse and index.isValid() and self._model.found[index.row()].enabled:
            self._list.setCurrentIndex(index)
        self._mouse = there

    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())

    def _on_key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in _MOVES:
            self._move(_MOVES[key])
            self._tell()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._list.currentIndex().isValid():
                self._choose(self._list.currentIndex().row())
        elif key == Qt.Key.Key_Escape:
            self.close_palette()
        else:
            return key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._field and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.KeyPress:
                return self._on_key(event)
            if event.type() == QEvent.Type.ShortcutOverride and event.key() == Qt.Key.Key_Escape:
                event.accept()  # otherwise a shortcut of the window would take it
        if watched is self._list.viewport() and isinstance(event, QMouseEvent):
            if event.type() == QEvent.Type.MouseMove:
                self._on_mouse_moved(event)
            return False
        if watched is self.window() and event.type() == QEvent.Type.Resize:
            self._place()
        pressed = event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget)
        if pressed and watched is not self and not self.isAncestorOf(watched):  # type: ignore[arg-type]
            self.close_palette()
        return False

    def hideEvent(self, event: QHideEvent) -> None:
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = palette_of(self), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(self.rect()).adjusted(_SHADOW, _SHADOW, -_SHADOW, -_SHADOW)
        for ring in range(_SHADOW, 0, -2):
            painter.setBrush(QColor(0, 0, 0, 5))
            painter.drawRoundedRect(box.adjusted(-ring, -ring + 4, ring, min(ring + 4, _SHADOW)), 12 + ring, 12 + ring)
        painter.setPen(QPen(QColor(palette.hatch), 1))
        painter.setBrush(QColor(palette.surface))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 12, 12)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        box = self.rect().adjusted(_SHADOW, _SHADOW, -_SHADOW, -_SHADOW)
        if not box.contains(event.position().toPoint()):  # the shadow counts as outside
            self.close_palette()
