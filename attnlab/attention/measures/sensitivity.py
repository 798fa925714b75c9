"""How much each weight moves with a number of a table, and which numbers move one weight: exact derivatives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.edits.layer_tables import table, with_table
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError

Floats = NDArray[np.float64]
TABLES = ("embeddings", "memory_embeddings", "W_q", "W_k", "W_v")
"""The tables whose numbers can be asked about, where the layer has them."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a table, by its name as in :data:`TABLES`."""

    table: str
    row: int
    column: int


class LeafTrace(Trace):
    """A trace in float64 on the CPU that takes some tensors of its experiment as given, with gradients."""

    def __init__(self, e: Experiment, leaves: Sequence[tuple[Tensor, Tensor]]) -> None:
        super().__init__(e, torch.device("cpu"), torch.float64)
        self._leaves = leaves

    def _make_below(self, e: Experiment) -> Trace:
        return LeafTrace(e, self._leaves)

    def take(self, tensor: Tensor) -> Tensor:
        """Return a tensor of the experiment; the given ones with gradients."""
        found = next((leaf for own, leaf in self._leaves if own is tensor), None)
        return super().take(tensor) if found is None else found


def list_tables(e: Experiment) -> tuple[str, ...]:
    """Return the tables of a layer that it holds itself; a projection that is the identity has no numbers."""
    held = {"embeddings": e.embeddings, "memory_embeddings": e.memory_embeddings}
    return tuple(name for name in TABLES if (held[name] if name in held else getattr(e.weights, name)) is not None)


def measure_effects(e: Experiment, number: Number) -> Floats:
    """Return the derivative of every weight with respect to a number of a table, [h, T_q, T_k] in float64.

    Raises:
        ExperimentError: there is no such number, or the weights are not finite.
    """
    size = table(e, number.table).shape
    if number.table not in list_tables(e) or not (0 <= number.row < size[0] and 0 <= number.column < size[1]):
        raise ExperimentError(f"There is no number {number.table}[{number.row}, {number.column}] in this layer.")
    e = part_tables(e)
    own = table(e, number.table)
    with torch.inference_mode(False), torch.enable_grad():
        leaf = own.to(torch.float64, copy=True).requires_grad_()
        weights = LeafTrace(e, [(own, leaf)])["weights"]
        _check(weights)
        if not weights.requires_grad:
            return np.zeros(weights.shape)
        along = torch.zeros_like(weights, requires_grad=True)
        pulled = torch.autograd.grad(weights, leaf, along, create_graph=True)[0]  # linear in ``along``
        return torch.autograd.grad(pulled[number.row, number.column], along)[0].numpy()


def measure_causes(e: Experiment, head: int, query: int, key: int) -> dict[str, Floats]:
    """Return the derivative of one weight with respect to each number of each table of :func:`list_tables`, float64.

    Raises:
        ExperimentError: the weights are not finite.
    """
    e = part_tables(e)
    with torch.inference_mode(False), torch.enable_grad():
        owns = {name: table(e, name) for name in list_tables(e)}
        leaves = {name: own.to(torch.float64, copy=True).requires_grad_() for name, own in owns.items()}
        weights = LeafTrace(e, [(own, leaves[name]) for name, own in owns.items()])["weights"]
        _check(weights)
        if not weights.requires_grad:
            return {name: np.zeros(leaf.shape) for name, leaf in leaves.items()}
        chosen, given = weights[head, query, key], list(leaves.values())
        found = torch.autograd.grad(chosen, given, allow_unused=True, materialize_grads=True)
    return {name: gradient.numpy() for name, gradient in zip(leaves, found, strict=True)}


def measure_by_trying(e: Experiment, number: Number, by: float = 1e-3) -> Floats:
    """Return the central difference of every weight when a number goes up and down, [h, T_q, T_k] in float64."""
    own = table(e, number.table).to(torch.float64)
    ends = []
    for step in (by, -by):
        moved = own.clone()
        moved[number.row, number.column] += step
        ends.append(Trace(with_table(e, number.table, moved), torch.device("cpu"), torch.float64).array("weights"))
    return np.asarray((ends[0] - ends[1]) / (2 * by), dtype=np.float64)


def list_largest(causes: dict[str, Floats], most: int) -> list[tuple[Number, float]]:
    """Return the numbers that move a weight most, with their derivatives, largest size first, without zeros."""
    every = [
        (Number(name, *divmod(place, found.shape[1])), float(found.flat[place]))
        for name, found in causes.items()
        for place in np.argsort(-np.abs(found), axis=None, kind="stable")[:most].tolist()
    ]
    return sorted((each for each in every if each[1]), key=lambda each: -abs(each[1]))[:most]


def part_tables(e: Experiment) -> Experiment:
    """Return the layer with a tensor of its own for each table, where two share one."""
    names = list_tables(e)
    for place, name in enumerate(names):
        if any(table(e, name) is table(e, other) for other in names[:place]):
            e = with_table(e, name, table(e, name).clone())
    return e


def _check(weights: Tensor) -> None:
    if not bool(torch.isfinite(weights).all()):
        raise ExperimentError("There are no derivatives while weights are ∞ or NaN; use smaller numbers.")
