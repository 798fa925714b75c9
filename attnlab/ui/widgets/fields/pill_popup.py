"""The popup of a pill: rows of choices, a field for a custom value, and the settings that belong to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QRadioButton, QScrollArea, QVBoxLayout, QWidget

from attnlab.base.errors import AttnlabError
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import cut_corners, font, px, round_corners
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.option_fields import Field, OptionFields
from attnlab.ui.widgets.fields.pill_row import PillRow

__all__ = ["Choice", "Entry", "PillPopup"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A field for a custom value: its prompt, how it parses typed text, how it writes a value."""

    prompt: str
    parse: Callable[[str], object]
    show: Callable[[object], str]


@guarded
class PillPopup(QFrame):
    """Arrows move between rows, Tab goes to the settings, Enter and Space choose, Esc and a click elsewhere close."""

    chosen = Signal(object)
    closed = Signal()

    def __init__(
        self,
        choices: Sequence[Choice],
        current: int | None,
        entry: Entry | None,
        typed: str,
        parent: QWidget,
        fields: Sequence[Field] = (),
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        round_corners(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._entry = entry
        self._current = current
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(px(5), px(5), px(5), px(5))
        self._column.setSpacing(0)
        self._add_rows(choices)
        self.field, self.complaint = QLineEdit(typed, self), QLabel("", self)
        self._add_entry()
        self._add_fields(fields)

    def rows(self) -> list[QRadioButton]:
        """Return the rows of choices, in order."""
        return list(self._rows)

    def open_below(self, pill: QWidget) -> None:
        """Show the popup below a widget, within its screen."""
        self._fit(pill)
        self.show()
        usable = [row for row in self._rows if row.isEnabled()]
        if self._current is not None and self._rows[self._current].isEnabled():
            self._focus(self._rows[self._current])
        elif self._entry is not None and self.field.text():
            self.field.setFocus(Qt.FocusReason.PopupFocusReason)
            self.field.selectAll()
        elif usable:
            self._focus(usable[0])
        elif self._entry is not None:
            self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        elif stops := self.options.stops():
            stops[0].setFocus(Qt.FocusReason.PopupFocusReason)

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Show these settings below the rows, without closing the popup."""
        self.options.set_fields(fields)
        self._line.setVisible(bool(fields) and (bool(self._rows) or self._entry is not None))
        self._options_scroll.setVisible(bool(fields))
        self._refit()

    def _add_rows(self, choices: Sequence[Choice]) -> None:
        inner = QWidget(self)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._rows = [PillRow(choice, i == self._current, inner) for i, choice in enumerate(choices)]
        for row in self._rows:
            row.clicked.connect(self._on_row_clicked)
            row.hovered.connect(self._on_row_hovered)
            row.installEventFilter(self)
            column.addWidget(row)
        self._scroll = self._scrolling(inner)
        self._scroll.setVisible(bool(choices))
        self._column.addWidget(self._scroll)

    def _add_entry(self) -> None:
        shown = self._entry is not None
        self.field.setVisible(shown)
        self.complaint.setVisible(False)
        self.complaint.setProperty("role", "error")
        self.complaint.setWordWrap(True)
        self.complaint.setFont(font("caption"))
        self.complaint.setContentsMargins(px(6), px(4), px(6), px(2))
        if self._entry is not None:
            self.field.setPlaceholderText(self._entry.prompt)
            self.field.setAccessibleName(self._entry.prompt)
            self._column.addSpacing(px(4))
        self.field.textEdited.connect(self._on_text_edited)
        self.field.installEventFilter(self)
        self._column.addWidget(self.field)
        self._column.addWidget(self.complaint)

    def _add_fields(self, fields: Sequence[Field]) -> None:
        self._line = QFrame(self)
        self._line.setFixedHeight(1 + 2 * px(5))
        self.options = OptionFields()
        self.options.given_up.connect(self.close)
        self._options_scroll = self._scrolling(self.options)
        self._column.addWidget(self._line)
        self._column.addWidget(self._options_scroll)
        self.set_fields(fields)
        self.options.height_changed.connect(self._refit)

    def _scrolling(self, inner: QWidget) -> QScrollArea:
        inner.setProperty("ground", "surface")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)  # its palette does not survive a change of theme
        area = QScrollArea(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        return area

    def _fit(self, pill: QWidget) -> None:
        self._resize(pill)
        room = pill.screen().availableGeometry()
        corner = pill.mapToGlobal(QPoint(0, pill.height() + px(4)))
        x = min(corner.x(), room.right() - self.width())
        self._above = corner.y() + self.height() > room.bottom()
        y = pill.mapToGlobal(QPoint(0, -px(4))).y() - self.height() if self._above else corner.y()
        self.move(max(x, room.left()), max(y, room.top()))

    def _refit(self) -> None:
        """Resize the popup in place, within the screen."""
        pill = self.parentWidget()
        if pill is None or not self.isVisible():
            return
        room, before = pill.screen().availableGeometry(), self.geometry()
        self._resize(pill)
        y = before.bottom() + 1 - self.height() if self._above else before.top()
        x = min(before.left(), room.right() - self.width())
        self.move(max(x, room.left()), max(min(y, room.bottom() + 1 - self.height()), room.top()))

    def _resize(self, pill: QWidget) -> None:
        """Take the size that shows everything, or scroll if the screen is too small."""
        room, edge, bar = pill.screen().availableGeometry(), 2 * px(5), px(12)
        wanted = sum(row.sizeHint().height() for row in self._rows)
        widest = max([row.sizeHint().width() for row in self._rows], default=0)
        fields_width = self.options.minimumSizeHint().width() if self._options_scroll.isVisibleTo(self) else 0
        least = round(room.height() * (0.4 if fields_width else 0.6))
        width = max(widest, fields_width) + edge
        tall = min(wanted, max(least, self._find_room(pill) - edge - self._others_height(width - edge)))
        widest = max(widest + (bar if tall < wanted else 0), fields_width)
        width = max(widest + edge, pill.width(), px(200) if self._entry else 0)
        self._scroll.setFixedHeight(max(tall, 1))
        if fields_width:
            others = edge + tall + self._line.height() + self._entry_height(width - edge)
            left = max(room.height() - others, px(64))
            fields_wanted = self.options.height_for(width - edge)
            width += bar if fields_wanted > left else 0
            self._options_scroll.setFixedHeight(min(fields_wanted, left))
        self.setFixedWidth(width)
        self._column.invalidate()
        self.adjustSize()

    @staticmethod
    def _find_room(pill: QWidget) -> int:
        """Return the height of the screen below the pill or above it, whichever is more."""
        room, gap = pill.screen().availableGeometry(), px(4)
        top = pill.mapToGlobal(QPoint(0, 0)).y()
        return max(room.bottom() - top - pill.height(), top - room.top()) - gap

    def _others_height(self, width: int) -> int:
        """Return the height of what stands below the rows."""
        settings = self._line.height() + self.options.height_for(width) if self._options_scroll.isVisibleTo(self) else 0
        return self._entry_height(width) + settings

    def _entry_height(self, width: int) -> int:
        if self._entry is None:
            return 0
        below = self.complaint.heightForWidth(width) if self.complaint.isVisibleTo(self) else 0
        return px(4) + self.field.sizeHint().height() + below

    def _focus(self, row: QWidget) -> None:
        row.setFocus(Qt.FocusReason.TabFocusReason)
        area = self._options_scroll if self.options.isAncestorOf(row) else self._scroll
        if area.isAncestorOf(row):
            area.ensureWidgetVisible(row, 0, 0)

    def _stops(self) -> list[QWidget]:
        rows: list[QWidget] = [row for row in self._rows if row.isEnabled()]
        return [*rows, self.field] if self._entry is not None else rows

    def _tab_stops(self) -> list[QWidget]:
        """Return one of the rows, the entry, and every setting."""
        rows = [row for row in self._rows if row.isEnabled()]
        one = [row for row in rows if row.hasFocus()] or [row for row in rows if row.isChecked()] or rows
        entry: list[QWidget] = [self.field] if self._entry is not None else []
        return [*one[:1], *entry, *self.options.stops()]

    def _walk(self, watched: QWidget, step: int) -> None:
        stops = self._stops()
        self._focus(stops[(stops.index(watched) + step) % len(stops)])

    def _choose(self, value: object) -> None:
        self.close()
        self.chosen.emit(value)

    def _take_typed(self) -> None:
        """Choose the typed value, or say below the field what is wrong with it."""
        if self._entry is None:
            return
        try:
            value = self._entry.parse(self.field.text())
        except (ValueError, AttnlabError) as error:
            self._complain(str(error))
            return
        self._choose(value)

    def _complain(self, sentence: str) -> None:
        show_text(self.complaint, sentence)
        self.complaint.setVisible(bool(sentence))
        self.field.setProperty("wrong", bool(sentence))
        self.field.style().polish(self.field)
        self.field.setAccessibleDescription(sentence)
        self.complaint.setMinimumHeight(self.complaint.heightForWidth(self.width() - 2 * px(5)) if sentence else 0)
        self._refit()

    def _on_row_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, PillRow):
            self._choose(row.choice.value)

    def _on_row_hovered(self) -> None:
        row = self.sender()
        typing = any(stop.hasFocus() for stop in self.options.stops())  # leaving would take unfinished typing
        if isinstance(row, PillRow) and not typing:
            row.setFocus(Qt.FocusReason.MouseFocusReason)

    def _on_text_edited(self, _text: str) -> None:
        self._complain("")

    def focusNextPrevChild(self, forward: bool) -> bool:
        stops, focus = self._tab_stops(), self.focusWidget()
        at = next((i for i, stop in enumerate(stops) if focus in (stop, stop.focusProxy())), None)
        if not stops or (len(stops) == 1 and at is not None):
            return False
        step = 1 if forward else -1
        self._focus(stops[(at + step) % len(stops)] if at is not None else stops[0 if forward else -1])
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        pill = self.parentWidget()
        if pill is not None and pill.rect().contains(pill.mapFromGlobal(event.globalPosition().toPoint())):
            self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # otherwise the click that closes it would reopen it
        super().mousePressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or not isinstance(watched, QWidget):
            return False
        key = event.key()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._walk(watched, 1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            watched.click() if isinstance(watched, PillRow) else self._take_typed()
        else:
            return False
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        cut_corners(self, px(8))

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closed.emit()
        super().closeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, painter = palette_of(self), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.hatch), 1))
        painter.setBrush(QColor(palette.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8))
        if self._line.isVisible():
            middle = self._line.geometry().center().y() + 0.5
            painter.setPen(QPen(QColor(palette.hairline), 1))
            painter.drawLine(QPointF(px(10), middle), QPointF(self.width() - px(10), middle))
        painter.end()
