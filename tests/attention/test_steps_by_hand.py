"""Computing with the numbers of the drawn steps gives their printed results, to the last digit."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import settings

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import MOST_DECIMALS, last_digit, number, plain
from attnlab.attention.stages.block_steps import RESIDUALS
from attnlab.attention.stages.evaluate_block import NORMED
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.explain_steps import describe_cell, find_steps
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.attention.stages.sentences import write_percent
from attnlab.attention.stages.steps import RowStep, Step, Steps, Term
from attnlab.base.number_text import four_decimals
from tests.attention.test_arithmetic_by_hand import calculate, layer, over_layers
from tests.attention.test_features import layer as block_layer
from tests.attention.test_features import with_random_tables

SMALLEST_FLOAT32 = 1.401298464324817e-45
SUMS = (
    "Score", "Mix of the values", "Product", "Mean", "Sum", "Standard deviation", "Root mean square", "Gain",
    "Gain and shift",
)  # fmt: skip


def value(text: str) -> float:
    text = text.removeprefix("≈ ")
    return math.nan if text == "NaN" else float(text.replace("−", "-").replace("∞", "inf"))


def worth(text: str) -> float:
    """Return the worth of the last digit of a printed number."""
    digits, _, exponent = text.removeprefix("≈ ").partition("e")
    places = len(digits.partition(".")[2])
    return float(10.0 ** (int(exponent.replace("−", "-") or 0) - places))


def agree(by_hand: float, printed: str, why: str, slack: float = 0.0) -> int:
    """Check a number computed by hand; return 1."""
    result = value(printed)
    if math.isfinite(result):
        assert abs(by_hand - result) <= 1.02 * max(worth(printed), slack), f"{by_hand} is not {printed}: {why}"
    return 1


def check_terms(step: Step) -> int:
    checked = 0
    for term in step.terms:
        by_hand = calculate(plain(term.expression).replace("×", "·"))
        if by_hand is not None and term.result and term.label != "sum":
            checked += agree(by_hand, term.result, plain(term.expression))
    return checked


def check_sum(step: Step) -> int:
    """Check that the results of the lines add up to the total of a step."""
    total = next((term for term in step.terms if term.label == "sum" or (term.is_total and not term.expression)), None)
    added = [value(term.result) for term in step.terms if term is not total and not term.is_total]
    if total is None or not added or not math.isfinite(value(total.result)):
        return 0
    if max(map(abs, added)) >= 1e-4 and worth(total.result) < 10.0**-MOST_DECIMALS:
        return 0  # they cancel beyond the decimals that are ever printed
    assert abs(sum(added) - value(total.result)) <= 1.02 * worth(total.result), step
    return 1


def find_rounded(step: Step) -> str:
    """Return the number that the dtype rounded the result of a step to; "" if it did not."""
    found = [re.search(r"rounded to \w+: (.*)", plain(words)) for words in step.words]
    return next((each[1] for each in found if each), "")


def check_chain(steps: Steps) -> int:
    """Check each step of one line, which starts from the result of the step before."""
    checked, before = 0, ""
    for step in steps.before:
        total = next((term for term in step.terms if term.is_total), None)
        if total is None:
            continue
        note = plain(step.note)
        if before and note[:1] in "÷+" and note:
            note = f"{before} {note}"
        by_hand = calculate(note) if before else None
        if by_hand is not None:
            checked += agree(by_hand, total.result, note)
        before = find_rounded(step) or total.result
    return checked


def check_row(row: RowStep, weights: list[str]) -> int:
    """Check the share of each part, and the sum of the parts."""
    if not len(row.parts) or any("rounded" in plain(words) for words in row.step.words):
        return 0
    parts = [number(float(part), row.decimals) for part in row.parts]
    total = plain(row.step.terms[0].expression)
    assert abs(sum(map(value, parts)) - value(total)) <= 1.02 * last_digit(value(total)), (parts, total)
    for part, weight in zip(parts, weights, strict=False):
        agree(value(part) / value(total), weight, f"{part} ÷ {total}", SMALLEST_FLOAT32)  # the bars have stored weights
    printed = row.step.terms[0].result
    if not printed.startswith("≈") and len(parts) == len(weights):
        large = sum(worth(weight) for weight in weights if worth(weight) > 1)  # 1.6e+07 hides seven digits
        assert abs(sum(map(value, weights)) - value(printed)) <= 1.02 * max(last_digit(value(printed)), large), weights
    return len(parts)


def check(trace: attnlab.Trace, cell: Cell) -> int:
    steps = find_steps(trace, cell, None)
    if steps is None:
        return 0
    checked = check_chain(steps) + sum(check_terms(step) for step in steps.all)
    checked += sum(check_sum(step) for step in steps.all if step.title in SUMS)
    if steps.row is not None:
        row = trace.array("weights")[cell.head or 0, cell.row]
        checked += check_row(steps.row, [four_decimals(float(weight)) for weight in row])
    end = steps.row.step if steps.row is not None else steps.before[-1]
    if cell.stage not in ("zeroed", "dropped") and end.terms:
        said = find_rounded(end) or end.terms[-1].result
        assert said == number(find_shown_value(trace, cell)), (cell, end)
    return checked


def test_a_false_product_and_a_false_sum_are_noticed() -> None:
    steps = find_steps(attnlab.compute(attnlab.preset("journey")), Cell("context", 0, 1, 0))
    assert steps is not None
    step = steps.before[0]
    assert check_terms(step) == 6
    first: Term = step.terms[0]
    false = replace(step, terms=(replace(first, result="0.9999"), *step.terms[1:]))
    with pytest.raises(AssertionError, match=r"is not 0\.9999"):
        check_terms(false)
    with pytest.raises(AssertionError):
        check_sum(false)


@pytest.mark.slow
@settings(max_examples=60)
@over_layers
def test_the_printed_digits_of_steps_give_the_printed_results(
    seed: int, size: float, choices: dict[str, Any], dims: tuple[int, int, int]
) -> None:
    try:
        e = configure(layer(seed, size, {}, dims), **choices)  # with the tables that the choices need
    except attnlab.AttnlabError:
        return  # the options do not go together
    rng = np.random.default_rng(seed)
    for dtype in ("float64", "float32", "bfloat16"):
        trace = attnlab.compute(e, dtype=dtype)
        for name in trace.stages:
            *heads, rows, columns = trace[name].shape
            for _ in range(3):
                head = int(rng.integers(heads[0])) if heads and rng.random() < 0.8 else None
                check(trace, Cell(name, int(rng.integers(rows)), int(rng.integers(columns)), head))


@pytest.mark.parametrize("size", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("feed_forward", ["relu", "gelu", "swiglu", "geglu"])
@pytest.mark.parametrize(
    ("block", "norm"), [("before", "layer"), ("before", "rms"), ("after", "layer"), ("after", "rms")]
)
def test_every_number_of_a_block_is_drawn_as_steps_to_compute_by_hand(
    block: str, norm: str, feed_forward: str, size: float
) -> None:
    e = block_layer(block=block, block_norm=norm, feed_forward=feed_forward)
    e = with_random_tables(edits.with_table(e, "embeddings", size * e.embeddings))
    for dtype in ("float64", "float32"):
        trace = attnlab.compute(e, dtype=dtype)
        for name in (name for name in trace.stages if name in (*NORMED, *RESIDUALS, "activated")):
            for row, column in ((0, 0), (1, 3), (3, 6)):
                assert find_steps(trace, Cell(name, row, column)) is not None
                checked = check(trace, Cell(name, row, column))
                assert checked >= {"activated": 0, "residual": 1, "second_residual": 1}.get(name, 4)


def test_a_row_that_divides_by_0_has_words_and_no_steps() -> None:
    e = block_layer(block="before", norm_eps=0.0)
    flat = edits.with_table(e, "embeddings", torch.ones(4, 8, dtype=torch.float64))
    trace = attnlab.compute(flat)
    assert find_steps(trace, Cell("normed_inputs", 0, 0)) is None
    assert "it divides by 0" in plain(explain(trace, Cell("normed_inputs", 0, 0)).lines[0])


def test_the_largest_products_are_shown_and_the_others_as_one_number() -> None:
    trace = attnlab.compute(attnlab.preset("multi-head-8"))
    steps, whole = (find_steps(trace, Cell("queries", 2, 1, 3), limit) for limit in (6, None))
    assert steps is not None
    assert whole is not None
    step = steps.before[0]
    *largest, rest, total = step.terms
    amounts = sorted((abs(term.amount) for term in whole.before[0].terms[:-1]), reverse=True)
    assert sorted((abs(term.amount) for term in largest), reverse=True) == amounts[:6]
    assert plain(rest.expression) == "58 more, together"
    assert step.omitted == 58
    assert check_sum(step) == 1
    assert total.result == number(float(trace.array("queries")[3, 2, 1]))
    assert whole.before[0].omitted == 0


def test_one_undefined_product_does_not_cost_the_others_their_digits() -> None:
    e = configure(layer(2, 8.0, {}, (1, 2, 4)), normalizer="softmax-unshifted")
    trace = attnlab.compute(e, dtype="float64")
    assert sum(check(trace, Cell("output", 0, column)) for column in range(8)) > 0


@pytest.mark.parametrize("name", sorted(NORMALIZERS))
@pytest.mark.parametrize("score", ["dot", "general", "concat", "additive", "cosine"])
def test_every_normaliser_and_score_has_steps_to_the_weight(name: str, score: str) -> None:
    e = configure(layer(3, 1.0, {}, (4, 2, 4)), normalizer=name, score=score, causal=True)
    trace = attnlab.compute(e)
    cell = Cell("weights", 2, 1, 1)
    steps = find_steps(trace, cell)
    assert steps is not None
    assert steps.row is not None
    assert [step.title for step in steps.before] == ["Score", "Scaled"]
    assert [step.title for step in steps.after] == ["Into the context", "The same weight in every head"]
    said = [plain(words) for step in steps.all for words in step.words]
    lines = [plain(words) for words in explain(trace, cell).lines]
    if NORMALIZERS[name].parts is None:
        assert steps.row.step.words
        assert {plain(words) for words in steps.row.step.words} <= set(lines)
    assert check(trace, cell) > 0
    assert all(said)


@pytest.mark.parametrize(
    ("changes", "cell", "sentence"),
    [
        ({}, Cell("weights", 1, 0, 0), r"In head 0, “t1” takes \d+\s% of its new value from “t0”\."),
        ({}, Cell("weights", 1, 0), r"On average over the heads, “t1” takes \d+\s% of its new value from “t0”\."),
        ({"causal": True}, Cell("weights", 0, 1, 0), r"In head 0, “t0” takes nothing from “t1”, because of the mask\."),
        (
            {"normalizer": "sigmoid"},
            Cell("weights", 1, 0, 0),
            r"In head 0, “t1” takes 0\.\d{4} times the value of “t0”\.",
        ),
        ({"sink": True}, Cell("weights", 1, 0, 0), r"In head 0, “t1” takes 0\.\d{4} times the value of “t0”\."),
        ({"dropout": 0.3}, Cell("weights", 1, 0, 0), r""),
        ({"ablated": (0,)}, Cell("weights", 1, 0, 0), r"Head 0 is switched off: “t1” takes nothing .* through it\."),
    ],
)
def test_the_sentence_says_what_the_weight_does(changes: dict[str, Any], cell: Cell, sentence: str) -> None:
    trace = attnlab.compute(configure(layer(3, 1.0, {}, (3, 2, 4)), **changes))
    assert re.fullmatch(sentence, describe_cell(trace, cell)), describe_cell(trace, cell)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0049, "less than 1\N{NO-BREAK SPACE}%"),
        (0.0051, "1\N{NO-BREAK SPACE}%"),
        (0.377, "38\N{NO-BREAK SPACE}%"),
        (0.9949, "99\N{NO-BREAK SPACE}%"),
        (0.996, "nearly all"),
        (1, "100\N{NO-BREAK SPACE}%"),
    ],
)
def test_a_share_that_is_almost_all_or_nothing_is_not_called_so(share: float, text: str) -> None:
    assert write_percent(share) == text
