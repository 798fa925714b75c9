"""A walk through the computation in steps of four depths: the cells known at a place, and the next place."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import label, size
from attnlab.attention.measures.symmetry import add_mirrored
from attnlab.attention.stages.table import BY_NAME, STAGES, Stage, plan

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explanation import Cell

DEPTHS = ("stage", "row", "cell", "term")
"""The sizes of a step: a stage, a row of it, a cell of a row, a term of the sum in a cell."""

_PRODUCTS = ("dot", "general", "cosine")
"""Scores that are a sum of products, one per column of queries and keys."""
_SHARES = ("softmax", "softmax-unshifted", "sum")
"""Normalisers that divide by a sum with one term per key."""


@dataclass(frozen=True, slots=True)
class Place:
    """The progress of a walk: up to and including a stage, a row of it, a cell of the row, a term of the cell.

    None means complete: at ``Place("scores")`` all scores are known, at ``Place("scores", 2)`` rows 0 to 2 of every
    head, at ``Place("scores", 2, 1)`` rows 0 and 1 and two cells of row 2. At ``Place("scores", 2, 1, 0)`` the first
    term of cell [2, 1] has been added, and the cell is not known yet. At ``Place("scores", -1)`` no row is known: the
    stage has been announced but not begun.

    ``asked`` are cells [row, column] of the stage that the student must find: unknown in every head.
    """

    stage: str
    row: int | None = None
    column: int | None = None
    term: int | None = None
    asked: tuple[tuple[int, int], ...] = ()

    @property
    def depth(self) -> str:
        """The depth of the place: "stage", "row", "cell" or "term"."""
        if self.row is None:
            return "stage"
        if self.column is None:
            return "row"
        return "cell" if self.term is None else "term"


def stages_of(e: "Experiment") -> tuple[Stage, ...]:
    """Return the stages of a walk, in order."""
    return tuple(plan(e).stages.values())


def shape(e: "Experiment", stage: str) -> tuple[int, int]:
    """Return the rows and columns of a stage."""
    rows, columns = BY_NAME[stage].axes[-2:]
    return size(e, rows), size(e, columns)


def unknown_cells(e: "Experiment", place: Place | None, stage: str) -> NDArray[np.bool_] | None:
    """Return the cells of a stage that are not known yet at a place [rows, columns]; None if all are known.

    A place of None is the end of a walk, where everything is known.
    """
    if place is None:
        return None
    names = list(plan(e).stages)
    if stage not in names or place.stage not in names:
        return None
    if names.index(stage) < names.index(place.stage):
        return None
    hidden = np.ones(shape(e, stage), bool)
    if stage != place.stage:
        return hidden
    if place.row is None:
        hidden[:] = False
    elif place.column is None:
        hidden[: place.row + 1] = False
    else:
        hidden[: place.row] = False
        hidden[place.row, : place.column + (place.term is None)] = False
    for cell in add_mirrored(e, stage, place.asked):
        hidden[cell] = True
    return hidden if hidden.any() else None


def count_terms(e: "Experiment", stage: str) -> int:
    """Return the number of terms in a cell of a stage; 0 if the cell is not a sum that Explain writes term by term.

    A masked key counts as a term that adds nothing.
    """
    match stage:
        case "queries" | "keys" | "values":
            weight = {"queries": e.weights.W_q, "keys": e.weights.W_k, "values": e.weights.W_v}[stage]
            return 0 if weight is None else weight.shape[0]
        case "scores":
            return e.d_k if e.config.score in _PRODUCTS else 0
        case "weights":
            return e.T_k + bool(e.config.option("sink")) if e.config.normalizer in _SHARES else 0
        case "context":
            return e.T_k
        case "output":
            return 0 if e.weights.W_o is None else e.n_heads * e.d_v
        case "gates" | "hidden":
            return e.d_model
        case "feed_forward":
            return e.d_ff
    return 0


def _count_steps(e: "Experiment", stage: str, depth: str) -> int:
    """Return the number of steps of a depth in a stage."""
    rows, columns = shape(e, stage)
    each = {"stage": 1, "row": rows, "cell": rows * columns}
    return each[depth] if depth in each else rows * columns * (count_terms(e, stage) + 1)


def _starts(e: "Experiment", depth: str) -> list[int]:
    """Return the index of each stage's first step, followed by the number of all steps."""
    return [0, *accumulate(_count_steps(e, stage.name, depth) for stage in stages_of(e))]


def count_steps(e: "Experiment", depth: str) -> int:
    """Return the number of steps of a depth in the whole computation."""
    return _starts(e, depth)[-1]


def span(e: "Experiment", depth: str, stage: str) -> tuple[int, int]:
    """Return the index of a stage's first step of a depth, and the number of its steps."""
    at = [each.name for each in stages_of(e)].index(stage)
    return _starts(e, depth)[at], _count_steps(e, stage, depth)


def count_stages_done(e: "Experiment", at: Place) -> float:
    """Return the number of stages done at a place, plus the fraction of cells done in the stage in progress."""
    before, done = span(e, "stage", at.stage)[0], _count_done(e, at, "cell")
    return before + done / _count_steps(e, at.stage, "cell")


