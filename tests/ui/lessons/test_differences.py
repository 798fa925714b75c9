"""Equal states have equal bits, and every difference between two states becomes edits of a lesson."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.batches import add_item, select
from attnlab.attention.edits.stack_edits import only_layer, select_layer
from attnlab.attention.experiment import Experiment
from attnlab.lessons.lesson import Edit
from attnlab.ui.lessons.differences import (
    find_config_edits,
    find_layer_edits,
    find_table_edits,
    find_token_edits,
    is_same,
)

Change = Callable[[Experiment], Experiment]
CHANGES: dict[str, Change] = {
    "a number of W_k": lambda e: edits.set_block(e, "W_k", 1, 0, [[0.125]]),
    "a number of an embedding": lambda e: edits.set_block(e, "embeddings", 0, 1, [[9.5]]),
    "a token": lambda e: replace(e, tokens=("new", *e.tokens[1:])),
    "causal": lambda e: edits.configure(e, causal=True),
    "a mask by hand": lambda e: edits.paint_mask(e, 0, 1, allowed=False),
    "an output": lambda e: edits.toggle_output(e, True),
    "biases": lambda e: edits.toggle_biases(e, True),
    "a whole block": lambda e: edits.configure(e, block="after"),
    "a second sequence in the batch": lambda e: select(add_item(e), 0),
}


def again(e: Experiment) -> Experiment:
    """Return the same experiment with copied tensors."""
    return edits.set_block(e, "embeddings", 0, 0, edits.array(e, "embeddings").tolist())


@pytest.mark.parametrize("preset", ["journey", "uneven-heads", "cross-attention", "padding-batch", "additive"])
def test_experiments_with_equal_numbers_have_no_differences(preset: str) -> None:
    e = attnlab.preset(preset)
    assert again(e) is not e
    assert is_same(e, again(e))


@pytest.mark.parametrize("change", CHANGES)
def test_any_difference_is_found(change: str) -> None:
    e = attnlab.preset("journey")
    assert not is_same(e, CHANGES[change](e))
    assert not is_same(CHANGES[change](e), e)


def test_changed_cells_become_edits_with_row_and_column() -> None:
    e = attnlab.preset("journey")
    changed = edits.set_block(edits.set_block(e, "W_q", 2, 0, [[0.25]]), "embeddings", 1, 2, [[-1.5]])
    assert find_table_edits(e, changed) == (Edit("embeddings[1, 2]", -1.5), Edit("W_q[2, 0]", 0.25))
    assert find_table_edits(changed, e) == (
        Edit("embeddings[1, 2]", float(str(np.float32(e.embeddings[1, 2])))),
        Edit("W_q[2, 0]", float(str(edits.array(e, "W_q")[2, 0]))),
    )
    assert find_table_edits(e, again(e)) == find_config_edits(e, again(e)) == find_token_edits(e, again(e)) == ()


def test_changed_switches_and_words_become_edits() -> None:
    e = attnlab.preset("journey")
    assert find_config_edits(e, edits.configure(e, causal=True)) == (Edit("causal", True),)
    assert find_config_edits(e, edits.configure(e, ablated=(0,))) == (Edit("ablate", [0]),)
    assert find_config_edits(e, edits.paint_mask(e, 0, 1, allowed=False)) is None, "which a lesson has no words for"
    other = replace(e, tokens=("new", *e.tokens[1:]))
    assert find_token_edits(e, other) == (Edit("tokens", ["new", *e.tokens[1:]]),)


def test_the_layer_of_a_stack_is_an_edit_and_its_other_layers_count() -> None:
    e = attnlab.preset("induction")
    assert is_same(e, attnlab.preset("induction"))
    first = select_layer(e, 0)
    assert not is_same(e, first)
    assert find_layer_edits(e, first) == (Edit("layer", 1),)
    assert find_layer_edits(e, only_layer(e, 1)) is None
    below = select_layer(edits.set_block(first, "W_q", 4, 0, [[3.0]]), 1)
    assert not is_same(e, below)
