"""The contributions lens: the table of products that sum to the held score, its matrices, and one number of output."""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages.explain import Cell
from attnlab.ui.base.announcing import show_text
from attnlab.ui.playground.example_cell import find_example_pair
from attnlab.ui.playground.lenses.contributions_cards import BlocksCard, MatricesRow, OutputCard, ScoreCard
from attnlab.ui.playground.lenses.contributions_found import Found, Pair, describe_sum, find_contributions
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_map import number_alike
from attnlab.ui.playground.lenses.positions_parts import Fields, sentence_label

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


class ContributionsLens(Lens):
    """Shows where the score of the held cell comes from; its boxes hold another cell."""

    name = "contributions"
    title = "Contributions"
    about = "The products of the two tokens’ numbers that sum to a score"
    tab_order = 27

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._of: tuple[Trace, View] | None = None
        self._asked: Pair | None = None
        self._column = 0
        self.fields = Fields()
        self.query = self.fields.add("query", "query i", "The position of the query, counted from 0", (0, 0), 0)
        self.key = self.fields.add("key", "key j", "The position of the key, counted from 0", (0, 0), 0)
        self.head = self.fields.add("head", "head", "The head, counted from 0", (0, 0), 0)
        self.sentence = sentence_label(role="strong")
        self.sentence.setAccessibleName("The sum of the contributions")
        self.score, self.blocks, self.output = ScoreCard(), BlocksCard(), OutputCard()
        self.matrices = MatricesRow()
        number_alike((self.score.map, self.blocks.map, self.output.map, *self.matrices.maps))
        column = scrolling_column(self)
        for widget in (self.fields, self.sentence, self.score, self.matrices, self.blocks, self.output):
            column.addWidget(widget)
        column.addStretch(1)
        self.fields.changed.connect(self._on_pair_changed)
        self.output.changed.connect(self._on_column_changed)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self._of, self._asked = (trace, view), None
        self._ask()

    def show_view(self, view: "View") -> None:
        if self._of is not None:
            self._of = self._of[0], view
            self._ask()

    def on_result(self, key: Hashable, result: Any) -> None:
        if key == self._asked and isinstance(result, Found):
            show_text(self.sentence, describe_sum(result))
            for card in (self.score, self.matrices, self.blocks, self.output):
                card.show_found(result)

    def on_failed(self, key: Hashable, sentence: str) -> None:
        show_text(self.sentence, sentence)

    def _ask(self) -> None:
        """Ask for the held pair, unless it is shown already."""
        assert self._of is not None
        pair = self._find_pair()
        if pair != self._asked:
            self._asked = pair
            self._show_pair(pair)
            self.ask(pair, partial(find_contributions, self._of[0], pair), latest="pair")

    def _find_pair(self) -> Pair:
        """Return the pair of the held cell, or that of the example."""
        assert self._of is not None
        trace, view = self._of
        e, cell = trace.experiment, view.cell if view.pinned else None
        head = view.head if isinstance(view.head, int) else 0
        if cell is not None and cell.head is not None:
            head = cell.head
        head = min(head, e.n_heads - 1)
        query, key = find_example_pair(trace, view)
        if cell is not None and cell.stage in trace and trace.stage(cell.stage).is_map:
            query, key = min(cell.row, e.T_q - 1), min(cell.column, e.T_k - 1)
        elif cell is not None and _has_query(trace, cell):
            query = min(cell.row, e.T_q - 1)
            key = int(trace.array("weights")[head, query].argmax())
        if cell is not None and cell.stage == "output":
            self._column = cell.column
        return Pair(head, query, key, min(self._column, e.d_out - 1))

    def _show_pair(self, pair: Pair) -> None:
        assert self._of is not None
        e = self._of[0].experiment
        boxes = (self.query, self.key, self.head, self.output.box)
        values = (pair.query, pair.key, pair.head, pair.column)
        for box, size, value in zip(boxes, (e.T_q, e.T_k, e.n_heads, e.d_out), values, strict=True):
            box.blockSignals(True)
            box.setRange(0, size - 1)
            box.setValue(value)
            box.blockSignals(False)

    @Slot()
    def _on_pair_changed(self) -> None:
        self.cell_clicked.emit(Cell("scores", self.query.value(), self.key.value(), self.head.value()))

    @Slot()
    def _on_column_changed(self) -> None:
        self._column = self.output.box.value()
        if self._of is not None:
            self._ask()


def _has_query(trace: "Trace", cell: Cell) -> bool:
    """Return whether the rows of a cell's stage are those of the queries."""
    return cell.stage in trace and trace.stage(cell.stage).axes[-2] in ("query", "token")
