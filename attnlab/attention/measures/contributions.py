"""Where a score comes from: the products of one number of each token that sum to the score, and its content part."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError

Floats = NDArray[np.float64]
BIAS = "bias"
_MOST_NUMBERS = 1 << 22
"""Rotations are computed in pieces of at most this many numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """The products that sum to one number: ``values`` [rows, columns] in float64, and the ``engine``'s number.

    ``values`` is ``query`` [rows] times ``matrix`` [rows, columns] times ``key`` [columns]. A row or column named
    "bias" belongs to a bias, whose factor is 1. ``blocks`` are the sums over the parts named ``query_parts`` and
    ``key_parts``: content, position, bias; one block if no positions are added.
    """

    values: Floats
    matrix: Floats
    query: Floats
    key: Floats
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    blocks: Floats
    query_parts: tuple[str, ...]
    key_parts: tuple[str, ...]
    engine: float

    @property
    def total(self) -> float:
        """The sum of all contributions."""
        return float(self.values.sum())


def find_reason_against(e: Experiment) -> str:
    """Return one sentence on why the scores of a layer are no sums of contributions; "" if they are."""
    score = SCORES[e.config.score]
    if e.config.qk_norm != "none":
        return (
            f"There is no such table with QK norm ({NORMS[e.config.qk_norm].title}): each query and key is divided by "
            "its own size, so no fixed matrix stands between the two tokens."
        )
    if not score.is_bilinear:
        return (
            f"There is no such table for the score “{score.title}”: it is not a sum of products of one number of the "
            "query and one of the key, so no fixed matrix stands between the two tokens."
        )
    return ""


def measure_contributions(trace: Trace, head: int, query: int, key: int) -> Contributions:
    """Return the contributions to the score of a query and a key in a head, before it is scaled.

    Raises:
        ExperimentError: the scores are no sums of contributions, or they are too large for float64.
    """
    e = trace.experiment
    reason = find_reason_against(e)
    if reason:
        raise ExperimentError(reason)
    exact = Trace(e, torch.device("cpu"), torch.float64)
    x, y = exact[exact.sources("queries")[0]][query], exact[exact.sources("keys")[0]][key]
    rows, columns = query_rows(e, head), key_rows(e, head)
    matrix = _array(join(exact, turn(exact, rows, query), turn(exact, columns, key)))
    left, right = _with_bias(_array(x), e.weights.b_q), _with_bias(_array(y), e.weights.b_k)
    with np.errstate(all="ignore"):
        values = left[:, None] * matrix * right
    if not np.isfinite(values).all():
        raise ExperimentError("The contributions to this score are too large for float64; use smaller numbers.")
    query_parts = _split(exact, e.embeddings[query], x, left)
    key_parts = _split(exact, e.memory[key], y, right)
    blocks = np.array([[a @ matrix @ b for b in key_parts.values()] for a in query_parts.values()])
    engine = float(trace.array("scores")[head, query, key])
    names = name_rows(len(x), e.weights.b_q is not None), name_rows(len(y), e.weights.b_k is not None)
    return Contributions(values, matrix, left, right, *names, blocks, tuple(query_parts), tuple(key_parts), engine)


def query_rows(e: Experiment, head: int, *, bias: bool = True) -> Tensor:
    """Return W_q of a head in float64, [d_model, d_k], with b_q as one more row if there is one and ``bias``."""
    return cut_head(e.weights.W_q, e.weights.b_q if bias else None, e.d_model, head, e.d_k)


def key_rows(e: Experiment, head: int, *, bias: bool = True) -> Tensor:
    """Return W_k of the keys that a head uses in float64, [d_memory, d_k], with b_k as :func:`query_rows`."""
    shared = head // (e.n_heads // e.n_kv_heads)
    return cut_head(e.weights.W_k, e.weights.b_k if bias else None, e.memory.shape[1], shared, e.d_k)


def cut_head(weight: Tensor | None, bias: Tensor | None, width: int, head: int, size: int) -> Tensor:
    """Return the columns of a head in float64, [width, size]; the bias, if given, is one more row."""
    own = slice(head * size, (head + 1) * size)
    rows = torch.eye(width, dtype=torch.float64) if weight is None else weight.detach().cpu().to(torch.float64)
    parts = [rows[:, own]]
    if bias is not None:
        parts.append(bias.detach().cpu().to(torch.float64)[None, own])
    return torch.cat(parts)


def name_rows(count: int, bias: bool) -> tuple[str, ...]:
    """Return the labels of the columns of a token, and of the bias."""
    return (*map(str, range(count)), *([BIAS] if bias else []))


def choose_largest(values: Floats, most: int) -> list[list[int]]:
    """Return the rows and columns with the largest sums of absolute contributions, at most so many, in their order."""
    size = np.abs(values)
    return [sorted(np.argsort(-size.sum(axis), kind="stable")[:most].tolist()) for axis in (1, 0)]


def join(exact: Trace, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the scores of rows [n, d_k] as queries and columns [m, d_k] as keys, [n, m]."""
    score = SCORES[exact.experiment.config.score]
    return score.apply(rows[None], columns[None], exact.parameters(score))[0]


def turn(exact: Trace, rows: Tensor, position: int) -> Tensor:
    """Return rows [n, d_k] rotated as a query or key at a position; unchanged if nothing is rotated."""
    scheme = POSITIONS[exact.experiment.config.positions]
    if scheme.rotate is None:
        return rows
    p, size = exact.parameters(scheme), rows.shape[1]
    step = max(_MOST_NUMBERS // ((position + 1) * size), 1)
    units = torch.split(torch.eye(size, dtype=torch.float64), step)
    turned = [scheme.rotate(unit[:, None].expand(-1, position + 1, -1), p)[:, position] for unit in units]
    return rows @ torch.cat(turned)


def _with_bias(x: Floats, bias: Tensor | None) -> Floats:
    return x if bias is None else np.append(x, 1.0)


def _split(exact: Trace, embedding: Tensor, x: Tensor, whole: Floats) -> dict[str, Floats]:
    """Return the parts of a token's vector by name, each as long as ``whole``."""
    content = np.zeros_like(whole)
    # a norm mixes content and position, and so does the layer below
    is_normed = "normed_inputs" in exact or exact.experiment.layer > 0
    content[: len(x)] = _array(x if is_normed else embedding)
    if is_normed or POSITIONS[exact.experiment.config.positions].encode is None:
        parts = {"content": content}
    else:
        position = np.zeros_like(whole)
        position[: len(x)] = _array(x) - content[: len(x)]
        parts = {"content": content, "position": position}
    if len(whole) > len(x):
        parts[BIAS] = np.zeros_like(whole)
        parts[BIAS][-1] = 1.0
    return parts


def _array(tensor: Tensor) -> Floats:
    return tensor.detach().cpu().to(torch.float64).numpy()
