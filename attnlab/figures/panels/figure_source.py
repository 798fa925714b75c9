"""What a figure is drawn of: a computed state, or any arrays with names and tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from attnlab.attention.stages.table import Stage
    from attnlab.attention.stages.trace import Trace

Source: TypeAlias = Union["Trace", "Sheets"]
Drawn: TypeAlias = Union["Stage", "Sheet"]
"""What is told of a stage: name, title, axes, role, whether it has heads, and whether it is a map of query by key."""


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Maps to be drawn: ``values`` [heads, rows, columns] from 0 to ``limit``, or of signed numbers from −``limit``.

    ``masked`` [rows, columns] is True where nothing may be looked at, None without; ``kind`` is that of a stage.
    """

    name: str
    title: str
    values: NDArray[np.floating]
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    masked: NDArray[np.bool_] | None = None
    kind: str = "probability"
    limit: float = 1.0
    axes: tuple[str, ...] = ("head", "query", "key")
    role: str = "attention"

    @property
    def has_heads(self) -> bool:
        """Whether there are several maps."""
        return len(self.values) > 1

    @property
    def is_map(self) -> bool:
        """Whether it is a map of query by key."""
        return self.axes[-2:] == ("query", "key")


@dataclass(frozen=True, slots=True, eq=False)
class Sheets:
    """Some sheets, to be drawn as stages of a computed state are; ``heading`` stands above them where nothing else is
    to. Together they are called ``what``, such as "Layers"."""

    sheets: tuple[Sheet, ...]
    heading: str = ""
    what: str = "Maps"

    @property
    def all_stages(self) -> tuple[str, ...]:
        """The names of the sheets, in their order."""
        return tuple(sheet.name for sheet in self.sheets)

    def __contains__(self, name: object) -> bool:
        return name in self.all_stages

    def stage(self, name: str) -> Sheet:
        """Return a sheet; raises KeyError when there is none of that name."""
        return {sheet.name: sheet for sheet in self.sheets}[name]

    def array(self, name: str) -> NDArray[np.floating]:
        """Return the numbers of a sheet, without the axis of heads where there is one map alone."""
        sheet = self.stage(name)
        return sheet.values if sheet.has_heads else sheet.values[0]

    def mean(self, name: str) -> NDArray[np.floating]:
        """Return the mean over the heads of a sheet that has several."""
        mean: NDArray[Any] = self.array(name).mean(0)
        return mean


def heads_of(source: Source) -> int:
    """Return how many heads there are, in the stage that has most."""
    if isinstance(source, Sheets):
        return max(len(sheet.values) for sheet in source.sheets)
    return source.experiment.n_heads
