"""What a Trace promises: stages, shapes, empty rows, warnings, and an unchanged state of the caller's torch."""

import inspect
import math
from typing import Any

import pytest
import torch

import attnlab

STAGES = ["inputs", "queries", "keys", "values", "scores", "scaled", "masked", "weights", "context", "output"]


def randn(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def experiment(embeddings: Any = None, weights: dict[str, Any] | None = None, **config: Any) -> attnlab.Experiment:
    """Return untrained attention over four tokens × 6, with some fields changed."""
    rows = randn(4, 6) if embeddings is None else torch.as_tensor(embeddings)
    return attnlab.Experiment(
        tokens=[f"t{i}" for i in range(len(rows))],
        embeddings=rows,
        weights=attnlab.Weights(**weights or {}),
        config=attnlab.AttentionConfig(**config),
    )


def cross_layer() -> attnlab.Experiment:
    """Return four queries × 6 and three keys × 5; 4 heads on 2, d_k 3, d_v 2, d_out 7."""
    weights = attnlab.Weights(
        W_q=randn(6, 12), W_k=randn(5, 6), W_v=randn(5, 4), W_o=randn(8, 7), b_q=randn(12), b_o=randn(7)
    )
    return attnlab.Experiment(
        tokens=("a", "b", "c", "d"),
        embeddings=randn(4, 6),
        weights=weights,
        config=attnlab.AttentionConfig(n_heads=4, n_kv_heads=2, causal=True),
        memory_tokens=("x", "y", "z"),
        memory_embeddings=randn(3, 5, seed=2),
    )


# --- stages ---------------------------------------------------------------------------------------------------------


def test_a_trace_maps_stage_names_to_tensors() -> None:
    trace = attnlab.compute(cross_layer())
    assert list(trace) == list(trace.all_stages) == list(trace.keys())
    assert {"memory", "output"} <= set(trace)
    assert len(trace) == len(list(trace))
    assert all(name in trace for name in trace)
    tensors = dict(trace)
    assert list(tensors) == list(trace)
    assert all(tensors[name] is trace[name] for name in tensors)
    with pytest.raises(KeyError, match="there is no stage 0 in this configuration; there are inputs, "):
        trace[0]  # type: ignore[index]


def test_stages_have_the_documented_order_and_shapes() -> None:
    trace = attnlab.compute(cross_layer())
    assert [(name, tuple(trace[name].shape)) for name in trace.stages] == [
        ("inputs", (4, 6)),
        ("queries", (4, 4, 3)),
        ("keys", (4, 3, 3)),
        ("values", (4, 3, 2)),
        ("scores", (4, 4, 3)),
        ("scaled", (4, 4, 3)),
        ("masked", (4, 4, 3)),
        ("weights", (4, 4, 3)),
        ("context", (4, 4, 2)),
        ("output", (4, 7)),
    ]


def test_compute_defaults_to_cpu_and_float32() -> None:
    defaults = {name: p.default for name, p in inspect.signature(attnlab.compute).parameters.items()}
    assert (defaults["device"], defaults["dtype"]) == ("cpu", "float32")
    assert attnlab.compute(experiment())["weights"].dtype == torch.float32


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_every_stage_has_the_requested_dtype(dtype: str) -> None:
    trace = attnlab.compute(cross_layer(), device="cpu", dtype=dtype)
    assert {trace[name].dtype for name in trace.stages} == {getattr(torch, dtype)}
    assert {trace[name].device.type for name in trace.stages} == {"cpu"}


@pytest.mark.parametrize(
    ("config", "absent"),
    [
        ({}, {"masked"}),
        ({"scale": "none"}, {"scaled", "masked"}),
        ({"causal": True}, set()),
        ({"scale": 1.0, "mask": torch.ones(4, 4, dtype=torch.bool)}, set()),
        ({"scale": "none", "causal": True}, {"scaled"}),
    ],
)
def test_an_unknown_stage_raises_a_key_error_with_the_known_stages(config: dict[str, Any], absent: set[str]) -> None:
    trace = attnlab.compute(experiment(**config))
    present = [name for name in STAGES if name not in absent]
    assert list(trace.stages) == present
    for name in [*absent, "attention"]:
        assert name not in trace.stages
        with pytest.raises(KeyError) as caught:
            trace[name]
        assert all(existing in str(caught.value) for existing in present)


def test_output_without_a_weight_concatenates_the_heads() -> None:
    layer = experiment(weights={"W_v": randn(6, 8)}, n_heads=2)
    trace = attnlab.compute(layer, dtype="float64")
    assert torch.equal(trace["output"], torch.cat(list(trace["context"]), dim=-1))


def test_an_output_bias_is_added_without_an_output_weight() -> None:
    bias = randn(6)
    with_bias = attnlab.compute(experiment(weights={"b_o": bias}), dtype="float64")
    without = attnlab.compute(experiment(), dtype="float64")
    torch.testing.assert_close(with_bias["output"], without["output"] + bias)


@pytest.mark.parametrize("size", [(1, 1), (1, 6), (5, 1)])
def test_one_token_or_one_dimension_is_enough(size: tuple[int, int]) -> None:
    trace = attnlab.compute(experiment(randn(*size), causal=True), dtype="float64")
    assert trace["weights"].shape == (1, size[0], size[0])
    assert torch.equal(trace["weights"][0, 0, :1], torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize(("t_q", "t_k"), [(2, 5), (5, 2), (1, 4), (4, 1)])
def test_causal_masks_count_from_the_top_left(t_q: int, t_k: int) -> None:
    layer = attnlab.Experiment(
        tokens=["q"] * t_q,
        embeddings=randn(t_q, 3),
        weights=attnlab.Weights(),
        config=attnlab.AttentionConfig(causal=True),
        memory_tokens=["k"] * t_k,
        memory_embeddings=randn(t_k, 3, seed=2),
    )
    trace = attnlab.compute(layer)
    assert [[w > 0 for w in row] for row in trace["weights"][0].tolist()] == [
        [j <= i for j in range(t_k)] for i in range(t_q)
    ]
    assert trace.empty_rows == ()


# --- results of one's own -------------------------------------------------------------------------------------------


def test_results_carry_no_gradients() -> None:
    layer = experiment(randn(4, 6).requires_grad_(), weights={"W_q": torch.nn.Linear(6, 6).weight}, n_heads=2)
    trace = attnlab.compute(layer)
    for name in trace.stages:
        assert not trace[name].requires_grad
        assert trace[name].grad_fn is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_writing_into_a_result_does_not_change_the_experiment(dtype: str) -> None:
    layer = experiment(randn(4, 6).to(getattr(torch, dtype)))
    before = layer.embeddings.clone()
    trace = attnlab.compute(layer, dtype=dtype)
    for name in trace.stages:
        trace[name].fill_(9.0)
    assert torch.equal(layer.embeddings, before)


def test_repeated_computation_gives_the_same_numbers() -> None:
    layer = cross_layer()
    first, second = attnlab.compute(layer), attnlab.compute(layer)
    assert all(torch.equal(first[name], second[name]) for name in first.stages)


# --- rows with nothing to attend to ---------------------------------------------------------------------------------


def test_a_fully_masked_row_has_zero_weights_and_context_and_is_listed() -> None:
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[2] = False
    bias = randn(6)
    trace = attnlab.compute(experiment(mask=mask, n_heads=2, weights={"b_o": bias}), dtype="float64")
    assert trace.empty_rows == ((0, 2), (1, 2))
    assert (trace["weights"][:, 2] == 0.0).all()
    assert (trace["context"][:, 2] == 0.0).all()
    assert torch.equal(trace["output"][2], bias)
    torch.testing.assert_close(trace["weights"][:, [0, 1, 3]].sum(-1), torch.ones(2, 3, dtype=torch.float64))
    assert trace.warnings == ()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
@pytest.mark.parametrize("normalizer", ["softmax", "sum"])
def test_a_mask_that_allows_nothing_gives_zeros_in_every_dtype(dtype: str, normalizer: str) -> None:
    nothing = torch.zeros(4, 4, dtype=torch.bool)
    trace = attnlab.compute(experiment(mask=nothing, normalizer=normalizer), dtype=dtype)
    assert trace.empty_rows == tuple((0, i) for i in range(4))
    assert (trace["weights"] == 0.0).all()
    assert (trace["output"] == 0.0).all()


def test_causal_and_mask_together_can_empty_a_row() -> None:
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[:, 0] = False
    assert attnlab.compute(experiment(mask=mask, causal=True)).empty_rows == ((0, 0),)


def test_masked_weights_are_exactly_zero_with_plain_sum_normalisation() -> None:
    positive = randn(4, 6).abs()
    weights = attnlab.compute(experiment(positive, causal=True, normalizer="sum"), dtype="float64")["weights"][0]
    assert torch.equal(weights, weights.tril())
    torch.testing.assert_close(weights.sum(-1), torch.ones(4, dtype=torch.float64))


# --- overflow -------------------------------------------------------------------------------------------------------


def overflowed(trace: Any) -> list[str]:
    """Return the stages with ∞ or NaN outside the mask."""
    names = []
    for name in trace.stages:
        bad = ~torch.isfinite(trace[name])
        if name == "masked":
            bad &= trace[name] != -math.inf
        if bad.any():
            names.append(name)
    return names


@pytest.mark.parametrize(
    ("size", "dtype", "first"),
    [(1e30, "float32", "scores"), (300.0, "float16", "scores"), (1e300, "float32", "inputs")],
)
@pytest.mark.parametrize("causal", [False, True])
def test_each_stage_that_overflows_gives_one_warning(size: float, dtype: str, first: str, causal: bool) -> None:
    trace = attnlab.compute(experiment(torch.full((3, 4), size, dtype=torch.float64), causal=causal), dtype=dtype)
    expected = overflowed(trace)
    assert expected[0] == first
    assert isinstance(trace.warnings, tuple)
    assert len(trace.warnings) == len(expected)
    for name, sentence in zip(expected, trace.warnings, strict=True):
        assert name in sentence.lower(), sentence
        assert sentence.endswith("."), sentence


def test_a_wider_dtype_avoids_the_overflow_warning() -> None:
    embeddings = torch.full((3, 4), 300.0, dtype=torch.float64)
    for dtype in ("bfloat16", "float32", "float64"):
        assert attnlab.compute(experiment(embeddings), dtype=dtype).warnings == ()


def test_minus_infinity_from_a_mask_is_not_overflow() -> None:
    assert attnlab.compute(experiment(causal=True)).warnings == ()


def test_large_scores_do_not_overflow_the_softmax() -> None:
    trace = attnlab.compute(experiment([[100.0, 0.0], [0.0, 100.0]], scale="none"))
    assert torch.equal(trace["weights"][0], torch.eye(2))
    assert trace.warnings == ()


# --- the caller's torch ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["journey", "journey-linear", "random-4x8", "multi-head-8"])
@pytest.mark.parametrize("grad", [True, False])
def test_compute_leaves_the_callers_torch_state_unchanged(name: str, grad: bool) -> None:
    def state() -> tuple[Any, ...]:
        return (
            torch.get_rng_state().tolist(),
            torch.get_default_dtype(),
            torch.get_num_threads(),
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.are_deterministic_algorithms_enabled(),
        )

    with torch.set_grad_enabled(grad):
        torch.manual_seed(5)
        before = state()
        trace = attnlab.compute(attnlab.preset(name))
        assert all(not trace[stage].requires_grad for stage in trace.stages)
        attnlab.presets()
        assert state() == before


@pytest.fixture
def double_by_default() -> Any:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_the_callers_default_dtype_changes_no_number(double_by_default: None, tables: dict[str, Any]) -> None:
    for name, section in (("journey", "trainable"), ("journey-linear", "linear")):
        trace = attnlab.compute(attnlab.preset(name))
        assert trace["context"].dtype == torch.float32
        printed = torch.tensor(tables[section]["context"], dtype=torch.float32)
        torch.testing.assert_close(trace["context"][0], printed, atol=5.1e-5, rtol=0.0)
    assert torch.get_default_dtype() == torch.float64


@pytest.mark.parametrize("name", ["journey", "causal-5x8"])
def test_the_callers_default_device_changes_no_number(name: str) -> None:
    expected = attnlab.compute(attnlab.preset(name))["weights"]
    rows = randn(7, 2).tolist()

    def causal_layer() -> attnlab.Experiment:
        config = attnlab.AttentionConfig(causal=True, positions="sinusoidal")
        return attnlab.Experiment(tokens=list("abcdefg"), embeddings=rows, config=config)

    # "meta" stands in for an accelerator: a tensor that lands there by mistake has no numbers.
    with torch.device("meta"):
        inside = attnlab.compute(attnlab.preset(name))["weights"]
        first = attnlab.compute(causal_layer())["weights"]
    assert torch.equal(inside, expected)
    assert torch.equal(first, attnlab.compute(causal_layer())["weights"])
    assert torch.isfinite(first).all()


def test_the_callers_autocast_does_not_change_the_dtype() -> None:
    expected = attnlab.compute(cross_layer())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = attnlab.compute(cross_layer())
        for name in inside.stages:
            assert inside[name].dtype == torch.float32
            torch.testing.assert_close(inside[name], expected[name])
