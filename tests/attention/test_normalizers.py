"""Every normaliser equals its definition, gives masked keys exactly 0, and explains its numbers."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import number, plain
from attnlab.attention.stages.explain import Cell, explain

Row = list[float]


# --- the definitions, one row at a time, in plain numbers; masked keys are left out before ---------------------------


def softmax(row: Row) -> Row:
    total = sum(math.exp(x) for x in row)
    return [math.exp(x) / total for x in row]


def bisected(row: Row, share: Callable[[float, float], float]) -> Row:
    """Return share(x, τ) of each number, with τ found by halving so that they sum to 1; share falls as τ grows."""
    low, high = min(row) / 2 - 10 + min(0, min(row)), max(row) + 10
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(share(x, middle) for x in row) > 1 else (low, middle)
    return [share(x, low) for x in row]


def projected(row: Row) -> Row:
    """Return the nearest probability distribution: Martins & Astudillo 2016, equation 2."""
    return bisected(row, lambda x, tau: max(0.0, x - tau))


def entmax15(row: Row) -> Row:
    """Return max(0, (α − 1) x − τ) to the power 1 ÷ (α − 1) at α = 1.5: Peters, Niculae, Martins 2019, equation 5."""
    return bisected(row, lambda x, tau: max(0.0, (1.5 - 1) * x - tau) ** (1 / (1.5 - 1)))


DEFINITIONS: dict[str, Callable[[Row], Row]] = {
    "softmax": softmax,
    "softmax-unshifted": softmax,
    "sum": lambda row: [x / sum(row) for x in row],
    "sparsemax": projected,
    "entmax15": entmax15,
    "sigmoid": lambda row: [1 / (1 + math.exp(-x)) for x in row],
}
SHARES = ("softmax", "softmax-unshifted", "sparsemax", "entmax15")
"""Normalisers whose rows are probability distributions."""


def defined(name: str, row: Row) -> Row:
    kept = iter(DEFINITIONS[name]([x for x in row if x != -math.inf]))
    return [0.0 if x == -math.inf else next(kept) for x in row]


def apply(name: str, logits: Any, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return NORMALIZERS[name].apply(torch.as_tensor(logits, dtype=dtype), {})


def away_from_zero(name: str, logits: torch.Tensor) -> torch.Tensor:
    """Return scores whose sum is not 0, for the plain sum."""
    return logits + 20 if name == "sum" else logits


@st.composite
def rows(draw: st.DrawFn) -> torch.Tensor:
    """Draw scores [h, T_q, T_k] of different standard deviations, with at least one visible key in each row."""
    h, t_q, t_k = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 7))
    g = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    spread = draw(st.sampled_from([1e-3, 0.3, 1.0, 4.0]))
    logits = torch.randn(h, t_q, t_k, generator=g, dtype=torch.float64) * spread + draw(st.sampled_from([0.0, 5.0]))
    hidden = torch.rand(h, t_q, t_k, generator=g) < draw(st.sampled_from([0.0, 0.5]))
    hidden[..., draw(st.integers(0, t_k - 1))] = False
    if draw(st.booleans()):
        logits = logits.round()  # ties
    return logits.masked_fill(hidden, -torch.inf)


@pytest.mark.parametrize("name", DEFINITIONS)
@settings(max_examples=60)
@given(logits=rows())
def test_every_normaliser_equals_its_definition(name: str, logits: torch.Tensor) -> None:
    logits = away_from_zero(name, logits)
    expected = torch.tensor([[defined(name, row) for row in head] for head in logits.tolist()], dtype=torch.float64)
    torch.testing.assert_close(apply(name, logits), expected, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("name", NORMALIZERS)
@settings(max_examples=30)
@given(logits=rows())
def test_masked_keys_have_a_weight_of_exactly_zero(name: str, logits: torch.Tensor) -> None:
    weights = apply(name, away_from_zero(name, logits))
    assert (weights[logits == -torch.inf] == 0).all()


@pytest.mark.parametrize("name", SHARES)
@settings(max_examples=30)
@given(logits=rows())
def test_probabilities_sum_to_one_and_grow_with_the_score(name: str, logits: torch.Tensor) -> None:
    weights = apply(name, logits)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2], dtype=torch.float64))
    assert ((weights >= 0) & (weights <= 1 + 1e-12)).all()
    by_score = weights.gather(-1, logits.argsort(-1))
    assert (by_score.diff(dim=-1) >= -1e-12).all()


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "entmax15"])
@pytest.mark.parametrize("shift", [-1e6, 1e6])
def test_adding_a_constant_to_a_row_changes_nothing(name: str, shift: float) -> None:
    logits = [0.5, -1.0, 0.25, -math.inf]
    shifted = [x + shift for x in logits]
    torch.testing.assert_close(apply(name, [[shifted]]), apply(name, [[logits]]), atol=1e-9, rtol=0)


def test_the_plain_sum_lets_negative_scores_through_as_negative_weights() -> None:
    assert apply("sum", [[[3.0, -1.0, 2.0, -math.inf]]]).tolist() == [[[0.75, -0.25, 0.5, 0.0]]]


def test_sparse_normalisers_give_weak_keys_zero_and_softer_ones_fewer_zeros() -> None:
    logits = [[[2.0, 1.6, 0.9, -3.0]]]
    kept = {name: int((apply(name, logits) > 0).sum()) for name in ("sparsemax", "entmax15", "softmax")}
    assert kept == {"sparsemax": 2, "entmax15": 3, "softmax": 4}
    assert apply("sparsemax", logits).tolist() == [[[pytest.approx(0.7), pytest.approx(0.3), 0.0, 0.0]]]


def test_the_sigmoid_treats_each_key_independently() -> None:
    alone, among = apply("sigmoid", [[[0.3]]]), apply("sigmoid", [[[0.3, 100.0, -5.0]]])
    assert alone[0, 0, 0] == among[0, 0, 0]
    assert among.sum() > 1


@pytest.mark.parametrize("name", NORMALIZERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_weights_have_the_dtype_of_the_scores_and_its_accuracy(name: str, dtype: torch.dtype) -> None:
    g = torch.Generator().manual_seed(3)
    logits = torch.rand(2, 3, 300, generator=g).to(dtype) + 0.5
    logits[..., 200:] = -torch.inf
    weights = apply(name, logits, dtype)
    assert weights.dtype == dtype
    exact = apply(name, logits.double())
    torch.testing.assert_close(weights.double(), exact, atol=torch.finfo(dtype).eps, rtol=4 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_thresholds_over_many_scores_are_computed_in_at_least_float32(name: str, dtype: torch.dtype) -> None:
    logits = (torch.rand(1, 2, 400, generator=torch.Generator().manual_seed(3)) / 200).to(dtype)
    weights, exact = apply(name, logits, dtype).double(), apply(name, logits.double())
    assert (exact > 0).sum() > 300
    torch.testing.assert_close(weights, exact, atol=1e-6, rtol=torch.finfo(dtype).eps)


# --- in a layer -----------------------------------------------------------------------------------------------------


def layer(embeddings: Any = ((1.0, 2.0), (-0.5, 0.3), (0.7, -1.0)), **config: Any) -> attnlab.Experiment:
    return attnlab.Experiment(
        tokens=["a", "b", "c"][: len(embeddings)], embeddings=embeddings, config=attnlab.AttentionConfig(**config)
    )


@pytest.mark.parametrize("name", [name for name in DEFINITIONS if NORMALIZERS[name].tempered])
@settings(max_examples=15)
@given(temperature=st.floats(0.1, 10))
def test_a_temperature_divides_the_scores_first(name: str, temperature: float) -> None:
    trace = attnlab.compute(layer(normalizer=name, temperature=temperature, causal=True), dtype="float64")
    logits = (trace["masked"] / temperature)[0].tolist()
    expected = torch.tensor([[defined(name, row) for row in logits]], dtype=torch.float64)
    torch.testing.assert_close(trace["weights"], expected, atol=1e-10, rtol=1e-10)


def test_all_but_the_plain_sum_take_a_temperature_and_give_probabilities() -> None:
    others = [NORMALIZERS[name] for name in ("softmax", "softmax-unshifted", "sparsemax", "entmax15", "sigmoid")]
    assert all(each.tempered and each.kind == "probability" for each in others)
    assert not NORMALIZERS["sum"].tempered
    assert NORMALIZERS["sum"].kind == "signed"


@pytest.mark.parametrize("name", NORMALIZERS)
def test_a_fully_masked_row_is_zero_without_a_warning(name: str) -> None:
    mask = [[False, False, False], [True, False, True], [True, True, True]]
    trace = attnlab.compute(layer(normalizer=name, mask=mask), dtype="float64")
    assert (trace["weights"][0, 0] == 0).all()
    assert trace["weights"][0, 1, 1] == 0
    assert trace.warnings == ()


def test_softmax_without_the_shift_equals_softmax_for_small_scores() -> None:
    with_shift, without = (
        attnlab.compute(layer(normalizer=name, causal=True)) for name in ("softmax", "softmax-unshifted")
    )
    torch.testing.assert_close(without["weights"], with_shift["weights"])
    assert without.warnings == ()


@pytest.mark.parametrize(
    ("dtype", "fits", "overflows"), [("float32", 88.5, 89.0), ("float64", 709.5, 710.0), ("float16", 11.0, 11.2)]
)
def test_softmax_without_the_shift_overflows_with_a_warning(dtype: str, fits: float, overflows: float) -> None:
    def trace(score: float, normalizer: str) -> attnlab.Trace:
        e = layer([[1.0], [1.0 / score]], normalizer=normalizer, scale=1 / score)
        return attnlab.compute(e, dtype=dtype)

    assert trace(fits, "softmax-unshifted").warnings == ()
    over = trace(overflows, "softmax-unshifted")
    assert over["weights"][0, 0].isnan().tolist() == [True, False]
    assert over.warnings[0] == f"weights: 1 of 4 values are ∞ or NaN in {dtype}."
    assert trace(overflows, "softmax").warnings == ()


# --- written out ----------------------------------------------------------------------------------------------------


def text_of(name: str, row: Row, j: int, dtype: str = "float64", **config: Any) -> list[str]:
    """Return the explanation of the weight of key j in a row of these scores."""
    e = attnlab.Experiment(
        tokens=["q"],
        embeddings=[[1.0]],
        config=attnlab.AttentionConfig(normalizer=name, scale="none", **config),
        memory_tokens=[str(i) for i in range(len(row))],
        memory_embeddings=[[x] for x in row],
    )
    lines = explain(attnlab.compute(e, dtype=dtype), Cell("weights", 0, j, 0)).lines
    texts = [plain(line) for line in lines]
    return texts[: next(i for i, text in enumerate(texts) if text.startswith("score "))]


def test_sparsemax_is_explained_by_its_threshold_and_support() -> None:
    assert text_of("sparsemax", [2.0, 1.6, 0.9], 1) == [
        "max(0, 1.60 − 1.30)",
        "= 0.3000",
        "2 of 3 scores are above the threshold τ; this is one of them",
        "their sum: 2.00 + 1.60",
        "the threshold τ = (their sum − 1) ÷ their number: (3.6000 − 1) ÷ 2 = 1.3000",
    ]
    below = text_of("sparsemax", [2.0, 1.6, 0.9], 2)
    assert below[:2] == ["max(0, 0.90 − 1.30)", "= 0.0000"]
    assert "not one of them: its weight is exactly 0" in below[2]


def test_entmax_is_explained_by_its_threshold_and_squares() -> None:
    lines = text_of("entmax15", [2.0, 2.0, -5.0], 0)
    tau = 1 - math.sqrt(0.5)
    assert lines[:2] == [f"max(0, 2.00 ÷ 2 − {tau:.4f})^{{2}}", "= 0.5000"]
    assert lines[-1] == f"(1.00 − {tau:.4f})^{{2}} + (1.00 − {tau:.4f})^{{2}} = 1.0000"


def test_a_sigmoid_is_explained_by_its_own_score_only() -> None:
    assert text_of("sigmoid", [2.0, 1.6, 0.9], 0) == [
        "1 ÷ (1 + e^{−2.00})",
        "= 1 ÷ (1 + 0.1353)",
        "= 0.8808",
        "each weight depends only on its own score: the row need not sum to 1",
    ]


def test_overflow_is_explained_as_infinity_over_infinity() -> None:
    lines = text_of("softmax-unshifted", [100.0, 1.0], 0, "float32")
    assert lines[0] == "e^{100.00} ÷ (e^{100.00} + e^{1.00})"
    assert lines[1:3] == ["= ∞ ÷ (∞ + 2.7183)", "= ∞ ÷ ∞"]
    assert lines[-2:] == ["∞ ÷ ∞ is undefined", "= NaN"]
    assert text_of("softmax-unshifted", [100.0, 1.0], 1, "float32")[-2:] == [
        "a finite number divided by ∞ is 0",
        "= 0.0000",
    ]
    assert "∞" not in "".join(text_of("softmax-unshifted", [100.0, 1.0], 0, "float64"))


def test_underflow_is_explained_as_zero_over_zero() -> None:
    e = layer([[1.0], [1.0]], normalizer="softmax-unshifted", scale="none")
    assert attnlab.compute(e).warnings == ()
    lines = text_of("softmax-unshifted", [-200.0, -300.0], 0, "float32")
    assert lines[-2:] == ["every exponential is too small for this precision: 0 ÷ 0 is undefined", "= NaN"]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_a_temperature_is_explained_as_dividing_all_scores(name: str) -> None:
    lines = text_of(name, [2.0, 1.6, 0.9], 1, **({"temperature": 0.5} if NORMALIZERS[name].tempered else {}))
    assert ("all scores ÷ temperature 0.50" in lines) == NORMALIZERS[name].tempered


@pytest.mark.parametrize("name", NORMALIZERS)
def test_the_explained_score_has_the_colour_of_attention(name: str) -> None:
    e = layer(normalizer=name)
    first, *_ = explain(attnlab.compute(e, dtype="float64"), Cell("weights", 0, 1, 0)).lines
    assert any(span.role == "attention" for span in first)


@pytest.mark.parametrize("name", NORMALIZERS)
def test_the_weights_of_a_probability_lie_between_0_and_1(name: str) -> None:
    weights = attnlab.compute(layer([[5.0, -3.0], [0.1, 2.0], [-4.0, 7.0]], normalizer=name), dtype="float64")[
        "weights"
    ]
    assert NORMALIZERS[name].kind != "probability" or bool(((weights >= 0) & (weights <= 1)).all())


@pytest.mark.parametrize("name", NORMALIZERS)
def test_infinite_scores_are_explained_without_invented_numbers(name: str) -> None:
    trace = attnlab.compute(layer([[1e200, 1.0], [1e200, -1.0]], normalizer=name), dtype="float64")
    explanation = explain(trace, Cell("weights", 0, 1, 0))
    text = "\n".join(map(plain, explanation.lines))
    said = ("NaN", "∞ ÷ ∞") if math.isnan(explanation.value) else (f"= {number(explanation.value)}",)
    assert any(words in text for words in said)


def test_a_row_of_sum_zero_keeps_masked_keys_at_zero_and_is_explained() -> None:
    keys = [[1.0], [-1.0], [5.0]]
    e = attnlab.Experiment(
        ("a", "b", "c"), keys, config=attnlab.AttentionConfig(normalizer="sum", scale="none", masks={"padding": 2})
    )
    trace = attnlab.compute(e, dtype="float64")
    assert trace["weights"][0, 0].tolist() == [math.inf, -math.inf, 0.0]
    assert trace.warnings
    lines = [plain(line) for line in explain(trace, Cell("weights", 0, 0, 0)).lines]
    assert "the scores sum to 0, so the division is undefined" in lines


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "entmax15", "sigmoid"])
def test_an_extreme_temperature_is_explained_as_it_is_computed(name: str) -> None:
    config = attnlab.AttentionConfig(normalizer=name, temperature=1e-40)
    trace = attnlab.compute(attnlab.Experiment(("a", "b"), [[1.0, 0.5], [0.5, 2.0]], config=config))
    value = float(trace["weights"][0, 0, 1])
    lines = [plain(line) for line in explain(trace, Cell("weights", 0, 1, 0)).lines]
    assert lines[0] == "all scores ÷ temperature 1.000e−40"
    assert ("= NaN" in lines) is math.isnan(value)


@pytest.mark.parametrize("name", ["sparsemax", "entmax15"])
def test_large_scores_are_explained_minus_their_maximum(name: str) -> None:
    x = [[0.0, 1e5], [0.5, 1e5], [0.25, 1e5]]
    trace = attnlab.compute(
        attnlab.Experiment(("a", "b", "c"), x, config=attnlab.AttentionConfig(normalizer=name)), dtype="float64"
    )
    lines = [plain(line) for line in explain(trace, Cell("weights", 1, 1, 0)).lines]
    assert "first subtract the maximum" in lines[0]
    assert lines[1].startswith("max(0, 0.00")
    assert "e9" not in lines[1]
