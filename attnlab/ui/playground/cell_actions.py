"""What a cell of a map offers on the canvas: lenses that tell why it is what it is, and a goal for its weight."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Slot
from PySide6.QtWidgets import QMenu, QToolTip

from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.ui.base.theme import plain_tip

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.ui.playground.lens_area import LensArea
    from attnlab.ui.playground.view_control import ViewControl

ENTRIES = (
    ("goal", "Set a goal for this weight"),
    ("sensitivity", "See what moves this weight"),
    ("contributions", "See where its score comes from"),
    ("arrows", "Show its query and key as arrows"),
)
"""The lenses that a menu offers, and the words for each."""


class CellActions(QObject):
    """Opens a lens for a cell of the canvas, and turns a drag of a weight into a goal."""

    def __init__(self, lenses: "LensArea", control: "ViewControl", find_trace: "Callable[[], Trace | None]") -> None:
        super().__init__(lenses)
        self._lenses, self._control, self._find_trace = lenses, control, find_trace
        lenses.canvas.weight_dragged.connect(self._on_weight_dragged)
        lenses.canvas.weight_dropped.connect(self._on_weight_dropped)

    def fill_menu(self, menu: QMenu, cell: Cell | None) -> None:
        """Add the lenses for a cell of a head's map to a menu, and a line below them."""
        if cell is None or cell.head is None or not BY_NAME[cell.stage].is_map:
            return
        for lens, words in ENTRIES:
            menu.addAction(words).triggered.connect(partial(self._on_lens_chosen, lens, cell))
        menu.addSeparator()

    def _on_lens_chosen(self, lens: str, cell: Cell, _checked: bool = False) -> None:
        self._open(lens, cell)

    def _open(self, lens: str, cell: Cell) -> None:
        """Hold the weight of a cell's query and key, and show it in a lens."""
        self._control.hold_cell(Cell("weights", cell.row, cell.column, cell.head))
        self._lenses.open_lens(lens)

    @Slot(object, float, QPoint)
    def _on_weight_dragged(self, cell: Cell, wanted: float, at: QPoint) -> None:
        """Show beside the pointer what the weight is and what it would become."""
        self._control.hold_cell(cell)
        trace = self._find_trace()
        if trace is None or cell.head is None:
            return
        e, now = trace.experiment, float(trace.array("weights")[cell.head, cell.row, cell.column])
        pair = f"“{e.tokens[cell.row] or '∅'}” → “{e.key_tokens[cell.column] or '∅'}”"
        QToolTip.showText(at, plain_tip(f"{pair}: {number(now)}, wanted {wanted:.3f}"), self._lenses.canvas)

    @Slot(object, float)
    def _on_weight_dropped(self, cell: Cell, wanted: float) -> None:
        """Search for the change that makes the weight so, in the goal lens."""
        from attnlab.ui.playground.lenses.goal_lens import GoalLens  # loaded when it is first opened

        QToolTip.hideText()
        self._open("goal", cell)
        lens = self._lenses.stack.currentWidget()
        assert isinstance(lens, GoalLens)
        lens.seek(cell, wanted)
