"""The page "Inside" beside the maps: the answer after each layer, and what each part of the model adds to it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.lens_columns import LensTable
from attnlab.ui.train.paced import Paced
from attnlab.ui.train.stream_words import describe_place, make_lens_columns, name_part
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.surface import Surface

if TYPE_CHECKING:
    from attnlab.training.stream_view import Stream

FIRST = "Reading the first answers inside the model…"
LENS = (
    "What the model would answer if it stopped there: each line names the likeliest token. The bar and the "
    "percentage show the probability of the right answer, which heads the column. Click a column for its parts."
)
HELD = "Standard deviations of the norms are held, so that the parts sum exactly. Click a head for its map."


@guarded
class PartBars(BarList):
    """Bars of the parts, with labels that are never cut, and no scroll bar of their own for most models."""

    most_rows = 64

    def _columns(self) -> tuple[int, int, int]:
        _, values, gap = super()._columns()
        metrics = QFontMetrics(font(self.strong_role))
        widest = max((metrics.horizontalAdvance(label) for label in self._labels), default=0) + 2
        return min(widest, self.viewport().width() // 2), values, gap

    def speak_value(self, index: int) -> str:
        return f"adds {super().speak_value(index)}"


@guarded
class InsidePage(QScrollArea):
    """Shows the residual stream of a moment. ``map_wanted`` carries the layer and the head whose bar is clicked,
    ``place_chosen`` the index of the place whose column is clicked."""

    map_wanted = Signal(str, int)
    place_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stream: Stream | None = None
        self._chosen = 0
        self._paced = Paced(self)
        self._paced.due.connect(self._show_stream)
        self.setAccessibleName("Inside the model")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.missing, self.sum = QLabel(), QLabel()
        self.table, self.bars = LensTable(), PartBars()
        self._titles = [QLabel("The answer after each layer"), QLabel("What each part adds to the answer")]
        self._notes = [QLabel(LENS), QLabel(HELD)]
        self.sum.setAccessibleName("The chosen position")
        for label in (*self._titles, *self._notes, self.sum, self.missing):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        for label in self._titles:
            label.setProperty("role", "caption_strong")
        for label in (*self._notes, self.missing):
            label.setProperty("role", "muted")
        self.cards = [
            self._make_card(self._titles[0], self._notes[0], self.table),
            self._make_card(self._titles[1], self.sum, self.bars, self._notes[1]),
        ]
        inside = QWidget()
        inside.setProperty("ground", "ground")
        column = QVBoxLayout(inside)
        column.setContentsMargins(18, 4, 18, 14)
        column.setSpacing(12)
        column.addWidget(self.missing)
        for card in self.cards:
            column.addWidget(card)
        column.addStretch(1)
        self.setWidget(inside)
        self.missing.setText(FIRST)
        for card in self.cards:
            card.hide()
        self.table.columns.chosen.connect(self.choose)
        self.table.columns.chosen.connect(self.place_chosen)
        self.bars.bar_clicked.connect(self._on_bar_clicked)

    @staticmethod
    def _make_card(*parts: QWidget) -> Surface:
        card = Surface()
        column = QVBoxLayout(card)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(6)
        for part in parts:
            column.addWidget(part)
        return card

    @property
    def stream(self) -> "Stream | None":
        """The residual stream shown."""
        return self._stream

    @property
    def chosen(self) -> int:
        """The index of the chosen place."""
        return self._chosen

    def show_seen(self, seen: Seen) -> None:
        """Show the residual stream of a moment, if it was read: at once or soon; while a run goes on, not every one."""
        if seen.stream is not None:
            self._paced.offer(seen.stream)

    @property
    def is_behind(self) -> bool:
        """Whether a later moment than the one shown is about to be shown."""
        return self._paced.is_behind

    @Slot(object)
    def _show_stream(self, stream: "Stream") -> None:
        self._stream = stream
        show_text(self.missing, stream.missing)
        self.missing.setVisible(bool(stream.missing))
        columns = make_lens_columns(stream)
        for card in self.cards:
            card.setVisible(bool(columns))
        self.table.show_columns(columns)
        if columns:
            self.choose(min(self._chosen, len(columns) - 1))

    @Slot(int)
    def choose(self, place: int) -> None:
        """Choose the place whose parts are shown."""
        if self._stream is None or not 0 <= place < len(self._stream.tokens):
            return
        self._chosen = place
        self.table.columns.choose(place)
        names = [name_part(part) for part in self._stream.parts]
        self.bars.set_bars(names, self._stream.added[:, place].tolist(), title="What each part adds")
        show_text(self.sum, describe_place(self._stream, place))

    @Slot(int)
    def _on_bar_clicked(self, at: int) -> None:
        if self._stream is not None:
            part = self._stream.parts[at]
            if part.head is not None:
                self.map_wanted.emit(part.layer, part.head)

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(320))
