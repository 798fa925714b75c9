"""The bars of a row of weights; some may not be computed yet."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtGui import QHelpEvent

from attnlab.ui.base.guard import guarded
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.tip_beside import show_beside


@guarded
class RowBars(BarList):
    """Shows a bar for each key; a key not computed yet has no bar, and a question mark for its number."""

    _unknown: Sequence[bool] = ()

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
        return "not shown yet" if self._unknown[index] else super().speak_value(index)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            row = self.item_at(event.pos())
            if row is not None and self._unknown[row]:
                show_beside("not computed yet", self.viewport(), self.row_rect(row))
                return True
        return super().viewportEvent(event)
