"""The arrows lens: tokens, queries, keys and values as arrows in a plane, which can be dragged."""

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout

from attnlab.attention.edits import vector_edits
from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.planes import Plane, describe_shown, measure_shown
from attnlab.attention.stages.explanation import Cell
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.late import Late
from attnlab.ui.base.theme import px
from attnlab.ui.playground.input_tables import title
from attnlab.ui.playground.lenses import arrows_content as content
from attnlab.ui.playground.lenses.arrows_controls import ArrowControls
from attnlab.ui.playground.lenses.arrows_words import (
    describe_context,
    describe_drag,
    describe_head,
    describe_score,
    list_projections,
    name_tokens,
)
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.widgets.arrows.arrow_plane import ArrowPlane
from attnlab.ui.widgets.matrix.matrix_gestures import ARROW
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

BESIDE = 620
"""From this width in pixels, at 100 %, the two planes stand side by side."""


@guarded
class ArrowsLens(Lens):
    """Shows queries and keys, or the tokens, in one plane, and the values with the context in another."""

    name = "arrows"
    title = "Arrows"
    about = "Tokens, queries, keys and values as arrows; a score is a projection, the context a mixture of values"
    tab_order = 5

    def __init__(self, run: Runner, parent: Any = None) -> None:
        super().__init__(run, parent)
        self._trace: Trace | None = None
        self._view: View | None = None
        self._head: int | None = None
        self._planes: dict[ArrowPlane, Plane] = {}
        self._gesture: tuple[int, Plane, list[Experiment]] | None = None
        self.controls = ArrowControls()
        self.controls.changed.connect(self._on_choice_changed)
        self.plane, self.values = ArrowPlane("Queries and keys"), ArrowPlane("Values and context")
        for plane in (self.plane, self.values):
            plane.arrow_chosen.connect(self._on_arrow_chosen)
            plane.arrow_moved.connect(self._on_arrow_moved)
            plane.move_ended.connect(self._on_move_ended)
        self.head, self.coverage, self.score = (
            sentence_label(role="title"),
            sentence_label(role="muted"),
            sentence_label(),
        )
        self.values_shown, self.context, self.drag = sentence_label(role="muted"), sentence_label(), sentence_label()
        self.drag.setProperty("role", "muted")
        self.table = NumberTable("Keys along the held query")
        self.table.row_activated.connect(self._on_row_activated)
        self._late = Late(self._tell, self)  # sentences and the table take longer than the arrows
        self._lay_out()

    def _lay_out(self) -> None:
        column = scrolling_column(self)
        column.addWidget(self.controls)
        column.addWidget(self.drag)
        left, right = Card(), Card()
        for card, parts in (
            (left, (self.head, self.coverage, self.plane, self.score)),
            (right, (sentence_label("Values and context", "title"), self.values_shown, self.values, self.context)),
        ):
            for part in parts:
                card.column.addWidget(part, int(isinstance(part, ArrowPlane)))
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        self._row.addWidget(left, 10)
        self._row.addWidget(right, 8)
        column.addLayout(self._row, 1)
        below = Card()
        below.column.addWidget(self.table)
        column.addWidget(below)

    def turn_to(self, stage: str) -> None:
        self.controls.draw("inputs" if stage in ("inputs", "memory") else "pairs")

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self._trace, self._view = trace, view
        if not self._is_dragged:
            self.controls.fit(trace.experiment)
        self._refresh()

    def show_view(self, view: "View") -> None:
        self._view = view
        self._refresh()

    @Slot()
    def _on_choice_changed(self) -> None:
        self._refresh(moving=True)

    @property
    def _is_dragged(self) -> bool:
        return self.plane.dragging or self.values.dragging

    def _refresh(self, *, moving: bool = False) -> None:
        """Show the arrows, which travel to those of another head, then the rest, which follows a drag late."""
        if self._trace is None or self._view is None:
            return
        trace, held = self._trace, content.find_held(self._trace, self._view)
        moving = moving or (self._head is not None and held.head != self._head)
        self._head = held.head
        if content.find_unusable(trace, held):
            self.plane.show_arrows(None)
            self.values.show_arrows(None)
        else:
            self._show_pairs(trace, held, moving=moving)
            self._show_values(trace, held, moving=moving)
        self._late.ask(late=self._is_dragged)

    @Slot()
    def _tell(self) -> None:
        """Show the sentences and the table, or why nothing can be drawn."""
        assert self._trace is not None
        assert self._view is not None
        trace, held = self._trace, content.find_held(self._trace, self._view)
        self.head.setText(self._name_plane(trace, held))
        bad = content.find_unusable(trace, held)
        for part in (self.plane, self.values, self.score, self.context, self.table, self.values_shown):
            part.setEnabled(not bad)
        self.table.setVisible(not bad)
        if bad:
            show_text(self.coverage, bad)
            for label in (self.score, self.context, self.values_shown, self.drag):
                label.setText("")
            return
        stages, drawn = content.find_stages(trace, self.controls.choices), self.controls.drawn
        for label, widget, vectors in (
            (self.coverage, self.plane, self._find_vectors(trace, held)),
            (self.values_shown, self.values, trace.array("values")[held.head].astype(np.float64)),
        ):
            label.setText(describe_shown(measure_shown(vectors, self._planes[widget])))
        if drawn == "pairs":
            self.coverage.setText(self.coverage.text() + describe_head(trace, held))
        data = self.plane.data
        projected = None if drawn == "inputs" or data is None else data.projection is not None
        known = self._is_known(trace, held)
        self.score.setText(describe_score(trace, held, stages, projected=projected, known=known))
        self.context.setText(describe_context(trace, held, known=self._is_mixed(trace, held)))
        self.table.set_columns(list_projections(trace, held, stages, self._view))
        self.drag.setText(describe_drag(trace, drawn, self.controls.follows))

    def _name_plane(self, trace: "Trace", held: content.Held) -> str:
        head = f", head {held.head}" if trace.experiment.n_heads > 1 else ""
        if self.controls.drawn == "inputs":
            return name_tokens(trace.experiment)
        return f"Queries and keys{head}: d_k = {trace.experiment.d_k}"

    def _find_vectors(self, trace: "Trace", held: content.Held) -> content.Floats:
        """Return the vectors of the first plane: the tokens, or the queries and then the keys."""
        if self.controls.drawn == "inputs":
            return content.stack_tokens(trace)
        stages = content.find_stages(trace, self.controls.choices)
        return np.concatenate([trace.array(name)[held.head].astype(np.float64) for name in stages])

    def _show_pairs(self, trace: "Trace", held: content.Held, *, moving: bool) -> None:
        vectors, choices = self._find_vectors(trace, held), self.controls.choices
        if self.controls.drawn == "inputs":
            plane = self._hold(self.plane, content.choose_plane(choices, vectors))
            data = content.make_tokens_data(trace, held, plane)
        else:
            queries, keys = np.split(vectors, [trace.experiment.T_q])
            scores = trace.array("scores")[held.head, held.query]
            best = keys[content.find_best_keys(scores, content.find_hidden(trace, held.query))]
            plane = self._hold(self.plane, content.choose_plane(choices, vectors, queries[held.query], best))
            stages = content.find_stages(trace, choices)
            data = content.make_pairs_data(
                trace, held, stages, plane, movable=can_move(trace), known=self._is_known(trace, held)
            )
        self.plane.show_arrows(data, moving=moving)

    def _show_values(self, trace: "Trace", held: content.Held, *, moving: bool) -> None:
        vectors = trace.array("values")[held.head].astype(np.float64)
        plane = self._hold(self.values, content.choose_plane(self.controls.choices, vectors))
        data = content.make_values_data(trace, held, plane, mixed=self._is_mixed(trace, held))
        self.values.show_arrows(data, moving=moving)

    def _is_known(self, trace: "Trace", held: content.Held) -> bool:
        """Return whether the walk has reached the held score."""
        return self._view is None or not content.find_unknown(trace, self._view, "scores", held.query)[held.key]

    def _is_mixed(self, trace: "Trace", held: content.Held) -> bool:
        """Return whether the walk has reached the context of the held query."""
        return self._view is None or not content.find_unknown(trace, self._view, "context", held.query).any()

    def _hold(self, widget: ArrowPlane, plane: Plane) -> Plane:
        """Keep a plane while a tip is dragged in it: one that follows its arrows would turn under the pointer."""
        kept = self._planes.get(widget)
        if widget.dragging and kept is not None and kept.axes.shape == plane.axes.shape:
            return kept
        self._planes[widget] = plane
        return plane

    @Slot(object)
    def _on_arrow_chosen(self, key: object) -> None:
        if self._trace is None or self._view is None or not isinstance(key, tuple):
            return
        held, (kind, row) = content.find_held(self._trace, self._view), key
        query, pair = (row, held.key) if kind in ("inputs", "queries") else (held.query, row)
        self._choose(Cell("scores", query, pair, held.head))

    def _choose(self, cell: Cell) -> None:
        """Select a cell; a click on the selected one would let it go."""
        if self._view is not None and not (self._view.pinned and self._view.cell == cell):
            self.cell_clicked.emit(cell)

    @Slot(int)
    def _on_row_activated(self, row: int) -> None:
        if self._trace is not None and self._view is not None:
            held = content.find_held(self._trace, self._view)
            self._choose(Cell("scores", held.query, row, held.head))

    @Slot(object, float, float, int)
    def _on_arrow_moved(self, key: object, across: float, up: float, gesture: int) -> None:
        widget = self.sender()
        if self._trace is None or self._view is None or not isinstance(widget, ArrowPlane):
            return
        if not isinstance(key, tuple) or widget not in self._planes:
            return
        if self._gesture is None or self._gesture[0] != gesture:
            self._gesture = gesture, self._planes[widget], []
        _, plane, began = self._gesture
        kind, row = key
        head = content.find_held(self._trace, self._view).head
        follows, rotated = self.controls.follows, self._is_rotated(kind)
        step = plane.lift(np.array([across, up]))

        def change(e: "Experiment") -> "Experiment":
            if not began:
                began.append(e)  # a drag moves the tip from where it was when the drag began
            moved = vector_edits.undo_rotation(began[0], kind, row, step) if rotated else step
            if kind in ("inputs", "memory"):
                name = vector_edits.find_table(e, kind)
                return vector_edits.move_token(began[0], name, row, moved[: table(e, name).shape[1]])
            move = vector_edits.move_by_matrix if follows == "matrix" else vector_edits.move_by_token
            return move(began[0], kind, head, row, moved)

        matrix = kind in vector_edits.MATRIX_OF and follows == "matrix"
        e = self._trace.experiment
        label = f"Drag {vector_edits.MATRIX_OF[kind] if matrix else title(vector_edits.find_table(e, kind))}"
        self.gesture_requested.emit(label, change, (ARROW, gesture))

    def _is_rotated(self, kind: str) -> bool:
        if self._trace is None or kind not in ("queries", "keys"):
            return False
        return content.find_stages(self._trace, self.controls.choices)[0] == "rotated_queries"

    @Slot()
    def _on_move_ended(self) -> None:
        self._gesture = None
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= px(BESIDE)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)


def can_move(trace: "Trace") -> bool:
    """Return whether queries and keys can be dragged: a norm cannot be undone."""
    return trace.experiment.config.qk_norm == "none"
