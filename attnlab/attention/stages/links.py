"""The regions of other stages that a cell depends on: the row of Q, the row of K, the two tokens, and so on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME, Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Region:
    """A row, a column, a cell or all of a stage; None means all. ``role`` is the colour of the outline."""

    row: int | None
    column: int | None
    head: int | None
    role: str

    def find_maps(self, heads: Sequence[int | None]) -> list[int | None]:
        """Return on which of the maps of ``heads`` it is: [None] for on all, [] if its head is not shown."""
        if self.head is None or None in heads:
            return [None]
        return [index for index, head in enumerate(heads) if head == self.head]


@dataclass(frozen=True, slots=True)
class Coordinates:
    """The query, key, column of the values and head that a cell refers to; None for those that it does not."""

    query: int | None = None
    key: int | None = None
    d_v: int | None = None
    head: int | None = None


def coordinates(e: "Experiment", cell: Cell) -> Coordinates:
    """Return the coordinates of a cell; a token of the inputs is a query."""
    stage = BY_NAME[cell.stage]
    axes = stage.axes
    at = {axes[-2]: cell.row, axes[-1]: cell.column}
    if is_concatenated(e, stage):
        head, at["d_v"] = divmod(cell.column, e.d_v)
        return Coordinates(cell.row, None, at["d_v"], head)
    return Coordinates(at.get("query", at.get("token")), at.get("key"), at.get("d_v"), cell.head)


def is_concatenated(e: "Experiment", stage: Stage) -> bool:
    """Return whether the columns of a stage are those of the concatenated heads."""
    return stage.axes[-1] == "merged" or (stage.name == "output" and e.weights.W_o is None)


def find_linked_regions(e: "Experiment", cell: Cell, stage: Stage) -> tuple[Region, ...]:
    """Return the regions of ``stage`` related to ``cell``; in the cell's own stage, the cell itself."""
    if stage.name == cell.stage:
        return (Region(cell.row, cell.column, cell.head, "neutral"),)
    at = coordinates(e, cell)
    if stage.axes[0] == "token":
        both = [(at.query, "query")] if e.memory_tokens is not None else [(at.query, "query"), (at.key, "key")]
        if at.query == at.key:
            both = both[:1]
        return tuple(Region(token, None, None, role) for token, role in both if token is not None)
    row = {"query": at.query, "key": at.key}.get(stage.axes[-2])
    column = {"key": at.key, "d_v": at.d_v}.get(stage.axes[-1])
    if is_concatenated(e, stage) and at.d_v is not None and at.head is not None:
        column = at.head * e.d_v + at.d_v
    if row is None and column is None:
        return ()
    return (Region(row, column, at.head if stage.has_heads else None, stage.role),)
