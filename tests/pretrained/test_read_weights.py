"""`attnlab.read_weights` of a model refuses weights alone in silence, and sets what config.json says."""

import json
import shutil
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

import attnlab
from attnlab.attention.experiment import Experiment
from tests.pretrained.conftest import Make

TEXT = "the cat sat on the mat , it was soft"


def read_states(folder: object) -> Experiment:
    """Return the last layer’s hidden states and tokens of a model, without its weights and settings."""
    e = attnlab.read_model(str(folder)).run(TEXT).experiment(2)
    return Experiment(e.tokens, e.embeddings)


@pytest.mark.parametrize("settings", [None, "model"])
@pytest.mark.parametrize("name", ["gpt2", "llama", "llama-yarn", "bert", "mistral", "qwen3", "t5-encoder"])
def test_a_layer_of_a_model_has_the_models_attention(make: Make, name: str, settings: Literal["model"] | None) -> None:
    _, folder = make(name)
    mine = attnlab.read_weights(folder / "model.safetensors", read_states(folder), layer=2, settings=settings)
    theirs = attnlab.read_model(folder).run(TEXT).attention(2)
    torch.testing.assert_close(attnlab.compute(mine)["weights"], theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("gpt2", "causal mask off"),
        ("llama", "causal mask off, Positions RoPE → none"),
        ("t5-encoder", "scores ÷ 1 → ÷ √d_k, Positions T5 bias → none"),
    ],
)
def test_the_weights_of_a_model_cannot_be_imported_with_other_settings(make: Make, name: str, wrong: str) -> None:
    """With nothing else set, their attention was up to 0.99 off."""
    _, folder = make(name)
    path, e = folder / "model.safetensors", read_states(folder)
    with pytest.raises(attnlab.AttnlabError) as raised:
        attnlab.read_weights(path, e, layer=2, settings="keep", n_heads=4)
    assert str(raised.value) == (
        f'With settings="keep", layer 2 of {folder.name} would not have its own attention: {wrong}. Leave settings '
        "out, and change those of the result."
    )
    theirs = attnlab.read_model(folder).run(TEXT).experiment(2)
    kept = attnlab.read_weights(path, theirs, layer=2, settings="keep")
    torch.testing.assert_close(attnlab.compute(kept)["weights"], attnlab.compute(theirs)["weights"], atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"model_type": "mamba"}, "does not know the family mamba"),
        ({"n_layer": 1}, "but its config.json has 1 layer, counted from 0; the files do not fit together."),
    ],
)
def test_weights_of_an_unknown_model_need_the_choice_too(
    make: Make, tmp_path: Path, config: dict[str, str], told: str
) -> None:
    _, folder = make("gpt2")
    e, copy = read_states(folder), Path(shutil.copytree(folder, tmp_path / "copy"))
    plain = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps(plain | config))
    with pytest.raises(attnlab.AttnlabError, match=f'{told}.* settings="keep" imports the weights alone'):
        attnlab.read_weights(copy / "model.safetensors", e, layer=2, n_heads=4)
    assert attnlab.read_weights(copy / "model.safetensors", e, layer=2, n_heads=4, settings="keep").n_heads == 4


def test_a_layer_without_its_config_is_imported_only_on_request(make: Make, tmp_path: Path) -> None:
    _, folder = make("gpt2")
    path, e = tmp_path / "model.safetensors", read_states(folder)
    shutil.copy(folder / path.name, path)
    with pytest.raises(attnlab.AttnlabError) as raised:
        attnlab.read_weights(path, e, layer=2, n_heads=4)
    assert str(raised.value) == (
        f"No config.json beside {path} tells the mask, scale and positions of transformer.h.2.attn; put that of the "
        'model there. settings="keep" imports the weights alone, and their attention may not be the model’s.'
    )
    assert attnlab.read_weights(path, e, layer=2, n_heads=4, settings="keep").n_heads == 4


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '{"num_attention_heads": 4}'])
def test_a_config_of_no_model_asks_for_no_choice(tmp_path: Path, text: str) -> None:
    np.savez(f"{tmp_path}/layer.npz", W_q=np.eye(4), W_k=np.eye(4), W_v=np.eye(4))
    (tmp_path / "config.json").write_text(text)
    e = Experiment(("a", "b"), torch.eye(4)[:2])
    assert attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=2).n_heads == 2


def test_settings_without_a_model_are_refused(make: Make, tmp_path: object) -> None:
    np.savez(f"{tmp_path}/layer.npz", W_q=np.eye(4), W_k=np.eye(4), W_v=np.eye(4))
    e = Experiment(("a", "b"), torch.eye(4)[:2])
    with pytest.raises(attnlab.AttnlabError, match=r"config\.json"):
        attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1, settings="model")
    with pytest.raises(attnlab.AttnlabError, match="settings is 'all'; it needs one of keep, model"):
        attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1, settings="all")  # type: ignore[arg-type]
    assert attnlab.read_weights(f"{tmp_path}/layer.npz", e, n_heads=1).n_heads == 1
