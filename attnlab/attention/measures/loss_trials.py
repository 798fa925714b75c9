"""A number of the backward pass found by trying: the loss, computed again with one number a little higher and lower."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.attention.edits.layer_tables import table, with_table
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.losses import find_pair, is_on
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.presence import PARAMETERS, is_gradient, source
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError

STEP = 1e-3


class GivenTrace(Trace):
    """A trace in float64 on the CPU in which one stage has other numbers than those computed."""

    def __init__(self, e: Experiment, stage: str, numbers: Tensor) -> None:
        super().__init__(e, torch.device("cpu"), torch.float64)
        self._tensors[stage] = numbers


@dataclass(frozen=True, slots=True)
class Trial:
    """A number tried at ``value`` ± ``by``: the measure ``above`` and ``below``, and the gradient by formula, float64.

    ``measured`` says what was measured: the loss, or for a Jacobian one weight.
    """

    value: float
    by: float
    above: float
    below: float
    computed: float
    measured: str

    @property
    def slope(self) -> float:
        """The difference quotient."""
        return (self.above - self.below) / (2 * self.by)


def try_cell(e: Experiment, cell: Cell, by: float = STEP) -> Trial:
    """Return what happens when the number that a gradient belongs to goes up and down; for one head.

    Raises:
        ExperimentError: the layer has no loss, or the cell holds no gradient.
    """
    if not is_on(e.config) or not is_gradient(cell.stage):
        raise ExperimentError(f"{cell.stage} holds no gradient; choose a loss and a number of a gradient.")
    exact = Trace(e, torch.device("cpu"), torch.float64)
    computed = exact[cell.stage]
    place = (cell.head or 0, cell.row, cell.column) if computed.ndim == 3 else (cell.row, cell.column)
    of = cell.stage.removeprefix("d_")
    if cell.stage == "jacobian":
        return _try_weight(e, exact, cell, by)
    if of.startswith("W_") or of in PARAMETERS:
        value = float(table(e, of)[place])
        traces = [_replace(e, of, place, value + step) for step in (by, -by)]
    else:
        value = float(exact[of][place])
        traces = [_nudge(e, of, exact[of], place, step) for step in (by, -by)]
    above, below = (float(t["loss"]) for t in traces)
    return Trial(value, by, above, below, float(computed[place]), "loss")


def _replace(e: Experiment, name: str, place: tuple[int, ...], value: float) -> Trace:
    moved = table(e, name).to(torch.float64, copy=True)
    moved[place] = value
    return Trace(with_table(e, name, moved), torch.device("cpu"), torch.float64)


def _nudge(e: Experiment, stage: str, numbers: Tensor, place: tuple[int, ...], step: float) -> Trace:
    moved = numbers.clone()
    moved[place] += step
    return GivenTrace(e, stage, moved)


def _try_weight(e: Experiment, exact: Trace, cell: Cell, by: float) -> Trial:
    """Return what happens to weight ``row`` of the row in question when the score at ``column`` moves."""
    query, head, of = find_pair(e)[1], cell.head or 0, source(e, "weights")
    place = head, query, cell.column
    ends = [_nudge(e, of, exact[of], place, step)["weights"] for step in (by, -by)]
    above, below = (float(each[head, query, cell.row]) for each in ends)
    computed = float(exact["jacobian"][head, cell.row, cell.column])
    return Trial(float(exact[of][place]), by, above, below, computed, "weight")
