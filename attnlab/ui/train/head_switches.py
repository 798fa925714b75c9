"""The heads that are off, in the run or only for looking, and what each head is worth."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from attnlab.training.heads_off import Place, read_heads
from attnlab.training.specs import RunSpec
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.maps_view import MapsView

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects


class HeadSwitches(QObject):
    """Switches the heads of a view's maps, and tells it which are off and what each is worth."""

    off_changed = Signal(object)
    """The heads that are off, only for looking: a frozenset of (layer, head)."""
    training_changed = Signal(str, int, bool)
    """The run is to go on without a head, or with it again: its layer, its number, and whether it is to be off."""

    def __init__(self, view: MapsView) -> None:
        super().__init__(view)
        self._view = view
        self._seen: Seen | None = None
        self._off, self._left_out = frozenset[Place](), frozenset[Place]()
        self._effects: tuple[HeadEffects, RunSpec] | None = None
        view.describe = self.describe_worth
        view.switch_requested.connect(self.toggle)
        view.training_requested.connect(self.request_training)

    def show_seen(self, seen: Seen) -> None:
        """Show which heads are off at a moment, once the view shows its maps; in another run none is for looking."""
        if self._off and self._seen is not None and self._seen.spec != seen.spec:
            self._set_off(frozenset())
        self._seen, self._left_out = seen, read_heads(seen.spec.train.heads_off)
        self._view.show_off(self._off, self._left_out)

    def show_effects(self, found: "HeadEffects", spec: RunSpec) -> None:
        """Take what each head is worth in the run with settings ``spec``."""
        self._effects = found, spec

    def count_off(self) -> int:
        """Return the number of heads that are off, in the run or for looking."""
        return len(self._off | self._left_out)

    @Slot(int)
    def toggle(self, index: int) -> None:
        """Switch the head of a map off, only for looking, or on again; the mean of the heads stays on, and what the run
        leaves out off."""
        place = self._find_head(index)
        if place is not None and place not in self._left_out:
            self._set_off(self._off ^ {place})

    @Slot(int)
    def request_training(self, index: int) -> None:
        """Request that the run goes on without the head of a map, or with it again."""
        if (place := self._find_head(index)) is not None:
            self.training_changed.emit(*place, place not in self._left_out)

    def _find_head(self, index: int) -> Place | None:
        """Return the layer and the head of a map; None for the mean of the heads."""
        place = self._view.place_of(index) if index < len(self._view.data) else ("", -1)
        return place if place[1] >= 0 else None

    def _set_off(self, off: frozenset[Place]) -> None:
        self._off = off
        self._view.show_off(off, self._left_out)
        self.off_changed.emit(off)

    def describe_worth(self, index: int) -> str:
        """Return what the head of a map is worth, "" if that is unknown, as in a run that was opened just now."""
        if self._effects is None or self._seen is None or not index < len(self._view.data):
            return ""
        effects, spec = self._effects
        if spec != self._seen.spec:
            return ""
        if self._view.is_left_out(index):
            return "off in this run"
        return effects.describe(*self._view.place_of(index), self._seen.look.step)
