"""The steps of the lecture with their planned minutes, and below them the most important keys."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip, set_sheet
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.broken_text import break_text

TYPE, ROW, MOST_LINES = 15, 32, 2
"""The font size and the height of a row at 100 %, and the lines that a title may take."""
LEAST_ROWS = 4
"""A list of fewer rows begins with the current step, a higher one with the one before it."""
KEYS = (("→", "next"), ("←", "back"), ("B", "black"), ("R", "numbers as in the lesson"))
MORE = "H shows all keys"
_PLACE, _MINUTES = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


@guarded
class _StepPainter(QStyledItemDelegate):
    """Paints a step: its number, its title, its minutes; the current one on a ground of its own."""

    lowers_indices = True
    factor = 1.0

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        face = self._make_font(index)
        lines = break_text(index.data(), face, self._find_sides(option, index, face)[2], MOST_LINES)
        return QSize(100, round(ROW * self.factor + (len(lines) - 1) * QFontMetricsF(face).lineSpacing()))

    def _make_font(self, index: QModelIndex | QPersistentModelIndex) -> QFont:
        return make_face(TYPE * self.factor, bold=index.data(_PLACE) == "now")

    def _find_sides(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex, face: QFont
    ) -> tuple[float, float, float]:
        """Return the right end of the number, the left end of the minutes, and the width between them for the title."""
        pad, list_ = 10 * self.factor, option.widget
        width = list_.viewport().width() if isinstance(list_, QListWidget) else option.rect.width()
        left, right = pad + text_width("000", face), width - pad - text_width(index.data(_MINUTES), face)
        return left, right, right - left - 2 * pad

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        palette, at = palette_of(option.widget), index.data(_PLACE)
        rect, pad = QRectF(option.rect), 10 * self.factor
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if at == "now" or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(QColor(palette.control))
            painter.drawRoundedRect(rect, 6, 6)
        font = self._make_font(index)
        middle = rect.center().y()
        left, right, room = self._find_sides(option, index, font)
        painter.setPen(QColor(palette.muted))
        number, minutes = str(index.row() + 1), index.data(_MINUTES)
        draw_text(painter, left - text_width(number, font), middle, number, font)
        draw_text(painter, right, middle, minutes, font)
        painter.setPen(QColor(palette.muted if at == "past" else palette.ink))
        lines, high = break_text(index.data(), font, room, MOST_LINES), QFontMetricsF(font).lineSpacing()
        for place, line in enumerate(lines):
            draw_text(painter, left + pad, middle + (place - (len(lines) - 1) / 2) * high, line, font)
        painter.restore()


class SpeakerSteps(QFrame):
    """Lists the steps; a click emits the number of the step to jump to, counted from 0."""

    jumped = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("steps")
        self._heading = QLabel("Steps")
        self.list = QListWidget()
        self.list.setAccessibleName("Steps with their planned minutes")
        self.list.setToolTip("Go to a step by a click, or type its number and press Return (Enter)")
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # a title may need a second line
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys go to the presentation
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._painter = _StepPainter()  # Qt does not keep it
        self.list.setItemDelegate(self._painter)
        self.list.itemClicked.connect(self._on_item_clicked)
        self.list.verticalScrollBar().rangeChanged.connect(self._scroll)
        self._now = 0
        self._line = QFrame()
        self._line.setFixedHeight(1)
        self._grid = QGridLayout()
        self._keys: list[QLabel] = []
        self._words: list[QLabel] = []
        for index, (key, what) in enumerate(KEYS):
            cap, word = QLabel(key), QLabel(what)
            cap.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self._grid.addWidget(cap, index // 2, 2 * (index % 2))
            self._grid.addWidget(word, index // 2, 2 * (index % 2) + 1)
            self._keys.append(cap)
            self._words.append(word)
        self._more = QLabel(MORE)
        self._grid.addWidget(self._more, 2, 0, 1, 4)
        for column in (1, 3):
            self._grid.setColumnStretch(column, 1)
        self._column = column_ = QVBoxLayout(self)
        column_.addWidget(self._heading)
        column_.addWidget(self.list, 1)
        column_.addWidget(self._line)
        column_.addLayout(self._grid)

    def show_steps(self, titles: Sequence[str], plan: Sequence[float], now: int) -> None:
        """Show the steps with their planned seconds, scrolled to the current one and those after it."""
        if self.list.count() != len(titles):
            self.list.clear()
            self.list.addItems(list(titles))
        for index, (title, seconds) in enumerate(zip(titles, plan, strict=True)):
            item = self.list.item(index)
            item.setText(title)
            item.setToolTip(plain_tip(title))
            item.setData(_PLACE, "now" if index == now else "past" if index < now else "")
            item.setData(_MINUTES, f"{max(1, round(seconds / 60))} min")
        self._now = now
        self._scroll()

    @Slot()
    def _scroll(self, *_: int) -> None:
        if self.list.count():
            is_low = self.list.viewport().height() < LEAST_ROWS * ROW * self._painter.factor
            first = self._now if is_low else max(self._now - 1, 0)
            self.list.scrollToItem(self.list.item(first), QAbstractItemView.ScrollHint.PositionAtTop)

    def set_look(self, factor: float, low: bool) -> None:
        """Set the sizes, as factors of those at 100 %, and the colours; a low card has no room for the keys."""
        palette = palette_of(self)
        set_sheet(
            self,
            f"#steps {{ background: {palette.surface}; border: 1px solid {palette.hairline}; border-radius: 12px; }}"
            f" QListWidget {{ background: {palette.surface}; }}",
        )
        set_sheet(self._line, f"background: {palette.hairline}; border: none")
        for label in (self._heading, *self._words, self._more):
            colour = palette.muted if label is self._more else palette.ink
            set_sheet(label, f"color: {colour}; background: transparent; border: none")
            label.setFont(make_face(TYPE * factor, bold=label is self._heading))
        for cap in self._keys:
            set_sheet(cap, f"color: {palette.ink}; background: {palette.control}; border: none; border-radius: 5px")
            cap.setFont(make_face(0.9 * TYPE * factor, bold=True))
            cap.setFixedSize(round(32 * factor), round(26 * factor))
        for widget in (*self._keys, *self._words, self._line):
            widget.setVisible(not low)
        self._painter.factor = factor
        self.list.scheduleDelayedItemsLayout()
        self._column.setContentsMargins(*([round(12 * factor)] * 4))
        self._column.setSpacing(round(8 * factor))
        self._grid.setHorizontalSpacing(round(10 * factor))
        self._grid.setVerticalSpacing(round(6 * factor))

    @Slot(QListWidgetItem)
    def _on_item_clicked(self, item: QListWidgetItem) -> None:
        self.jumped.emit(self.list.row(item))
