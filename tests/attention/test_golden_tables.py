"""Every printed figure of the worked example "Your journey starts with one step", to four decimals."""

import dataclasses
import math
from typing import Any

import pytest
import torch

import attnlab

# Half a unit of the fourth decimal, and what float32 may add to a figure that was rounded near the middle.
HALF_DIGIT = 5e-5 + 2e-7
DTYPES = ["float32", "float64"]

Tables = dict[str, Any]


def assert_printed(actual: torch.Tensor, printed: list[Any]) -> None:
    expected = torch.tensor(printed, dtype=torch.float64)
    assert actual.shape == expected.shape
    torch.testing.assert_close(actual.double(), expected, atol=HALF_DIGIT, rtol=0.0)


def journey(tables: Tables, weights: attnlab.Weights | None = None, **config: Any) -> attnlab.Experiment:
    return attnlab.Experiment(
        tokens=tables["tokens"],
        embeddings=tables["inputs"],
        weights=weights or attnlab.Weights(),
        config=attnlab.AttentionConfig(**config),
    )


def trained_weights(tables: Tables) -> attnlab.Weights:
    return attnlab.Weights(**{name: tables["trainable"][name] for name in ("W_q", "W_k", "W_v")})


@pytest.mark.parametrize("dtype", DTYPES)
def test_untrained_attention_matches_the_printed_figures(tables: Tables, dtype: str) -> None:
    trace = attnlab.compute(journey(tables, scale="none"), dtype=dtype)
    assert_printed(trace["inputs"], tables["inputs"])
    assert_printed(trace["scores"][0], tables["untrained"]["scores"])
    assert_printed(trace["weights"][0], tables["untrained"]["weights_softmax"])
    assert_printed(trace["context"][0], tables["untrained"]["context"])
    assert_printed(trace["output"], tables["untrained"]["context"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_plain_sum_weights_match_the_printed_row(tables: Tables, dtype: str) -> None:
    trace = attnlab.compute(journey(tables, scale="none", normalizer="sum"), dtype=dtype)
    assert_printed(trace["weights"][0, 1], tables["untrained"]["weights_sum_row_2"])
    torch.testing.assert_close(trace["weights"].sum(-1), torch.ones(1, 6, dtype=trace["weights"].dtype))


def test_the_journey_preset_has_the_seeded_weights(tables: Tables) -> None:
    preset, printed = attnlab.preset("journey"), tables["trainable"]
    assert list(preset.tokens) == tables["tokens"]
    assert_printed(preset.embeddings, tables["inputs"])
    for name in ("W_q", "W_k", "W_v"):
        assert_printed(getattr(preset.weights, name), printed[name])


@pytest.mark.parametrize("dtype", DTYPES)
def test_trained_attention_matches_every_printed_intermediate(tables: Tables, dtype: str) -> None:
    trace, printed = attnlab.compute(attnlab.preset("journey"), dtype=dtype), tables["trainable"]
    assert_printed(trace["queries"][0, 1], printed["query_2"])
    assert_printed(trace["keys"][0].T, printed["keys_transposed"])
    assert_printed(trace["values"][0], printed["values"])
    assert_printed(trace["scores"][0, 1], printed["scores_row_2"])
    assert_printed(trace["weights"][0, 1], printed["weights_row_2"])
    assert_printed(trace["context"][0], printed["context"])
    torch.testing.assert_close(trace["scaled"], trace["scores"] / math.sqrt(2))


def test_rounded_weights_from_the_page_give_the_printed_context(tables: Tables) -> None:
    # The typed weights are themselves rounded to four decimals, so the context may be off by a little more.
    trace = attnlab.compute(journey(tables, trained_weights(tables)), dtype="float64")
    expected = torch.tensor(tables["trainable"]["context"], dtype=torch.float64)
    torch.testing.assert_close(trace["context"][0], expected, atol=3e-4, rtol=0.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_linear_layer_weights_match_the_printed_context(tables: Tables, dtype: str) -> None:
    trace = attnlab.compute(attnlab.preset("journey-linear"), dtype=dtype)
    assert_printed(trace["context"][0], tables["linear"]["context"])


def test_the_untrained_preset_is_the_untrained_example(tables: Tables) -> None:
    trace = attnlab.compute(attnlab.preset("journey-untrained"))
    assert "scaled" not in trace.stages
    assert_printed(trace["weights"][0], tables["untrained"]["weights_softmax"])
    assert_printed(trace["context"][0], tables["untrained"]["context"])


def test_plain_sum_and_softmax_differ_only_from_the_weights_on(tables: Tables) -> None:
    by_softmax = attnlab.preset("journey-untrained")
    by_sum = dataclasses.replace(by_softmax, config=dataclasses.replace(by_softmax.config, normalizer="sum"))
    softmax_trace, sum_trace = attnlab.compute(by_softmax), attnlab.compute(by_sum)
    torch.testing.assert_close(sum_trace["scores"], softmax_trace["scores"], atol=0.0, rtol=0.0)
    assert not torch.allclose(sum_trace["weights"], softmax_trace["weights"], atol=1e-3)


def cat_sat_weights() -> list[list[float]]:
    """Return softmax(½x·½y / √4) of "The cat sat", computed without a library."""
    rows = [(0.2, 0.1, 0.3, 0.1), (0.5, 0.3, 0.2, 0.4), (0.3, 0.2, 0.4, 0.3)]
    weights = []
    for query in rows:
        powers = [math.exp(sum(0.25 * q * k for q, k in zip(query, key, strict=True)) / 2.0) for key in rows]
        weights.append([power / sum(powers) for power in powers])
    return weights


def test_the_cat_sat_agrees_with_its_formula() -> None:
    trace = attnlab.compute(attnlab.preset("the-cat-sat"), dtype="float64")
    # The preset may hold its numbers in float32, whose 1e-8 the formula does not have.
    torch.testing.assert_close(
        trace["weights"][0], torch.tensor(cat_sat_weights(), dtype=torch.float64), atol=1e-7, rtol=0.0
    )
    assert_printed(trace["queries"][0], [[0.1, 0.05, 0.15, 0.05], [0.25, 0.15, 0.1, 0.2], [0.15, 0.1, 0.2, 0.15]])
