"""The sensitivity lens: how much every weight moves with one number, and which numbers move the held weight most."""

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.sensitivity import Number, list_tables
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.theme import px
from attnlab.ui.playground.input_tables import row_labels, title
from attnlab.ui.playground.lenses.arrows_content import Held, find_held
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_map import MapRow
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
from attnlab.ui.playground.lenses.sensitivity_maps import DerivativeMap, is_wide
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


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
        self.problem.setAccessibleName("Why there is no sensitivity")
        self.problem.hide()
        self.effects_text, self.causes_text = sentence_label(), sentence_label()
        self.check = sentence_label(role="muted")
        self.effects = DerivativeMap("", "derivative of the weight")
        self.heads = DerivativeMap("every head", "derivative of the weight, head")
        self.effects.cell_chosen.connect(self._on_weight_chosen)
        self.heads.cell_chosen.connect(self._on_weight_chosen)
        self.tables: dict[str, DerivativeMap] = {}
        self._wide: tuple[str, ...] = ()
        self.largest = NumberTable("The numbers that move it most")
        self.largest.row_activated.connect(self._on_row_activated)
        self._tables_card = Card()
        self._rows: list[MapRow] = []
        self._lay_out()

    def _lay_out(self) -> None:
        column = scrolling_column(self)
        moved, listed = Card(), Card()
        moved.column.addWidget(sentence_label("What the number moves", "title"))
        moved.column.addWidget(self.effects_text)
        moved.column.addSpacing(px(8))
        for shown in (self.effects, self.heads, self.check):
            moved.column.addWidget(shown)
        moved.column.addStretch(1)
        listed.column.addWidget(self.largest)
        about = "Each cell is d weight ÷ d number. Point at one to see what it moves; click keeps it, or lets it go."
        for text in (sentence_label("What moves the held weight", "title"), self.causes_text):
            self._tables_card.column.addWidget(text)
        self._tables_card.column.addWidget(sentence_label(about, "muted"))
        self._tables_card.column.addSpacing(px(8))
        self._body = [SideBySide(self._tables_card, moved), listed]
        column.addWidget(self.problem)
        for part in self._body:
            column.addWidget(part)
        column.addStretch(1)

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
        for part in self._body:
            part.setVisible(not problem)

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
        self.effects.show_derivatives(found.effects[[self._head]], e.tokens, e.key_tokens, masked)
        self.heads.setVisible(e.n_heads > 1)
        if e.n_heads > 1:
            self.heads.show_derivatives(found.effects, e.tokens, e.key_tokens, masked)

    def _show_largest(self, found: Found) -> None:
        e, largest = found.experiment, found.largest
        values = np.array([float(table(e, at.table)[at.row, at.column]) for at, _ in largest])
        slopes = np.array([each for _, each in largest])
        self.largest.setVisible(bool(largest))
        self.largest.set_columns(
            [
                Column("number", [write_place(at) for at, _ in largest], about="Table, row and column, counted from 0"),
                Column("value", values, number),
                Column("derivative", slopes, number, "How fast the weight moves with it"),
                Column(f"for + {STEP}", slopes * STEP, _write_small, "What the weight gains"),
            ],
            [(at.table, at.row, at.column) for at, _ in largest],
        )
        self.largest.keep_to_rows(max(len(largest), 1))

    def _show_tables(self, found: Found) -> None:
        e, held = found.experiment, list_tables(found.experiment)
        wide = tuple(name for name in held if is_wide(len(found.causes[name]), len(found.list_columns(name))))
        if (tuple(self.tables), self._wide) != (held, wide):
            self._make_tables(held, wide)
        for name, figure in self.tables.items():
            columns = found.list_columns(name)
            causes = found.causes[name][:, columns.start : columns.stop]
            figure.show_derivatives(causes[None], row_labels(e, name), [str(column) for column in columns])

    def _make_tables(self, names: tuple[str, ...], wide: tuple[str, ...]) -> None:
        """Make a map for each table: those with many columns one below the other, then the others in a row."""
        for row in self._rows:
            self._tables_card.column.removeWidget(row)
            row.deleteLater()
        self._wide = wide
        self.tables = {name: DerivativeMap(title(name), f"derivative with respect to {title(name)}") for name in names}
        for name, figure in self.tables.items():
            figure.cell_pointed.connect(partial(self._on_number_pointed, name))
            figure.cell_chosen.connect(partial(self._on_number_chosen, name))
        beside = [figure for name, figure in self.tables.items() if name not in wide]
        self._rows = [MapRow(figures) for figures in (*([self.tables[name]] for name in wide), beside) if figures]
        for row in self._rows[:-1]:
            self._tables_card.column.addWidget(row)
        self._tables_card.column.addWidget(self._rows[-1], 1)

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
