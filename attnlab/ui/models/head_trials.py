"""Switches off every head of a model alone, layer by layer, to find how much the answer needs each."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from attnlab.ui.models.effect_reader import EffectReader
from attnlab.ui.models.model_values import HeadChanges, Overview

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ask = Callable[[Callable[[], Any], Callable[[Any], object]], None]
"""Runs a job on the reader's thread, and calls a function with its result."""


class HeadTrials(QObject):
    """Keeps the changes of one text and token. The jobs of other cards have their turn between two layers."""

    changed = Signal()
    """One more layer was tried, or the changes were forgotten."""

    def __init__(self, ask: Ask, reader: EffectReader, parent: QObject) -> None:
        super().__init__(parent)
        self._ask, self._reader = ask, reader
        self.changes: HeadChanges | None = None

    def follow(self, found: Overview, place: int, *, wanted: bool) -> None:
        """Forget the changes of another text or token, and begin anew if they are ``wanted``."""
        place = place if found.facts.predicts else 0  # a sentence has one vector
        known = self.changes
        if known is not None:
            is_same_text = known.of.part == found.part and known.of.state.reads_as(found.state)
            if is_same_text and known.place == place:
                return
            self.changes = None
            self.changed.emit()
        if wanted and not found.facts.fixed:
            self.changes = HeadChanges(found, place, np.full(found.maps.shape[:2], np.nan))
            self._try_layer(self.changes, 0)

    def _try_layer(self, begun: HeadChanges, layer: int) -> None:
        of, count = begun.of, begun.sizes.shape[1]
        job = partial(self._reader.read_head_changes, of.state, of.part, layer, count, begun.place)
        self._ask(job, partial(self._take, begun, layer))

    def _take(self, begun: HeadChanges, layer: int, sizes: "NDArray[np.float64]") -> None:
        if self.changes is begun:
            self.changes = begun.with_layer(layer, sizes)
            if layer + 1 < len(begun.sizes):
                self._try_layer(self.changes, layer + 1)
        self.changed.emit()
