"""The backward pass: every gradient equals autograd to 1e-10 and trying, in every kind of layer."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import configure
from attnlab.attention.measures.loss_trials import GivenTrace, try_cell
from attnlab.attention.measures.sensitivity import LeafTrace, part_tables
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.backward_parts import find_parts
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.explain_steps import find_steps
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.errors import ExperimentError
from tests.attention.test_features import layer, with_random_tables

LOSSES: dict[str, dict[str, Any]] = {
    "weight": {"loss": "weight", "loss_head": 1, "loss_query": 2, "loss_key": 1, "loss_wanted": 0.8},
    "output": {"loss": "output", "loss_query": 3},
    "class": {"loss": "class", "loss_query": 1, "loss_class": 2},
}
TABLES = ("W_q", "W_k", "W_v", "W_o")


def build(loss: str, cross: bool = False, **config: Any) -> attnlab.Experiment:
    """Return a layer of 4 heads on 2 with random tables and a loss; skip a layer that is refused."""
    try:
        e = layer(cross)
        if "block" in config:
            e = edits.with_table(e, "W_o", e.weights.W_o.repeat(1, 2)[:, :8])  # type: ignore[union-attr]
        return with_random_tables(configure(e, **config, **LOSSES[loss]))
    except attnlab.ExperimentError as refused:
        pytest.skip(str(refused))


def differentiate(e: attnlab.Experiment, name: str) -> torch.Tensor:
    """Return the gradient of the loss with respect to a stage or a matrix, by torch's autograd through the stages."""
    with torch.inference_mode(False), torch.enable_grad():
        if name in TABLES:
            own = getattr(e.weights, name)
            leaf = own.double().clone().requires_grad_()
            trace: Any = LeafTrace(e, [(own, leaf)])
        else:
            leaf = attnlab.compute(e, dtype="float64")[name].clone().requires_grad_()
            trace = GivenTrace(e, name, leaf)
        return torch.autograd.grad(trace["loss"].sum(), leaf, allow_unused=True, materialize_grads=True)[0]


def check_gradients(e: attnlab.Experiment) -> None:
    """Check each gradient of a layer against autograd."""
    e, checked = part_tables(e), 0
    trace = attnlab.compute(e, dtype="float64")
    for name in trace:
        if name.startswith("d_"):
            expected = differentiate(e, name.removeprefix("d_"))
            assert trace[name].shape == expected.shape, name
            torch.testing.assert_close(trace[name], expected, rtol=1e-10, atol=1e-12, msg=lambda m, n=name: f"{n}: {m}")
            checked += bool(trace[name].any())
    assert checked >= 1
    check_jacobian(e)


