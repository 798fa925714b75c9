"""`attnlab.read_weights` of a model says that weights alone are not the model, or sets what config.json says."""

import warnings

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention.experiment import Experiment
from tests.pretrained.conftest import Make

TEXT = "the cat sat on the mat , it was soft"


def read_states(folder: object) -> Experiment:
    """Return the last layer's hidden states and tokens of a model, without its weights and settings."""
    e = attnlab.read_model(str(folder)).run(TEXT).experiment(2)
    return Experiment(e.tokens, e.embeddings)


@pytest.mark.parametrize("name", ["gpt2", "llama", "llama-yarn", "bert", "mistral", "qwen3", "t5-encoder"])
def test_the_settings_of_config_json_give_the_models_attention(make: Make, name: str) -> None:
    _, folder = make(name)
    path, e = folder / "model.safetensors", read_states(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine = attnlab.read_weights(path, e, layer=2, settings="model")
    theirs = attnlab.read_model(folder).run(TEXT).attention(2)
    torch.testing.assert_close(attnlab.compute(mine)["weights"], theirs, atol=1e-5, rtol=0)


def test_weights_alone_are_said_not_to_be_the_model(make: Make) -> None:
    _, folder = make("gpt2")
    path, e = folder / "model.safetensors", read_states(folder)
    with pytest.warns(UserWarning, match=f'weights of layer 2 of {folder.name} without .* settings="model" sets'):
        mine = attnlab.read_weights(path, e, layer=2)
    theirs = attnlab.read_model(folder).run(TEXT).attention(2)
    assert float((attnlab.compute(mine)["weights"] - theirs).abs().max()) > 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = attnlab.read_weights(path, e, layer=2, settings="keep")
    assert not kept.config.causal
    assert torch.equal(attnlab.compute(kept)["weights"], attnlab.compute(mine)["weights"])


def test_settings_without_a_model_are_refused(make: Make, tmp_path: object) -> None:
    np.savez(f"{tmp_path}/layer.npz", W_q=np.eye(4), W_k=np.eye(4), W_v=np.eye(4))
    e = Experiment(("a", "b"), torch.eye(4)[:2])
    with pytest.raises(attnlab.AttnlabError, match=r"config\.json"):
        attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1, settings="model")
    with pytest.raises(attnlab.AttnlabError, match="settings is 'all'; it needs one of keep, model"):
        attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1, settings="all")  # type: ignore[arg-type]
    assert attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1).n_heads == 1
