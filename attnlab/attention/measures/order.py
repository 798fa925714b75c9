"""Test whether a layer depends on the order of its tokens: shuffle them and compare the maps."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.attention.edits.token_edits import pick
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ExperimentError

_APPLIED = ("dropped", "zeroed", "weights")
"""Stages that hold the final weights; the first one that a configuration has is used."""


@dataclass(frozen=True, slots=True, eq=False)
class OrderBlindness:
    """The weights and outputs of a layer for its tokens in two orders; token i of ``shuffled`` was token ``order[i]``.

    ``weights`` [h, T_q, T_k] and ``output`` [T_q, d_out] are for the original order, ``shuffled_…`` for the shuffled
    one, and ``restored_…`` are the latter with their rows (in self-attention also the keys) back in the original order.
    ``stage`` names the stage that the weights come from.
    """

    experiment: Experiment
    shuffled: Experiment
    order: tuple[int, ...]
    stage: str
    weights: Tensor
    shuffled_weights: Tensor
    restored_weights: Tensor
    output: Tensor
    restored_output: Tensor

    @property
    def difference(self) -> Tensor:
        """The restored weights minus the original ones, [h, T_q, T_k]."""
        return self.restored_weights - self.weights

    @property
    def largest(self) -> float:
        """The largest absolute difference between two weights."""
        return float(self.difference.abs().max())

    @property
    def largest_output(self) -> float:
        """The largest absolute difference between two numbers of the output."""
        return float((self.restored_output - self.output).abs().max())

    def restore_order(self, maps: Tensor) -> Tensor:
        """Return maps [..., T_q, T_k] of the shuffled tokens in the original order."""
        return _restore_order(self.experiment, maps, self.order)


def random_order(count: int, seed: int) -> tuple[int, ...]:
    """Return a permutation of ``count`` tokens that depends only on the seed; not the identity for 2 tokens or more."""
    g = torch.Generator(device="cpu").manual_seed(seed)
    order = tuple(torch.randperm(count, generator=g).tolist())
    return order if order != tuple(range(count)) else (*order[1:], *order[:1])


def permute(e: Experiment, order: Sequence[int]) -> Experiment:
    """Return the experiment with its tokens in another order: token i is the former token ``order[i]``.

    A mask drawn by hand moves with its tokens; a second sequence stays unchanged.

    Raises:
        ExperimentError: the order does not hold each index once.
    """
    if sorted(order) != list(range(e.T_q)):
        raise ExperimentError(
            f"The order is {list(order)}; it needs {format_bounds(0, e.T_q - 1, 'each number')} once."
        )
    return pick(e, order)


def shuffle(e: Experiment, seed: int) -> Experiment:
    """Return the experiment with its tokens in a random order that depends on the seed."""
    return permute(e, random_order(e.T_q, seed))


def measure_order_blindness(e: Experiment, order: Sequence[int], dtype: torch.dtype = torch.float64) -> OrderBlindness:
    """Return weights and outputs for the tokens and for the same tokens in another order, computed on the CPU.

    Without positions, and without a mask that depends on the order, attention is equivariant to permutations: the map
    of the shuffled tokens is the shuffled map (Lee et al. 2019), and the only difference is rounding.

    Raises:
        ExperimentError: the order does not hold each index once.
    """
    other = permute(e, order)
    one, two = Trace(e, torch.device("cpu"), dtype), Trace(other, torch.device("cpu"), dtype)
    stage = next(name for name in _APPLIED if name in one)
    restored = _restore_order(e, two[stage], order)
    output = two["output"][_invert(order)]
    return OrderBlindness(e, other, tuple(order), stage, one[stage], two[stage], restored, one["output"], output)


def _invert(order: Sequence[int]) -> Tensor:
    return torch.tensor(order, device="cpu").argsort()


def _restore_order(e: Experiment, maps: Tensor, order: Sequence[int]) -> Tensor:
    rows = maps[..., _invert(order), :]
    return rows if e.memory_embeddings is not None else rows[..., _invert(order)]  # else keys did not move
