"""Cells named in a lesson become cells of the experiment, along their own axis and in their head."""

import attnlab
from attnlab.attention.stages.explanation import Cell
from attnlab.lessons.cell_references import find_cell, list_cells, parse_blank


def test_a_token_is_looked_up_along_its_own_axis() -> None:
    e = attnlab.preset("cross-attention")
    assert e.memory_tokens is not None
    query, key = e.tokens[1], e.memory_tokens[-1]
    assert key not in e.tokens
    assert find_cell(e, "weights", (query, key), 0) == Cell("weights", 1, len(e.memory_tokens) - 1, 0)


def test_a_blank_names_its_head_or_uses_the_visible_one() -> None:
    e = attnlab.preset("uneven-heads")
    assert list_cells(e, parse_blank("weights[1, 0, 1]"), 0) == (Cell("weights", 0, 1, 1),)
    assert list_cells(e, parse_blank("weights[0, 1]"), 1) == (Cell("weights", 0, 1, 1),)
    assert list_cells(e, parse_blank("weights[0, 1]"), "mean") == (Cell("weights", 0, 1, None),)
