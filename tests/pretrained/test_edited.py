"""A layer edited as an experiment computes in its model's place, and only the layers behind it again."""

from dataclasses import replace

import pytest
import torch

from attnlab.attention.experiment import Weights
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make

TEXT = "the cat sat on the mat"


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "llama-yarn", "qwen3", "t5"])
def test_an_unedited_layer_in_its_place_changes_nothing(make: Make, family: str) -> None:
    run = read_model(make(family)[1]).run(TEXT, *(["it was"] if family == "t5" else []))
    for part in run.model.parts:
        same = run.change(layers={part: {1: run.experiment(1, part)}})
        torch.testing.assert_close(same.attention(1, part), run.attention(1, part), atol=1e-5, rtol=1e-4)
        last = run.model.stack(part).n_layers
        torch.testing.assert_close(same.hidden(last, part), run.hidden(last, part), atol=1e-5, rtol=1e-4)
        assert same.outputs(1, part).difference < 1e-5


def test_an_edited_matrix_gives_what_the_model_with_this_matrix_gives(make: Make) -> None:
    """The same number is changed in the files of the model, and in the experiment."""
    model = read_model(make("llama")[1])
    run = model.run(TEXT)
    before = run.hidden(3)
    e = run.experiment(1)
    W_q = e.weights.W_q.clone()
    W_q[:, 3] += 0.5
    parts = {name: getattr(e.weights, name) for name in ("W_k", "W_v", "W_o", "b_q", "b_k", "b_v", "b_o", "extra")}
    edited = run.change(layers={1: replace(e, weights=Weights(W_q=W_q, **parts))})
    edited.hidden(3)  # before the model itself changes
    name = next(key for key in model.folder.held if key.endswith("layers.1.self_attn.q_proj.weight"))
    model.folder.held[name][3, :] += 0.5  # saved [out, in]
    expected = model.run(TEXT)
    torch.testing.assert_close(edited.attention(1), expected.attention(1), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(edited.hidden(3), expected.hidden(3), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(edited.probabilities(), expected.probabilities(), atol=1e-6, rtol=1e-4)
    assert float((edited.hidden(3) - before).abs().max()) > 1e-4


def test_scale_mask_and_heads_off_count_in_an_edited_layer(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(0)
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[5, 0] = False
    changed = replace(e, config=replace(e.config, mask=mask, scale=1.0))
    edited = run.change(heads_off=[(0, 2)], layers={0: changed})
    weights = edited.attention(0)
    assert float(weights[:, 5, 0].max()) == 0
    assert bool(edited.hidden_pairs(0)[5, 0])
    assert float(edited.outputs(0).moved[2].max()) == 0
    assert edited.experiment(0).config.ablated == (2,)
    assert edited.hidden(0) is run.hidden(0)
    back = edited.change()
    assert torch.equal(back.hidden(3), run.hidden(3))


@pytest.mark.parametrize("temperature", [0.5, 4.0])
def test_a_temperature_divides_the_models_own_scores(make: Make, temperature: float) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(1)
    changed = replace(e, config=replace(e.config, options={"temperature": temperature}))
    edited = run.change(layers={1: changed})
    scores = run.attention(1).double().log() / temperature
    torch.testing.assert_close(edited.attention(1).double(), scores.softmax(-1), atol=1e-5, rtol=0)
    assert edited.hidden(1) is run.hidden(1)
    assert not torch.allclose(edited.hidden(3), run.hidden(3), atol=1e-3)


def test_what_cannot_stand_in_a_model_is_refused(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT)
    e = run.experiment(1)
    with pytest.raises(ArgumentError, match="layers names layer 9; it needs a number from 0 to 2"):
        run.change(layers={9: e})
    with pytest.raises(ArgumentError, match="layers names 'cross'; the parts of this model are decoder"):
        run.change(layers={"cross": {0: e}})
    with pytest.raises(ArgumentError, match="layers contains str; it needs what run"):
        run.change(layers={0: "e"})
    with pytest.raises(ArgumentError, match="The edited layer has 2 heads; the model has 4"):
        run.change(layers={0: replace(e, config=replace(e.config, n_heads=2))})
    painted = replace(e, config=replace(e.config, mask=torch.ones(6, 6, dtype=torch.bool)))
    with pytest.raises(ArgumentError, match="a mask painted for 6 × 6 tokens, and this text has 2 × 2"):
        run.model.run("the cat", layers={0: painted}).attention(0)
    with pytest.raises(ArgumentError, match="hide pairs with its mask"):
        run.change(pairs_off=[(1, 0, 2, 1)], layers={1: e}).attention(1)
