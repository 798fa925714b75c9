"""Placeholders in a text show computed numbers in the usual format, and allow nothing else."""

import math
import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention import edits
from attnlab.attention.edits.batches import select
from attnlab.attention.edits.token_edits import set_tokens
from attnlab.attention.examples.presets import PRESETS, preset
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.trace import Trace
from attnlab.lessons.expressions import Scope
from attnlab.lessons.placeholders import LONGEST, UNKNOWN, Wrong, fill


def traced(name: str, **settings: object) -> Trace:
    return Trace(edits.configure(preset(name), **settings), torch.device("cpu"), torch.float32)


CAUSAL, HEADS = traced("causal-5x8"), traced("multi-head-8")
OPEN = traced("causal-5x8", causal=False)


def filled(expression: str, trace: Trace = CAUSAL, before: Trace = OPEN, head: int | str = 0) -> str:
    """Return the text of a filled placeholder; fail if it cannot be filled."""
    text, wrong = fill(f"{{{{{expression}}}}}", lambda: Scope(trace, before, head))
    assert wrong == ()
    return text


def refused(expression: str, trace: Trace = CAUSAL, head: int | str = 0) -> str:
    """Return why a placeholder is not filled."""
    text, wrong = fill(f"{{{{{expression}}}}}", lambda: Scope(trace, OPEN, head))
    assert text == UNKNOWN
    (only,) = wrong
    return only.reason


def test_a_placeholder_gives_the_computed_number() -> None:
    weights = CAUSAL["weights"]
    assert filled("weights[2, 1]") == number(weights[0, 2, 1].item())
    assert filled("  weights[ 2,1 ]  ") == number(weights[0, 2, 1].item())
    assert filled("before.weights[2, 1]") == number(OPEN["weights"][0, 2, 1].item())
    assert filled("weights[2, 1]") != filled("before.weights[2, 1]")


def test_rows_and_columns_may_be_tokens() -> None:
    row, column = CAUSAL.experiment.tokens[2], CAUSAL.experiment.key_tokens[1]
    assert filled(f'weights["{row}", "{column}"]') == filled("weights[2, 1]")
    assert filled(f"weights[“{row}”, '{column}']") == filled("weights[2, 1]")
    assert filled(f'inputs["{row}", 3]') == filled("inputs[2, 3]")


def test_the_head_is_the_named_one_or_else_the_visible_one() -> None:
    weights = HEADS["weights"]
    assert filled("weights[3, 2, 1]", HEADS) == number(weights[3, 2, 1].item())
    assert filled("weights[2, 1]", HEADS, HEADS, 5) == number(weights[5, 2, 1].item())
    assert filled("weights[2, 1]", HEADS, HEADS, "all") == number(weights[0, 2, 1].item())
    assert filled("weights[2, 1]", HEADS, HEADS, "mean") == number(weights[:, 2, 1].mean().item())
    assert filled("weights['mean', 2, 1]", HEADS) == number(weights[:, 2, 1].mean().item())
    assert filled("before.output[2, 1]", HEADS, CAUSAL, 5) == number(CAUSAL["output"][2, 1].item())
    assert filled("output[2, 1]", HEADS, HEADS, "mean") == number(HEADS["output"][2, 1].item())


def test_rows_columns_and_stages_can_be_summarised() -> None:
    row, scores = CAUSAL["weights"][0, 2], CAUSAL["scores"][0]
    assert filled("sum(weights[2, :])") == "1.0000"
    assert filled("max(scores[:, 1])") == number(scores[:, 1].max().item())
    assert filled("min(scores[:, :])") == number(scores.min().item())
    assert filled("mean(scores[2, :])") == number(scores[2].mean().item())
    assert filled("argmax(weights[2, :])") == CAUSAL.experiment.tokens[int(row.argmax())]
    assert filled("argmax(scores[:, 1])") == CAUSAL.experiment.tokens[int(scores[:, 1].argmax())]
    assert filled("argmax(inputs[0, :])") == str(int(CAUSAL["inputs"][0].argmax()))
    expected = -sum(w * math.log(w) for w in row.tolist() if w > 0)
    assert filled("entropy(weights[2, :])") == number(expected)
    assert filled("entropy(weights[0, :])") == "0.0000"


