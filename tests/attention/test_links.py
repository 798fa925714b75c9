"""Linked selections: which rows, columns and cells of other stages belong to a cell."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.links import Region, find_linked_regions
from attnlab.attention.stages.table import BY_NAME, STAGES, sources

SELF = attnlab.preset("multi-head-causal")
CROSS = attnlab.Experiment(
    tokens=("a", "b"),
    embeddings=[[1.0, 2.0], [3.0, 4.0]],
    memory_tokens=("x", "y", "z"),
    memory_embeddings=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (
            Cell("weights", 3, 1, 5),
            {
                "inputs": (Region(3, None, None, "query"), Region(1, None, None, "key")),
                "queries": (Region(3, None, 5, "query"),),
                "keys": (Region(1, None, 5, "key"),),
                "values": (Region(1, None, 5, "value"),),
                "scores": (Region(3, 1, 5, "neutral"),),
                "weights": (Region(3, 1, 5, "neutral"),),
                "context": (Region(3, None, 5, "attention"),),
                "output": (Region(3, None, None, "neutral"),),
            },
        ),
        (
            Cell("context", 2, 4, 5),
            {
                "inputs": (Region(2, None, None, "query"),),
                "queries": (Region(2, None, 5, "query"),),
                "keys": (),
                "values": (Region(None, 4, 5, "value"),),
                "weights": (Region(2, None, 5, "attention"),),
                "merged": (Region(2, 5 * 8 + 4, None, "attention"),),
                "output": (Region(2, None, None, "neutral"),),
            },
        ),
        (
            Cell("merged", 2, 5 * 8 + 4),
            {
                "inputs": (Region(2, None, None, "query"),),
                "queries": (Region(2, None, 5, "query"),),
                "keys": (),
                "values": (Region(None, 4, 5, "value"),),
                "weights": (Region(2, None, 5, "attention"),),
                "context": (Region(2, 4, 5, "attention"),),
                "output": (Region(2, None, None, "neutral"),),
            },
        ),
        (Cell("context", 2, 4, None), {"merged": (Region(2, None, None, "attention"),)}),
        (
            Cell("values", 2, 4, None),
            {
                "inputs": (Region(2, None, None, "key"),),
                "queries": (),
                "keys": (Region(2, None, None, "key"),),
                "weights": (Region(None, 2, None, "attention"),),
                "context": (Region(None, 4, None, "attention"),),
                "output": (),
            },
        ),
        (
            Cell("inputs", 1, 7),
            {"queries": (Region(1, None, None, "query"),), "scores": (Region(1, None, None, "neutral"),)},
        ),
        (Cell("output", 1, 7), {"context": (Region(1, None, None, "attention"),), "values": ()}),
    ],
)
def test_a_cell_is_linked_to_its_sources_and_its_results(cell: Cell, expected: dict[str, tuple[Region, ...]]) -> None:
    assert {name: find_linked_regions(SELF, cell, BY_NAME[name]) for name in expected} == expected


def test_without_an_output_matrix_output_columns_are_linked_to_head_columns() -> None:
    e = attnlab.Experiment(("a", "b"), [[1.0] * 6] * 2, config=attnlab.AttentionConfig(n_heads=3))
    assert find_linked_regions(e, Cell("output", 1, 5), BY_NAME["context"]) == (Region(1, 1, 2, "attention"),)
    assert find_linked_regions(e, Cell("output", 1, 3), BY_NAME["values"]) == (Region(None, 1, 1, "value"),)
    assert find_linked_regions(e, Cell("context", 1, 1, 2), BY_NAME["output"]) == (Region(1, 5, None, "neutral"),)


def test_a_token_that_attends_to_itself_is_outlined_once() -> None:
    assert find_linked_regions(SELF, Cell("weights", 2, 2, 0), BY_NAME["inputs"]) == (Region(2, None, None, "query"),)


def test_a_key_of_a_second_sequence_is_not_linked_to_the_inputs() -> None:
    assert find_linked_regions(CROSS, Cell("scores", 1, 2, 0), BY_NAME["inputs"]) == (Region(1, None, None, "query"),)
    assert find_linked_regions(CROSS, Cell("keys", 2, 0, 0), BY_NAME["inputs"]) == ()
    assert find_linked_regions(CROSS, Cell("scores", 1, 2, 0), BY_NAME["keys"]) == (Region(2, None, 0, "key"),)


def test_keys_and_values_of_a_second_sequence_are_linked_to_it() -> None:
    w = {"W_q": [[1.0], [2.0]], "W_k": [[1.0], [2.0]], "b_k": [0.5]}
    cross = dataclasses.replace(CROSS, weights=attnlab.Weights(**w))
    formulas = [BY_NAME[name].formula(cross) for name in ("queries", "keys", "values")]
    assert formulas == ["Q = X W_q", "K = M W_k + b_k", "V = M"]
    assert [sources(BY_NAME[name], cross) for name in ("keys", "values")] == [(BY_NAME["memory"],)] * 2
    assert sources(BY_NAME["queries"], cross) == (BY_NAME["inputs"],)
    alone = dataclasses.replace(cross, memory_tokens=None, memory_embeddings=None)
    assert BY_NAME["keys"].formula(alone) == "K = X W_k + b_k"
    assert sources(BY_NAME["keys"], alone) == sources(BY_NAME["values"], alone) == (BY_NAME["inputs"],)
    assert [plain(explain(attnlab.compute(e), Cell("keys", 1, 0, 0)).lines[0]) for e in (cross, alone)] == [
        "k = m · W_k, column 0",
        "k = x · W_k, column 0",
    ]


def _head_of(e: attnlab.Experiment, cell: Cell) -> int | None:
    """Return the head of a cell of the merged heads, which are the output without W_o."""
    merged = cell.stage == "merged" or (cell.stage == "output" and e.weights.W_o is None)
    return cell.column // e.d_v if merged else cell.head


@given(st.data())
def test_every_region_lies_inside_its_stage(data: st.DataObject) -> None:
    e = data.draw(st.sampled_from([SELF, CROSS]))
    trace = attnlab.compute(e)
    shapes = {name: tuple(trace[name].shape) for name in trace.all_stages}
    name = data.draw(st.sampled_from(sorted(shapes)))
    *heads, rows, columns = shapes[name]
    head = data.draw(st.none() | st.integers(0, heads[0] - 1)) if heads else None
    cell = Cell(name, data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1)), head)
    for stage in (stage for stage in STAGES if stage.name in shapes):
        *its_heads, its_rows, its_columns = shapes[stage.name]
        for region in find_linked_regions(e, cell, stage):
            assert region.row is None or region.row < its_rows
            assert region.column is None or region.column < its_columns
            assert region.head == (_head_of(e, cell) if its_heads else None)
            assert region.row is not None or region.column is not None
