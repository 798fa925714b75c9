"""What attention moves: the outputs of heads sum to the layer's, and each key's share is α v W_o."""

import pytest
import torch

from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make

TEXT = "the cat sat on the mat"


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "qwen3", "t5"])
def test_heads_and_residual_sum_to_what_the_layer_computes(family: str, make: Make) -> None:
    run = read_model(make(family)[1]).run(TEXT, *(["it was"] if family == "t5" else []))
    for part in run.model.parts:
        found = run.outputs(1, part)
        assert found.difference < 1e-5
        assert found.moved.shape == run.attention(1, part).shape
        assert float(found.heads.abs().max()) > 1e-3


def test_what_a_key_moves_is_the_length_of_its_weighted_value_through_w_o(make: Make) -> None:
    run = read_model(make("llama")[1]).run(TEXT)
    e, found = run.experiment(2), run.outputs(2)
    value = e.embeddings @ e.weights.W_v + e.weights.b_v
    d_k = e.weights.W_o.shape[0] // 4
    for head in range(4):
        column = (head // 2) * d_k  # two heads share their keys and values
        written = value[:, column : column + d_k] @ e.weights.W_o[head * d_k : (head + 1) * d_k]
        expected = run.attention(2)[head] * written.norm(dim=-1)
        torch.testing.assert_close(found.moved[head], expected, atol=1e-5, rtol=1e-4)


def test_a_head_that_is_off_moves_nothing(make: Make) -> None:
    run = read_model(make("gpt2")[1]).run(TEXT, heads_off=[(1, 2)])
    found = run.outputs(1)
    assert float(found.moved[2].abs().max()) == 0
    assert float(found.moved[1].abs().max()) > 0
    assert found.difference < 1e-5


@pytest.mark.parametrize("family", ["bert", "gpt2", "t5"])
def test_a_walk_gives_every_layer_once_and_what_attention_gives(family: str, make: Make) -> None:
    model = read_model(make(family)[1])
    for part in model.parts:
        run = model.run(TEXT, *(["it was"] if family == "t5" else []))
        walked = list(run.walk(part))
        again = list(run.walk(part))
        assert len(walked) == model.stack(part).n_layers
        for layer, (one, other) in enumerate(zip(walked, again, strict=True)):
            assert torch.equal(one, other)
            assert torch.equal(one, run.attention(layer, part))
