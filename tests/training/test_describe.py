"""The tree of a model's blocks counts every parameter once, and gives the shapes of a real forward pass."""

from dataclasses import replace

import pytest
import torch

from attnlab.attention.registries.positions import POSITIONS
from attnlab.training import models, tasks
from attnlab.training.model_tree import Block, ModelTree
from attnlab.training.models.describe import describe_model
from attnlab.training.specs import ModelSpec, RunSpec

CASES = [(name, kind) for name, task in tasks.TASKS.items() for kind in task.kinds]
TRAINED = [name for name, each in POSITIONS.items() if each.is_trained]


def describe(spec: RunSpec) -> tuple[ModelTree, models.Model]:
    data = tasks.make_data(spec)
    model = models.build(spec.model, data)
    return describe_model(model, spec.model, data.make_probe(data.probe_text)), model


def count(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def find(tree: ModelTree, name: str) -> Block:
    block = tree.find(name)
    assert block is not None, f"{name} is not among {[each.name for each in tree.list_blocks()]}"
    return block


@pytest.mark.parametrize(("task", "kind"), CASES)
def test_every_parameter_is_counted_once(task: str, kind: str) -> None:
    tree, model = describe(tasks.make_spec(task, kind))
    assert tree.total == tree.trainable == count(model)
    names = [block.name for block in tree.list_blocks()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("norm", ["before", "after", "none"])
@pytest.mark.parametrize("positions", TRAINED)
@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder"])
def test_every_parameter_is_counted_with_any_norm_and_positions(kind: str, positions: str, norm: str) -> None:
    spec = tasks.make_spec("reverse", kind)
    spec = replace(spec, model=replace(spec.model, norm=norm, positions=positions))
    tree, model = describe(spec)
    assert tree.total == count(model)
    assert any(block.title == "Norm" for block in tree.list_blocks()) == (norm != "none")


def test_frozen_tables_are_not_trainable() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    data = tasks.make_data(spec)
    model = models.build(spec.model, data)
    frozen = model.layers["decoder 1"].W_q
    assert frozen is not None
    frozen.requires_grad_(False)
    tree = describe_model(model, spec.model, data.make_probe(data.probe_text))
    assert tree.total - tree.trainable == frozen.numel()
    block = find(tree, "decoder 1 attention")
    assert block.total - block.trainable == frozen.numel()


def test_blocks_have_the_counts_of_their_modules() -> None:
    spec = tasks.make_spec("reverse", "encoder-decoder")
    spec = replace(spec, model=ModelSpec("encoder-decoder", 3, 8, 128, 512, "after", "sinusoidal"))
    tree, model = describe(spec)
    assert isinstance(model, models.Model)
    assert find(tree, "decoder 2 cross-attention").total == count(model.layers["cross 2"]) == 66_048
    assert find(tree, "encoder 3 feed-forward").total == 131_712
    assert find(tree, "decoder 1 attention norm").total == 256
    assert find(tree, "encoder embedding").total == 13 * 128, "sinusoids count none"
    assert find(tree, "memory").total == 0
    stack = tree.writing.stack
    assert stack is not None
    assert stack.count_layer(0) == 264_576
    assert tree.total == 1_393_549


def test_a_tied_table_is_counted_where_it_lies() -> None:
    tree, _ = describe(tasks.make_spec("reverse", "decoder"))
    output = find(tree, "output")
    assert output.total == 0
    assert "embedding" in output.note
    assert find(tree, "embedding").total == 13 * 48 + 17 * 48


def test_shapes_are_those_of_the_probe() -> None:
    tree, _ = describe(tasks.make_spec("reverse", "encoder-decoder"))
    cross = find(tree, "decoder 1 cross-attention")
    assert [(name, shape) for name, _, shape in cross.inputs] == [
        ("Q", (4, 7, 12)),
        ("K", (4, 6, 12)),
        ("V", (4, 6, 12)),
        ("Weights", (4, 7, 6)),
        ("Output", (7, 48)),
    ]
    assert cross.formula == "softmax(Q Kᵀ ÷ √12) V W_o + b_o"
    assert cross.layer == "cross 1"
    assert find(tree, "memory").shape == (6, 48)
    assert find(tree, "output").shape == (7, 13)


@pytest.mark.parametrize(("kind", "mask"), [("decoder", "causal"), ("encoder", "padding")])
def test_what_an_encoder_and_a_decoder_hide(kind: str, mask: str) -> None:
    tree, _ = describe(tasks.make_spec("reverse", kind))
    block = find(tree, f"{kind} 1 attention")
    assert block.mask == mask
    assert block.title == ("Masked self-attention" if kind == "decoder" else "Self-attention")


@pytest.mark.parametrize(("kind", "formula"), [("luong", "Q W_a Kᵀ"), ("bahdanau", "tanh(Q W_d + K W_e) v_a")])
def test_recurrent_models_have_a_cell_in_each_half_and_one_vector(kind: str, formula: str) -> None:
    tree, _ = describe(tasks.make_spec("reverse", kind))
    assert tree.is_recurrent
    assert tree.memory is not None
    assert tree.memory.shape == (48,)
    assert tree.attention is not None
    assert formula in tree.attention.formula
    assert find(tree, "encoder").shape == (6, 48)
    without, _ = describe(tasks.make_spec("reverse", "recurrent"))
    assert without.attention is None
    assert without.memory is not None
    assert "everything" in without.memory.about
