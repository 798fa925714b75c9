"""The statistics lens: statistics of every row of weights, by head, and the range of every stage, as tables."""

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSize, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from attnlab.attention.measures.statistics import WeightsStatistics, name_strongest, stage_summary, statistics_of
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.ui.playground.lenses.fitted_splitter import FittedSplitter
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

_MEASURES = (
    ("total", "sum", "Σ of the row’s weights"),
    ("entropy", "entropy", "Entropy of the row in nats: 0 if one key has all the weight"),
    ("effective", "effective", "Effective tokens: the exponential of the entropy"),
    ("largest", "largest", "The largest weight of the row"),
    ("distance", "distance", "Mean distance in tokens to the keys: Σ w·|i − j| ÷ Σ w"),
)

PAGE_PX = 44
"""The margins of the page and the width of its scroll bar."""


class StatisticsLens(Lens):
    """Two tables: the rows of weights (or means of heads), and the stages; activating a row selects a cell."""

    name = "statistics"
    title = "Statistics"
    about = "Every row of weights in numbers, to sort and copy"
    tab_order = 10
    is_explained = False

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._trace: Trace | None = None
        self._view: View | None = None
        self._targets: list[Cell] = []
        self._looks = {"rows": TabButton("Rows"), "heads": TabButton("Heads")}
        self._looks["rows"].setToolTip("One line for each row of weights")
        self._looks["heads"].setToolTip("One line for each head: the mean of its rows")
        self._looks["rows"].setChecked(True)
        bar = QHBoxLayout()
        bar.setSpacing(4)
        for look in self._looks.values():
            look.setAccessibleName(f"Statistics of {look.text().lower()}")
            look.toggled.connect(self._on_look_toggled)
            bar.addWidget(look)
        bar.addStretch(1)
        self.rows, self.heads, self.stages = (NumberTable(t) for t in ("Rows of weights", "Means of heads", "Stages"))
        self.rows.view.setToolTip("Double-click a row or press Enter to have its largest weight explained")
        self.rows.row_activated.connect(self._on_row_activated)
        self.heads.hide()
        self.split = FittedSplitter(_stack(self.rows, self.heads), _stack(self.stages), self._measure)
        column = scrolling_column(self)
        column.setSpacing(8)
        column.addLayout(bar)
        column.addWidget(self.split, 1)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Describe another trace; order and selection are kept."""
        self._trace, self._view = trace, view
        self._refresh()

    def show_view(self, view: "View") -> None:
        """Describe another head."""
        other = self._view is None or self._view.head != view.head
        self._view = view
        if other:
            self._refresh()

    def suits(self, width: int) -> bool:
        """Whether the rows of all tables have one line in a width in pixels; that of heads is never the widest."""
        return width >= max(self.rows.measure_width(), self.stages.measure_width()) + PAGE_PX

    def _refresh(self) -> None:
        if self._trace is None or self._view is None:
            return
        if self._looks["heads"].isChecked():
            self._show_heads(self._trace)
        else:
            self._show_rows(self._trace, self._view.head)
        self._show_stages(self._trace, self._view.head)

    def _measure(self) -> tuple[QSize, QSize]:
        """Return the sizes with which the visible tables show all their rows."""
        tables = self.heads if self._looks["heads"].isChecked() else self.rows, self.stages
        first, second = (QSize(table.measure_width(), table.measure_height()) for table in tables)
        return first, second

    def _show_rows(self, trace: "Trace", head: int | str) -> None:
        e, s = trace.experiment, statistics_of(trace, "weights", head)
        heads: list[int | None]
        heads = [head] if isinstance(head, int) else list(range(e.n_heads)) if head == "all" else [None]
        strongest = s.strongest.ravel().tolist()
        places = [(h, query) for h in heads for query in range(e.T_q)]
        self._targets = [
            Cell("weights", query, max(key, 0), h if isinstance(h, int) else None)
            for (h, query), key in zip(places, strongest, strict=True)
        ]
        tied = s.tied.ravel().tolist()
        targets = [name_strongest(e.key_tokens, key, ties) for key, ties in zip(strongest, tied, strict=True)]
        columns = [
            Column("head", ["mean"] * e.T_q) if head == "mean" else _head_column(np.array([h for h, _ in places])),
            Column("query", [e.tokens[query] or "∅" for _, query in places], about="The token of the query"),
        ]
        columns += _make_columns(s)
        columns.insert(6, Column("strongest", targets, about="The token with the largest weight"))
        self.rows.set_columns(columns, places)

    def _show_heads(self, trace: "Trace") -> None:
        s = statistics_of(trace, "weights", "all")
        heads = np.arange(trace.experiment.n_heads)
        means = [
            Column(title, s.mean(name), number, f"{about}; mean of the rows that are not wholly masked")
            for name, title, about in _MEASURES
        ]
        self.heads.set_columns([_head_column(heads), *means])

    def _show_stages(self, trace: "Trace", head: int | str) -> None:
        found = [stage_summary(trace, name, head) for name in trace.all_stages]
        self.stages.set_columns(
            [
                Column("stage", [trace.stage(name).title for name in trace.all_stages]),
                Column("shape", ["×".join(map(str, s.shape)) for s in found], about="Heads, rows and columns"),
                Column("smallest", np.array([s.smallest for s in found]), number, "The smallest finite number"),
                Column("largest", np.array([s.largest for s in found]), number, "The largest finite number"),
                Column("mean", np.array([s.mean for s in found]), number, "The mean of the finite numbers"),
                Column("NaN", np.array([s.nans for s in found]), _count, "How many numbers are NaN"),
                Column(
                    "∞",
                    np.array([s.infinities for s in found]),
                    _count,
                    "How many are infinite, without the masked ones",
                ),
            ],
            trace.all_stages,
        )

    @Slot(bool)
    def _on_look_toggled(self, on: bool) -> None:
        if on:
            heads = self._looks["heads"].isChecked()
            self.rows.setVisible(not heads)
            self.heads.setVisible(heads)
            self._refresh()

    @Slot(int)
    def _on_row_activated(self, row: int) -> None:
        self.cell_clicked.emit(self._targets[row])


def _make_columns(s: WeightsStatistics) -> list[Column]:
    return [Column(title, getattr(s, name).ravel(), number, about) for name, title, about in _MEASURES]


def _head_column(heads: "NDArray[np.integer]") -> Column:
    return Column("head", heads, _count, "Heads count from 0")


def _count(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.0f}"


def _stack(*tables: NumberTable) -> QVBoxLayout:
    column = QVBoxLayout()
    for table in tables:
        column.addWidget(table)
    return column
