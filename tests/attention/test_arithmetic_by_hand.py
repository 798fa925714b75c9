"""Computing with the numbers that Explain prints gives the printed result, to its last digit."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attnlab
from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.registries.blocks import BLOCK_NORMS, FEED_FORWARDS, find_share_below
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import last_digit, line, number, plain, short
from attnlab.attention.stages.explain import Cell, Explanation, explain

NUMBER = r"(?:∞|\d+(?:\.\d+)?(?:e−?\d+)?)"
SIDE = re.compile(rf"(?:√\d+|√(?=\()|{NUMBER}|\^{{|}}|tanh|max|Φ|e(?=\^)|[(), ·÷+−])+")


def calculate(text: str) -> float | None:
    """Return the value of a printed expression, calculated with its digits; None for words."""
    if not SIDE.fullmatch(text) or not re.search(r"\d|∞", text):
        return None
    code = re.sub(rf"(?<![\d.])({NUMBER})", lambda found: f"f({found[1]!r})", text)
    code = re.sub(r"√f\('(\d+)'\)", r"sqrt(\1)", code)
    code = code.replace("√(", "sqrt(")
    code = code.replace("e^{", "exp(").replace("^{", "**(").replace("}", ")")
    code = code.replace("·", "*").replace("÷", "/").replace("−", "-")
    scope = {"f": read, "sqrt": np.sqrt, "exp": np.exp, "tanh": np.tanh, "max": max, "Φ": find_share_below}
    with np.errstate(all="ignore"):
        return float(eval(code, scope))


def read(digits: str) -> np.float64:
    return np.float64("inf" if digits == "∞" else digits.replace("−", "-"))


def equations(explanation: Explanation) -> Iterator[tuple[list[float], str]]:
    """Yield each equation of an explanation: the values of its sides, and its final digits."""
    sides: list[float] = []
    last = ""
    for text in map(plain, explanation.lines):
        text, _, rounded = text.partition(", rounded to ")
        if text.startswith("+ bias "):
            bias = calculate(text.removeprefix("+ bias "))
            assert bias is not None, text
            sides = [side + bias for side in sides]
            continue
        if text.startswith("overflow: "):  # ∞ stands for what this precision cannot hold; the lines after it say so
            sides = []
            continue
        if not text.startswith("= ") and sides:
            yield sides, last
            sides = []
        body = re.sub(r"^.*: |^(?:scaled|biased|capped|score|given) | rad$", "", text.removeprefix("= "))
        parts = body.split(" = ")
        if re.match(r"(?:scaled|biased|capped) ", text):  # the result comes first
            parts.reverse()
        found = [(part, side) for part in parts if (side := calculate(part.strip())) is not None]
        if rounded:  # the digits do not give the result, and it says so
            sides = []
            continue
        if found:
            sides += [side for _, side in found]
            last = found[-1][0].strip()
    if sides:
        yield sides, last


def assert_by_hand(explanation: Explanation) -> int:
    """Check every equation; return how many were calculated."""
    checked = 0
    text = "\n".join(map(plain, explanation.lines))
    for sides, last in equations(explanation):
        result = sides[-1]
        for side in sides[:-1]:
            checked += 1
            if math.isnan(result) or math.isinf(result):
                assert math.isnan(side) or math.isinf(side), text
            else:
                assert abs(side - result) <= 1.02 * last_digit(read(last)), f"{side} is not {last}:\n{text}"
    return checked


def test_a_false_equation_is_noticed() -> None:
    explanation = explain(attnlab.compute(attnlab.preset("journey")), Cell("context", 0, 1, 0))
    *lines, _ = explanation.lines
    assert assert_by_hand(explanation) == 1
    with pytest.raises(AssertionError, match=r"is not 0\.0001"):
        assert_by_hand(replace(explanation, lines=(*lines, line("= 0.0001"))))


@pytest.mark.parametrize("tokens", [2, 4])
def test_powers_that_exceed_the_precision_are_no_false_equations(tokens: int) -> None:
    e = layer(0, 300.0, {"normalizer": "softmax-unshifted"}, (tokens, 1, 2))
    trace = attnlab.compute(e, dtype="float32")
    found = [explain(trace, Cell("weights", row, column, 0)) for row in range(tokens) for column in range(tokens)]
    assert any(plain(each).startswith("overflow: ") for explanation in found for each in explanation.lines)
    for explanation in found:
        assert_by_hand(explanation)


def layer(seed: int, size: float, choices: dict[str, Any], dims: tuple[int, int, int]) -> attnlab.Experiment:
    """Return a random layer: ``dims`` are the tokens, the heads and the size of a head."""
    tokens, heads, d = dims
    rng = np.random.default_rng(seed)
    width = heads * d
    weights = {f"W_{name}": rng.normal(size=(width, width)) * rng.choice([0.1, 1.0]) for name in "qkvo"}
    weights |= {f"b_{name}": rng.normal(size=width) for name in "qo"}
    return attnlab.Experiment(
        tokens=[f"t{i}" for i in range(tokens)],
        embeddings=rng.normal(size=(tokens, width)) * size + rng.choice([0.0, size]),
        weights=attnlab.Weights(**weights),
        config=attnlab.AttentionConfig(n_heads=heads, **choices),
    )


def with_random_gains(e: attnlab.Experiment, seed: int) -> attnlab.Experiment:
    """Return the experiment with random gains, shifts and biases of its block, as ones and zeros could hide errors."""
    rng = np.random.default_rng(seed)
    extra = {
        name: rng.normal(size=array.shape) if array.ndim == 1 else array for name, array in e.weights.extra.items()
    }
    return replace(e, weights=replace(e.weights, extra=extra))


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "score": st.sampled_from(["dot", "general", "concat", "additive", "cosine"]),
        "normalizer": st.sampled_from(list(NORMALIZERS)),
        "positions": st.sampled_from(["none", "sinusoidal", "rope", "alibi"]),
        "scale": st.sampled_from(["sqrt_d_k", "sqrt_d_model", "none", 0.013, 2.5]),
        "causal": st.booleans(),
        "qk_norm": st.sampled_from(["none", "l2", "rms"]),
        "dropout": st.sampled_from([0.0, 0.3]),
        "soft_cap": st.sampled_from([5.0, 50.0]),
        "sink": st.booleans(),
        "block": st.sampled_from(["none", "after", "before"]),
        "block_norm": st.sampled_from(list(BLOCK_NORMS)),
        "feed_forward": st.sampled_from(list(FEED_FORWARDS)),
    },
)


over_layers = given(
    st.integers(0, 10**6),
    st.sampled_from([1e-4, 1e-2, 1.0, 8.0, 300.0]),
    CHOICES,
    st.tuples(st.integers(1, 5), st.integers(1, 3), st.sampled_from([2, 4, 16])),
)
"""Tries a test with a seed, a size of the numbers, choices of the layer, and its tokens, heads and head size."""


@settings(max_examples=60)
@over_layers
def test_the_printed_digits_give_the_printed_result(
    seed: int, size: float, choices: dict[str, Any], dims: tuple[int, int, int]
) -> None:
    try:
        block = {name: choices[name] for name in ("block", "block_norm", "feed_forward") if name in choices}
        others = {name: value for name, value in choices.items() if name not in block}
        e = with_random_gains(configure(layer(seed, size, others, dims), **block), seed)
    except attnlab.AttnlabError:
        return  # the options do not go together
    rng = np.random.default_rng(seed)
    for dtype in ("float64", "float32", "bfloat16"):
        trace = attnlab.compute(e, dtype=dtype)
        for name in trace.stages:
            *heads, rows, columns = trace[name].shape
            for _ in range(3):
                head = int(rng.integers(heads[0])) if heads and rng.random() < 0.8 else None
                cell = Cell(name, int(rng.integers(rows)), int(rng.integers(columns)), head)
                explanation = explain(trace, cell, None)
                assert_by_hand(explanation)
                text = "\n".join(map(plain, explanation.lines))
                assert {number(explanation.value), short(explanation.value), "0"} & set(
                    text.replace(",", " ").split()
                ), text
