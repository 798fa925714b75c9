"""The tokens as a strip of chips: emits requests to select, rename, move, duplicate, remove, add or mask."""

from html import escape

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QToolTip, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.drawn_list import DrawnList
from attnlab.ui.widgets.tokens.token_chips import PLUS, ChipLook, Chips, ChipTexts, draw_chip, eye_rect, visible
from attnlab.ui.widgets.tokens.token_editor import TokenEditor
from attnlab.ui.widgets.tokens.token_keys import MASK, UNMASK, command_for, context_menu

MOST_ROWS = 4
SAID = "masked: no query may attend to it"


@guarded
class TokenStrip(DrawnList):
    """Shows tokens and emits the changes that the user wants; the owner answers with ``set_tokens``.

    ``token_moved`` carries the old index and the index after the move.
    """

    token_renamed = Signal(int, str)
    token_removed = Signal(int)
    token_moved = Signal(int, int)
    token_duplicated = Signal(int)
    token_added = Signal()
    token_clicked = Signal(int)
    token_masked = Signal(int)
    """Emitted with a token that the user wants to mask, so that no query may attend to it, or to unmask."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Tokens", parent)
        self._tokens: tuple[str, ...] = ()
        self._query: int | None = None
        self._key: int | None = None
        self._masked: frozenset[int] | None = frozenset()
        self._texts = ChipTexts()
        self._chips = Chips.lay_out((), self._texts, 100)
        self._current = 0
        self._pressed: tuple[int, QPoint] | None = None
        self._pressed_eye: int | None = None
        self._dropped_at: QPoint | None = None
        self._edit_added = False
        self._editor = TokenEditor(self.viewport())
        self._editor.committed.connect(self._on_committed)
        self._editor.closed.connect(self._on_editor_closed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._lay_out()

    # Calls of the owner

    def set_tokens(self, tokens: tuple[str, ...]) -> None:
        """Show these tokens; one added with the plus is opened for typing."""
        if tokens != self._tokens:
            self._editor.cancel()
            self._cancel_drag()
            grown = len(tokens) == len(self._tokens) + 1
            self._tokens = tokens
            self._hovered = None
            self._current = min(self._current, len(tokens))
            self._lay_out()
            if grown and self._edit_added:
                self._go_to(len(tokens) - 1)
                self.edit(len(tokens) - 1)
        self._edit_added = False
        self._describe()

    def set_roles(self, query: int | None, key: int | None) -> None:
        """Fill the chips of the selected query and key in their colours; padding, beyond the tokens, has no chip."""
        if (query, key) != (self._query, self._key):
            self._query, self._key = query, key
            self._describe()
            self.viewport().update()

    def set_masked(self, indices: frozenset[int] | None) -> None:
        """Cross out masked tokens, to which no query may attend; None if tokens are not keys and cannot be masked."""
        if indices != self._masked:
            self._masked = indices
            self._describe()
            self.viewport().update()

    def tokens(self) -> tuple[str, ...]:
        """Return the tokens shown."""
        return self._tokens

    def current(self) -> int:
        """Return the index of the chip with the focus; the number of tokens for the plus."""
        return self._current

    def chip_rect(self, index: int) -> QRect:
        """Return the rectangle of a chip in the viewport; the index after the last token is the plus."""
        return self._chips.places[index].translated(0, -self.verticalScrollBar().value())

    def edit(self, index: int) -> None:
        """Open a token for typing in place."""
        if 0 <= index < len(self._tokens):
            self._go_to(index)
            self._editor.open(index, self._tokens[index], self.chip_rect(index))

    def menu(self) -> QMenu:
        """Return the context menu of the current chip; it deletes itself when closed."""
        masked = None if self._masked is None else self._current in self._masked
        return context_menu(self, on_token=self._current < len(self._tokens), masked=masked, obey=self.obey)

    def obey(self, command: str) -> None:
        """Run the command of a key or a menu entry on the current chip."""
        here, last = self._current, len(self._tokens)
        steps = {
            "left": here - 1,
            "right": here + 1,
            "home": 0,
            "end": last,
            "up": self._chips.beside(here, -1),
            "down": self._chips.beside(here, 1),
        }
        if command in steps:
            self._go_to(steps[command])
        elif command == "add" or (command == "click" and here == last):
            self._edit_added = True
            self.token_added.emit()
            self._edit_added = False
        elif here < last:
            self._obey_on_token(command, here)

    def _obey_on_token(self, command: str, here: int) -> None:
        if command == "click":
            self.token_clicked.emit(here)
        elif command == "edit":
            self.edit(here)
        elif command == "remove":
            self.token_removed.emit(here)
        elif command == "mask" and self._masked is not None:
            self.token_masked.emit(here)
        elif command == "duplicate":
            self.token_duplicated.emit(here)
        elif command in ("move_left", "move_right"):
            self._move(here, here + (1 if command == "move_right" else -1))

    def _move(self, start: int, to: int) -> None:
        if start != to and 0 <= to < len(self._tokens):
            self._current = to  # the focus stays on the moved token
            self.token_moved.emit(start, to)
            self._go_to(to)

    def _go_to(self, index: int) -> None:
        self._current = min(max(index, 0), len(self._tokens))
        place, bar = self._chips.places[self._current], self.verticalScrollBar()
        if place.top() < bar.value():
            bar.setValue(place.top())
        elif place.bottom() + px(3) > bar.value() + self.maximumHeight():  # the height may not be applied yet
            bar.setValue(place.bottom() + px(3) - self.maximumHeight())
        self._describe()
        self.viewport().update()

    def measure_height(self, width: int) -> int:
        """Return the height in pixels that the chips need in a width."""
        return Chips.lay_out(self._tokens, self._texts, width).height(MOST_ROWS)

    def _lay_out(self) -> None:
        """Arrange the chips; with too many rows they scroll, and the scroll bar takes some of the width."""
        always, never = Qt.ScrollBarPolicy.ScrollBarAlwaysOn, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        whole = self.contentsRect().width()
        chips = Chips.lay_out(self._tokens, self._texts, whole)
        scrolls = chips.rows() > MOST_ROWS
        if scrolls:
            chips = Chips.lay_out(self._tokens, self._texts, whole - self.verticalScrollBar().sizeHint().width() - 2)
        self._chips = chips
        self.setVerticalScrollBarPolicy(always if scrolls else never)
        height = chips.height(MOST_ROWS)
        self.setFixedHeight(height)
        self.viewport().resize(self.viewport().width(), self.contentsRect().height())  # Qt skips it during a resize
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, chips.rows() * chips.row_height - px(6) - height))
        bar.setSingleStep(chips.row_height)
        bar.setPageStep(height)
        self.viewport().update()

    def _describe(self) -> None:
        """Tell screen readers which chip has the focus."""
        said = self.name_cell(self._current)
        if said != self.accessibleDescription():
            self.setAccessibleDescription(said)
            self.tell_cell()

    def count_cells(self) -> int:
        return len(self._tokens) + 1

    def name_cell(self, place: int) -> str:
        if place >= len(self._tokens):
            return "Add a token"
        roles = [r for r, at in (("query", self._query), ("key", self._key)) if at == place]
        token = self._tokens[place][:200] or "empty"
        masked = [SAID] if place in (self._masked or ()) else []
        return ", ".join([f"Token {place + 1} of {len(self._tokens)}: {token}", *roles, *masked])

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(self.chip_rect(place))

    @property
    def current_cell(self) -> int | None:
        return self._current

    def _on_committed(self, index: int, text: str) -> None:
        if index < len(self._tokens) and text != self._tokens[index]:
            self.token_renamed.emit(index, text)

    def _on_editor_closed(self) -> None:
        self.viewport().update()

    # The mouse

    def _inside(self, event: QMouseEvent | QHelpEvent) -> QPoint:
        position = event.position().toPoint() if isinstance(event, QMouseEvent) else event.pos()
        return position + QPoint(0, self.verticalScrollBar().value())

    def _eye_at(self, point: QPoint) -> int | None:
        """Return the token whose eye is at a point."""
        at = self._chips.at(point) if self._masked is not None else None
        on = at is not None and at < len(self._tokens) and eye_rect(self._chips.places[at]).contains(point)
        return at if on else None

    def _cancel_drag(self) -> None:
        self._pressed = self._dropped_at = None
        self.viewport().unsetCursor()
        self.viewport().update()

    def _drag_to(self, event: QMouseEvent) -> None:
        bar, y = self.verticalScrollBar(), event.position().y()
        if y < 0 or y > self.viewport().height():
            bar.setValue(bar.value() + (-1 if y < 0 else 1) * self._chips.row_height // 2)
        self._dropped_at = self._inside(event)
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self.viewport().update()

    def item_at(self, point: QPoint) -> int | None:
        return self._chips.at(point + QPoint(0, self.verticalScrollBar().value()))

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        if at == len(self._tokens):
            text = "Add a token  (Insert)"
        elif self._eye_at(self._inside(event)) is not None:
            text = f"{UNMASK if at in (self._masked or ()) else MASK}  (H)"
        else:
            token, masked = self._tokens[at][:2000], f", {SAID}" if at in (self._masked or ()) else ""
            text = f"<qt>{escape(token if token.strip() else visible(token))}<br>position {at}{masked}</qt>"
        QToolTip.showText(event.globalPos(), text, self.viewport(), self.chip_rect(at))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = self.item_at(event.position().toPoint())
        if at is not None:
            self._go_to(at)
            if event.button() == Qt.MouseButton.LeftButton:
                self._pressed = at, event.position().toPoint()
                self._pressed_eye = self._eye_at(self._inside(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is not None and self._pressed[0] < len(self._tokens):
            far = (event.position().toPoint() - self._pressed[1]).manhattanLength()
            if self._dropped_at is not None or far >= QApplication.startDragDistance():
                self._drag_to(event)
                return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        start, dropped_at = self._pressed[0], self._dropped_at
        self._cancel_drag()
        if dropped_at is not None:
            gap = self._chips.gap_at(dropped_at)
            self._move(start, gap - (1 if gap > start else 0))
        elif self.item_at(event.position().toPoint()) == start:
            self._current = start
            on_eye = self._pressed_eye == start == self._eye_at(self._inside(event))
            self.obey("mask" if on_eye else "click")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        at = self.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and at is not None:
            again = at == len(self._tokens) or self._eye_at(self._inside(event)) is not None
            self.mousePressEvent(event) if again else self.edit(at)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        where = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            where = self.viewport().mapToGlobal(self.chip_rect(self._current).bottomLeft())
        self.menu().popup(where)

    def _mask_look(self, index: int, dragged: int | None) -> tuple[bool, bool]:
        """Return whether a chip is drawn as masked, and whether with its eye: if masked, or under the pointer."""
        if self._masked is None or index >= len(self._tokens):
            return False, False
        pointed = (index == self._hovered and dragged is None) or (index == self._current and self.hasFocus())
        return index in self._masked, pointed or index in self._masked

    # The keyboard

    def keeps_key(self, event: QKeyEvent) -> bool:
        return command_for(event) is not None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        command = command_for(event)
        if event.key() == Qt.Key.Key_Escape and self._dropped_at is not None:
            self._cancel_drag()
        elif command is None:
            event.ignore()
        else:
            self.obey(command)

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self._go_to(self._current)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._cancel_drag()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._editor.commit()
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._texts = ChipTexts()
            self._lay_out()
        super().changeEvent(event)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self._editor.commit()
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = palette_of(self)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(0, -self.verticalScrollBar().value())
        seen = event.rect().translated(0, self.verticalScrollBar().value())
        dragged = self._pressed[0] if self._pressed is not None and self._dropped_at is not None else None
        for i, place in enumerate(self._chips.places):
            if not place.intersects(seen) or i == self._editor.index():
                continue
            text = self._texts[self._tokens[i]][0] if i < len(self._tokens) else PLUS
            look = ChipLook(
                i == self._query and i < len(self._tokens),
                i == self._key and i < len(self._tokens),
                i == self._hovered and dragged is None,
                i == self._current and self.hasFocus(),
                i == dragged,
                *self._mask_look(i, dragged),
            )
            draw_chip(painter, place, text, look, palette)
        if self._dropped_at is not None:
            gap = self._chips.gap_at(self._dropped_at)
            painter.fillRect(self._chips.mark(gap, self._dropped_at), QColor(palette.accent))
        painter.end()
