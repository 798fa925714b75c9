"""The error of each dtype relative to float64, compared with the numbers themselves."""

import math

import numpy as np
import pytest
import torch

import attnlab
from attnlab.base.errors import DeviceError
from attnlab.compute.precision import FORMATS, Difference, compare_formats, format_difference, summarize


def one(e: attnlab.Experiment, stage: str, name: str) -> Difference:
    (found,) = (d for d in compare_formats(e) if (d.stage, d.format) == (stage, name))
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_differences_equal_those_of_the_numbers(name: str) -> None:
    e = attnlab.preset("multi-head-8")
    exact, rough = attnlab.compute(e, dtype="float64"), attnlab.compute(e, dtype=name)
    pairs = list(zip(exact["scores"].flatten().tolist(), rough["scores"].double().flatten().tolist(), strict=True))
    found = one(e, "scores", name)
    assert found.absolute == pytest.approx(max(abs(a - b) for a, b in pairs))
    assert found.relative == pytest.approx(max(abs(a - b) / abs(a) for a, b in pairs if a))
    assert (found.moved, found.non_finite) == (None, 0)


def test_masked_cells_do_not_differ_in_any_dtype() -> None:
    for name in FORMATS:
        masked = one(attnlab.preset("causal-5x8"), "masked", name)
        assert math.isfinite(masked.absolute)
        assert masked.non_finite == 0


def test_a_tie_in_a_small_dtype_changes_the_strongest_target() -> None:
    x = torch.tensor([[1.0, 0.0], [1.0009, 0.0], [1.0, 0.0]], dtype=torch.float64)
    config = attnlab.AttentionConfig(scale="none")
    tied = attnlab.Experiment(("a", "b", "c"), x, config=config)
    assert one(tied, "weights", "bfloat16").moved == 0  # a tie with the strongest moves nothing
    # eight bits make 258 of 258.9, and 129 + 130 = 259, so 260, of 128.6 + 129.7
    keys = torch.tensor([[258.9, 0.0], [128.6, 129.7]], dtype=torch.float64)
    one_query = torch.ones(1, 2, dtype=torch.float64)
    turned = attnlab.Experiment(("a",), one_query, config=config, memory_tokens=("k", "l"), memory_embeddings=keys)
    found = one(turned, "weights", "bfloat16")
    assert (found.moved, found.rows) == (1, 1)
    assert summarize((found,)) == "bfloat16 changes the strongest target of 1 of 1 row."


def test_overflow_is_counted_and_reported() -> None:
    e = attnlab.preset("random-4x8")
    large = attnlab.Experiment(e.tokens, np.asarray(e.embeddings) * 100, e.weights, e.config)
    rough = attnlab.compute(large, dtype="float16")["scores"]
    assert one(large, "scores", "float16").non_finite == int((~rough.isfinite()).sum()) > 0
    assert "overflows in Scores" in summarize(compare_formats(large))


def test_the_sentence_names_the_changes() -> None:
    rows = (
        Difference("weights", "Weights", "bfloat16", 0.1, 0.1, 2, 48, 0),
        Difference("scores", "Scores", "float16", math.nan, math.nan, None, 48, 3),
    )
    assert summarize(rows) == ("bfloat16 changes the strongest target of 2 of 48 rows; float16 overflows in Scores.")
    assert summarize(rows[:0]) == ""
    gradient = Difference("d_output", "dOutput", "bfloat16", 2.3e-3, 0.1, None, 3, 0)
    assert summarize((gradient,)).endswith("bfloat16 is furthest from float64, by 2.3e−3 in dOutput.")


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(DeviceError, match="float8"):
        compare_formats(attnlab.preset("journey"), ("float8",))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (0.00031, "3.1e−4"), (12.0, "1.2e1"), (math.nan, "–"), (math.inf, "∞")]
)
def test_differences_are_written_in_scientific_notation(value: float, text: str) -> None:
    assert format_difference(value) == text
