"""A layer of a model opens as a whole block, and an edited block computes in the model's place."""

from dataclasses import replace

import pytest
import torch

import attnlab
from attnlab.attention.edits import configure
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.layers import FeedForward, Linear
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make

TEXT = "the cat sat on the mat"
SECOND = {"t5": ["it was"], "t5-gated": ["it was"]}
BLOCKS = {
    "bert": ("after", "layer", "gelu"),
    "distilbert": ("after", "layer", "gelu"),
    "gpt2": ("before", "layer", "gelu_tanh"),
    "llama": ("before", "rms", "swiglu"),
    "qwen3": ("before", "rms", "swiglu"),
    "t5": ("before", "rms", "relu"),
}


@pytest.mark.parametrize("family", BLOCKS)
def test_every_layer_opens_as_the_block_that_the_model_computes(make: Make, family: str) -> None:
    run = read_model(make(family)[1]).run(TEXT, *SECOND.get(family, []))
    block, norm, feed = BLOCKS[family]
    for part in run.model.parts:
        for layer in range(run.model.stack(part).n_layers):
            e = run.experiment(layer, part, block=True)
            last = part != "decoder" or "cross" not in run.model.parts
            assert (e.config.block, e.config.block_norm) == (block, norm)
            assert e.config.feed_forward == (feed if last else "none")
            trace, expected = attnlab.compute(e), run.leaving(layer, part)
            gap = float((trace[trace.stages[-1]] - expected).abs().max() / expected.abs().max())
            assert gap < 1e-5
            torch.testing.assert_close(trace["weights"], run.attention(layer, part), atol=1e-5, rtol=0)
            if last and layer + 1 < run.model.stack(part).n_layers:
                assert torch.equal(expected, run.hidden(layer + 1, part))


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "t5"])
def test_an_unedited_block_in_its_place_changes_nothing(make: Make, family: str) -> None:
    run = read_model(make(family)[1]).run(TEXT, *SECOND.get(family, []))
    for part in run.model.parts:
        same = run.change(layers={part: {1: run.experiment(1, part, block=True)}})
        last = run.model.stack(part).n_layers
        torch.testing.assert_close(same.hidden(last, part), run.hidden(last, part), atol=1e-5, rtol=1e-4)
        assert same.outputs(1, part).difference < 1e-5
        assert same.list_edits(1, part) == ()
        again = same.experiment(1, part, block=True)
        assert again.config.block == run.experiment(1, part, block=True).config.block
        assert torch.equal(again.embeddings, run.experiment(1, part, block=True).embeddings)


def test_an_edited_feed_forward_gives_what_the_model_with_it_gives(make: Make) -> None:
    """The same number is changed in the files of the model, and in the experiment."""
    model = read_model(make("llama")[1])
    run = model.run(TEXT)
    before, e = run.hidden(3), run.experiment(1, block=True)
    W_2 = e.weights.extra["W_2"].clone()
    W_2[3] += 0.5
    edited = run.change(layers={1: replace(e, weights=replace(e.weights, extra={**e.weights.extra, "W_2": W_2}))})
    edited.hidden(3)  # before the model itself changes
    assert [edit.words for edit in edited.list_edits(1)] == [f"W_2 edited, {W_2.shape[1]} numbers"]
    name = next(key for key in model.folder.held if key.endswith("layers.1.mlp.down_proj.weight"))
    model.folder.held[name][:, 3] += 0.5  # saved [out, in]
    expected = model.run(TEXT)
    torch.testing.assert_close(edited.hidden(3), expected.hidden(3), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(edited.leaving(1), expected.leaving(1), atol=1e-5, rtol=1e-4)
    assert float((edited.hidden(3) - before).abs().max()) > 1e-4


def test_norms_and_activation_of_an_edited_block_count_in_the_model(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    changed = configure(run.experiment(1, block=True), feed_forward="relu", block="after")
    edited = run.change(layers={1: changed})
    trace = attnlab.compute(changed)
    torch.testing.assert_close(edited.hidden(2), trace[trace.stages[-1]], atol=1e-4, rtol=1e-4)
    assert {edit.words for edit in edited.list_edits(1)} == {
        "Block norms before → norms after",
        "Feed-forward GELU by tanh → ReLU",
    }


def test_attention_alone_leaves_the_models_own_block_around_it(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    whole, alone = run.experiment(1, block=True), run.experiment(1)
    assert alone.config.block == "none"
    torch.testing.assert_close(attnlab.compute(whole)["normed_inputs"], alone.embeddings, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(attnlab.compute(whole)["weights"], attnlab.compute(alone)["weights"])


def test_a_feed_forward_before_cross_attention_is_refused(make: Make) -> None:
    run = read_model(make("t5")[1]).run(TEXT, "it was")
    e = configure(run.experiment(1, "decoder", block=True), feed_forward="relu")
    with pytest.raises(ArgumentError, match="which comes after cross-attention in this model"):
        run.change(layers={"decoder": {1: e}})


def test_a_gate_with_biases_has_no_block(make: Make) -> None:
    model = read_model(make("llama")[1])
    layer = model.stack("decoder").layer(1)
    assert layer.feed_forward is not None
    assert layer.feed_forward.gate is not None
    gate = Linear(layer.feed_forward.gate.weight, torch.ones(layer.feed_forward.gate.weight.shape[1]))
    from attnlab.pretrained.block_in import Around, Surroundings, with_block

    biased = FeedForward(
        into=layer.feed_forward.into, out=layer.feed_forward.out, gate=gate, activation=layer.feed_forward.activation
    )
    around = Around(layer.attention_norm, True)
    e = model.run(TEXT).experiment(1)
    with pytest.raises(ArgumentError, match="has a gate and biases"):
        with_block(e.weights, e.config, Surroundings(around, None, around, biased), cross=False, is_last=True)
