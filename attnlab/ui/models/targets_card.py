"""The strongest targets of every token as arcs, and the row of one token as bars."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from attnlab.figures.map_data import MapData
from attnlab.figures.text import Pen
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.models.map_window import Window
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.models.model_values import Floats
from attnlab.ui.models.whole_map import RowProfile, WholeMap
from attnlab.ui.widgets.charts.meter_list import Meter, MeterList
from attnlab.ui.widgets.maps.drawn import Drawn
from attnlab.ui.widgets.tokens.token_chips import visible

LINE, MOST_LINE = 19, 34
"""The least and the greatest distance of two tokens, in pixels at 100 %."""
STRONG = 0.08
"""Weights below this are not drawn."""
MOST_BARS = 6
"""The strongest targets that are listed for one token."""
LABELS, MOST_LABELS = 0.34, 0.4
"""The usual share of the width for the tokens at the left, and for those at the right, and the largest."""
BARS = 140
"""The least width of the bars, in pixels at 100 %: a label, a short bar and four decimals."""
PER_TOKEN = 3
"""The most arcs of one token."""


def find_arcs(weights: Floats, muted: Sequence[int], least: float = STRONG) -> list[tuple[int, int, float]]:
    """Return the strongest targets of every query as (query, key, weight), the weakest first; not the muted keys."""
    shown = weights.copy()
    shown[:, list(muted)] = 0.0
    order = np.argsort(-shown, axis=1)[:, :PER_TOKEN]
    arcs = [
        (query, int(key), float(shown[query, key]))
        for query in range(len(shown))
        for key in order[query]
        if shown[query, key] >= least
    ]
    return sorted(arcs, key=lambda arc: arc[2])


@guarded
class TargetArcs(HasCells, Drawn):
    """Tokens twice, and arcs between them; emits the query that is clicked. A cell is a token at the left."""

    row_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queries: tuple[str, ...] = ()
        self._keys: tuple[str, ...] = ()
        self._arcs: list[tuple[int, int, float]] = []
        self._row = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Strongest targets")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_arcs(
        self, queries: Sequence[str], keys: Sequence[str], arcs: list[tuple[int, int, float]], row: int
    ) -> None:
        """Show tokens and arcs, one row of them strong."""
        self._queries, self._keys, self._arcs, self._row = tuple(queries), tuple(keys), arcs, row
        self._fit()
        self._arrange()

    def sizeHint(self) -> QSize:
        return QSize(px(260), self.minimumHeight())

    def restyle(self) -> None:
        """Set the heights between which the tokens spread."""
        super().restyle()
        self._fit()

    def _fit(self) -> None:
        self.setMinimumHeight(px(LINE) * self._count_lines() + px(6))
        self.setMaximumHeight(px(MOST_LINE) * self._count_lines() + px(6))

    def _count_lines(self) -> int:
        return max(len(self._queries), len(self._keys), 1)

    @property
    def line(self) -> float:
        """The distance of two tokens, in pixels: they spread over the height of the card."""
        return (self.height() - px(6)) / self._count_lines()

    def count_cells(self) -> int:
        return len(self._queries)

    def name_cell(self, place: int) -> str:
        found = sorted((arc for arc in self._arcs if arc[0] == place), key=lambda arc: -arc[2])
        targets = ", ".join(f"{self._keys[key].strip()} {weight:.2f}" for _, key, weight in found)
        return f"{self._queries[place].strip()} looks at {targets or 'nothing strongly'}"

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(0, px(3) + place * self.line, self.width() * 0.4, self.line)

    def find_cell(self, at: QPointF) -> int | None:
        place = int((at.y() - px(3)) // self.line)
        return place if 0 <= place < len(self._queries) else None

    @property
    def current_cell(self) -> int | None:
        return self._row if 0 <= self._row < len(self._queries) else None

    def tool_tip(self, at: QPointF) -> str:
        place = self.find_cell(at)
        return self.name_cell(place) if place is not None else ""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self.find_cell(event.position())
        if place is not None and event.button() == Qt.MouseButton.LeftButton:
            self.row_chosen.emit(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is None or not self._queries:
            super().keyPressEvent(event)
            return
        self.row_chosen.emit(min(max(self._row + step, 0), len(self._queries) - 1))
        self.tell_cell()

    def _find_label_room(self) -> float:
        """Return the width of the tokens on either side; in a narrow card long ones take from the arcs."""
        metrics = QFontMetricsF(font("strong"))
        widest = max(map(metrics.horizontalAdvance, (*self._queries, *self._keys)), default=0.0)
        return max(self.width() * LABELS, min(widest + px(10), self.width() * MOST_LABELS))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, p, line = QPainter(self), self._palette, self.line
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room = self._find_label_room()
        left, right = room + px(8), self.width() - room - px(8)
        pen, strong = Pen(painter, font("text")), Pen(painter, font("strong"))
        found = {key for query, key, _ in self._arcs if query == self._row}
        for tokens, x, align, bold in (
            (self._queries, room, 1.0, {self._row}),
            (self._keys, right + px(8), 0.0, found),
        ):
            for place, token in enumerate(tokens):
                y = px(3) + place * line + line / 2
                if not event.rect().intersects(QRectF(0, y - line, self.width(), 2 * line).toAlignedRect()):
                    continue
                drawn = strong if place in bold else pen
                painter.setFont(font("strong" if place in bold else "text"))
                painter.setPen(QColor(p.ink if place in bold else p.muted))
                drawn.draw(x, y, drawn.elide(token, room - px(8)), align)
        for query, key, weight in self._arcs:
            mine = query == self._row
            colour = p.attention if mine or self._row < 0 else p.make_paler(p.attention)
            stroke = QPen(QColor(colour), max(1.0, weight * px(9)))
            stroke.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(stroke)
            start = QPointF(left, px(3) + query * line + line / 2)
            end = QPointF(right, px(3) + key * line + line / 2)
            bend = (right - left) * 0.45
            path = QPainterPath(start)
            path.cubicTo(start + QPointF(bend, 0), end - QPointF(bend, 0), end)
            painter.drawPath(path)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(4))
        painter.end()


class TargetsCard(ModelCard):
    """Shows the targets of all tokens, and those of one; ``row_chosen`` carries another token."""

    row_chosen = Signal(int)
    window_moved = Signal(int, int)

    def __init__(self) -> None:
        super().__init__("Strongest targets")
        self.whole, self.profile = WholeMap(), RowProfile()
        self.whole.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.arcs, self.bars, self.asked = TargetArcs(), MeterList("Targets", most=MOST_BARS + 1), QLabel()
        self.asked.setTextFormat(Qt.TextFormat.PlainText)
        self.asked.setProperty("role", "strong")
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setAccessibleName("Strongest targets")
        inside = QWidget()
        inside.setProperty("ground", "surface")
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.arcs, 100)
        column.addStretch(1)
        area.setWidget(inside)
        self._area = area
        row = QHBoxLayout()
        row.setSpacing(12)
        beside = QVBoxLayout()
        beside.addWidget(self.asked)
        beside.addWidget(self.profile)
        beside.addWidget(self.bars)
        beside.addStretch(1)
        row.addWidget(area, 3)
        row.addWidget(self.whole, 3)
        row.addLayout(beside, 2)
        self.column.addLayout(row, 1)
        self._first, self._query = 0, 0
        self.whole.moved.connect(self.window_moved)
        self.profile.key_chosen.connect(lambda key: self.window_moved.emit(self._query, key))
        self.arcs.row_chosen.connect(lambda place: self.row_chosen.emit(place + self._first))

    def restyle(self) -> None:
        """Set the least height."""
        super().restyle()
        self.setMinimumHeight(px(200))
        self.bars.setMinimumWidth(px(BARS))

    def show_head(
        self,
        weights: Floats,
        queries: Sequence[str],
        keys: Sequence[str],
        row: int,
        data: MapData,
        window: Window,
    ) -> None:
        """Show the targets in one map and the row of a query; of a long text the whole map, and the row over it all.

        ``data`` is the whole map as it is drawn.
        """
        from attnlab.pretrained.many_texts import number_repeated

        whole, muted = window.covers(weights.shape), data.muted
        rows, columns = window.rows, window.columns
        inside = [place - window.key for place in muted if window.key <= place <= window.last_key]
        arcs = find_arcs(weights[rows, columns], inside)
        self.title.setText("Strongest targets" if whole else "Whole map")
        self.about.setText(f"from {STRONG:g}, at most {PER_TOKEN} of a token" if whole else "drag the frame")
        for widget in (self.whole, self.profile):
            widget.setVisible(not whole)
        self._area.setVisible(whole)
        self._first = window.query
        self.arcs.show_arcs(queries[rows], keys[columns], arcs, row - window.query)
        place = row if row >= 0 else len(queries) - 1
        self._query = place
        number = number_repeated(queries, place) if whole else ""
        self.asked.setText(f"“{queries[place].strip()}{number}” looks at")
        if not whole:
            self.whole.spoken_title = "Whole map"
            self.whole.show_whole(data, window)
            self.profile.show_row(weights[place], keys, muted, window.key, window.last_key)
        self.bars.setAccessibleName(self.asked.text())
        order = np.argsort(-weights[place], kind="stable")
        numbers = [number_repeated(keys, int(key)) if whole else f"  {key}" for key in order[:MOST_BARS]]
        names = [visible(keys[int(key)]) + number for key, number in zip(order, numbers, strict=False)]
        found = [(name, float(weights[place, key])) for name, key in zip(names, order, strict=False)]
        rest = float(weights[place, order[MOST_BARS:]].sum())
        others = [Meter(f"{len(order) - MOST_BARS} others", rest, f"{rest:.4f}")] if len(order) > MOST_BARS else []
        self.bars.show_meters([_make(*each, place=i) for i, each in enumerate(found)] + others)


def _make(token: str, weight: float, place: int) -> Meter:
    return Meter(token, weight, f"{weight:.4f}", strong=place == 0)
