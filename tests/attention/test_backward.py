"""The backward pass: every gradient equals autograd to 1e-10 and trying, in every kind of layer."""

import dataclasses
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
from attnlab.attention.edits.descent import descend, list_movable
from attnlab.attention.edits.stack_edits import add_layer, select_layer
from attnlab.attention.measures.loss_trials import GivenTrace, try_cell
from attnlab.attention.measures.sensitivity import LeafTrace, part_tables
from attnlab.attention.registries.blocks import FEED_FORWARDS
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.registries.norms import NORMS
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.registries.scores import SCORES
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.backward_parts import find_parts
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.explain_steps import find_steps
from attnlab.attention.stages.presence import BLOCK, PARAMETERS
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.errors import ExperimentError
from tests.attention.test_features import drawn, layer, with_random_tables
from tests.attention.test_stage_code import by_code

LOSSES: dict[str, dict[str, Any]] = {
    "weight": {"loss": "weight", "loss_head": 1, "loss_query": 2, "loss_key": 1, "loss_wanted": 0.8},
    "output": {"loss": "output", "loss_query": 3},
    "class": {"loss": "class", "loss_query": 1, "loss_class": 2},
}
TABLES = ("W_q", "W_k", "W_v", "W_o")


def build(loss: str, cross: bool = False, biased: bool = False, **config: Any) -> attnlab.Experiment:
    """Return a layer of 4 heads on 2 with random tables and a loss; skip a layer that is refused."""
    try:
        e = layer(cross)
        if "block" in config:
            e = edits.with_table(e, "W_o", e.weights.W_o.repeat(1, 2)[:, :8])  # type: ignore[union-attr]
        e = add_biases(e) if biased else e
        return with_random_tables(configure(e, **config, **LOSSES[loss]))
    except attnlab.ExperimentError as refused:
        pytest.skip(str(refused))


def add_biases(e: attnlab.Experiment) -> attnlab.Experiment:
    """Return the layer with random biases."""
    for seed, name in enumerate(edits.BIASES):
        e = edits.with_table(e, name, drawn(*edits.shape(e, name), seed=seed))
    return e


class TableTrace(LeafTrace):
    """A trace with gradients also for tables from which other tensors are made before they are added."""

    def take(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor.requires_grad else super().take(tensor)


def differentiate(e: attnlab.Experiment, name: str) -> torch.Tensor:
    """Return the gradient of the loss with respect to a stage or a matrix, by torch's autograd through the stages."""
    with torch.inference_mode(False), torch.enable_grad():
        if name in TABLES or name in PARAMETERS:
            own = e.weights.extra[name] if name in e.weights.extra else getattr(e.weights, name)
            leaf = own.double().clone().requires_grad_()
            trace: Any = TableTrace(e, [(own, leaf)])
        else:
            leaf = attnlab.compute(e, dtype="float64")[name].clone().requires_grad_()
            trace = GivenTrace(e, name, leaf)
        found = torch.autograd.grad(trace["loss"].sum(), leaf, allow_unused=True, materialize_grads=True)[0]
        return found if found.ndim > 1 else found[None]


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


BLOCKS = tuple(itertools.product(("before", "after"), ("layer", "rms", "none"), FEED_FORWARDS))


@pytest.mark.parametrize(("block", "norm", "feed_forward"), BLOCKS)
def test_gradients_equal_autograd_in_every_block(block: str, norm: str, feed_forward: str) -> None:
    settings = {"block": block, "block_norm": norm, "feed_forward": feed_forward, "norm_eps": 1e-3}
    for loss, cross in itertools.product(LOSSES, (False, True)):
        e = build(loss, cross, **settings)
        check_gradients(e)
        if loss != "weight":
            assert not {f"d_{name}" for name in attnlab.compute(e) if name in BLOCK} - set(attnlab.compute(e))


@pytest.mark.parametrize("layer", [0, 1])
def test_gradients_equal_autograd_in_each_layer_of_a_stack(layer: int) -> None:
    e = configure(select_layer(attnlab.preset("induction"), layer), **LOSSES["output"])
    check_gradients(e)
    e = add_layer(build("class", block="before", feed_forward="swiglu"))
    check_gradients(with_random_tables(select_layer(e, layer)))


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
    "biases": {"biased": True, "causal": True},
    "biases in two sequences": {"biased": True, "cross": True, "positions": "t5", "score": "general"},
    "biases in a block": {"biased": True, "block": "before", "positions": "learned"},
    "biases in a block of RMS": {"biased": True, "block": "before", "block_norm": "rms", "score": "concat"},
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
        "d_W_q", "d_W_k", "d_W_v", "d_W_o", "d_g_q", "d_g_k", "d_inputs",
    ]  # fmt: skip


