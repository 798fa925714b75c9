"""The canvas as a graph: its rows of stages, and the data that flows between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """Return stages in rows: the projections, later steps on queries and keys, the maps, and what follows them."""
    maps = [i for i, stage in enumerate(stages) if stage.is_map]
    values = next(i for i, stage in enumerate(stages) if stage.name == "values") + 1
    rows = stages[:values], stages[values : maps[0]], stages[maps[0] : maps[-1] + 1], stages[maps[-1] + 1 :]
    return [list(row) for row in rows if row]


def stage_links(e: "Experiment", names: Sequence[str]) -> Iterator[Link]:
    """Yield the links between the named stages, in the order of the table."""
    for stage in STAGES:
        if stage.name in names:
            yield from (Link(each.name, stage.name, each.role) for each in sources(stage, e) if each.name in names)
