"""Undo and redo: a list of scenes within a memory budget, in which one gesture is one entry."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from attnlab.document.scene import Scene
from attnlab.document.settings import HISTORY_MIB
from attnlab.files.sessions.session_experiment import arrays_of

ENTRY_BYTES = 4096
"""The estimated size of an entry without its arrays: its label, tokens and objects."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A scene and the label of the edit that made it; edits of one gesture share an entry.

    ``opening`` is the number of the preset or file that the entry comes from; ``computed`` is True if the scene has
    ever been computed.
    """

    label: str
    scene: Scene
    gesture: Hashable = None
    opening: int = 0
    computed: bool = False


class History:
    """The entries and the index of the current one.

    ``budget`` is the maximum number of bytes of the entries; beyond it the oldest are dropped when one is added, but
    never the current entry and its neighbours. Arrays that entries share are counted once.
    """

    def __init__(self, label: str, scene: Scene, budget: int = HISTORY_MIB << 20) -> None:
        self._entries: list[Entry] = []
        self._index, self._openings, self._let_go = -1, 0, 0
        self._held = _Held()
        self._budget = budget
        self._append(Entry(label, scene))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries)

    @property
    def index(self) -> int:
        """The index of the current entry."""
        return self._index

    @property
    def current(self) -> Entry:
        """The current entry."""
        return self._entries[self._index]

    @property
    def newest(self) -> Entry:
        """The entry that an edit added last, which may be undone."""
        return self._entries[-1]

    @property
    def openings(self) -> range:
        """The numbers of the openings from the oldest entry to the newest, inclusive."""
        return range(self._entries[0].opening, self._entries[-1].opening + 1)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the entries; shared arrays are counted once."""
        return self._held.nbytes + ENTRY_BYTES * len(self._entries)

    @property
    def let_go(self) -> int:
        """The number of oldest entries that were dropped to stay within the budget."""
        return self._let_go

    @property
    def budget(self) -> int:
        """The maximum number of bytes of the entries."""
        return self._budget

    @budget.setter
    def budget(self, budget: int) -> None:
        self._budget = budget
        self._trim()

    def push(self, label: str, scene: Scene, gesture: Hashable = None) -> None:
        """Add an entry after the current one and drop undone entries; the same gesture replaces its entry."""
        entry = Entry(label, scene, gesture, self.current.opening)
        self._drop(slice(self._index + 1, None))
        if gesture is not None and self._index > 0 and self.current.gesture == gesture:
            self._put(entry)
            return
        self._append(entry)

    def open(self, label: str, scene: Scene) -> int:
        """Add an entry for a newly opened preset or file; return the number of the opening."""
        self._openings += 1
        self._drop(slice(self._index + 1, None))
        self._append(Entry(label, scene, None, self._openings))
        return self._openings

    def jump(self, index: int) -> None:
        """Make another entry current, or the nearest end if out of range. A jump ends the gesture."""
        self._end_gesture()
        self._index = min(max(index, 0), len(self._entries) - 1)
        self._end_gesture()

    def note_computed(self) -> Entry:
        """Mark the current entry as computed; return it."""
        self._entries[self._index] = replace(self.current, computed=True)
        return self.current

    def refuse(self, good: Entry | None = None) -> bool:
        """Remove the current entry, which cannot be computed; False if it was computed before or is the only entry.

        The entry before it becomes current, or else the first. If ``good`` is an earlier state of the same gesture, it
        replaces the removed entry instead.
        """
        now = self.current
        if now.computed or len(self._entries) == 1:
            return False
        if good is not None and good.gesture is not None and (good.gesture, good.opening) == (now.gesture, now.opening):
            self._put(good)
            return True
        self._drop(slice(self._index, self._index + 1))
        self._index = max(self._index - 1, 0)
        self._end_gesture()
        return True

    def _append(self, entry: Entry) -> None:
        self._entries.append(entry)
        self._held.add(entry.scene)
        self._index += 1
        self._trim()

    def _put(self, entry: Entry) -> None:
        """Put another entry in the place of the current one."""
        self._held.add(entry.scene)
        self._held.remove(self.current.scene)
        self._entries[self._index] = entry
        self._trim()

    def _drop(self, which: slice) -> None:
        for entry in self._entries[which]:
            self._held.remove(entry.scene)
        del self._entries[which]

    def _trim(self) -> None:
        while self.nbytes > self._budget:
            if self._index > 1:
                self._drop(slice(0, 1))
                self._index -= 1
                self._let_go += 1
            elif len(self._entries) > self._index + 2:
                self._drop(slice(-1, None))  # the furthest undone step
            else:
                return

    def _end_gesture(self) -> None:
        self._entries[self._index] = replace(self.current, gesture=None)

    @property
    def undo_label(self) -> str | None:
        """The label of the entry that undo would revert; None at the beginning."""
        return self.current.label if self._index else None

    @property
    def redo_label(self) -> str | None:
        """The label of the entry that redo would restore; None at the end."""
        return self._entries[self._index + 1].label if self._index + 1 < len(self._entries) else None


class _Held:
    """Counts the bytes of the scenes' arrays, each storage once even if several scenes share it."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._counts: dict[int, int] = {}

    def add(self, scene: Scene) -> None:
        """Add the arrays of a scene to the count."""
        for address, size in _memories(scene).items():
            count = self._counts.get(address, 0)
            self.nbytes += 0 if count else size
            self._counts[address] = count + 1

    def remove(self, scene: Scene) -> None:
        """Remove the arrays of a scene from the count."""
        for address, size in _memories(scene).items():
            self._counts[address] -= 1
            if not self._counts[address]:
                del self._counts[address]
                self.nbytes -= size


def _memories(scene: Scene) -> dict[int, int]:
    """Return the size in bytes of each storage of a scene's arrays, by its address."""
    storages = [array.untyped_storage() for array in arrays_of(scene.experiment).values()]
    return {storage.data_ptr(): storage.nbytes() for storage in storages}
