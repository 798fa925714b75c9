"""Heads and arrows that are off: equal to a model of the transformers library with the same parts cut out."""

from typing import Any

import numpy as np
import pytest
import torch

import attnlab
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make
from tests.pretrained.test_families import agree, ask_transformers, text_of

OUTPUTS = {
    "bert": "bert.encoder.layer.{}.attention.output.dense",
    "gpt2": "transformer.h.{}.attn.c_proj",
    "llama": "model.layers.{}.self_attn.o_proj",
}
"""The module that reads the contexts of all heads side by side."""


def cut(theirs: Any, name: str, layer: int, head: int) -> Any:
    """Make a model's head have context 0, as its output projection reads it; returns what undoes it."""
    size = 24 // 4

    def zero(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        x = given[0].clone()
        x[..., head * size : (head + 1) * size] = 0
        return (x, *given[1:])

    return theirs.get_submodule(OUTPUTS[name].format(layer)).register_forward_pre_hook(zero)


@pytest.mark.parametrize("name", list(OUTPUTS))
def test_a_head_that_is_off_adds_nothing(make: Make, name: str) -> None:
    theirs, folder = make(name)
    model = read_model(folder)
    run = model.run(text_of(9), heads_off=[(1, 2)])
    handle = cut(theirs, name, 1, 2)
    try:
        found = ask_transformers(theirs, model, run)
    finally:
        handle.remove()
    agree(run.hidden(2), found.hidden_states[2][0])
    agree(run.attention(2), found.attentions[2][0])
    agree(run.probabilities(), found.logits[0, -1].softmax(-1))
    assert not torch.equal(run.probabilities(), model.run(text_of(9)).probabilities())


@pytest.mark.parametrize("name", list(OUTPUTS))
def test_only_layers_behind_the_change_are_computed_again(make: Make, name: str) -> None:
    model = read_model(make(name)[1])
    before = model.run(text_of(9))
    before.hidden(3)
    after = before.change(heads_off=[(1, 0)])
    assert all(after.hidden(layer) is before.hidden(layer) for layer in (0, 1))
    assert after.hidden(2) is not before.hidden(2)
    whole = model.run(text_of(9), heads_off=[(1, 0)])
    assert torch.equal(after.hidden(3), whole.hidden(3))
    back = after.change()
    assert back.hidden(1) is before.hidden(1)
    assert torch.equal(back.hidden(3), before.hidden(3))


def test_an_arrow_that_is_off_has_weight_0_and_its_row_still_sums_to_1(make: Make) -> None:
    model = read_model(make("bert")[1])
    before, after = model.run(text_of(6)), model.run(text_of(6), pairs_off=[(1, 3, 4, 2)])
    old, new = before.attention(1), after.attention(1)
    assert float(new[3, 4, 2]) == 0.0
    rest = old[3, 4].clone()
    rest[2] = 0.0
    assert torch.allclose(new[3, 4], rest / rest.sum(), atol=1e-6)
    others = torch.ones_like(old, dtype=torch.bool)
    others[3, 4] = False
    assert torch.equal(old[others], new[others])
    assert not torch.equal(after.hidden(2)[4], before.hidden(2)[4])


def test_a_row_without_arrows_is_0(make: Make) -> None:
    model = read_model(make("gpt2")[1])
    weights = model.run(text_of(4), pairs_off=[(0, 0, 1, 0), (0, 0, 1, 1)]).attention(0)
    assert torch.equal(weights[0, 1], torch.zeros(4))
    assert float(weights[0, 2].sum()) == pytest.approx(1, abs=1e-6)


def test_parts_of_an_encoder_decoder_change_apart(make: Make) -> None:
    model = read_model(make("t5")[1])
    before = model.run(text_of(5), target=text_of(3))
    before.hidden(2, "decoder")
    after = before.change(heads_off={"cross": [(0, 1)]}, pairs_off={"decoder": [(1, 0, 3, 0)]})
    assert after.hidden(3, "encoder") is before.hidden(3, "encoder")
    assert after.hidden(0, "decoder") is before.hidden(0, "decoder")
    assert not torch.equal(after.hidden(1, "decoder"), before.hidden(1, "decoder"))
    assert float(after.attention(1, "decoder")[0, 3, 0]) == 0.0
    encoder_off = before.change(heads_off=[(2, 0)])
    assert encoder_off.hidden(2) is before.hidden(2)
    assert not torch.equal(encoder_off.hidden(2, "decoder"), before.hidden(2, "decoder"))


def test_the_experiment_of_a_changed_layer_has_the_same_parts_off(make: Make) -> None:
    model = read_model(make("gpt2")[1])
    run = model.run(text_of(6), heads_off=[(1, 2)], pairs_off=[(1, head, 4, 1) for head in range(4)])
    experiment = run.experiment(1)
    assert experiment.config.ablated == (2,)
    trace = attnlab.compute(experiment)
    agree(trace["weights"], run.attention(1))
    assert not np.any(trace.array("context")[2])


def test_arrows_off_in_one_head_cannot_be_an_experiment(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(text_of(6), pairs_off=[(1, 0, 4, 1)])
    with pytest.raises(ArgumentError, match="hides a pair in all heads"):
        run.experiment(1)


@pytest.mark.parametrize(
    ("heads", "pairs", "sentence"),
    [
        ([(3, 0)], (), "heads_off names layer 3; it needs a number from 0 to 2."),
        ([(0, 4)], (), "heads_off names head 4; it needs a number from 0 to 3."),
        ([(0, -1)], (), "heads_off names head -1; it needs a number from 0 to 3."),
        ([(0,)], (), "heads_off contains (0,); each entry needs 2 whole numbers: layer, head."),
        ([(0, 0.5)], (), "heads_off contains (0, 0.5); each entry needs 2 whole numbers: layer, head."),
        (5, (), "heads_off needs a list, such as [(0, 1)]."),
        ((), [(0, 0, 6, 0)], "pairs_off names query 6; it needs a number from 0 to 5."),
        ((), [(0, 0, 0, 9)], "pairs_off names key 9; it needs a number from 0 to 5."),
        ((), [(0, 1)], "pairs_off contains (0, 1); each entry needs 4 whole numbers: layer, head, query, key."),
        ({"cross": [(0, 0)]}, (), "heads_off names 'cross'; the parts of this model are decoder."),
    ],
)
def test_what_does_not_exist_cannot_be_off(make: Make, heads: Any, pairs: Any, sentence: str) -> None:
    model = read_model(make("gpt2")[1])
    with pytest.raises(ArgumentError) as raised:
        model.run(text_of(6), heads_off=heads, pairs_off=pairs)
    assert str(raised.value) == sentence
