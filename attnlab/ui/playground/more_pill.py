"""The pill that stands for the switches without room in the bar: its list names them, with their values."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from attnlab.ui.widgets.fields.pill import Choice, Pill


class MorePill(Pill):
    """Lists the pills that ``list_left_out`` returns; the popup of the chosen one opens below this pill.

    Its dot shows that one of them has a changed setting; its width does not depend on which they are.
    """

    _list_left_out: Callable[[], Iterable[QWidget]] = tuple

    def __init__(self, list_left_out: Callable[[], Iterable[QWidget]], parent: QWidget) -> None:
        super().__init__("", parent, name="Other settings")
        self._list_left_out = list_left_out
        self.set_text("More")
        self.setToolTip("The settings of the layer that have no room in the bar")
        self.chosen.connect(self._on_pill_chosen)

    def list_pills(self) -> list[Pill]:
        """Return the pills without room."""
        return [pill for pill in self._list_left_out() if isinstance(pill, Pill)]

    def list_changes(self) -> list[str]:
        """Return the changed settings of the pills without room."""
        return [f"{pill.label}: {change}" for pill in self.list_pills() for change in pill.list_changes()]

    @Slot()
    def refresh(self) -> None:
        """Show and tell which settings are changed."""
        self._describe()

    def open(self) -> None:
        """List the pills as they are now."""
        pills = self.list_pills()
        self.set_choices([Choice(pill, f"{pill.label}: {pill.value_text()}", pill.toolTip()) for pill in pills])
        super().open()

    def _has_dot_room(self) -> bool:
        return True

    def _on_pill_chosen(self, pill: object) -> None:
        if isinstance(pill, Pill):
            pill.open()