def check_jacobian(e: attnlab.Experiment) -> None:
    """Check the Jacobian of the row in question against autograd."""
    trace = attnlab.compute(e, dtype="float64")
    query = min(e.config.option("loss_query"), e.T_q - 1)
    of = trace.sources("weights")[0]
    with torch.inference_mode(False), torch.enable_grad():
        leaf = trace[of].clone().requires_grad_()
        row = GivenTrace(e, of, leaf)["weights"][:, query]
        for key in range(e.T_k):
            found = torch.autograd.grad(row[:, key].sum(), leaf, retain_graph=True)[0][:, query]
            torch.testing.assert_close(trace["jacobian"][:, key], found, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_gradients_equal_autograd_for_every_score_and_normaliser(normalizer: str, score: str, loss: str) -> None:
    check_gradients(build(loss, normalizer=normalizer, score=score, causal=True))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("positions", POSITIONS)
def test_gradients_equal_autograd_for_every_position_scheme_and_norm(positions: str, norm: str, loss: str) -> None:
    check_gradients(build(loss, positions=positions, qk_norm=norm))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_gradients_equal_autograd_across_two_sequences(normalizer: str, loss: str) -> None:
    check_gradients(build(loss, cross=True, normalizer=normalizer))


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("norm", ["layer", "rms", "none"])
@pytest.mark.parametrize("block", ["before", "after"])
def test_gradients_equal_autograd_within_a_block(block: str, norm: str, cross: bool) -> None:
    check_gradients(build("output", cross, block=block, block_norm=norm, norm_eps=1e-3))


SWITCHES: dict[str, dict[str, Any]] = {
    "no scale": {"scale": "none"},
    "own scale": {"scale": 3.5, "soft_cap": 0.7},
    "temperature": {"temperature": 0.4},
    "dropout": {"dropout": 0.4, "causal": True},
    "mask after": {"fill": "after", "causal": True, "dropout": 0.3},
    "fill of 0": {"fill": "0", "causal": True},
    "large fill": {"fill": "-1e9", "causal": True},
    "window": {"masks": {"window": 2}, "positions": "rope_scaled", "rope_factor": 1.3},
    "head off": {"ablated": (2,)},
    "sink": {"sink": True, "causal": True, "temperature": 1.7},
    "sparsemax with a sink": {"sink": True, "normalizer": "sparsemax"},
    "entmax with a sink": {"sink": True, "normalizer": "entmax15", "causal": True},
    "unshifted with a sink": {"sink": True, "normalizer": "softmax-unshifted"},
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("switches", SWITCHES)
def test_gradients_equal_autograd_with_every_switch(switches: str, loss: str) -> None:
    check_gradients(build(loss, **SWITCHES[switches]))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("preset", ["the-cat-sat", "journey", "journey-untrained", "causal-5x8", "multi-head-8"])
def test_gradients_of_presets_equal_autograd(preset: str, loss: str) -> None:
    e = configure(attnlab.preset(preset), **LOSSES[loss])
    check_gradients(e)


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(SCORES)),
    st.sampled_from(sorted(set(NORMALIZERS) - {"sum"})),
    st.sampled_from(sorted(LOSSES)),
    st.tuples(*[st.integers(0, 40)] * 3),
)
def test_gradients_of_random_numbers_equal_autograd(
    seed: int, score: str, normalizer: str, loss: str, pair: tuple[int, int, int]
) -> None:
    e = configure(layer(score=score, normalizer=normalizer, causal=seed % 2 == 0), **LOSSES[loss])
    e = configure(e, **dict(zip(("loss_head", "loss_query", "loss_key"), pair, strict=True)))
    g = torch.Generator().manual_seed(seed)
    extra = {name: torch.randn(t.shape, generator=g, dtype=torch.float64) for name, t in e.weights.extra.items()}
    moved = torch.randn(e.embeddings.shape, generator=g, dtype=torch.float64)
    weights = attnlab.Weights(**{name: getattr(e.weights, name) for name in TABLES}, extra=extra)
    e = attnlab.Experiment(e.tokens, moved, weights, e.config)
    trace = attnlab.compute(e, dtype="float64")
    for name in (name for name in trace if name.startswith("d_")):
        expected = differentiate(part_tables(e), name.removeprefix("d_"))
        torch.testing.assert_close(trace[name], expected, rtol=1e-9, atol=1e-11)


def test_rows_without_a_visible_key_pass_no_gradient() -> None:
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[2] = False
    for name in NORMALIZERS:
        e = build("output", mask=mask, normalizer=name)
        trace = attnlab.compute(e, dtype="float64")
        assert all(torch.isfinite(trace[each]).all() for each in trace if each.startswith("d_")), name
        assert not trace["d_scores"][:, 2].any()
        assert trace["d_scores"][:, 1].any()


def test_the_three_tokens_have_the_gradients_that_a_textbook_would_print() -> None:
    e = configure(attnlab.preset("the-cat-sat"), loss="weight", loss_query=2, loss_key=1, loss_wanted=0.8)
    t = attnlab.compute(e, dtype="float64")
    x, w = e.embeddings.double().numpy(), e.weights.W_q.double().numpy()  # type: ignore[union-attr]
    q, k = x @ w, x @ e.weights.W_k.double().numpy()  # type: ignore[union-attr]
    s = q @ k.T / 2
    a = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
    da = 2 * (a[2, 1] - 0.8)
    ds = da * (a[2, 1] * (np.arange(3) == 1) - a[2, 1] * a[2]) / 2
    np.testing.assert_allclose(t.array("d_W_q"), np.outer(x[2], ds @ k), atol=1e-15)
    np.testing.assert_allclose(t.array("d_W_k"), x.T @ np.outer(ds, q[2]), atol=1e-15)
    assert t.stages[9:] == (
        "loss", "d_weights", "jacobian", "d_scaled", "d_scores", "d_queries", "d_keys", "d_W_q", "d_W_k", "d_inputs",
    )  # fmt: skip


