"""Sentences with counts and ranges of several, one or none."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

import attnlab
from attnlab import AttentionConfig, AttnlabError, Experiment, Sample
from attnlab.attention.edits import batches
from attnlab.attention.edits.size_edits import resize
from attnlab.attention.examples.presets import preset
from attnlab.attention.measures.order import permute
from attnlab.attention.stages.explain import Cell, explain
from attnlab.base.counted import format_bounds, format_count, format_has, format_percent, format_range, format_whole
from attnlab.compute.engine import compute
from attnlab.lessons import solution
from attnlab.lessons.exercise import check_cell
from attnlab.lessons.lookup import look_up

ONE = Experiment(("a",), torch.ones(1, 1))
"""One token of one number in one head."""


def test_plurals_are_correct() -> None:
    assert [format_count(n, "head") for n in (0, 1, 2)] == ["0 heads", "1 head", "2 heads"]
    assert [format_count(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]


def test_a_range_of_one_item_is_written_as_one_number() -> None:
    assert [format_range("column", 2, last) for last in (2, 4)] == ["column 2", "columns 2 to 4"]
    assert [format_has("head", 0, last) for last in (-1, 0, 3)] == [
        "has no heads",
        "has only head 0",
        "has heads 0 to 3",
    ]
    assert [format_bounds(1, last, "a whole number") for last in (1, 4)] == ["1", "a whole number from 1 to 4"]


@pytest.mark.parametrize(
    ("refused", "sentence"),
    [
        (lambda: look_up("weights", [3, 0], compute(ONE), "all"), "the row of weights is 3; it needs 0."),
        (lambda: look_up("weights", [3, 0, 0], compute(ONE), "all"), "there is no head 3; this state has only head 0."),
        (lambda: check_cell(ONE, Cell("weights", 0, 0, 1)), "weights[1, 0, 0] names head 1; weights has only head 0."),
        (lambda: check_cell(ONE, Cell("weights", 1, 0)), "weights[1, 0] is not there; weights has 1 row and 1 column."),
        (lambda: permute(ONE, (1,)), "The order is [1]; it needs 0 once."),
        (lambda: batches.set_length(ONE, 2), "The valid length is 2; it needs 1."),
        (lambda: replace(ONE, item=1), "item is 1; it needs 0, as there are no others."),
        (lambda: replace(ONE, config=AttentionConfig(ablated=(1,))), "ablated has head 1; the layer has only head 0."),
        (
            lambda: replace(ONE, others=(Sample(("b",), [[2.0]], length=2),)),
            "others[0] has length 2; it needs 1, the number of its keys.",
        ),
        (
            lambda: resize(Experiment(("a",), torch.zeros(1, 4096), config=AttentionConfig(n_heads=4096)), d_k=9),
            "d_k is 9; it needs 1.",
        ),
    ],
)
def test_a_layer_with_one_of_each_has_no_ranges(refused: Callable[[], object], sentence: str) -> None:
    with pytest.raises(AttnlabError) as error:
        refused()
    assert str(error.value) == sentence


def test_a_head_of_one_column_is_described_by_that_column() -> None:
    e = Experiment(("a",), torch.ones(1, 2), config=AttentionConfig(n_heads=2))
    lines = explain(attnlab.compute(e), Cell("queries", 0, 0, 1)).lines
    assert any("".join(span.text for span in line) == "head 1 owns column 1" for line in lines)
    lines = explain(attnlab.compute(preset("multi-head-8")), Cell("queries", 0, 0, 1)).lines
    assert any("head 1 owns columns " in "".join(span.text for span in line) for line in lines)


def test_a_solution_has_correct_plurals() -> None:
    assert "1 query, 1 key, d" in solution.write_markdown(compute(ONE))
    assert "6 queries, 6 keys, d" in solution.write_markdown(compute(preset("journey")))


def test_thousands_have_a_comma_everywhere() -> None:
    numbers = 0, 999, 1061, 10_000, -1_056_784, 2**60 + 1
    assert [format_whole(each) for each in numbers[:-1]] == ["0", "999", "1,061", "10,000", "−1,056,784"]
    assert format_whole(numbers[-1]) == "1,152,921,504,606,846,977"
    assert format_count(1000, "run") == "1,000 runs"


@pytest.mark.parametrize(
    ("share", "decimals", "told"),
    [
        (0.987, 1, "98.7 %"), (0.987, 0, "99 %"), (1.0, 0, "100 %"), (0.0, 1, "0.0 %"), (0.0, 0, "0 %"),
        (1e-9, 0, "<1 %"), (0.005, 0, "<1 %"), (0.0051, 0, "1 %"), (1e-9, 1, "<0.1 %"), (-0.25, 0, "−25 %"),
    ],
)  # fmt: skip
def test_only_nothing_is_0_percent_and_no_line_ends_before_the_sign(share: float, decimals: int, told: str) -> None:
    assert format_percent(share, decimals) == told.replace(" ", "\N{NO-BREAK SPACE}")
