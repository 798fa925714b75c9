"""The bars of a row of weights; some may not be computed yet."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent

from attnlab.attention.stages.arithmetic import DECIMALS, number
from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.line_pen import find_pen
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.tip_beside import show_beside


@guarded
class RowBars(BarList):
    """Shows a bar for each key; a key not computed yet has no bar, and a question mark for its number."""

    type_role, strong_role = "map", "map_strong"
    _unknown: Sequence[bool] = ()
    _parts: Sequence[float] = ()
    _decimals = DECIMALS

    def set_parts(self, parts: Sequence[float], decimals: int) -> None:
        """Show numbers beside the labels: those whose share of their sum is the weight; none for an empty row.

        They hold for the next ``set_row``.
        """
        self._parts, self._decimals = parts, decimals

    def find_parts_end(self) -> int:
        """Return where the column of the parts ends, in pixels from the left of the list."""
        label, _, gap = self._columns()
        return label + gap + self.measure_notes()

    def measure_notes(self) -> int:
        """Return the width of the parts and of their sum, which stands below them."""
        total = number(float(sum(self._parts)), self._decimals) if self._parts else ""
        return max(super().measure_notes(), math.ceil(find_pen(self.strong_role).measure(total)))

    def _columns(self) -> tuple[int, int, int]:
        """Return the widths of the labels, below which stands “sum”, of the values and of the gap."""
        labels, values, gap = super()._columns()
        return max(labels, math.ceil(find_pen(self.strong_role).measure("sum")) + 2), values, gap

    def _row_height(self) -> int:
        return px(20)

    def note_text(self, index: int) -> str:
        if index >= len(self._parts) or self._masked[index]:
            return ""
        return number(float(self._parts[index]), self._decimals)

    def set_row(
        self,
        labels: Sequence[str],
        values: Sequence[float],
        masked: Sequence[bool],
        unknown: Sequence[bool],
        current: int | None,
        title: str,
    ) -> None:
        """Show a row; masked keys are known to be masked, computed or not."""
        self._unknown = [hidden and not out for hidden, out in zip(unknown, masked, strict=True)]
        shown = [float("nan") if hidden else value for hidden, value in zip(self._unknown, values, strict=True)]
        self.set_bars(labels, shown, masked, current, title)

    def row_text(self, index: int) -> str:
        return "?" if self._unknown[index] else super().row_text(index)

    def speak_value(self, index: int) -> str:
        part = self.note_text(index)
        said = "not shown yet" if self._unknown[index] else super().speak_value(index)
        return f"{speak_text(part)}, weight {said}" if part else said

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = self.item_at(event.pos())
            if row is not None and self._unknown[row]:
                show_beside("not computed yet", self.viewport(), self.row_rect(row))
                return True
        return super().viewportEvent(event)