def test_sizes_tokens_settings_and_tables_can_be_used() -> None:
    e = CAUSAL.experiment
    assert [filled(name) for name in ("T", "T_q", "T_k", "d_model", "d_k", "d_v", "n_heads")] == list(
        map(str, (e.T_q, e.T_q, e.T_k, e.d_model, e.d_k, e.d_v, 1))
    )
    assert filled("tokens[1]") == e.tokens[1]
    assert filled("key_tokens[T - 1]") == e.tokens[-1]
    assert filled("W_q[0, 1]") == number(edits.table(e, "W_q")[0, 1].item())
    assert filled("X[0, 1]") == filled("embeddings[0, 1]") == number(e.embeddings[0, 1].item())
    assert filled("sum(W_q[:, 1])") == number(edits.table(e, "W_q")[:, 1].sum().item())
    assert filled("temperature + 1", traced("journey", temperature=2.5)) == "3.5000"
    assert filled("window", traced("journey", masks={"window": 3})) == "3"
    biased = Trace(edits.toggle_biases(e, True), torch.device("cpu"), torch.float32)
    assert filled("b_q[2]", biased) == filled("b_q[0, 2]", biased) == "0.0000"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2 + 3 * 4", "14"),
        ("2 − 3", "−1"),
        ("−2 × 3 · 4", "−24"),
        ("10 ÷ 4", "2.5000"),
        ("T ** 2", "25"),
        ("d_k / 2", "4"),
        ("sqrt(16)", "4"),
        ("sqrt(d_k)", "2.8284"),
        ("exp(0)", "1"),
        ("log(exp(1))", "1.0000"),
        ("abs(2 - 5)", "3"),
        ("round(2.567, 1)", "2.6"),
        ("round(0 - 0.001, 2)", "0.00"),
        ("round(2.567, 6)", "2.567000"),
        ("2 * round(2.567, 1)", "5.2000"),
        ("round(2.567)", "3"),
        ("round(2.567, 1):.1f", "2.6"),
        ("1 / 3:.2f", "0.33"),
        ("sum(weights[2, :]):.0f", "1"),
        ("1 / 3:.0%", "33%"),
        ("0 - 12345.678:.1e", "−1.2e+04"),
        ("masked[0, 3]", "−∞"),
        ("masked[0, 3]:.2f", "−∞"),
        ("10 ** 20", "1.000e20"),
        ("0 - 1 / 1000:.2f", "0.00"),
        ("0 - 1 / 1000:.0%", "0%"),
        ("0 - 1 / 1000:.3f", "−0.001"),
        ("0 * masked[0, 3]", "NaN"),
        ("masked[0, 3] - 1", "−∞"),
    ],
)
def test_results_of_arithmetic_have_the_usual_number_format(expression: str, text: str) -> None:
    assert filled(expression) == text


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("", "not an expression"),
        ("weights[2", "not an expression"),
        ("2 +", "not an expression"),
        ("wieghts[2, 1]", "did you mean weights?"),
        ("weights", "weights[0, 1] is one of them"),
        ("sink", "there is no 'sink' here"),
        ("before.weights[1, 2, 1]", "there is no head 1"),
        ("W_q", "W_q[0, 1] is one of them"),
        ("weights[9, 1]", "the row of weights is 9; it needs a number from 0 to 4"),
        ("weights[1, -1]", "whole number from 0"),
        ("weights[1, 0.5]", "whole number from 0"),
        ('weights["nobody", 1]', "“nobody”; there are “"),
        ('W_q["The", 1]', "it needs a number from 0"),
        ("weights[1]", "needs a row and a column"),
        ("weights[7, 1, 2]", "there is no head 7; this state has only head 0"),
        ("inputs[0, 1, 2]", "inputs needs a row and a column, inputs[2, 1]."),
        ("weights[2, :]", "more than one number"),
        ("weights[2, :] + 1", "single numbers"),
        ("weights[2, 0:2]", "the only range is :"),
        ("sum(3)", "needs a row or a column"),
        ("argmax(weights[:, :])", "one row or one column"),
        ("argmax(masked[:, :])", "one row"),
        ("entropy(scores[2, :])", "none of them negative"),
        ("rotated_queries[1, 1]", "this state has no rotated_queries"),
        ("tokens[7]", "number from 0 to 4"),
        ("tokens[0] + 1", "single numbers"),
        ("1 / 0", "divides by 0"),
        ("0 ** -1", "divides by 0"),
        ("sqrt(-1)", "does not exist"),
        ("log(0)", "does not exist"),
        ("(-8) ** 0.5", "root of a negative"),
        ("exp(10000)", "too large"),
        ("1e200 * 1e200", "too large"),
        ("1e999", "it may hold"),
        ("1 / (1e-200 * 1e-200)", "divides by 0"),
        ("9.0 ** 9 ** 9 ** 9", "too large"),
        ("1:.2q", "is not a format"),
        ("1:>1000000f", "is not a format"),
        ("__import__('os').system('ls')", "it may hold"),
        ("().__class__", "it may hold"),
        ("before.before.T", "it may hold"),
        ("[x for x in (1, 2)]", "it may hold"),
        ("lambda: 1", "is not a format"),
        ("(lambda: 1)", "it may hold"),
        ("open('x')", "there is no open"),
        ("True", "it may hold"),
        ("1j", "it may hold"),
        ("'a' * 9999999999", "it may hold"),
        ("max(1, 2)", "there is no max of 2"),
        ("sqrt(d_k, 2)", "there is no sqrt of 2"),
        ("a\\b", "backslash"),
        ("1 + " * LONGEST + "1", "longer than"),
        ("(" * 90 + "1" + ")" * 90 + "+", "not an expression"),
    ],
)
def test_an_invalid_placeholder_shows_the_reason_and_no_number(expression: str, says: str) -> None:
    assert says in refused(expression)


