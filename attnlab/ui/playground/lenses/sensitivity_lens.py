"""The sensitivity lens: how much every weight moves with one number, and which numbers move the held weight most."""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QWidget

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.sensitivity import Number, list_tables
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.tab_order import move_tab_stops
from attnlab.ui.base.theme import px
from attnlab.ui.playground.input_tables import row_labels, title
from attnlab.ui.playground.lenses.arrows_content import Held, find_held
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_map import number_alike
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.playground.lenses.sensitivity_found import (
    STEP,
    Found,
    describe_causes,
    describe_check,
    describe_effects,
    find_sensitivity,
    fits,
    write_place,
)
from attnlab.ui.playground.lenses.sensitivity_maps import DerivativeMap
from attnlab.ui.playground.lenses.table_maps import TableMap, lay_out_tables
from attnlab.ui.widgets.layouts.side_by_side import LEAST_WIDTH
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


@guarded
class _Cards(QWidget):
    """The tables with the list below them, beside the maps of the weights; or all below one another, the list last."""

    def __init__(self, tables: QWidget, moved: QWidget, listed: QWidget) -> None:
        super().__init__()
        self._cards, self._wide = (tables, moved, listed), False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._place(True)

    def _place(self, wide: bool) -> None:
        if wide == self._wide:
            return
        self._wide = wide
        tables, moved, listed = self._cards
        self._grid.addWidget(tables, 0, 0)
        self._grid.addWidget(moved, *((0, 1, 2, 1) if wide else (1, 0)))
        self._grid.addWidget(listed, *((1, 0) if wide else (2, 0)))
        for place in (0, 1):
            self._grid.setColumnStretch(place, int(wide or place == 0))
        self._grid.setRowStretch(0, 1)

    def minimumSizeHint(self) -> QSize:
        # one card has to fit, or the page would never be narrower than two
        return QSize(max(card.minimumSizeHint().width() for card in self._cards), self._grid.minimumSize().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place(event.size().width() >= px(LEAST_WIDTH))


@guarded
class SensitivityLens(Lens):
    """Shows exact derivatives: pointing at a number tints the weights, and the held weight tints the tables."""

    name = "sensitivity"
    title = "Sensitivity"
    about = "How much each weight moves with a number of X, W_q, W_k or W_v, and which numbers move the held weight"
    tab_order = 28

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._of: tuple[Trace, View] | None = None
        self._head = 0
        self._asked: tuple[Held, Number | None] | None = None
        self._found: Found | None = None
        self.chosen: Number | None = None
        """The number that was clicked; None for the one that moves the held weight most."""
        self.pointed: Number | None = None
        """The number under the pointer, shown as long as it is pointed at."""
        self.problem = sentence_label(role="strong")
        self.problem.setAccessibleName("Why there are no derivatives")
        self.effects_text, self.causes_text = sentence_label(), sentence_label()
        self.check = sentence_label(role="muted")
        self.effects = DerivativeMap("", "derivative of the weight")
        self.heads = DerivativeMap("every head", "derivative of the weight, head")
        self.heads.hide()  # until there are several heads
        self.effects.cell_chosen.connect(self._on_weight_chosen)
        self.heads.cell_chosen.connect(self._on_weight_chosen)
        self.tables: dict[str, TableMap] = {}
        self._maps: QWidget | None = None
        self.largest = NumberTable("The numbers that move it most")
        self.largest.row_activated.connect(self._on_row_activated)
        self._tables_card = Card()
        self._lay_out()

    def _lay_out(self) -> None:
        column = scrolling_column(self)
        moved, listed = Card(), Card()
        moved.column.addWidget(sentence_label("What the number moves", "title"))
        moved.column.addWidget(self.effects_text)
        moved.column.addWidget(self.check)
        moved.column.addSpacing(px(8))
        moved.column.addWidget(self.effects, 1)
        moved.column.addWidget(self.heads, 1)
        listed.column.addWidget(self.largest)
        about = "Each cell is d weight ÷ d number. Point at one to see what it moves; click to hold or release it."
        for text in (sentence_label("What moves the held weight", "title"), self.causes_text):
            self._tables_card.column.addWidget(text)
        self._tables_card.column.addWidget(sentence_label(about, "muted"))
        self._tables_card.column.addSpacing(px(8))
        self._listed, self._body = listed, _Cards(self._tables_card, moved, listed)
        column.addWidget(self.problem)
        column.addWidget(self._body, 1)
        column.addStretch(0)  # without a body the problem stays above
        self._set_usable("Computing the derivatives …")

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self._of, self._asked, self.pointed = (trace, view), None, None
        if self.chosen is not None and not fits(trace.experiment, self.chosen):
            self.chosen = None
        self._ask()

    def show_view(self, view: "View") -> None:
        if self._of is not None:
            self._of = self._of[0], view
            self._ask()

    def on_result(self, key: Hashable, result: Any) -> None:
        if key == self._asked and isinstance(result, Found):
            self._show(result)

    def on_failed(self, key: Hashable, sentence: str) -> None:
        if key == self._asked:
            self._set_usable(sentence)

    def _ask(self) -> None:
        """Ask for the held weight and the number, unless they are shown already."""
        assert self._of is not None
        trace, view = self._of
        asked = find_held(trace, view), self.pointed or self.chosen
        if asked != self._asked:
            self._asked = asked
            self.ask(asked, partial(find_sensitivity, trace, *asked), latest="sensitivity")

    def _set_usable(self, problem: str) -> None:
        show_text(self.problem, problem)
        self.problem.setVisible(bool(problem))
        self._body.setVisible(not problem)

    def _show(self, found: Found) -> None:
        assert self._of is not None
        self._set_usable("")
        self._found = found
        show_text(self.effects_text, describe_effects(found))
        self.check.setText(describe_check(found))
        self.causes_text.setText(describe_causes(found))
        self._show_effects(found, self._of[0])
        self._show_largest(found)
        self._show_tables(found)

    def _show_effects(self, found: Found, trace: "Trace") -> None:
        """Show one head large, the held one if the number moves it, and all heads below it."""
        e, masked = found.experiment, trace.find_shown_mask("weights")
        self._head = found.shown_head
        self.effects.set_title(f"head {self._head}" if e.n_heads > 1 else "")
        self.effects.leaves_height = e.n_heads > 1
        self.effects.show_derivatives(found.effects[[self._head]], e.tokens, e.key_tokens, masked)
        self.heads.setVisible(e.n_heads > 1)
        if e.n_heads > 1:
            self.heads.show_derivatives(found.effects, e.tokens, e.key_tokens, masked)

    def _show_largest(self, found: Found) -> None:
        e, largest = found.experiment, found.largest
        values = np.array([float(table(e, at.table)[at.row, at.column]) for at, _ in largest])
        slopes = np.array([each for _, each in largest])
        places = [write_place(at) for at, _ in largest]
        self.largest.setVisible(bool(largest))
        self.largest.set_columns(
            [
                Column("number", places, about="Table, row and column, counted from 0", is_whole=True),
                Column("value", values, number),
                Column("derivative", slopes, number, "How fast the weight moves with it"),
                Column(f"for + {STEP}", slopes * STEP, _write_small, "What the weight gains"),
            ],
            [(at.table, at.row, at.column) for at, _ in largest],
        )
        self.largest.keep_to_rows(max(len(largest), 1))
        self._listed.setVisible(bool(largest))

    def _show_tables(self, found: Found) -> None:
        e, names = found.experiment, list_tables(found.experiment)
        if tuple(self.tables) != names:
            self._make_tables(names)
        for name, figure in self.tables.items():
            columns = found.list_columns(name)
            causes = found.causes[name][:, columns.start : columns.stop]
            figure.show_derivatives(causes[None], row_labels(e, name), [str(column) for column in columns])

    def _make_tables(self, names: tuple[str, ...]) -> None:
        """Make a map for each table."""
        if self._maps is not None:
            self._tables_card.column.removeWidget(self._maps)
            self._maps.deleteLater()
        self.tables = {name: TableMap(title(name), f"derivative with respect to {title(name)}") for name in names}
        for name, figure in self.tables.items():
            figure.cell_pointed.connect(partial(self._on_number_pointed, name))
            figure.cell_chosen.connect(partial(self._on_number_chosen, name))
        self._maps = lay_out_tables(self.tables.values())
        self._tables_card.column.addWidget(self._maps, 1)
        page = self.findChild(QScrollArea)
        assert page is not None
        move_tab_stops(self._maps, after=page)
        number_alike((self.effects, self.heads, *self.tables.values()))

    def _on_number_pointed(self, name: str, cell: object) -> None:
        self.pointed = self._find_number(name, cell) if isinstance(cell, tuple) else None
        self._ask()

    def _on_number_chosen(self, name: str, cell: object) -> None:
        if isinstance(cell, tuple):
            chosen = self._find_number(name, cell)
            self.chosen = None if chosen == self.chosen else chosen
            self._ask()

    def _find_number(self, name: str, cell: tuple[int, int, int]) -> Number:
        assert self._found is not None
        return Number(name, cell[1], self._found.list_columns(name)[cell[2]])

    @Slot(object)
    def _on_weight_chosen(self, cell: object) -> None:
        if isinstance(cell, tuple) and self._of is not None:
            head, query, key = cell
            head = self._head if self.sender() is self.effects else head
            wanted, view = Cell("weights", query, key, head), self._of[1]
            if not (view.pinned and view.cell == wanted):  # another click would let it go
                self.cell_clicked.emit(wanted)

    @Slot(int)
    def _on_row_activated(self, row: int) -> None:
        if self._found is not None and row < len(self._found.largest):
            self.chosen = self._found.largest[row][0]
            self._ask()


def _write_small(value: float) -> str:
    return number(value, 6)
