"""Moving one vector: the smallest change of its matrix or of its token puts it there."""

import numpy as np
import pytest

import attnlab
from attnlab.attention.edits import vector_edits as move
from attnlab.attention.edits.layer_tables import array


def read(e: attnlab.Experiment, stage: str, head: int) -> np.ndarray:
    return attnlab.compute(e, dtype="float64").array(stage)[head]


@pytest.mark.parametrize("kind", ["queries", "keys", "values"])
@pytest.mark.parametrize(("name", "head"), [("journey", 0), ("multi-head-8", 3), ("grouped", 3), ("untrained", 0)])
def test_the_smallest_change_of_the_matrix_moves_the_vector(name: str, head: int, kind: str) -> None:
    e = attnlab.preset({"untrained": "journey-untrained"}.get(name, name)) if name != "grouped" else grouped()
    before = read(e, kind, head)
    step = np.linspace(-0.3, 0.5, before.shape[1])
    after = move.move_by_matrix(e, kind, head, 1, step)
    np.testing.assert_allclose(read(after, kind, head)[1], before[1] + step, atol=1e-5)
    x, name_of = read_inputs(e), move.MATRIX_OF[kind]
    change = array(after, name_of).astype(float) - array(e, name_of).astype(float)
    first = move.find_columns(e, kind, head, len(step))
    smallest = np.linalg.pinv(x[1:2]) @ step[None]
    np.testing.assert_allclose(change[:, first : first + len(step)], smallest, atol=1e-5)
    change[:, first : first + len(step)] = 0
    assert not change.any(), "another head changed"
    assert after.embeddings is e.embeddings


def read_inputs(e: attnlab.Experiment) -> np.ndarray:
    return attnlab.compute(e, dtype="float64").array("inputs")


def grouped() -> attnlab.Experiment:
    rng = np.random.default_rng(0)
    weights = attnlab.Weights(
        W_q=rng.normal(size=(6, 8)), W_k=rng.normal(size=(6, 4)), W_v=rng.normal(size=(6, 4)), b_q=rng.normal(size=8)
    )
    config = attnlab.AttentionConfig(n_heads=4, n_kv_heads=2)
    return attnlab.Experiment(
        tokens=("a", "b", "c"), embeddings=rng.normal(size=(3, 6)), weights=weights, config=config
    )


@pytest.mark.parametrize("kind", ["queries", "keys", "values"])
def test_the_smallest_change_of_the_token_moves_the_vector(kind: str) -> None:
    e = grouped()
    step = np.array([0.4, -0.2])
    before = read(e, kind, 2)
    after = move.move_by_token(e, kind, 2, 0, step)
    np.testing.assert_allclose(read(after, kind, 2)[0], before[0] + step, atol=1e-9)
    first = move.find_columns(e, kind, 2, 2)
    matrix = array(e, move.MATRIX_OF[kind])[:, first : first + 2]
    change = array(after, "embeddings") - array(e, "embeddings")
    np.testing.assert_allclose(change[0], step @ np.linalg.pinv(matrix), atol=1e-9)
    assert not change[1:].any()
    assert after.weights is e.weights


def test_a_rotation_is_undone_before_the_matrix_moves() -> None:
    e = attnlab.preset("rope")
    before = read(e, "rotated_queries", 0)
    step = np.linspace(0.1, 0.4, before.shape[1])
    raw = move.undo_rotation(e, "queries", 2, step)
    assert not np.allclose(raw, step)
    after = move.move_by_matrix(e, "queries", 0, 2, raw)
    np.testing.assert_allclose(read(after, "rotated_queries", 0)[2], before[2] + step, atol=1e-5)


def test_a_row_of_zeros_and_a_matrix_of_zeros_move_nothing() -> None:
    zeros = attnlab.Experiment(tokens=("a", "b"), embeddings=np.zeros((2, 2)), weights=attnlab.Weights())
    with pytest.raises(attnlab.ExperimentError, match="is 0, so no change of W_q"):
        move.move_by_matrix(zeros, "queries", 0, 0, np.ones(2))
    flat = attnlab.Experiment(tokens=("a", "b"), embeddings=np.eye(2), weights=attnlab.Weights(W_k=np.zeros((2, 2))))
    with pytest.raises(attnlab.ExperimentError, match="W_k is 0 here"):
        move.move_by_token(flat, "keys", 0, 0, np.ones(2))


def test_a_token_moves_in_the_dtype_of_its_table() -> None:
    e = attnlab.preset("journey")
    after = move.move_token(e, "embeddings", 1, np.array([0.5, 0, -0.5]))
    change = array(after, "embeddings").astype(float) - array(e, "embeddings").astype(float)
    np.testing.assert_allclose(change[1], [0.5, 0, -0.5], atol=1e-6)
    assert after.embeddings.dtype is e.embeddings.dtype
    assert not np.delete(change, 1, 0).any()
