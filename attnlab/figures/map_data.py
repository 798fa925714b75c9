"""Maps to draw as a value: numbers, scale, masks, labels and marks; and frames around their cells."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.scales import Scale

STATES = "pinned", "now"
"""The titles of two states side by side."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class MapData:
    """Maps to draw: ``values`` [n, rows, columns], their scale, and ``masked`` cells or None.

    With ``column_group`` columns form groups of this size, such as heads side by side: a line separates two groups,
    and one of ``group_labels`` above each replaces the column labels. Which cells are ``masked``, ``unknown``,
    ``filled`` or ``dropped`` is [n, rows, columns], or [rows, columns] if it is the same on all maps: unknown ones
    are empty frames with ``mark``, such as "?", in them; masked ones are hatched as well.
    ``under`` [n, rows, columns] are numbers written in the masked cells, such as the scores before the mask.
    ``filled`` cells are masked too but have an ordinary number, and are hatched over their colour; ``dropped`` ones
    are crossed out. ``muted`` columns are grey. Without ``has_numbers`` only colours are drawn, and no
    numbers are written whose magnitude is below ``least_number``. The last ``aside``
    columns are no cells of the stage, such as the share of a sink. With an ``exponent`` the numbers are written in this
    power of ten, which stands beside the title; it is for numbers that are all small. The ends of the colour bar are
    written in it too.
    """

    values: NDArray[np.floating]
    kind: str
    scale: Scale
    masked: NDArray[np.bool_] | None
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    titles: Sequence[str] = ()
    column_group: int = 0
    group_labels: Sequence[str] = ()
    unknown: NDArray[np.bool_] | None = None
    mark: str = ""
    under: NDArray[np.floating] | None = None
    filled: NDArray[np.bool_] | None = None
    dropped: NDArray[np.bool_] | None = None
    muted: tuple[int, ...] = ()
    has_numbers: bool = True
    least_number: float = 0.0
    aside: int = 0
    bold_rows: frozenset[int] = frozenset()
    exponent: int | None = None

    @property
    def limit(self) -> float:
        """The number that the last colour stands for."""
        return self.scale.limit

    @property
    def power(self) -> str:
        """The power of ten in which the numbers are written, "× 10⁻³"; "" if they are written as they are."""
        return write_power_of_ten(self.exponent)

    @property
    def factor(self) -> float:
        """The factor of numbers before they are written: 1000 for the exponent −3."""
        return float(10.0 ** -(self.exponent or 0))

    @property
    def is_muted(self) -> NDArray[np.bool_] | None:
        """Which columns are grey; None without any."""
        if not self.muted:
            return None
        muted = np.zeros(self.values.shape[-1], bool)
        muted[list(self.muted)] = True
        return muted

    @property
    def empty(self) -> NDArray[np.bool_] | None:
        """Which cells are drawn as empty frames [n, rows, columns]; None without any."""
        if self.unknown is None:
            return None if self.dropped is None else np.broadcast_to(self.dropped, self.values.shape)
        empty = self.unknown if self.masked is None else self.unknown & ~self.masked
        return np.broadcast_to(empty if self.dropped is None else empty | self.dropped, self.values.shape)

    def cover(self, unknown: NDArray[np.bool_] | None) -> "MapData":
        """Return the maps with these cells of their stage unknown; a share beside a row is known once its row is."""
        if unknown is not None and self.aside:
            unknown = np.concatenate([unknown, np.repeat(unknown.any(-1, keepdims=True), self.aside, -1)], -1)
        return replace(self, unknown=unknown)

    def choose_maps(self, first: int, last: int) -> "MapData":
        """Return some of the maps, with the marks and limits that are theirs."""
        marks = {name: getattr(self, name) for name in ("masked", "unknown", "filled", "dropped", "under")}
        own = {name: cells[first:last] for name, cells in marks.items() if cells is not None and cells.ndim == 3}
        titles = self.titles[first:last]
        return replace(self, values=self.values[first:last], titles=titles, scale=self.scale.of(first, last), **own)

    def find_masked(self, index: int) -> NDArray[np.bool_] | None:
        """Return which cells [rows, columns] of a map are masked; None if none are."""
        return self.masked if self.masked is None or self.masked.ndim == 2 else self.masked[index]


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


_SMALL = 1e-3
"""If all numbers are below this, they would be rounded to zeros, which must not be shown."""


def find_power(data: MapData) -> int | None:
    """Return the power of ten in which the numbers of maps are written: the maps' own, or one for small numbers.

    Weights are never written in one, nor the numbers of a head that is small on the common scale of its layer.
    """
    if data.exponent is not None or data.kind == "probability" or data.limit >= _SMALL:  # faster than reading all
        return data.exponent
    sizes = np.abs(data.values if data.masked is None else np.where(data.masked, 0, data.values))
    largest = max(float(sizes.max(initial=0.0, where=np.isfinite(sizes))), data.limit)
    return floor_power(largest) if 0 < largest < _SMALL else None


def floor_power(size: float) -> int:
    """Return the power of ten of a positive number, at least −308, as 10³⁰⁹ is too large for a float."""
    return max(math.floor(math.log10(size)), -308)


def write_power_of_ten(exponent: int | None) -> str:
    """Return "× 10⁻³" for the exponent −3; "" for 0 or None."""
    return f"× 10{str(exponent).translate(_RAISED)}" if exponent else ""


@dataclass(frozen=True, slots=True)
class Outline:
    """A frame around a cell, row or column (None is all) of one map (None is every map)."""

    index: int | None
    row: int | None
    column: int | None
    colour: str
    width: float = 2.0
