"""The history of a workspace's states: undo and redo, with successive changes of one gesture as one step."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from attnlab.ui.models.model_state import ModelState

MOST = 200
"""The number of states that are kept."""


@dataclass(frozen=True, slots=True)
class _Entry:
    label: str
    state: ModelState
    gesture: Hashable


class ModelHistory:
    """The states in order; ``state`` is the current one."""

    def __init__(self) -> None:
        self._entries = [_Entry("", ModelState(), None)]
        self._at = 0

    @property
    def state(self) -> ModelState:
        """The current state."""
        return self._entries[self._at].state

    @property
    def undo_label(self) -> str | None:
        """The name of the change that would be undone; None if there is none."""
        return self._entries[self._at].label if self._at > 0 and self._entries[self._at - 1].state.source else None

    @property
    def redo_label(self) -> str | None:
        """The name of the change that would be redone; None if there is none."""
        return self._entries[self._at + 1].label if self._at + 1 < len(self._entries) else None

    def push(self, label: str, state: ModelState, gesture: Hashable = None) -> None:
        """Add a state; with the gesture of the current one, replace that. What was undone is forgotten."""
        del self._entries[self._at + 1 :]
        if gesture is not None and self._entries[-1].gesture == gesture:
            del self._entries[-1]
        self._entries.append(_Entry(label, state, gesture))
        del self._entries[:-MOST]
        self._at = len(self._entries) - 1

    def correct(self, state: ModelState) -> None:
        """Replace the current state, under the same name."""
        self._entries[self._at] = replace(self._entries[self._at], state=state)

    def step(self, by: int) -> bool:
        """Go back or forward one state; return whether there is one."""
        if (self.undo_label if by < 0 else self.redo_label) is None:
            return False
        self._at += by
        self._entries[self._at] = replace(self._entries[self._at], gesture=None)  # what follows is a new gesture
        return True

    def refuse(self, good: ModelState) -> None:
        """Replace the current state, which could not be read, by the one that was read last; forget what was undone."""
        refused = self._entries[self._at]
        del self._entries[self._at :]
        places = [place for place, each in enumerate(self._entries) if each.state == good]
        if not places:
            self._entries.append(_Entry(refused.label, good, refused.gesture))
        self._at = places[-1] if places else len(self._entries) - 1
