"""Undo and redo by keeping values: a list of scenes, unlimited, where one gesture is one entry."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from attnlab.document.scene import Scene


@dataclass(frozen=True, slots=True)
class Entry:
    """A scene and what led to it; edits of one gesture share an entry.

    ``opening`` numbers what was opened, with which the entry began: a preset, a file.
    """

    label: str
    scene: Scene
    gesture: Hashable = None
    opening: int = 0


class History:
    """The entries and which of them is current."""

    def __init__(self, label: str, scene: Scene) -> None:
        self._entries = [Entry(label, scene)]
        self._index = self._openings = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries)

    @property
    def index(self) -> int:
        """Which entry is current."""
        return self._index

    @property
    def current(self) -> Entry:
        """The current entry."""
        return self._entries[self._index]

    def push(self, label: str, scene: Scene, gesture: Hashable = None) -> None:
        """Add an entry after the current one and drop what was undone; the same gesture replaces its entry."""
        entry = Entry(label, scene, gesture, self.current.opening)
        del self._entries[self._index + 1 :]
        if gesture is not None and self._index > 0 and self.current.gesture == gesture:
            self._entries[self._index] = entry
            return
        self._append(entry)

    def open(self, label: str, scene: Scene) -> int:
        """Add an entry for something else that was opened; return the number of the opening."""
        self._openings += 1
        del self._entries[self._index + 1 :]
        self._append(Entry(label, scene, None, self._openings))
        return self._openings

    def jump(self, index: int) -> None:
        """Make another entry current; out of range goes to the nearest end. A gesture never goes on after a jump."""
        self._end_gesture()
        self._index = min(max(index, 0), len(self._entries) - 1)
        self._end_gesture()

    def _append(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._index += 1

    def _end_gesture(self) -> None:
        self._entries[self._index] = replace(self.current, gesture=None)

    @property
    def undo_label(self) -> str | None:
        """What an undo takes back; None at the beginning."""
        return self.current.label if self._index else None

    @property
    def redo_label(self) -> str | None:
        """What a redo brings back; None at the end."""
        return self._entries[self._index + 1].label if self._index + 1 < len(self._entries) else None