def test_the_stages_of_a_block_come_before_those_of_attention() -> None:
    e = build("output", block="before", feed_forward="swiglu")
    found = [name for name in attnlab.compute(e) if BY_NAME[name].is_backward]
    assert found == [
        "loss", "d_second_residual", "d_feed_forward", "d_activated", "d_gates", "d_hidden", "d_normed_residual",
        "d_residual", "d_output", "d_context", "d_values", "d_weights", "jacobian", "d_scaled", "d_scores",
        "d_queries", "d_keys", "d_W_q", "d_W_k", "d_W_v", "d_W_o", "d_W_gate", "d_W_1", "d_W_2", "d_normed_inputs",
        "d_inputs", "d_gamma_1", "d_beta_1", "d_gamma_2", "d_beta_2",
    ]  # fmt: skip


EXPLAINED = {
    "plain": ("weight", {}),
    "output": ("output", {"causal": True, "dropout": 0.3, "dropout_seed": 2, "soft_cap": 2.0}),
    "class": ("class", {"positions": "alibi", "normalizer": "entmax15"}),
    "turned": ("class", {"positions": "rope", "qk_norm": "rms", "score": "additive", "normalizer": "sigmoid"}),
    "after": ("output", {"fill": "after", "causal": True, "score": "cosine", "qk_norm": "l2", "temperature": 0.5}),
    "block": ("weight", {"block": "before"}),
    "block after": ("output", {"block": "after", "feed_forward": "gelu", "causal": True}),
    "gated": ("class", {"block": "before", "block_norm": "rms", "feed_forward": "swiglu"}),
    "gated after": ("output", {"block": "after", "feed_forward": "geglu", "biased": True}),
    "no norm": ("output", {"block": "before", "block_norm": "none", "feed_forward": "gelu_tanh"}),
    "no feed-forward": ("class", {"block": "after", "feed_forward": "none"}),
    "ReLU across": ("output", {"block": "before", "cross": True, "biased": True}),
    "cross": ("output", {"cross": True, "normalizer": "sparsemax", "ablated": (1,)}),
    "biases": ("class", {"biased": True, "qk_norm": "rms", "score": "general", "positions": "t5", "sink": True}),
    "positions": ("class", {"biased": True, "block": "before", "positions": "learned", "score": "concat"}),
    "other sink": (
        "output",
        {"biased": True, "cross": True, "sink": True, "normalizer": "entmax15", "score": "additive"},
    ),
}


@pytest.mark.slow
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


def find_gradients(e: attnlab.Experiment) -> tuple[str, ...]:
    """Return the biases and tables of a layer that have a gradient."""
    return tuple(name for name in PARAMETERS if f"d_{name}" in attnlab.compute(e))


def across_learned_positions() -> attnlab.Experiment:
    """Return cross-attention to a longer sequence, both with rows of one table of positions added."""
    given, memory = build("output", cross=True), drawn(5, 8, seed=3)
    weights = dataclasses.replace(given.weights, W_k=drawn(8, 8) / 3, W_v=drawn(8, 6))
    e = dataclasses.replace(given, weights=weights, memory_embeddings=memory)
    e = configure(e, positions="learned")
    return edits.with_table(e, "P", drawn(7, 8, seed=4))  # longer than both


def test_every_bias_and_table_has_a_gradient_that_is_checked() -> None:
    found = {name for loss, config in EXPLAINED.values() for name in find_gradients(build(loss, **config))}
    assert set(PARAMETERS) == found


