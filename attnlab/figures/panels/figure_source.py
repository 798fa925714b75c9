"""The data of a figure: a trace, or any arrays with names and tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from numpy.typing import NDArray

from attnlab.figures.map_data import STATES
from attnlab.figures.scales import TO_ONE, Scale

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.table import Stage
    from attnlab.attention.stages.trace import Trace

Source: TypeAlias = Union["Trace", "Pair", "Sheets"]
Drawn: TypeAlias = Union["Stage", "Sheet"]
"""A stage's name, title, axes, role, whether it has heads, and whether it is a map of query by key."""


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Maps to draw: ``values`` [heads, rows, columns] and the scale of their colours.

    ``masked`` [rows, columns] is True for masked cells, None without a mask; ``kind`` is that of a stage.
    Without ``has_numbers`` only the colours mean something: no numbers and no colour bar are drawn. ``titles`` are
    those of the maps, if they are not the heads of one layer, and ``per_row`` how many of them stand side by side
    unless a figure says otherwise.
    """

    name: str
    title: str
    values: NDArray[np.floating]
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    masked: NDArray[np.bool_] | None = None
    kind: str = "probability"
    scale: Scale = TO_ONE
    axes: tuple[str, ...] = ("head", "query", "key")
    role: str = "attention"
    has_numbers: bool = True
    titles: tuple[str, ...] = ()
    per_row: int | None = None

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
    """Sheets that are drawn like the stages of a trace; ``heading`` is their default heading, ``what`` their common
    name, such as "Layers".

    Those that are ``shared`` have one scale of colours, whichever kind of scale the reader chooses. Those that stand
    ``abreast`` are side by side, with cells of one size, as many as fit.
    """

    sheets: tuple[Sheet, ...]
    heading: str = ""
    what: str = "Maps"
    shared: bool = False
    abreast: bool = False

    @property
    def all_stages(self) -> tuple[str, ...]:
        """The names of the sheets, in their order."""
        return tuple(sheet.name for sheet in self.sheets)

    def __contains__(self, name: object) -> bool:
        return name in self.all_stages

    def stage(self, name: str) -> Sheet:
        """Return a sheet; raises KeyError if the name is unknown."""
        return {sheet.name: sheet for sheet in self.sheets}[name]

    def array(self, name: str) -> NDArray[np.floating]:
        """Return the numbers of a sheet, without the axis of heads if it has only one map."""
        sheet = self.stage(name)
        return sheet.values if sheet.has_heads else sheet.values[0]

    def mean(self, name: str) -> NDArray[np.floating]:
        """Return the mean over the heads of a sheet."""
        mean: NDArray[Any] = self.array(name).mean(0)
        return mean


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two traces whose stages are drawn side by side on one scale; the stages are those of ``now``.

    A stage that ``then`` lacks is drawn alone. ``names`` are the titles of the two.
    """

    then: "Trace"
    now: "Trace"
    names: tuple[str, str] = STATES

    @property
    def experiment(self) -> "Experiment":
        """The experiment of ``now``."""
        return self.now.experiment

    @property
    def all_stages(self) -> tuple[str, ...]:
        """The names of the stages of ``now``, in their order."""
        return self.now.all_stages

    def __contains__(self, name: object) -> bool:
        return name in self.now.all_stages

    def stage(self, name: str) -> "Stage":
        """Return a stage of ``now``; raises KeyError if the name is unknown."""
        return self.now.stage(name)

    def array(self, name: str) -> NDArray[np.floating]:
        """Return the numbers of a stage of ``now``."""
        return self.now.array(name)

    def mean(self, name: str) -> NDArray[np.floating]:
        """Return the mean over the heads of a stage of ``now``."""
        return self.now.mean(name)


def count_heads(source: Source) -> int:
    """Return the maximum number of heads in any stage."""
    if isinstance(source, Sheets):
        return max(len(sheet.values) for sheet in source.sheets)
    return source.experiment.n_heads
