"""The masks lens: the active masks one by one and together, or the three masks of an encoder and a decoder."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Slot
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from attnlab.attention.measures.mask_parts import MaskPart, list_mask_parts
from attnlab.base.counted import format_whole
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.mask_data import make_mask_data, make_mask_sheets
from attnlab.figures.text import Pen
from attnlab.figures.tiles import make_hatching
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.tab_order import move_tab_stops
from attnlab.ui.base.theme import px, scale
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_map import BAR, MapFigure, MapRow
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


LEAST_HEIGHT, UNLIMITED = 220, 4000
"""The least height of a mask in pixels at 100 %, and one that limits no mask."""


@guarded
class MaskFigure(MapFigure):
    """One mask, as high as its width allows; the legend says what hatching means, a tool tip whether a pair is seen."""

    beside: Sequence["MaskFigure"] = ()
    """The masks of the lens, which have cells of one size."""

    def restyle(self) -> None:
        super().restyle()
        self.setMinimumHeight(px(LEAST_HEIGHT))

    def sizeHint(self) -> QSize:
        if self._data is None or self.width() <= 0:
            return super().sizeHint()
        grid = self._fit(self._data, QRectF(0, 0, self.width(), UNLIMITED))
        return QSize(self.width(), ceil(grid.y + grid.height + BAR * scale()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def _fit(self, data: MapData, area: QRectF) -> Grid:
        grid = super()._fit(data, area)
        all_data = [each.data for each in self.beside if each.data is not None]
        grids = [grid, *(super(MaskFigure, self)._fit(each, area) for each in all_data)]
        width, height = min(each.cell_width for each in grids), min(each.cell_height for each in grids)
        return replace(grid, cell_width=width, cell_height=height, y=max(each.y for each in grids))

    def cell_text(self, cell: tuple[int, int, int]) -> str:
        if self._data is None or self._data.masked is None:
            return ""
        _, row, column = cell
        names = f"{self._data.row_labels[row] or '∅'} → {self._data.column_labels[column] or '∅'}"
        return f"{names}: {'hidden' if self._data.masked[row, column] else 'seen'}"

    def _paint_foot(self, painter: QPainter, grid: Grid, data: MapData) -> None:
        """Paint the legend in place of the colour bar."""
        z, p = scale(), self._palette
        pen, side = Pen(painter, face("caption", z)), 10 * z
        x, y = grid.x, grid.y + grid.height + 12 * z
        seen = QColor(p.sequential[2])
        for text, brush in (("seen", seen), ("hidden", make_hatching(p))):
            painter.fillRect(int(x), int(y), int(side), int(side), brush)
            painter.setPen(QColor(p.muted))
            pen.draw(x + side + 5 * z, y + side / 2, text)
            x += side + 17 * z + pen.width(text)


@guarded
class MasksLens(Lens):
    """Shows a map for each mask, with a sentence on what it hides."""

    name = "masks"
    title = "Masks"
    about = "Which mask hides which pairs; with a second sequence, the three masks of an encoder and a decoder"
    tab_order = 25

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self.sentence = sentence_label(role="strong")
        self.figures: list[MaskFigure] = []
        self.labels: list[QLabel] = []
        self._cards: list[Card] = []
        self._shown: Experiment | None = None
        self._column = scrolling_column(self)
        self.export = QPushButton("Export…")
        self.export.setAccessibleName("Export the masks")
        self.export.setToolTip("Save these masks as one figure")
        self.export.clicked.connect(self._on_export)
        head = QHBoxLayout()
        head.addWidget(self.sentence, 1)
        head.addWidget(self.export)
        self._column.addLayout(head)
        self._column.addStretch(1)
        self._row: MapRow | None = None

    def show_trace(self, trace: "Trace", view: "View") -> None:
        e = trace.experiment
        before, self._shown = self._shown, e
        if before is not None and _depends_on(before) == _depends_on(e):
            return
        parts = list_mask_parts(e)
        self.sentence.setText(describe_masks(e, parts))
        if self._row is not None:
            self._column.removeWidget(self._row)
            self._row.deleteLater()
        self._cards, self.figures, self.labels = [], [], []
        for part in parts:
            figure, label = MaskFigure(), sentence_label(f"{part.about} {_write_share(part)}".strip(), "muted")
            figure.spoken_title = f"{part.title.lower()} mask"
            figure.setAccessibleName(f"{part.title}: {part.about}")
            figure.show_map(make_mask_data(part))
            card = Card()
            card.column.addWidget(sentence_label(part.title, "title"))
            card.column.addWidget(label)
            card.column.addSpacing(px(10))
            card.column.addWidget(figure, 1)
            self._cards.append(card)
            self.figures.append(figure)
            self.labels.append(label)
        for figure in self.figures:
            figure.beside = self.figures
        self._row = MapRow(self._cards)
        self._column.insertWidget(1, self._row)
        move_tab_stops(self._row, after=self.export)

    @Slot()
    def _on_export(self) -> None:
        if self._shown is not None:
            self.export_requested.emit(make_mask_sheets(self._shown))


def describe_masks(e: "Experiment", parts: tuple[MaskPart, ...]) -> str:
    """Return one sentence on what is shown."""
    if e.memory_tokens is not None:
        return "The three masks of an encoder and a decoder; the third is that of this layer."
    if parts[0].name == "none":
        return "No mask is on: switch on Causal, or choose one under Mask."
    return "What each mask hides, and all of them together." if len(parts) > 1 else "What the mask hides."


def _write_share(part: MaskPart) -> str:
    if not part.hidden.any():
        return "It hides nothing here." if part.name != "none" else ""
    count = int(part.hidden.sum())
    return f"It hides {format_whole(count)} of {format_whole(part.hidden.size)} pairs."


def _depends_on(e: "Experiment") -> tuple[object, ...]:
    return e.tokens, e.memory_tokens, e.config.causal, dict(e.config.masks), id(e.config.mask), e.n_items
