"""The votes of the audience for the answers of a question: counted by keys, and forgotten after the presentation."""

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

if TYPE_CHECKING:
    from attnlab.lessons.slides import Slide

MOST = 9999
_KEYS = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4)
_SHIFTED = "!@#$"
"""The signs of the keys 1 to 4 with Shift, where the system does not tell the key itself."""
_FIRST_SCAN_CODE = {"linux": 10, "win32": 2}
_MAC_KEYS = (18, 19, 20, 21)


class Votes:
    """Counts votes for each slide; a slide that is left and shown again still has its votes."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[Slide, tuple[int, ...]]] = {}

    def find(self, slide: "Slide") -> tuple[int, ...] | None:
        """Return the votes for each choice of a slide; None if it has no choices."""
        choices = slide.step.question.choices if slide.step.question is not None else ()
        if not choices:
            return None
        return self._counts.get(id(slide), (slide, (0,) * len(choices)))[1]

    def count(self, slide: "Slide", choice: int, by: int) -> bool:
        """Add votes for a choice, counted from 0, or with a negative number take them off; False without the choice."""
        counts = self.find(slide)
        if counts is None or choice >= len(counts):
            return False
        changed = min(max(counts[choice] + by, 0), MOST)
        self._counts[id(slide)] = slide, (*counts[:choice], changed, *counts[choice + 1 :])
        return True


def read_vote(event: QKeyEvent) -> tuple[int, int] | None:
    """Return the choice, counted from 0, and the votes that a key counts: 1, or −1 with Shift; None for other keys.

    The keys are those of the digits in the top row, whatever they type with Shift in a country, and of the number pad.
    """
    if event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier):
        return None
    choice = _find_choice(event)
    if choice is None:
        return None
    return choice, -1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1


def _find_choice(event: QKeyEvent) -> int | None:
    pad = bool(event.modifiers() & Qt.KeyboardModifier.KeypadModifier)
    if sys.platform == "darwin" and event.nativeVirtualKey() in _MAC_KEYS and not pad:
        return _MAC_KEYS.index(event.nativeVirtualKey())
    place = event.nativeScanCode() - _FIRST_SCAN_CODE.get(sys.platform, 1 << 20)
    if not pad and 0 <= place < len(_KEYS):
        return place
    if event.key() in _KEYS:
        return event.key() - Qt.Key.Key_1
    text = event.text()
    return _SHIFTED.index(text) if len(text) == 1 and text in _SHIFTED else None
