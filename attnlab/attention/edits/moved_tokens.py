"""Where the tokens of one experiment stand in another, so that a token that was moved is compared with itself."""

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
"""For each token its place in the other experiment; None where all stand where they stood, or are others."""


def places(now: "Experiment", then: "Experiment", axis: str) -> Places:
    """Return where the tokens along an axis stand in another experiment, if it has the same ones in another order.

    Tokens are the same whose words and numbers are; of several that are, the first one stands for the first.
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


def followed(maps: NDArray[T], axes: Iterable[Places]) -> NDArray[T]:
    """Return maps [..., rows, columns] of the other experiment with rows and columns in the order of this one."""
    for place, order in zip((-2, -1), axes, strict=True):
        maps = maps if order is None else np.take(maps, order, place)
    return maps


def cell_before(cell: Cell, axes: Iterable[Places]) -> Cell:
    """Return the cell of the other experiment that a cell of this one was."""
    row, column = (at if order is None else order[at] for at, order in zip((cell.row, cell.column), axes, strict=True))
    return Cell(cell.stage, row, column, cell.head)


def both(now: "Experiment", then: "Experiment", stage: "Stage") -> tuple[Places, Places]:
    """Return where the rows and the columns of a stage stand in another experiment."""
    rows, columns = (places(now, then, axis) for axis in stage.axes[-2:])
    return rows, columns
