"""Edits that move one vector, as when its arrow is dragged: the smallest change of a matrix or of a token moves it."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.edits.table_edits import set_block
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.presence import source
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError

Floats = NDArray[np.floating[Any]]
MATRIX_OF = {"queries": "W_q", "keys": "W_k", "values": "W_v"}
"""The matrix that each kind of vector is computed with."""
NEARLY_0 = 1e-12


def move_token(e: Experiment, table_name: str, row: int, step: Floats) -> Experiment:
    """Return the experiment with a step [d] added to a row of the embeddings or of the memory's.

    Raises:
        ExperimentError: the layer reads another layer, or a number that does not fit the table's dtype.
    """
    if e.layer:
        raise ExperimentError(
            f"The tokens of layer {e.layer + 1} are what leaves the layer below; let the matrix follow, or move the "
            "token in layer 1."
        )
    numbers = table(e, table_name)[row].detach().to(torch.float64).numpy() + step
    return set_block(e, table_name, row, 0, numbers[None])


def move_by_matrix(e: Experiment, kind: str, head: int, row: int, step: Floats) -> Experiment:
    """Return the experiment in which a query, key or value has moved by ``step`` [d], by a change of its matrix.

    The change is the smallest one that does it (the smallest sum of squares). The same vectors of other tokens move
    along. ``kind`` is "queries", "keys" or "values", before norms and rotations.

    Raises:
        ExperimentError: the token's row is 0, or a number that does not fit the table's dtype.
    """
    name, trace = MATRIX_OF[kind], Trace(e, torch.device("cpu"), torch.float64)
    x = trace[trace.sources(kind)[0]][row].numpy()
    square = float(x @ x)
    if not square > NEARLY_0:
        raise ExperimentError(f"The row of this token is 0, so no change of {name} moves its arrow.")
    first = find_columns(e, kind, head, len(step))
    block = _read_block(e, name, first, len(step)) + np.outer(x, step) / square
    return set_block(e, name, 0, first, block)


def move_by_token(e: Experiment, kind: str, head: int, row: int, step: Floats) -> Experiment:
    """Return the experiment in which a query, key or value has moved by ``step`` [d], by a change of its token.

    It is the smallest change that comes closest to the step (least squares): a token with fewer numbers than the vector
    cannot reach every point. The token's other vectors move, too.

    Raises:
        ExperimentError: the matrix is 0, a norm stands before it, or a number that does not fit the table's dtype.
    """
    name = MATRIX_OF[kind]
    if source(e, kind) == "normed_inputs":
        raise ExperimentError(
            f"A norm stands between the token and {name}, so its arrow does not follow the token in a straight line; "
            "let the matrix follow, or choose a block without norms before."
        )
    matrix = _read_block(e, name, find_columns(e, kind, head, len(step)), len(step))
    if not np.abs(matrix).max(initial=0) > NEARLY_0:
        raise ExperimentError(f"{name} is 0 here, so no change of the token moves its arrow.")
    moved: Floats = np.linalg.lstsq(matrix.T, step, rcond=None)[0]
    return move_token(e, find_table(e, kind), row, moved)


def _read_block(e: Experiment, name: str, first: int, width: int) -> Floats:
    numbers: Floats = table(e, name).detach().to(torch.float64).numpy()[:, first : first + width]
    return numbers


def find_columns(e: Experiment, kind: str, head: int, width: int) -> int:
    """Return the first column of a head's ``width`` columns in the matrix of a kind of vector."""
    group = 1 if kind == "queries" else e.n_heads // e.n_kv_heads
    return head // group * width


def find_table(e: Experiment, kind: str) -> str:
    """Return the name of the table whose rows are the tokens of a kind of vector."""
    return "embeddings" if kind in ("inputs", "queries") or e.memory_embeddings is None else "memory_embeddings"


def undo_rotation(e: Experiment, kind: str, row: int, step: Floats) -> Floats:
    """Return the step [d] of a query or key before its rotation by positions that gives a step after it."""
    position, trace = POSITIONS[e.config.positions], Trace(e, torch.device("cpu"), torch.float64)
    if position.rotate is None:
        return step
    units = torch.zeros(len(step), trace[kind].shape[-2], len(step), dtype=torch.float64)
    units[:, row] = torch.eye(len(step), dtype=torch.float64)
    turned = position.rotate(units, trace.parameters(position))[:, row].numpy()  # a step s becomes s @ turned
    before: Floats = np.linalg.lstsq(turned.T, step, rcond=None)[0]
    return before
