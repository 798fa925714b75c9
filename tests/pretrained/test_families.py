"""Every family computes what the transformers library computes, and hands over experiments that do so too."""

import math
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import attnlab
from attnlab.base.errors import ArgumentError
from attnlab.pretrained.config_settings import Settings
from attnlab.pretrained.families.rope import read_rotation
from attnlab.pretrained.model import Model, read_model
from attnlab.pretrained.model_run import Run
from tests.pretrained.conftest import MODELS, SCALED, WORDS, Make, transformers

EVERY = pytest.mark.parametrize("name", list(MODELS))
LONG = [name for name in MODELS if name in ("bert", "roberta", "gpt2", "llama-3", "mistral", "qwen3", "t5")]


def text_of(count: int) -> str:
    """Return a text of ``count`` words that looks random but is the same each time."""
    return " ".join(WORDS[5 + i * i % 9] for i in range(count))


def is_pair(model: Model) -> bool:
    return "cross" in model.parts


def ids_of(model: Model, tokens: tuple[str, ...]) -> Tensor:
    return torch.tensor([[model.tokenizer.number(token) for token in tokens]])


def ask_transformers(theirs: Any, model: Model, run: Run) -> Any:
    """Return what the transformers library computes for the tokens of a run."""
    more = {"decoder_input_ids": ids_of(model, run.target_tokens)} if is_pair(model) else {}
    with torch.no_grad():
        return theirs(ids_of(model, run.tokens), output_attentions=True, output_hidden_states=True, **more)


def run_of(model: Model, text: str) -> Run:
    """Return a run; a decoder behind an encoder has written enough tokens for T5 to share buckets of distances."""
    return model.run(text, target=text_of(25)) if is_pair(model) else model.run(text)


def agree(ours: Tensor, theirs: Tensor) -> None:
    """Check equality to 1e-5, relative to the largest number of hidden states, which may be large."""
    assert ours.shape == theirs.shape
    assert float((ours - theirs).abs().max()) <= 1e-5 * max(1.0, float(theirs.abs().max()))


def compare(make: Make, name: str, words: int) -> None:
    theirs, folder = make(name)
    model = read_model(folder)
    run = run_of(model, text_of(words))
    found = ask_transformers(theirs, model, run)
    hidden = found.encoder_hidden_states if is_pair(model) else found.hidden_states
    maps = found.encoder_attentions if is_pair(model) else found.attentions
    assert len(hidden) == model.n_layers + 1
    assert len(maps) == model.n_layers
    for layer, each in enumerate(hidden):
        agree(run.hidden(layer), each[0])
    for layer, each in enumerate(maps):
        agree(run.attention(layer), each[0])
    if is_pair(model):
        for layer in range(model.stack("decoder").n_layers):
            agree(run.hidden(layer, "decoder"), found.decoder_hidden_states[layer][0])
            agree(run.attention(layer, "decoder"), found.decoder_attentions[layer][0])
            agree(run.attention(layer, "cross"), found.cross_attentions[layer][0])
    if "logits" in found:
        agree(run.probabilities(-1), found.logits[0, -1].softmax(-1))


@EVERY
def test_a_family_computes_what_transformers_computes(make: Make, name: str) -> None:
    compare(make, name, 12)


@EVERY
def test_one_word_is_enough(make: Make, name: str) -> None:
    compare(make, name, 1)


@pytest.mark.parametrize("name", LONG)
def test_long_texts_agree_too(make: Make, name: str) -> None:
    compare(make, name, 300)


@EVERY
def test_a_layer_as_an_experiment_computes_the_attention_of_the_model(make: Make, name: str) -> None:
    model = read_model(make(name)[1])
    run = run_of(model, text_of(12))
    for part in model.parts:
        for layer in range(model.stack(part).n_layers):
            experiment = run.experiment(layer, part)
            agree(attnlab.compute(experiment)["weights"], run.attention(layer, part))
            assert (experiment.config.positions == "rope_scaled") == (name in SCALED)
            assert experiment.tokens == (run.tokens if part == model.parts[0] else run.target_tokens)