def place_of_step(e: "Experiment", depth: str, index: int) -> Place | None:
    """Return the place after step ``index`` of a depth, counted from 0; None for the last, where everything is known.

    Raises:
        IndexError: there is no such step.
    """
    starts = _starts(e, depth)
    if not 0 <= index < starts[-1]:
        raise IndexError(f"there is no step {index} of {starts[-1]}")
    if index == starts[-1] - 1:
        return None
    at = bisect_right(starts, index) - 1
    stage, rest = stages_of(e)[at].name, index - starts[at]
    if depth == "stage":
        return Place(stage)
    if depth == "row":
        return Place(stage, rest)
    each = count_terms(e, stage) if depth == "term" else 0
    cell, term = divmod(rest, each + 1)
    row, column = divmod(cell, shape(e, stage)[1])
    return Place(stage, row, column, term if term < each else None)


def step_of_place(e: "Experiment", depth: str, place: Place | None) -> int:
    """Return the index of the last step of a depth that is done at a place of any depth; −1 if none is."""
    starts = _starts(e, depth)
    if place is None:
        return starts[-1] - 1
    at = [stage.name for stage in stages_of(e)].index(place.stage)
    return starts[at] + _count_done(e, place, depth) - 1


def _count_done(e: "Experiment", place: Place, depth: str) -> int:
    """Return the number of steps of a depth that are done in the stage of a place."""
    rows, columns = shape(e, place.stage)
    if place.row is None:
        cells = rows * columns
    elif place.column is None:
        cells = (place.row + 1) * columns
    else:
        cells = place.row * columns + place.column + (place.term is None)
    if depth in ("stage", "row"):
        return cells // (rows * columns if depth == "stage" else columns)
    if depth == "cell":
        return cells
    begun = place.term + 1 if place.term is not None else 0
    return cells * (count_terms(e, place.stage) + 1) + begun


def step_forward(e: "Experiment", depth: str, at: Place | None) -> Place | None:
    """Return the place one step of a depth later; None, the end, stays None."""
    return (
        None if at is None else place_of_step(e, depth, min(step_of_place(e, depth, at) + 1, count_steps(e, depth) - 1))
    )


def step_back(e: "Experiment", depth: str, at: Place | None) -> Place | None:
    """Return the place one step of a depth earlier, but not before the first step."""
    last = step_of_place(e, depth, at)
    exact = at is None or step_of_place(
        e, "term", place_of_step(e, depth, last) if last >= 0 else None
    ) == step_of_place(e, "term", at)
    return place_of_step(e, depth, max(last - exact, 0))


def fit_place(e: "Experiment", at: Place | None) -> Place | None:
    """Return the nearest place that exists in an experiment; if its stage is absent, the stage before it, complete."""
    if at is None:
        return None
    if not BY_NAME[at.stage].present(e):
        before = STAGES[: STAGES.index(BY_NAME[at.stage])]
        return Place(next((stage for stage in reversed(before) if stage.present(e)), STAGES[0]).name)
    rows, columns = shape(e, at.stage)
    at = replace(at, asked=tuple((i, j) for i, j in at.asked if i < rows and j < columns)) if at.asked else at
    if at.row is None or at.row >= rows:
        return replace(at, row=None, column=None, term=None)
    if (at.column or 0) >= columns:
        return replace(at, column=None, term=None)
    return replace(at, term=None) if (at.term or 0) >= max(count_terms(e, at.stage), 1) else at


def frames(e: "Experiment", stage: str, depth: str, cell: tuple[int, int] | None = None) -> tuple[Place | None, ...]:
    """Return the places at which one stage is revealed, one per key press: first announced, finally all known.

    The depth "all" reveals it in one step, "cell" the cells in the row of ``cell``, "term" the terms of ``cell``, by
    default [0, 0], with everything before it known. If the stage has no such cell, it is revealed in one step.
    """
    (rows, columns), (row, column) = shape(e, stage), cell or (0, 0)
    if row >= rows or column >= columns:
        return (None,)
    places: list[Place] = []
    match depth:
        case "stage":
            places = [Place(stage, -1)]
        case "row":
            places = [Place(stage, each) for each in range(-1, rows)]
        case "cell":
            places = [Place(stage, row, each) for each in range(-1, columns)]
        case "term":
            written = (Place(stage, row, column, each) for each in range(count_terms(e, stage)))
            places = [Place(stage, row, column - 1), *written, Place(stage, row, column)]
    return (*(each for each in places if unknown_cells(e, each, stage) is not None), None)


def make_question_place(cells: "Iterable[Cell]") -> Place | None:
    """Return the place at the first stage among ``cells``: its cells in ``cells`` and all later stages are unknown."""
    inside: dict[str, dict[tuple[int, int], None]] = {}
    for cell in cells:
        inside.setdefault(cell.stage, {})[cell.row, cell.column] = None
    first = next((stage.name for stage in STAGES if stage.name in inside), None)
    return None if first is None else Place(first, asked=tuple(inside[first]))


def describe_place(e: "Experiment", at: Place) -> str:
    """Return in words where a place is in its stage, "row 2 of 6, column 3 of 6, term 1 of 2"; "" at its end."""
    rows, columns = shape(e, at.stage)
    words: list[str] = []
    for name, value, of in (("row", at.row, rows), ("column", at.column, columns), ("term", at.term, None)):
        if value is not None and value >= 0:
            words.append(f"{name} {value + 1} of {of or count_terms(e, at.stage)}")
    return ", ".join(words)


def place_labels(e: "Experiment", at: Place) -> str:
    """Return the labels of a place's row and column, "journey → starts"; "" for a whole stage."""
    axes = BY_NAME[at.stage].axes[-2:]
    named = [label(e, axis, i) for axis, i in zip(axes, (at.row, at.column), strict=True) if i is not None and i >= 0]
    return " → ".join(named)