@pytest.mark.parametrize("name", PRESETS)
def test_numbers_are_those_of_the_head_and_the_sequence(name: str) -> None:
    for item in range(min(2, preset(name).n_items)):
        trace = Trace(select(preset(name), item), torch.device("cpu"), torch.float32)
        for stage in trace.all_stages:
            array = trace[stage]
            last = [n - 1 for n in array.shape[-2:]]
            shown = {0: array[0], len(array) - 1: array[-1], "all": array[0], "mean": array.mean(0)}
            for head, one in shown.items() if array.ndim == 3 else [("mean", array)]:
                for i, j in {(0, last[1]), (last[0], 0), (min(1, last[0]), 0)}:
                    assert filled(f"{stage}[{i}, {j}]", trace, CAUSAL, head) == number(one[i, j].item())
                    assert filled(f"max({stage}[:, {j}])", trace, CAUSAL, head) == number(one[:, j].max().item())
                    assert filled(f"before.{stage}[{i}, {j}]", CAUSAL, trace, head) == number(one[i, j].item())


def test_a_repeated_token_is_ambiguous_and_refused() -> None:
    doubled = Trace(set_tokens(CAUSAL.experiment, ("a", "b", "a")), torch.device("cpu"), torch.float32)
    assert "is at 0, 2; use one of these numbers" in refused('weights["a", 0]', doubled)


def test_filling_keeps_the_line_numbers() -> None:
    text = "One {{T}} is\n{{T + 1}}, and\n\n{{nobody}} is {{1 / 0}}."
    shown, wrong = fill(text, lambda: Scope(CAUSAL, OPEN, 0))
    assert shown == "One 5 is\n6, and\n\n? is ?."
    assert [each.line for each in wrong] == [3, 3]
    assert all(isinstance(each, Wrong) and each.reason.startswith("{{") for each in wrong)


@pytest.mark.parametrize("text", ["One {{T is", "{{{{", "{{ {T} }}", "{{T}"])
def test_an_unclosed_placeholder_is_reported_and_kept(text: str) -> None:
    shown, wrong = fill(text, lambda: Scope(CAUSAL, OPEN, 0))
    assert shown == text
    assert wrong
    assert all("not closed" in each.reason for each in wrong)


NASTY = (
    "*",
    "_x_",
    "**b**",
    "`c`",
    "- d",
    "1. e",
    "# f",
    "<b>",
    "[g](h)",
    "!",
    "a\\*b",
    "+",
    "~~i~~",
    "&amp;",
    "===",
    "|",
)


