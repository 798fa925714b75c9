"""The canvas as a graph: its rows of stages, and the data that flows between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from attnlab.attention.stages.table import STAGES, Stage, sources

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Link:
    """Data of a role that flows from one stage to another."""

    source: str
    target: str
    role: str


def stage_rows(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Return stages in rows: projections, later steps on queries and keys, maps, what follows them, and the block.

    The stages of a block stand in two rows: up to the hidden numbers, and from their activation on. The rows of the
    backward pass come last, see :func:`split_backward`.
    """
    forward = [stage for stage in stages if not stage.is_backward]
    maps = [i for i, stage in enumerate(forward) if stage.is_map]
    values = next(i for i, stage in enumerate(forward) if stage.name == "values") + 1
    first = forward[:values], forward[values : maps[0]], forward[maps[0] : maps[-1] + 1]
    rows = [*first, *_split(forward[maps[-1] + 1 :])]
    backward = split_backward([stage for stage in stages if stage.is_backward])
    return [*(list(row) for row in rows if row), *backward]


def split_backward(stages: Sequence[Stage]) -> list[list[Stage]]:
    """Return the stages of the backward pass in rows: from the loss to the weights, other maps, vectors, and tables.

    Before the output of attention stands the block, in two rows as on the way forward.
    """
    names = [stage.name for stage in stages]
    if "loss" not in names:
        return []
    ways = _BLOCK_ROWS if "d_residual" in names else ()
    first = [next((names.index(name) for name in way if name in names), 0) for way in ways]
    jacobian, scores = names.index("jacobian"), names.index("d_scores") + 1
    tables = next(i for i, stage in enumerate(stages) if i >= scores and not stage.has_heads)
    starts = [0, *(start for start in first if start), jacobian, scores, tables, len(stages)]
    return [list(stages[start:stop]) for start, stop in pairwise(starts)]


_BLOCK_ROWS = (("d_gates", "d_hidden"), ("d_output",))
"""The gradients that begin a row in a block, the first of each that there is."""


def _split(stages: Sequence[Stage]) -> list[Sequence[Stage]]:
    """Return the stages after the maps, split before those in ``_FIRST``."""
    starts = [0, *(i for i, stage in enumerate(stages) if stage.name in _FIRST), len(stages)]
    return [stages[start:stop] for start, stop in pairwise(starts)]


_FIRST = ("residual", "activated")
"""The stages of a block that begin a row."""


def stage_links(e: "Experiment", names: Sequence[str]) -> Iterator[Link]:
    """Yield the links between the named stages, in the order of the table."""
    for stage in STAGES:
        if stage.name in names:
            yield from (Link(each.name, stage.name, each.role) for each in sources(stage, e) if each.name in names)
