"""What the cards of a canvas need at present, kept while it alternates between a few traces and views."""

from collections.abc import Callable, Collection, Hashable
from typing import TYPE_CHECKING

from attnlab.ui.playground.card_needs import Needs, count_digits, find_form

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Digits = dict[str, tuple[int, bool]]
Collect = Callable[["Trace", "View", Digits, bool], Needs]
MOST = 8
"""How many needs are kept: those with and without the step of a walk, of a few looks."""


class CanvasNeeds:
    """Collects the needs of cards, of which those of the stages ``names`` have numbers."""

    def __init__(self, collect: Collect, names: Collection[str]) -> None:
        self._collect, self._names = collect, names
        self._digits: Digits = {}
        self._found: dict[Hashable, Needs] = {}

    def count_digits(self, trace: "Trace", before: "Trace | None") -> None:
        """Count the digits of a trace's numbers: never fewer than of the trace before it, if that has the same form."""
        fresh = before is None or find_form(before) != find_form(trace)
        self._digits = count_digits(trace, {} if fresh else self._digits, self._names)

    def key(self, trace: "Trace", view: "View", pinned: bool) -> Hashable:
        """Return what the needs depend on; ``pinned`` tells whether the cards are compared with a pinned state."""
        look = pinned and view.look, view.head == "all", view.strips, view.at
        return find_form(trace), tuple(self._digits.items()), look

    def find(self, trace: "Trace", view: "View", pinned: bool) -> Needs:
        """Return what the cards need, collected only if it may differ."""
        key = self.key(trace, view, pinned)
        if key not in self._found:
            if len(self._found) == MOST:
                self._found.clear()
            self._found[key] = self._collect(trace, view, self._digits, pinned)
        return self._found[key]