def test_the_stages_are_in_the_order_of_the_backward_pass() -> None:
    e = build("output", causal=True, positions="rope", qk_norm="rms", soft_cap=3.0)
    found = [name for name in attnlab.compute(e) if BY_NAME[name].is_backward]
    assert found == [
        "loss", "d_output", "d_context", "d_values", "d_weights", "jacobian", "d_masked", "d_capped", "d_scaled",
        "d_scores", "d_rotated_queries", "d_rotated_keys", "d_normed_queries", "d_normed_keys", "d_queries", "d_keys",
        "d_W_q", "d_W_k", "d_W_v", "d_W_o", "d_inputs",
    ]  # fmt: skip


EXPLAINED = {
    "plain": ("weight", {}),
    "output": ("output", {"causal": True, "dropout": 0.3, "dropout_seed": 2, "soft_cap": 2.0}),
    "class": ("class", {"positions": "alibi", "normalizer": "entmax15"}),
    "turned": ("class", {"positions": "rope", "qk_norm": "rms", "score": "additive", "normalizer": "sigmoid"}),
    "after": ("output", {"fill": "after", "causal": True, "score": "cosine", "qk_norm": "l2", "temperature": 0.5}),
    "block": ("weight", {"block": "before"}),
    "cross": ("output", {"cross": True, "normalizer": "sparsemax", "ablated": (1,)}),
}


@pytest.mark.parametrize("case", EXPLAINED)
def test_the_parts_of_every_number_add_up_to_it_and_are_written(case: str) -> None:
    loss, config = EXPLAINED[case]
    trace = attnlab.compute(build(loss, **config), dtype="float64")
    for name in (name for name in trace if BY_NAME[name].is_backward):
        *heads, rows, columns = trace[name].shape
        for row, column in itertools.product(range(rows), range(columns)):
            cell = Cell(name, row, column, (row + column) % heads[0] if heads else None)
            parts = find_parts(trace, cell)
            explanation, steps = explain(trace, cell), find_steps(trace, cell)
            assert plain(explanation.lines[-1]).startswith("= ")
            if parts:
                total = sum(part.total for part in parts if part.is_added)
                assert total == pytest.approx(explanation.value, abs=1e-12), (cell, parts)
                assert steps is not None
                assert steps.all[-1].terms[-1].amount == pytest.approx(explanation.value, abs=1e-12)
            else:
                assert name == "readout" or (name == "loss" and loss == "class")


@pytest.mark.parametrize("case", EXPLAINED)
def test_trying_finds_the_same_gradients(case: str) -> None:
    loss, config = EXPLAINED[case]
    e = build(loss, **config)
    trace = attnlab.compute(e, dtype="float64")
    for name in (name for name in trace if name.startswith("d_") or name == "jacobian"):
        *heads, rows, columns = trace[name].shape
        for at in range(4):
            cell = Cell(name, at % rows, (at * 2 + 1) % columns, at % heads[0] if heads else None)
            trial = try_cell(e, cell, 1e-5)
            assert trial.computed == float(trace[name][(cell.head or 0, cell.row, cell.column)[not heads :]])
            assert trial.slope == pytest.approx(trial.computed, rel=1e-5, abs=1e-8), cell


def test_nothing_is_tried_without_a_loss_or_a_gradient() -> None:
    e = attnlab.preset("the-cat-sat")
    with pytest.raises(ExperimentError, match="holds no gradient; choose a loss"):
        try_cell(e, Cell("d_scores", 0, 0, 0))
    with pytest.raises(ExperimentError, match="scores holds no gradient"):
        try_cell(configure(e, loss="weight"), Cell("scores", 0, 0, 0))
