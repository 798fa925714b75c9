"""The pill that stands for the switches without room in the bar: its list names them, with their values."""

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QWidget

from attnlab.ui.widgets.fields.pill import Choice, Pill


class MorePill(Pill):
    """Lists the pills that ``list_left_out`` returns; the popup of the chosen one opens below this pill."""

    def __init__(self, list_left_out: Callable[[], Iterable[QWidget]], parent: QWidget) -> None:
        super().__init__("", parent, name="Other settings")
        self._list_left_out = list_left_out
        self.set_text("More")
        self.setToolTip("The settings of the layer that have no room in the bar")
        self.chosen.connect(self._on_pill_chosen)

    def open(self) -> None:
        """List the pills as they are now."""
        pills = [pill for pill in self._list_left_out() if isinstance(pill, Pill)]
        self.set_choices([Choice(pill, f"{pill.label}: {pill.value_text()}", pill.toolTip()) for pill in pills])
        super().open()

    def _on_pill_chosen(self, pill: object) -> None:
        if isinstance(pill, Pill):
            pill.open()
