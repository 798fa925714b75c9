"""Weights of a known model's layer bring their settings with them, and compute the model's attention on its states."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import attnlab
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.presence import find_last
from attnlab.base.errors import ArgumentError, ExperimentError, FileError
from attnlab.compute.engine import compute
from attnlab.files.weights.weights_apply import apply
from attnlab.files.weights.weights_in import Proposal, guess
from attnlab.files.weights.weights_source import WeightsSource, files_source
from attnlab.pretrained.imported_layer import KnownLayer, find_known_model
from tests.pretrained.conftest import MODELS, Make

TEXT = "the cat sat on the mat , it was soft"


def import_layer(source: WeightsSource, proposal: Proposal, layer: KnownLayer, e: Experiment) -> Experiment:
    return layer.set_up(apply(proposal, source.arrays, layer.clear(e), embeddings="drawn"))


def read(path: Path, e: Experiment) -> tuple[WeightsSource, tuple[Proposal, ...]]:
    source = files_source([path])
    return source, guess(source.arrays, e, source.heads)


@pytest.mark.parametrize("name", MODELS)
def test_every_layer_computes_the_models_attention_on_its_hidden_states(make: Make, name: str) -> None:
    _, folder = make(name)
    run = attnlab.read_model(folder).run(TEXT, **({"target": "the mat"} if name in ("t5", "t5-gated") else {}))
    present = attnlab.preset("journey")
    source, proposals = read(folder / "model.safetensors", present)
    model = find_known_model(folder, source.arrays)
    seen = []
    for proposal in proposals:
        layer = model.find(proposal.parts["W_q"].array)
        assert layer is not None
        index = int(layer.title.split("layer ")[1].split()[0])
        theirs = run.experiment(index, layer.part)
        if layer.part == "cross":
            with pytest.raises(ExperimentError, match="reads a second sequence; this scene has none"):
                layer.clear(present)
        scene = theirs if layer.part == "cross" else present
        made = import_layer(source, proposal, layer, scene)
        fed = replace(
            made,
            tokens=theirs.tokens,
            embeddings=theirs.embeddings,
            memory_tokens=theirs.memory_tokens,
            memory_embeddings=theirs.memory_embeddings,
        )
        weights = compute(fed).array("weights").reshape(run.attention(index, layer.part).shape)
        assert abs(weights - run.attention(index, layer.part).numpy()).max() < 1e-5
        assert abs(compute(fed).array("output") - compute(theirs).array("output")).max() < 1e-5
        seen.append((layer.part, index))
    assert sorted(seen) == sorted((part, i) for part in run.model.parts for i in range(run.model.count_layers(part)))


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5"])
def test_the_weights_alone_are_far_from_the_model(make: Make, name: str) -> None:
    """The reason for all this: what happens when nothing else is set."""
    _, folder = make(name)
    run = attnlab.read_model(folder).run(TEXT)
    theirs = run.experiment(1)
    source, proposals = read(folder / "model.safetensors", theirs)
    proposal = next(each for each in proposals if ".1" in each.name)
    bare = Experiment(theirs.tokens, theirs.embeddings)
    weights = compute(apply(proposal, source.arrays, bare)).array("weights")
    assert abs(weights - run.attention(1).numpy()).max() > 0.3


def test_the_settings_before_are_gone_and_a_second_sequence_too(make: Make) -> None:
    _, folder = make("gpt2")
    e = attnlab.preset("journey")
    odd = attnlab.preset("alibi")
    crossed = replace(e, memory_tokens=("a",), memory_embeddings=e.embeddings[:1])
    for scene in (odd, crossed):
        source, proposals = read(folder / "model.safetensors", scene)
        layer = find_known_model(folder, source.arrays).find(proposals[0].parts["W_q"].array)
        assert layer is not None
        made = import_layer(source, proposals[0], layer, scene)
        assert (made.config.positions, made.config.causal, made.memory_tokens) == ("none", True, None)
        assert made.tokens == scene.tokens


def change_config(folder: Path, to: Path, **settings: Any) -> Path:
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text())
    (to / "config.json").write_text(json.dumps(config | settings))
    return to


def test_what_is_unknown_is_named(make: Make, tmp_path: Path) -> None:
    _, folder = make("llama")
    e = attnlab.preset("journey")
    source, _ = read(folder / "model.safetensors", e)
    for settings, said in (
        ({"model_type": "mamba"}, "does not know the family mamba in the config.json of "),
        ({"model_type": None}, "finds no model_type in the config.json of "),
        ({"partial_rotary_factor": 0.5}, "config.json has 0.5 for partial_rotary_factor"),
        ({"quantization_config": {"quant_method": "awq"}}, "is quantised .awq."),
    ):
        other = change_config(folder, tmp_path / str(len(list(tmp_path.iterdir()))), **settings)
        with pytest.raises(FileError, match=said):
            find_known_model(other, source.arrays)


def test_a_mapping_that_was_changed_is_not_the_models(make: Make) -> None:
    _, folder = make("llama")
    e = attnlab.preset("journey")
    source, proposals = read(folder / "model.safetensors", e)
    model = find_known_model(folder, source.arrays)
    layer = model.find(proposals[0].parts["W_q"].array)
    assert layer is not None
    parts = dict(proposals[0].parts)
    swapped = replace(proposals[0], parts=parts | {"W_k": parts["W_v"]})
    with pytest.raises(ExperimentError, match=r"^W_k is not that of layer 0 of "):
        import_layer(source, swapped, layer, e)
    without = replace(proposals[0], parts={field: part for field, part in parts.items() if field != "b_q"})
    with pytest.raises(ExperimentError, match=r"^b_q is not that of layer 0 of "):
        import_layer(source, without, layer, e)
    halved = apply(proposals[0], source.arrays, layer.clear(e), 8, 4, "drawn")
    with pytest.raises(ExperimentError, match=r"gives layer 0 of .* n_heads 4, but 8 is chosen here"):
        layer.set_up(halved)
    assert model.find("lm_head.weight") is None


def test_one_part_of_a_model_finds_the_rest_in_the_others(make: Make, tmp_path: Path) -> None:
    """The bias of T5 is in the first block, which may be in another file than the layer."""
    model, _ = make("t5-encoder")
    model.save_pretrained(tmp_path, max_shard_size="15KB")
    parts = sorted(tmp_path.glob("*.safetensors"))
    assert len(parts) > 2
    e = attnlab.preset("journey")
    (name,) = (name for name in model.state_dict() if name.endswith("relative_attention_bias.weight"))
    table, found = model.state_dict()[name], []
    for path in parts:
        source, proposals = read(path, e)
        for proposal in proposals:
            if proposal.whole:
                layer = find_known_model(tmp_path, source.arrays).find(proposal.parts["W_q"].array)
                assert layer is not None
                assert layer.attention.bias is not None
                assert torch.equal(layer.attention.bias.table, table)
                found.append(layer.title)
    assert found


@pytest.mark.parametrize("name", MODELS)
def test_every_layer_that_can_be_a_block_computes_what_leaves_it_in_the_model(make: Make, name: str) -> None:
    _, folder = make(name)
    run = attnlab.read_model(folder).run(TEXT, **({"target": "the mat"} if name in ("t5", "t5-gated") else {}))
    source, proposals = read(folder / "model.safetensors", attnlab.preset("journey"))
    model = find_known_model(folder, source.arrays)
    for proposal in proposals:
        layer = model.find(proposal.parts["W_q"].array, block=True)
        assert layer is not None
        index = int(layer.title.split("layer ")[1].split()[0])
        try:
            theirs = run.experiment(index, layer.part, block=True)
        except ArgumentError:
            assert not layer.has_block
            continue
        assert layer.has_block
        made = import_layer(source, proposal, layer, theirs)
        assert made.config.block == theirs.config.block != "none"
        memory = {"memory_tokens": theirs.memory_tokens, "memory_embeddings": theirs.memory_embeddings}
        fed = replace(made, tokens=theirs.tokens, embeddings=theirs.embeddings, **memory)
        last = find_last(theirs)
        assert abs(compute(fed).array(last) - compute(theirs).array(last)).max() < 1e-5


def test_a_layer_whose_block_was_not_asked_for_is_attention_alone(make: Make) -> None:
    _, folder = make("llama")
    e = attnlab.preset("journey")
    source, proposals = read(folder / "model.safetensors", e)
    layer = find_known_model(folder, source.arrays).find(proposals[0].parts["W_q"].array)
    assert layer is not None
    assert layer.has_block
    assert import_layer(source, proposals[0], layer, e).config.block == "none"
