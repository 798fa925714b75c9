"""Match the tokens of two experiments, so that a moved token is compared with itself."""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import TOKENS
from attnlab.attention.stages.explanation import Cell

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.table import Stage

T = TypeVar("T", bound=np.generic)
Places = tuple[int, ...] | None
"""The index of each token in the other experiment; None if no token moved or the tokens differ."""


def places(now: "Experiment", then: "Experiment", axis: str) -> Places:
    """Return the indices of the tokens of an axis in another experiment with the same tokens in another order.

    Tokens are the same if their words and numbers are; equal tokens are matched in order.
    """
    if axis not in TOKENS:
        return None
    old, new = _identities(then, axis), _identities(now, axis)
    if old == new or sorted(old) != sorted(new):
        return None
    found: defaultdict[tuple[str, bytes], list[int]] = defaultdict(list)
    for place, token in enumerate(old):
        found[token].append(place)
    return tuple(found[token].pop(0) for token in new)


def _identities(e: "Experiment", axis: str) -> list[tuple[str, bytes]]:
    tokens, rows = (e.key_tokens, e.memory) if axis == "key" else (e.tokens, e.embeddings)
    return [(token, row.tobytes()) for token, row in zip(tokens, rows.cpu().double().numpy(), strict=True)]


def reorder_maps(maps: NDArray[T], axes: Iterable[Places]) -> NDArray[T]:
    """Return maps [..., rows, columns] of the other experiment, rows and columns reordered as in this one."""
    for place, order in zip((-2, -1), axes, strict=True):
        maps = maps if order is None else np.take(maps, order, place)
    return maps


def cell_before(cell: Cell, axes: Iterable[Places]) -> Cell:
    """Return the cell of the other experiment that corresponds to a cell of this one."""
    row, column = (at if order is None else order[at] for at, order in zip((cell.row, cell.column), axes, strict=True))
    return Cell(cell.stage, row, column, cell.head)


def stage_places(now: "Experiment", then: "Experiment", stage: "Stage") -> tuple[Places, Places]:
    """Return the places of a stage's rows and of its columns in another experiment."""
    rows, columns = (places(now, then, axis) for axis in stage.axes[-2:])
    return rows, columns
