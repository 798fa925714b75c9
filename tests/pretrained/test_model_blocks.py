"""The blocks of a real model for its diagram: every tensor counted once, none of them read, layers counted from 0."""

import math

import pytest
import torch
from safetensors.torch import load_file, save_file

from attnlab.figures.diagram.headline_shapes import list_shares
from attnlab.pretrained.model import open_model
from attnlab.pretrained.model_blocks import describe_model
from attnlab.pretrained.model_run import Run
from attnlab.pretrained.shipped import list_shipped
from attnlab.training.model_tree import Block, ModelTree
from tests.pretrained.conftest import MODELS, Make

TEXT = "the cat sat on the mat"
SHIPPED = tuple(each.name for each in list_shipped())


def read(make: Make, name: str) -> Run:
    """Return the run of a model that ships, or of one made by the transformers library, on a text."""
    if name in SHIPPED:
        model = open_model(name)
        return model.run(model.folder.example)
    model = open_model(make(name)[1])
    return model.run(TEXT, *(["it was"] if "cross" in model.parts else []))


@pytest.mark.parametrize("name", [*MODELS, *SHIPPED])
def test_every_parameter_of_the_files_is_counted_once(make: Make, name: str) -> None:
    run = read(make, name)
    tree = describe_model(run)
    assert tree.total == tree.trainable == run.model.n_parameters
    blocks = list(tree.list_blocks())
    assert len({block.name for block in blocks}) == len(blocks)
    assert tree.first == 0
    sides = [side for side in (tree.reading, tree.writing) if side is not None]
    counts = [len(side.stack.layers) for side in sides if side.stack is not None]
    assert counts == [stack.n_layers for stack in run.model.architecture.stacks]


@pytest.mark.parametrize("name", ["gpt2", "bert", "llama", "t5", "qwen3"])
def test_no_tensor_is_read_for_the_blocks(make: Make, name: str) -> None:
    run = read(make, name)
    describe_model(run)
    assert run.model.folder.held == {}


def find(tree: ModelTree, name: str) -> Block:
    block = tree.find(name)
    assert block is not None, [each.name for each in tree.list_blocks()]
    return block


def test_a_block_of_attention_has_the_shapes_and_tables_of_its_layer(make: Make) -> None:
    """Four heads share two key heads; the tables are those that the transformers library saved, transposed."""
    model, _ = make("llama")
    tree = describe_model(read(make, "llama"))
    block = find(tree, "decoder 2 attention")
    theirs = model.model.layers[2].self_attn
    assert block.total == sum(each.numel() for each in theirs.parameters())
    assert {table.name: table.shape for table in block.tables} == {
        f"{sign}_{part}": tuple(getattr(getattr(theirs, f"{part}_proj"), kind).shape)[::-1]
        for part in "qkvo"
        for sign, kind in (("W", "weight"), ("b", "bias"))
    }
    assert block.inputs == (
        ("Q", "from the stream", (4, 6, 6)),
        ("K", "from the stream", (2, 6, 6)),
        ("V", "from the stream", (2, 6, 6)),
        ("Weights", "a map per head", (4, 6, 6)),
        ("Output", "to the stream", (6, 24)),
    )
    assert (block.layer, block.heads, block.mask) == ("decoder 2", 4, "causal")
    assert block.formula == "softmax(Q Kᵀ ÷ √6) V W_o + b_o"
    assert find(tree, "decoder 2 feed-forward").formula == "(silu(x W_g) · x W_1) W_2"
    assert find(tree, "decoder 2 feed-forward norm").note == "RMS norm"
    assert find(tree, "embedding").shape == (6, 24)


def test_the_parts_of_an_encoder_decoder_have_their_own_lengths(make: Make) -> None:
    run = read(make, "t5")
    tree = describe_model(run)
    across = find(tree, "decoder 1 cross-attention")
    target = len(run.target_tokens)
    assert (across.layer, {name: shape for name, _, shape in across.inputs}["Weights"]) == (
        "cross 1",
        (4, target, 6),
    )
    assert find(tree, "memory").shape == (6, 24)
    assert find(tree, "decoder embedding").total == 0  # the table is the encoder's
    assert [table.name for table in find(tree, "encoder 0 attention").tables][-1] == "B"
    assert "B" not in [table.name for table in find(tree, "encoder 1 attention").tables]
    assert tree.reading is not None
    assert tree.reading.stack is not None
    assert not tree.reading.stack.is_even


@pytest.mark.parametrize(("name", "mask"), [("mistral", "causal, window 7"), ("bert", "none"), ("gpt2", "causal")])
def test_a_block_says_what_its_mask_hides(make: Make, name: str, mask: str) -> None:
    tree = describe_model(read(make, name))
    assert next(block for block in tree.list_blocks() if block.layer).mask == mask


def test_the_embedding_that_two_halves_share_is_one(make: Make) -> None:
    shares = {title: count for title, count, _ in list_shares(describe_model(read(make, "t5")))}
    assert shares["Embedding"] == 14 * 24


def test_tensors_that_no_layer_uses_are_named(make: Make, tmp_path: object) -> None:
    """A pooler of whole texts, and the buffer of a mask that old files have."""
    _, folder = make("gpt2")
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())  # type: ignore[operator]
    tensors = load_file(folder / "model.safetensors")
    more = {"transformer.h.0.attn.bias": torch.ones(1, 1, 8, 8), "pooler.dense.weight": torch.ones(3, 3)}
    save_file({**tensors, **more}, f"{tmp_path}/model.safetensors")
    model = open_model(str(tmp_path))
    tree = describe_model(model.run(TEXT))
    assert (
        tree.total == model.n_parameters == sum(math.prod(each.shape) for each in (*tensors.values(), *more.values()))
    )
    assert tree.unused is not None
    assert [table.name for table in tree.unused.tables] == ["dense", "attn.bias"]
    assert tree.unused.total == 73