@pytest.mark.parametrize("token", NASTY)
def test_tokens_are_escaped_for_markdown(token: str) -> None:
    trace = Trace(set_tokens(CAUSAL.experiment, (token, "plain")), torch.device("cpu"), torch.float32)

    def written(text: str, markdown: bool) -> str:
        shown, wrong = fill(text, lambda: Scope(trace, trace, 0), markdown)
        assert wrong == ()
        return shown

    assert written("{{tokens[0]}}", False) == token
    escaped = written("{{tokens[0]}}, {{argmax(weights[0, :])}}", True).split(", ")[0]
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped) == token
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_`<>\[\]#~|&=]", escaped), escaped
    assert not re.match(r"[-+]\s|\d+[.)]\s", escaped), escaped
    assert written("`{{tokens[0]}}` {{tokens[1]}}", True) == f"`{token}` plain"
    assert written("``` {{tokens[0]}} ` ``` {{tokens[0]}}", True) == f"``` {token} ` ``` {escaped}"
    assert written("\\` {{tokens[0]}} {{1 / 4}}", True) == f"\\` {escaped} 0.2500"


def test_a_whole_number_at_the_start_of_a_line_begins_no_list() -> None:
    def written(text: str, markdown: bool) -> str:
        return fill(text, lambda: Scope(CAUSAL, OPEN, 0), markdown)[0]

    text = "The weights sum to\n{{sum(weights[2, :]):.0f}}. There are {{T}}) {{T}}, {{1 / 4}}. `{{T}}.`"
    assert written(text, True) == "The weights sum to\n1\\. There are 5\\) 5, 0.2500. `5.`"
    assert written(text, False) == "The weights sum to\n1. There are 5) 5, 0.2500. `5.`"


def test_invisible_characters_of_a_token_do_not_break_the_line() -> None:
    trace = Trace(set_tokens(CAUSAL.experiment, ("a\n\nb", "", "\x1b[0m")), torch.device("cpu"), torch.float32)
    assert filled("tokens[0]", trace) == "a  b"
    assert filled("tokens[1]", trace) == "∅"
    assert "\x1b" not in filled("tokens[2]", trace)


def test_overflowed_numbers_are_shown_as_infinity_or_nan() -> None:
    e = edits.set_block(edits.configure(CAUSAL.experiment, causal=False), "embeddings", 0, 0, [[1e25], [-1e25]])
    e = edits.fill(edits.fill(e, "W_q", "identity"), "W_k", "identity")
    over = Trace(e, torch.device("cpu"), torch.float32)
    assert {filled("scores[0, 0]", over), filled("scores[0, 1]", over)} == {"∞", "−∞"}
    assert filled("sum(scores[0, :])", over) == "NaN"
    assert filled("max(scores[0, :])", over) == "∞"


def test_the_largest_is_named_only_if_it_is_unique() -> None:
    e = edits.configure(CAUSAL.experiment, causal=False, mask=[[False] * 5, *[[True] * 5] * 4])
    empty = Trace(e, torch.device("cpu"), torch.float32)
    assert "5 numbers are equally large" in refused("argmax(weights[0, :])", empty)
    for last, shown in (("a", "a"), ("c", UNKNOWN)):
        alike = edits.set_block(set_tokens(CAUSAL.experiment, ("a", "b", last)), "embeddings", 0, 0, [[1], [0], [1]])
        trace = Trace(alike, torch.device("cpu"), torch.float32)
        assert fill("{{argmax(inputs[:, 0])}}", lambda trace=trace: Scope(trace, trace, 0))[0] == shown  # type: ignore[misc]


def test_a_text_without_placeholders_computes_nothing() -> None:
    def nobody() -> Scope:
        raise AssertionError("there is nothing to fill")

    assert fill("Plain { text } with }} braces.", nobody) == ("Plain { text } with }} braces.", ())


signs = st.sampled_from(
    [*"0123456789.+-*/%()[]:,'\"\\ \n", "weights", "before.", "sum(", "T", "lambda ", "**", "e9", "if "]
)


@given(st.lists(signs, max_size=25).map("".join))
def test_filling_never_raises(content: str) -> None:
    text, wrong = fill(f"{{{{{content}}}}}", lambda: Scope(CAUSAL, OPEN, 0))
    assert isinstance(text, str)
    assert len(text) < 10_000
    assert len(wrong) <= 1
