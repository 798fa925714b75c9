"""Importing a layer of a known model sets what its config.json says, and says what the embeddings are."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import Make, make
from tests.ui.weights.weights_user import open_weights

if TYPE_CHECKING:
    from tests.ui.conftest import Person

__all__ = ["make"]
VECTORS = "The embeddings are new random words: only the whole model has this layer’s hidden states."


@pytest.mark.parametrize(
    ("name", "told", "config"),
    [
        ("gpt2", "causal, 4 heads, scores ÷ √d_k, no positions in the attention", (True, "sqrt_d_k", "none")),
        (
            "llama",
            "causal, 4 heads sharing 2 key heads, scores ÷ √d_k, RoPE with base 10,000",
            (True, "sqrt_d_k", "rope"),
        ),
        (
            "llama-3",
            "causal, 4 heads sharing 2 key heads, scores ÷ √d_k, RoPE with the model’s scaled frequencies",
            (True, "sqrt_d_k", "rope_scaled"),
        ),
        ("t5", "not causal, 4 heads, scores unscaled, T5's table of 32 distances", (False, "none", "t5")),
    ],
)
@pytest.mark.slow
def test_a_layer_of_a_known_model_brings_its_settings(
    person: "Person", make: Make, name: str, told: str, config: tuple[object, ...]
) -> None:
    _, folder = make(name)
    user = open_weights(person, [folder / "model.safetensors"])
    title = "Encoder layer 0" if name == "t5" else "Layer 0"
    if name == "t5":
        user.choose("Layer", "encoder.block.0")
    text = user.dialog.offer_text.text()
    assert text == f"{title} of {folder.name}. Import sets what config.json says: {told}. {VECTORS}"
    assert user.offers("Open the model instead")
    assert user.message() == ""
    user.bring_in()
    found = person.experiment.config
    assert (found.causal, found.scale, found.positions) == config
    said = f"{title[0].lower()}{title[1:]} of {folder.name} with new random words"
    assert person.message() == f"{said}: 4 heads, d_model 24"
    assert not person.playground.step_bar.note_timer.isActive()  # it stays until something is changed
    theirs = read_model(folder).run("the cat sat").experiment(0)
    assert found.n_kv_heads == theirs.config.n_kv_heads
    if name == "t5":
        assert (person.experiment.weights.extra["B"] == theirs.weights.extra["B"]).all()
    person.undo()
    person.settle()
    assert person.message() == ""
    assert person.experiment.config.positions == "none"
    assert person.experiment.d_model == 3


@pytest.mark.slow
def test_what_cannot_be_set_is_named_and_no_truth_is_claimed(person: "Person", make: Make, tmp_path: Path) -> None:
    _, folder = make("llama")
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"partial_rotary_factor": 0.5}))
    user = open_weights(person, [tmp_path / "model.safetensors"])
    text = user.dialog.offer_text.text()
    assert text.startswith("config.json has 0.5 for partial_rotary_factor")
    assert text.endswith("Import takes the weights alone, and the attention will not be the model’s.")
    user.close()
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    user = open_weights(person, [tmp_path / "model.safetensors"])
    assert user.dialog.offer_text.text().startswith("attnlab does not know the family mamba in the config.json of ")
    user.press("Draw new embeddings")
    user.bring_in()
    assert person.message().startswith("Weights from model.safetensors: ")


def test_a_layer_whose_mapping_is_changed_by_hand_is_not_called_the_models(person: "Person", make: Make) -> None:
    _, folder = make("llama")
    user = open_weights(person, [folder / "model.safetensors"])
    user.choose("W_k array", "v_proj.weight")
    assert user.dialog.offer_text.text().startswith(f"W_k is not that of layer 0 of {folder.name}")
    user.close()


@pytest.mark.slow
def test_a_layer_without_its_config_says_that_its_settings_are_not_known(
    person: "Person", make: Make, tmp_path: Path
) -> None:
    _, folder = make("gpt2")
    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    user = open_weights(person, [tmp_path / "model.safetensors"])
    user.choose("Heads", "4")
    user.press("Draw new embeddings")
    said = (
        "No config.json is beside this layer: mask, scale and positions stay as they are here, and may not be its own."
    )
    what_to_do = " To import it, switch on “Weights alone”."
    assert user.dialog.info.text().endswith(said + what_to_do)
    assert user.dialog.info.isVisible()
    assert not user.button("Import").isEnabled()
    person.click(user.button("Weights alone, with the settings here"))
    assert user.button("Import").isEnabled()
    assert user.dialog.info.text().endswith(said)
    person.click(user.button("Weights alone, with the settings here"))
    assert not user.button("Import").isEnabled()
    assert user.dialog.info.text().endswith(what_to_do)
    user.bring_in()
    assert person.experiment.n_heads == 4


def test_the_settings_of_a_known_layer_need_no_confirmation(person: "Person", make: Make) -> None:
    user = open_weights(person, [make("llama")[1] / "model.safetensors"])
    assert not user.dialog.alone.isVisible()
    assert user.button("Import").isEnabled()
    user.choose("W_k array", "v_proj.weight")
    assert user.dialog.alone.isVisible()
    assert "switch on “Weights alone”" in user.dialog.info.text()
    assert not user.button("Import").isEnabled()
    user.close()


@pytest.mark.slow
def test_the_whole_block_of_a_models_layer_comes_when_it_is_wanted(person: "Person", make: Make) -> None:
    _, folder = make("llama")
    user = open_weights(person, [folder / "model.safetensors"])
    switch = user.dialog.block
    assert switch.isVisible()
    assert not switch.isChecked()
    with person.qtbot.waitSignal(user.dialog.previewed):
        person.click(switch)
    told = "RoPE with base 10,000, in a block with RMSNorm before and a SwiGLU feed-forward of "
    assert told in user.dialog.offer_text.text()
    user.bring_in()
    found, theirs = person.experiment, read_model(folder).run("the cat sat").experiment(0, block=True)
    assert (found.config.block, found.config.block_norm, found.config.feed_forward) == ("before", "rms", "swiglu")
    for name in ("W_1", "W_2", "W_gate", "gamma_1", "gamma_2"):
        assert (found.weights.extra[name] == theirs.weights.extra[name]).all()
    person.undo()
    person.settle()
    assert person.experiment.config.block == "none"
