"""A walk through the computation: at four depths, what is known at a place, and which place comes next."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import size
from attnlab.attention.stages import BY_NAME, STAGES, Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

DEPTHS = ("stage", "row", "cell", "term")
"""How fine a walk's steps are: a stage, a row of it, a cell of a row, a term of the sum that makes a cell."""


@dataclass(frozen=True, slots=True)
class Place:
    """How far a walk has come: up to and with a stage, a row of it, a cell of the row, a term of the cell.

    What is None is complete: ``Place("scores")`` knows all scores, ``Place("scores", 2)`` rows 0 to 2 of every head,
    ``Place("scores", 2, 1)`` rows 0 and 1 and two cells of row 2; ``Place("scores", 2, 1, 0)`` is adding up cell
    [2, 1], has its first term, and does not know the cell yet. ``Place("scores", -1)`` knows no row: the stage has
    been announced and not begun.
    """

    stage: str
    row: int | None = None
    column: int | None = None
    term: int | None = None

    @property
    def depth(self) -> str:
        """How fine the place is: "stage", "row", "cell" or "term"."""
        if self.row is None:
            return "stage"
        if self.column is None:
            return "row"
        return "cell" if self.term is None else "term"


def stages_of(e: "Experiment") -> tuple[Stage, ...]:
    """Return the stages that are walked through, in order."""
    return tuple(stage for stage in STAGES if stage.present(e))


def shape(e: "Experiment", stage: str) -> tuple[int, int]:
    """Return the rows and columns of a stage."""
    rows, columns = BY_NAME[stage].axes[-2:]
    return size(e, rows), size(e, columns)


def unknown(e: "Experiment", place: Place | None, stage: str) -> NDArray[np.bool_] | None:
    """Return which cells of a stage are not known yet at a place [rows, columns]; None when all of them are.

    A place of None is the end of every walk: all is known.
    """
    if place is None:
        return None
    names = [each.name for each in stages_of(e)]
    if stage not in names or place.stage not in names:
        return None
    if names.index(stage) < names.index(place.stage) or (stage == place.stage and place.row is None):
        return None
    hidden = np.ones(shape(e, stage), bool)
    if stage != place.stage or place.row is None:
        return hidden
    if place.column is None:
        hidden[: place.row + 1] = False
    else:
        hidden[: place.row] = False
        hidden[place.row, : place.column + (place.term is None)] = False
    return hidden