@pytest.mark.parametrize("name", SCALED)
def test_a_layer_with_scaled_frequencies_equals_transformers_on_long_texts(make: Make, name: str) -> None:
    compare(make, name, 300)
    theirs, folder = make(name)
    model = read_model(folder)
    run = model.run(text_of(300))
    maps = ask_transformers(theirs, model, run).attentions
    for layer in range(model.n_layers):
        agree(attnlab.compute(run.experiment(layer))["weights"], maps[layer][0])
    factor = run.experiment(0).config.option("rope_factor")
    grown = {"llama-yarn": 0.1 * math.log(4) + 1, "llama-longrope": (1 + math.log(310 / 64) / math.log(64)) ** 0.5}
    assert factor == pytest.approx(grown.get(name, 1.0))


@pytest.mark.parametrize("theta", [500.0, 1e4, 1e6])
@pytest.mark.parametrize("d_k", [6, 12, 64, 80, 128])
def test_frequencies_equal_transformers_to_the_last_digit(d_k: int, theta: float) -> None:
    """At position 4,000 a difference in the last digit of a frequency is one of 1e-4 in the angle."""
    config = transformers.LlamaConfig(head_dim=d_k, rope_parameters={"rope_type": "default", "rope_theta": theta})
    theirs = transformers.models.llama.modeling_llama.LlamaRotaryEmbedding(config).inv_freq
    assert torch.equal(read_rotation(Settings({"rope_theta": theta}), d_k).frequencies, theirs)


@pytest.mark.parametrize("name", ["llama-dynamic", "llama-longrope"])
def test_long_texts_have_frequencies_of_their_own(make: Make, name: str) -> None:
    model = read_model(make(name)[1])
    short, edge, longer, longest = (
        model.run(text_of(count)).experiment(0).weights.extra["omega"] for count in (12, 64, 65, 300)
    )
    assert torch.equal(short, edge)
    assert bool((longer[1:] < short[1:]).all())
    assert bool((longest[1:] < longer[1:]).all()) == (name == "llama-dynamic")


def test_a_model_that_scales_dynamically_has_more_positions_than_those_of_its_training(make: Make) -> None:
    model = read_model(make("llama-dynamic")[1])
    assert model.limit == 8 * 64
    with pytest.raises(ArgumentError, match=r"has 513 tokens, but .* has 512 positions"):
        model.run(text_of(513))


@EVERY
def test_a_model_tells_its_sizes(make: Make, name: str) -> None:
    theirs, folder = make(name)
    model = read_model(folder)
    assert (model.n_layers, model.n_heads, model.d_model) == (3, 4, 24)
    assert model.family == theirs.config.model_type
    assert model.name == folder.name
    assert model.n_parameters == sum(p.numel() for p in theirs.parameters())
    assert f"<Model {folder.name}: {model.architecture.about}, 3 layers × 4 heads, d_model 24>" == repr(model)


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "t5"])
@pytest.mark.parametrize("kind", ["parts", "torch"])
def test_models_in_parts_and_in_the_format_of_torch_are_the_same(
    make: Make, name: str, kind: str, tmp_path: Any
) -> None:
    theirs, folder = make(name)
    if kind == "parts":
        theirs.save_pretrained(tmp_path, max_shard_size="20KB")
        assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    else:
        state = {key: value.clone() for key, value in theirs.state_dict().items()}
        torch.save(state, tmp_path / "pytorch_model.bin")
        theirs.config.save_pretrained(tmp_path)
    shutil.copy(folder / "tokenizer.json", tmp_path)
    one, other = read_model(folder), read_model(tmp_path)
    for layer in range(4):
        assert torch.equal(run_of(one, text_of(5)).hidden(layer), run_of(other, text_of(5)).hidden(layer))


def test_half_precision_is_computed_in_float32(make: Make, tmp_path: Path) -> None:
    theirs, folder = make("llama")
    deepcopy(theirs).to(torch.bfloat16).save_pretrained(tmp_path)
    shutil.copy(folder / "tokenizer.json", tmp_path)
    whole = type(theirs).from_pretrained(tmp_path, dtype=torch.float32, attn_implementation="eager").eval()
    model = read_model(tmp_path)
    run = model.run(text_of(9))
    agree(run.attention(2), ask_transformers(whole, model, run).attentions[2][0])


def test_only_the_layers_that_are_looked_at_are_read(make: Make) -> None:
    model = read_model(make("gpt2")[1])
    run = model.run(text_of(5))
    held = model.folder.held
    assert not held
    run.attention(1)
    assert any(".h.1." in name for name in held)
    assert not any(".h.2." in name for name in held)
    assert model.stack("decoder").layer(1) is model.stack("decoder").layer(1)