@pytest.mark.parametrize(
    ("scale", "written"),
    [("none", ""), ("sqrt_d_k", r"\div\, \sqrt{d_k}"), ("sqrt_d_model", ""), (2.5, r"\div\, 2.5000")],
)
def test_every_gradient_has_a_formula_with_every_scale(scale: str | float, written: str) -> None:
    e = build("output", scale=scale)
    formulas = {name: BY_NAME[name].formula(e) for name in attnlab.compute(e) if BY_NAME[name].is_backward}
    assert all(formulas.values())
    assert not written or formulas["d_scores"] == written


@pytest.mark.parametrize("case", EXPLAINED)
def test_the_code_of_every_gradient_computes_it(case: str) -> None:
    loss, config = EXPLAINED[case]
    e = build(loss, **config)
    trace, made = attnlab.compute(e, dtype="float64"), by_code(e)
    for name in (name for name in trace if BY_NAME[name].is_backward):
        torch.testing.assert_close(made[name], trace[name], rtol=1e-9, atol=1e-12, msg=lambda m, n=name: f"{n}: {m}")


def test_rows_of_positions_beyond_a_sequence_move_with_the_other_only() -> None:
    e = across_learned_positions()
    check_gradients(edits.with_table(e, "P", drawn(5, 8, seed=4)))
    trace = attnlab.compute(e, dtype="float64")
    assert trace["d_P"].shape == (5, 8)
    assert torch.equal(trace["d_P"][4], trace["d_memory"][4])
    torch.testing.assert_close(by_code(e)["d_P"], trace["d_P"])
    assert explain(trace, Cell("d_P", 1, 2)).value == pytest.approx(float(trace["d_P"][1, 2]))
    moved = descend(e, 0.1, ("P",)).experiment.weights.extra["P"]
    assert moved.shape == (7, 8)
    torch.testing.assert_close(moved[:5], e.weights.extra["P"][:5] - 0.1 * trace["d_P"])
    assert torch.equal(moved[5:], e.weights.extra["P"][5:])


@pytest.mark.parametrize("score", ["general", "additive"])
def test_a_score_without_gradients_of_its_own_is_differentiated(score: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = build("output", score=score)
    expected = attnlab.compute(given, dtype="float64")
    bare = dataclasses.replace(SCORES[score], backward=None, backward_code=("", ""), table_gradients={})
    monkeypatch.setitem(SCORES, score, bare)
    trace, made = attnlab.compute(given, dtype="float64"), by_code(given)
    for table in bare.tables:
        name = f"d_{table.name}"
        torch.testing.assert_close(trace[name], expected[name])
        torch.testing.assert_close(made[name], expected[name])
        assert plain(explain(trace, Cell(name, 0, 0)).lines[-2]).startswith("= ")


@pytest.mark.parametrize("case", ["biases", "positions", "other sink", "block after", "gated"])
def test_one_step_down_moves_every_bias_and_table(case: str) -> None:
    loss, config = EXPLAINED[case]
    e = build(loss, **config)
    trace, names = attnlab.compute(e, dtype="float64"), find_gradients(e)
    assert set(names) <= set(list_movable(e))
    for name in names:
        found = descend(e, 1e-3, (name,))
        assert found.losses[1] < found.losses[0], name
        own, moved = edits.table(e, name), edits.table(found.experiment, name)
        torch.testing.assert_close(moved, own - 1e-3 * trace[f"d_{name}"], rtol=1e-12, atol=1e-14)


def test_a_layer_without_a_projection_shares_its_settings_with_one_that_has_it() -> None:
    e = configure(attnlab.preset("the-cat-sat"), loss="weight")
    assert "d_W_q" in attnlab.compute(e)
    without = edits.with_table(e, "W_q", None)
    assert without.config is e.config
    assert "d_W_q" not in attnlab.compute(without)
    biased = edits.with_table(e, "b_q", torch.ones(1, 4))
    assert "d_b_q" in attnlab.compute(biased)
    assert "d_b_q" not in attnlab.compute(e)
