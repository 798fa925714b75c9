"""A stack of layers: each reads what leaves the one below; two of them set by hand complete a pattern."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import stack_edits, token_edits
from attnlab.attention.edits.batches import add_item
from attnlab.attention.edits.descent import choose_loss, list_movable
from attnlab.attention.edits.second_sequence import toggle_memory
from attnlab.attention.edits.vector_edits import move_token
from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.sensitivity import Number, measure_by_trying, measure_effects
from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.presence import find_last
from attnlab.compute.engine import estimate_bytes
from attnlab.document.history import _memories
from attnlab.document.scene import Scene
from attnlab.files.export.script import script
from attnlab.lessons.budget import count_bytes


def leaving(e: Experiment) -> torch.Tensor:
    trace = attnlab.compute(e, dtype="float64")
    return trace[find_last(e)]


def stack(n: int = 3) -> Experiment:
    """Return layers with different numbers, the second of them present."""
    e = attnlab.preset("whole-block")
    for layer in range(1, n):
        e = stack_edits.add_layer(e)
        e = edits.fill(e, "W_q", "normal", layer)
        e = edits.fill(e, "W_2", "uniform", layer)
    return stack_edits.select_layer(e, 1)


def same(one: Experiment, other: Experiment) -> bool:
    """Return whether two stacks share the weights and settings of every layer."""
    pairs = zip(stack_edits.layers(one), stack_edits.layers(other), strict=True)
    return all(a is c and b is d for (a, b), (c, d) in pairs)


def assert_follows(e: Experiment, order: tuple[int, ...]) -> None:
    """Check that every word that was there before attends to the word after that, and no other."""
    weights = attnlab.compute(e).array("weights")[0]
    words = [order[i] % 4 for i in range(8)]
    assert e.tokens == tuple(("to", "be", "or", "not")[word] for word in words)
    for query in range(8):
        earlier = [i for i in range(query) if words[i] == words[query]]
        if earlier:
            assert weights[query, earlier[0] + 1] > 0.9, (e.tokens, query)
            residual = attnlab.compute(e).array("residual")[query]
            assert int(residual[-4:].argmax()) == words[earlier[0] + 1]


def test_two_layers_set_by_hand_find_the_word_after_the_earlier_copy() -> None:
    e = attnlab.preset("induction")
    assert (e.n_layers, e.layer) == (2, 1)
    assert_follows(e, tuple(range(8)))
    below = attnlab.compute(stack_edits.select_layer(e, 0)).array("weights")[0]
    assert all(below[i, i - 1] > 0.99 for i in range(1, 8))


@pytest.mark.parametrize("seed", range(12))
def test_induction_survives_any_order_of_the_words(seed: int) -> None:
    order = tuple(np.random.default_rng(seed).permutation(8).tolist())
    assert_follows(token_edits.pick(attnlab.preset("induction"), order), order)


def test_without_the_layer_below_there_is_no_induction() -> None:
    e = attnlab.preset("induction")
    alone = stack_edits.only_layer(e, 1)
    assert attnlab.compute(alone).array("weights")[0, 4].max() < 0.3
    off = stack_edits.select_layer(edits.toggle_head(stack_edits.select_layer(e, 0), 0), 1)
    assert attnlab.compute(off).array("weights")[0, 4].max() < 0.3


def test_a_layer_reads_what_leaves_the_layers_below() -> None:
    e = stack()
    x = e.embeddings
    for layer in range(3):
        alone = replace(stack_edits.only_layer(e, layer), embeddings=x)
        x = leaving(alone)
        torch.testing.assert_close(leaving(stack_edits.select_layer(e, layer)), x, rtol=0, atol=1e-12)
    trace = attnlab.compute(e)
    assert trace.below is not None
    assert torch.equal(trace["inputs"], trace.below[trace.below.stages[-1]])
    lines = [plain(each) for each in explain(trace, Cell("inputs", 1, 2)).lines]
    assert lines == [f"what leaves layer 1: {float(trace['inputs'][1, 2]):.4f}".replace("-", "−")]
    assert estimate_bytes(e) == 3 * estimate_bytes(stack_edits.only_layer(e, 1))


def test_choosing_adding_and_removing_layers_keeps_every_number() -> None:
    e = stack()
    there = stack_edits.select_layer(stack_edits.select_layer(e, 2), 1)
    assert same(there, e)
    more = stack_edits.add_layer(e)
    assert (more.n_layers, more.layer) == (4, 2)
    assert more.weights is e.weights
    back = stack_edits.remove_layer(more, 2)
    assert same(back, e)
    assert stack_edits.remove_layer(e, 0).layer == 0
    assert stack_edits.remove_layer(e, 2).layer == 1
    with pytest.raises(attnlab.ExperimentError, match="There is no layer 4; they are numbered from 1 to 3"):
        stack_edits.select_layer(e, 3)
    with pytest.raises(attnlab.ExperimentError, match="This is the only layer"):
        stack_edits.remove_layer(attnlab.preset("journey"), 0)


def test_positions_are_added_once() -> None:
    e = edits.configure(attnlab.preset("whole-block"), positions="sinusoidal")
    assert stack_edits.add_layer(e).config.positions == "none"
    rotated = edits.configure(attnlab.preset("whole-block"), positions="rope")
    assert stack_edits.add_layer(rotated).config.positions == "rope"


def test_tokens_and_sizes_change_in_every_layer() -> None:
    e = stack()
    e = edits.paint_mask(stack_edits.select_layer(edits.paint_mask(e, 3, 0, False), 0), 4, 1, False)
    longer = token_edits.add_token(e, "mat", 1)
    for layer, (query, key) in ((0, (5, 2)), (1, (4, 0))):
        mask = stack_edits.select_layer(longer, layer).config.mask
        assert mask is not None
        assert (~mask).nonzero().tolist() == [[query, key]]
    wide = edits.resize(e, d_model=6)
    assert [list(weights.extra["W_1"].shape) for weights, _ in stack_edits.layers(wide)] == [[6, 8]] * 3
    assert torch.equal(leaving(edits.resize(wide, d_model=4)), leaving(e))
    other = edits.resize(stack_edits.select_layer(e, 2), d_k=7)
    assert [e.d_k for e in (other, stack_edits.select_layer(other, 0))] == [7, 4]


def test_what_does_not_fit_is_refused_in_one_sentence() -> None:
    e = stack()
    with pytest.raises(attnlab.ExperimentError, match="There is a second sequence and a stack of 3 layers"):
        toggle_memory(e, True)
    with pytest.raises(attnlab.ExperimentError, match="There is a batch and a stack of 3 layers"):
        add_item(e)
    with pytest.raises(attnlab.ExperimentError, match=r"Layer 2 of the stack has d_out = 2 and d_model = 3"):
        stack_edits.add_layer(attnlab.preset("journey"))
    with pytest.raises(attnlab.ExperimentError, match=r"Layer 1 of the stack: W_q has shape \[3, 2\]"):
        replace(e, other_layers=[(attnlab.preset("journey").weights, attnlab.AttentionConfig()), e.other_layers[1]])
    with pytest.raises(attnlab.ExperimentError, match=r"layer is 3; it needs a place from 0 to 2 in the stack"):
        replace(e, layer=3)
    with pytest.raises(attnlab.ExperimentError, match="it needs pairs of weights and configuration"):
        replace(e, other_layers=3)
    with pytest.raises(attnlab.ExperimentError, match="the maximum is 12"):
        replace(e, other_layers=[e.other_layers[0]] * 12)
    with pytest.raises(attnlab.ExperimentError, match="The tokens of layer 2 are what leaves the layer below"):
        move_token(e, "embeddings", 0, np.ones(4))


def test_a_number_below_moves_the_weights_above() -> None:
    e = attnlab.preset("induction")
    soft = edits.scale(edits.scale(e, "W_q", 0.3), "W_k", 0.3)
    number = Number("embeddings", 1, 2)
    found, tried = measure_effects(soft, number), measure_by_trying(soft, number)
    np.testing.assert_allclose(found, tried, atol=1e-6)
    assert np.abs(found).max() > 1e-3


def test_a_loss_in_a_layer_below_changes_nothing_above() -> None:
    e = stack()
    below = choose_loss(stack_edits.select_layer(e, 0), "weight", loss_wanted=0.5)
    assert any(name.startswith("d_") for name in attnlab.compute(below).stages)
    assert torch.equal(leaving(stack_edits.select_layer(below, 1)), leaving(e))
    assert "embeddings" in list_movable(below)
    assert "embeddings" not in list_movable(choose_loss(e, "weight", loss_wanted=0.5))


def test_a_stack_is_saved_counted_and_written_as_code(tmp_path: Path) -> None:
    e = edits.paint_mask(stack(), 2, 1, False)
    attnlab.save(e, tmp_path / "stack.attnlab")
    found = attnlab.load(tmp_path / "stack.attnlab")
    assert (found.layer, found.n_layers) == (1, 3)
    for layer in range(3):
        assert torch.equal(*(leaving(stack_edits.select_layer(each, layer)) for each in (e, found)))
    scene = sum(_memories(Scene(stack_edits.select_layer(e, 2), "")).values())
    assert scene > sum(_memories(Scene(stack_edits.only_layer(e, 1), "")).values())
    assert count_bytes(e) > 2 * count_bytes(stack_edits.only_layer(e, 1))
    path = tmp_path / "stack.py"
    path.write_text(script(stack_edits.select_layer(e, 2), "stack", "float64"))
    made = runpy.run_path(str(path))["stages"]
    trace = attnlab.compute(stack_edits.select_layer(e, 2), dtype="float64")
    for name in trace.stages:
        torch.testing.assert_close(made[name], trace[name], rtol=0, atol=1e-12)


def test_an_array_of_a_layer_below_that_was_written_to_is_refused() -> None:
    e = stack()
    W_q = e.other_layers[0][0].W_q
    assert W_q is not None
    W_q[0, 0] = 5
    with pytest.raises(attnlab.ExperimentError, match=r"W_q was changed in place"):
        attnlab.compute(e)["weights"]
