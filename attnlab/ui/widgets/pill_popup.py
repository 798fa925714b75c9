"""The popup of a pill: rows of choices, and perhaps a field for a value of one's own that says what is wrong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QEnterEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QRadioButton, QScrollArea, QVBoxLayout, QWidget

from attnlab.errors import AttnlabError
from attnlab.figures.palette import Palette
from attnlab.ui.theme import cut_corners, disabled_ink, font, px, round_corners
from attnlab.ui.widgets.subscripts import draw_text, text_width


@dataclass(frozen=True, slots=True)
class Choice:
    """One value a pill offers; a disabled one says in its description why."""

    value: object
    title: str
    description: str = ""
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A field for a value of one's own: what it asks, how it reads what was typed, how it writes a value."""

    prompt: str
    parse: Callable[[str], object]
    show: Callable[[object], str]


class _Row(QRadioButton):
    """One choice: a tick if it is in force, its title, and below it a muted description."""

    def __init__(self, choice: Choice, current: bool, palette: Palette, parent: QWidget) -> None:
        super().__init__(choice.title, parent)
        self.choice = choice
        self._palette = palette
        self.setAutoExclusive(False)
        self.setChecked(current)
        self.setEnabled(choice.enabled)
        self.setAccessibleName(choice.title)
        self.setAccessibleDescription(choice.description)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        widths = text_width(self.choice.title, font("text")), text_width(self.choice.description, font("caption"))
        return QSize(px(28) + round(max(widths)) + px(14), px(44 if self.choice.description else 30))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, live = self._palette, self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.control))
            painter.drawRoundedRect(QRectF(self.rect()), px(6), px(6))
        middle = self.height() / 2 - (px(8) if self.choice.description else 0)
        if self.isChecked():
            self._tick(painter, middle)
        painter.setPen(QColor(p.ink if live else disabled_ink(p)))
        draw_text(painter, px(28), middle, self.choice.title, font("strong" if self.isChecked() else "text"))
        if self.choice.description:
            painter.setPen(QColor(p.muted))
            draw_text(painter, px(28), middle + px(17), self.choice.description, font("caption"))
        painter.end()

    def _tick(self, painter: QPainter, middle: float) -> None:
        pen = QPen(QColor(self._palette.accent), 2 * px(10) / 10)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        at = QPoint(px(10), round(middle))
        painter.drawPolyline([at, at + QPoint(px(3), px(3)), at + QPoint(px(9), -px(4))])


class PillPopup(QFrame):
    """Arrows walk, Enter and Space choose, Esc and a click elsewhere close."""

    chosen = Signal(object)
    closed = Signal()

    def __init__(
        self, choices: Sequence[Choice], current: int | None, entry: Entry | None, typed: str, palette: Palette,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent, Qt.WindowType.Popup)
        round_corners(self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._palette = palette
        self._entry = entry
        self._current = current
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(px(5), px(5), px(5), px(5))
        self._column.setSpacing(0)
        self._add_rows(choices)
        self.field, self.complaint = QLineEdit(typed, self), QLabel("", self)
        self._add_entry()

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

    def _add_rows(self, choices: Sequence[Choice]) -> None:
        inner = QWidget(self)
        inner.setProperty("ground", "surface")
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._rows = [_Row(choice, i == self._current, self._palette, inner) for i, choice in enumerate(choices)]
        for row in self._rows:
            row.clicked.connect(self._on_row_clicked)
            row.installEventFilter(self)
            column.addWidget(row)
        self._scroll = QScrollArea(self)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(inner)
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

    def _fit(self, pill: QWidget) -> None:
        room = pill.screen().availableGeometry()
        wanted = sum(row.sizeHint().height() for row in self._rows)
        tall = min(wanted, round(room.height() * 0.6))
        self._scroll.setFixedHeight(max(tall, 1))
        bar = px(12) if tall < wanted else 0
        widest = max([row.sizeHint().width() for row in self._rows], default=0) + bar
        self.setFixedWidth(max(widest + 2 * px(5), pill.width(), px(200) if self._entry else 0))
        self.adjustSize()
        corner = pill.mapToGlobal(QPoint(0, pill.height() + px(4)))
        x = min(corner.x(), room.right() - self.width())
        below = corner.y() + self.height() <= room.bottom()
        y = corner.y() if below else pill.mapToGlobal(QPoint(0, -px(4))).y() - self.height()
        self.move(max(x, room.left()), max(y, room.top()))

    def _focus(self, row: QWidget) -> None:
        row.setFocus(Qt.FocusReason.TabFocusReason)
        self._scroll.ensureWidgetVisible(row, 0, 0)

    def _stops(self) -> list[QWidget]:
        rows: list[QWidget] = [row for row in self._rows if row.isEnabled()]
        return [*rows, self.field] if self._entry is not None else rows

    def _walk(self, watched: QWidget, step: int) -> None:
        stops = self._stops()
        self._focus(stops[(stops.index(watched) + step) % len(stops)])

    def _choose(self, value: object) -> None:
        self.close()
        self.chosen.emit(value)

    def _take_typed(self) -> None:
        """Choose what was typed, or say below the field what is wrong with it."""
        if self._entry is None:
            return
        try:
            value = self._entry.parse(self.field.text())
        except (ValueError, AttnlabError) as error:
            self._complain(str(error))
            return
        self._choose(value)

    def _complain(self, sentence: str) -> None:
        self.complaint.setText(sentence)
        self.complaint.setVisible(bool(sentence))
        self.field.setProperty("wrong", bool(sentence))
        self.field.style().polish(self.field)
        self.field.setAccessibleDescription(sentence)
        self.complaint.setMinimumHeight(self.complaint.heightForWidth(self.width() - 2 * px(5)) if sentence else 0)
        self.adjustSize()

    def _on_row_clicked(self) -> None:
        row = self.sender()
        if isinstance(row, _Row):
            self._choose(row.choice.value)

    def _on_text_edited(self, _text: str) -> None:
        self._complain("")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        pill = self.parentWidget()
        if pill is not None and pill.rect().contains(pill.mapFromGlobal(event.globalPosition().toPoint())):
            self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # or the click that closes would open it again
        super().mousePressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or not isinstance(watched, QWidget):
            return False
        key = event.key()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._walk(watched, 1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            watched.click() if isinstance(watched, _Row) else self._take_typed()
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
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._palette.hatch), 1))
        painter.setBrush(QColor(self._palette.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(8), px(8))
        painter.end()
