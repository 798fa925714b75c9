"""The arithmetic of a cell names the columns, heads and pairs of its numbers."""

from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.stages.arithmetic import number, plain, short
from attnlab.attention.stages.explain import Cell, explain


def traced(w_o: bool = True, identity: bool = False, **config: Any) -> attnlab.Trace:
    """Return the trace of three tokens of 4 numbers and two heads of 2 columns, with distinct numbers."""
    draw = torch.Generator().manual_seed(3)
    names = (() if identity else ("W_q", "W_k", "W_v")) + (("W_o",) if w_o else ())
    weights = {name: torch.randn(4, 4, generator=draw) for name in names}
    e = attnlab.Experiment(
        ("a", "b", "c"),
        torch.randn(3, 4, generator=draw),
        attnlab.Weights(**weights),
        attnlab.AttentionConfig(**{"n_heads": 2} | config),
    )
    return attnlab.compute(e, dtype="float64")


def lines(trace: attnlab.Trace, cell: Cell) -> list[str]:
    return [plain(line) for line in explain(trace, cell, None).lines]


@pytest.mark.parametrize(("stage", "symbol"), [("queries", "q"), ("keys", "k"), ("values", "v")])
def test_a_projection_names_the_column_of_the_whole_matrix(stage: str, symbol: str) -> None:
    first = [lines(traced(), Cell(stage, 2, column, head))[0] for head, column in ((0, 1), (1, 0), (1, 1))]
    assert first == [f"{symbol} = x · W_{symbol}, column {column}" for column in (1, 2, 3)]


def test_without_a_matrix_a_projection_names_the_column_of_the_token() -> None:
    trace = traced(identity=True)
    x = trace["inputs"][2].tolist()
    assert lines(trace, Cell("keys", 2, 0, 1))[0] == f"k = x[2] = {short(x[2])}"
    assert lines(trace, Cell("keys", 2, 1, 0))[0] == f"k = x[1] = {short(x[1])}"


def test_context_and_output_name_their_columns() -> None:
    assert lines(traced(), Cell("context", 2, 1, 0))[0] == "weights of this row · values, column 1"
    assert lines(traced(), Cell("output", 2, 3))[0] == "concatenated heads · W_o, column 3"


@pytest.mark.parametrize(("query", "key", "bucket"), [(0, 2, 18), (2, 0, 2)])
@pytest.mark.parametrize("head", [0, 1])
def test_a_position_bias_is_that_of_its_head_and_distance(query: int, key: int, bucket: int, head: int) -> None:
    """T5 has a bucket for each distance up to 8; those of keys ahead begin at 16."""
    trace = attnlab.compute(attnlab.preset("t5-bias"))
    away = str(key - query).replace("-", "−")
    value = number(float(trace.experiment.weights.extra["B"][bucket, head]))
    assert lines(trace, Cell("biased", query, key, head))[1:3] == [
        f"key {key} − query {query} = {away}: bucket {bucket}",
        f"B[{bucket}, {head}] = {value}",
    ]


def test_masking_after_softmax_is_explained_by_pair_and_row_sum() -> None:
    trace = traced(causal=True, options={"fill": "after"})
    weights = trace["weights"][1]
    assert lines(trace, Cell("zeroed", 1, 2, 1))[:2] == ["“c” comes after “b”: the future is masked", "= 0"]
    left = float(weights[1, 0] + weights[1, 1])  # query 1 may attend to keys 0 and 1
    assert lines(trace, Cell("zeroed", 1, 0, 1)) == [
        f"weight {number(float(weights[1, 0]))} stays",
        f"the row sums to {number(left)}",
    ]


def test_a_weight_after_dropout_is_explained_with_the_sum_of_its_row() -> None:
    trace = traced(options={"dropout": 0.3})
    for head in (0, 1):
        for row in range(3):
            total = number(sum(trace["dropped"][head, row].tolist()))
            assert lines(trace, Cell("dropped", row, 1, head))[-1] == f"the row sums to {total}"


def test_a_sink_is_explained_by_its_heads_number() -> None:
    trace = attnlab.compute(attnlab.preset("attention-sink"))  # its heads have 0, 1, 2 and 3
    told = [lines(trace, Cell("weights", 1, 0, head))[0] for head in range(4)]
    assert told == [f"the sink adds the score {sink}.00" for sink in range(4)]
