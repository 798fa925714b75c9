"""The matrices W_q W_kᵀ and W_v W_o of a head, their singular values, and what a token writes into the output."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.contributions import Floats, cut_head, join, key_rows, name_rows, query_rows, turn
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError


@dataclass(frozen=True, slots=True, eq=False)
class HeadMatrix:
    """The product of two matrices of a head: ``left`` [rows, size] and ``right`` [size, columns], without biases.

    ``singular_values`` has at most ``size`` numbers, largest first; all others are 0.
    """

    left: Floats
    right: Floats
    singular_values: Floats

    @property
    def values(self) -> Floats:
        """The product, [rows, columns]; numbers too large for float64 are ∞ or NaN."""
        with np.errstate(all="ignore"):
            return self.left @ self.right

    @property
    def rank_for_most(self) -> int:
        """How many singular values hold 90 % of the sum of their squares."""
        largest = self.singular_values[0]
        squares = np.cumsum((self.singular_values / largest) ** 2) if largest else np.zeros(1)  # large ones overflow
        return 0 if squares[-1] == 0 else int(np.searchsorted(squares, 0.9 * squares[-1])) + 1


@dataclass(frozen=True, slots=True, eq=False)
class OutputParts:
    """What a head adds to one number of the output: ``values`` [T_k, d_memory] plus one column for b_v if there is one.

    Row j holds weight · x_j,b · (W_v W_o)_b,c. ``heads`` [h] are the sums of all heads, ``bias`` is b_o's number,
    ``engine`` the output as the engine computed it.
    """

    values: Floats
    column_labels: tuple[str, ...]
    heads: Floats
    bias: float
    engine: float

    @property
    def total(self) -> float:
        """The sum of the parts of all heads and the bias."""
        return float(self.heads.sum() + self.bias)


def multiply_scores(e: Experiment, head: int, query: int, key: int) -> HeadMatrix:
    """Return W_q W_kᵀ of a head, [d_model, d_memory].

    A rotation for the positions of the query and the key, and the matrix of a bilinear score, stand between the two.
    """
    exact = Trace(e, torch.device("cpu"), torch.float64)
    left = turn(exact, query_rows(e, head, bias=False), query)
    if SCORES[e.config.score].is_bilinear:
        left = join(exact, left, torch.eye(e.d_k, dtype=torch.float64))
    return _multiply(left, turn(exact, key_rows(e, head, bias=False), key).T)


def multiply_output(e: Experiment, head: int) -> HeadMatrix:
    """Return W_v W_o of a head, [d_memory, d_out]; W_v alone without W_o."""
    return _multiply(value_rows(e, head, bias=False), _output_rows(e, head))


def value_rows(e: Experiment, head: int, *, bias: bool = True) -> Tensor:
    """Return W_v of the values that a head uses in float64, [d_memory, d_v], with b_v as one more row."""
    shared = head // (e.n_heads // e.n_kv_heads)
    return cut_head(e.weights.W_v, e.weights.b_v if bias else None, e.memory.shape[1], shared, e.d_v)


def measure_output(trace: Trace, head: int, query: int, column: int) -> OutputParts:
    """Return what every key and every number of its token adds through a head to a number of the output.

    Raises:
        ExperimentError: the numbers are too large for float64.
    """
    e = trace.experiment
    exact = Trace(e, torch.device("cpu"), torch.float64)
    y = exact[exact.sources("values")[0]].numpy()
    if e.weights.b_v is not None:
        y = np.concatenate([y, np.ones((len(y), 1))], 1)
    weights = trace.array(trace.sources("context")[0])[:, query].astype(np.float64)
    with np.errstate(all="ignore"):
        tables = [
            (weights[h, :, None] * y) * (value_rows(e, h) @ _output_rows(e, h)[:, column]).numpy()
            if h not in e.config.ablated
            else np.zeros_like(y)
            for h in range(e.n_heads)
        ]
        heads = np.array([table.sum() for table in tables])
    if not np.isfinite(heads).all():
        raise ExperimentError("What this head adds to the output is too large for float64, or is NaN.")
    bias = 0.0 if e.weights.b_o is None else float(e.weights.b_o[column])
    names = name_rows(e.memory.shape[1], e.weights.b_v is not None)
    return OutputParts(tables[head], names, heads, bias, float(trace.array("output")[query, column]))


def _output_rows(e: Experiment, head: int) -> Tensor:
    """Return the rows of W_o that a head uses, [d_v, d_out]; without W_o, those of the identity."""
    size = e.d_v
    w = e.weights.W_o
    whole = torch.eye(e.n_heads * size, dtype=torch.float64) if w is None else w.detach().cpu().to(torch.float64)
    return whole[head * size : (head + 1) * size]


def _multiply(left: Tensor, right: Tensor) -> HeadMatrix:
    first, second = (torch.linalg.qr(each, mode="r").R for each in (left, right.T))
    return HeadMatrix(left.numpy(), right.numpy(), torch.linalg.svdvals(first @ second.T).numpy())
