"""The residual stream: the answer after each layer and what each part adds, against forward passes done by hand."""

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnlab.training import models, tasks
from attnlab.training.batch import PAD, Batch
from attnlab.training.head_effects import switch_off
from attnlab.training.look import Viewer
from attnlab.training.models.base_model import watch
from attnlab.training.models.transformers import EncoderDecoder, OneStack
from attnlab.training.stream_view import Stream
from attnlab.training.tasks import TASKS

KINDS = {"decoder": "reverse", "attention": "reverse", "encoder": "masked", "encoder-decoder": "reverse"}
"""Each kind of model with a residual stream, and a task that it learns."""
BOTH = [(kind, norm) for kind in KINDS for norm in ("before", "after", "none")]


def make(kind: str, norm: str = "before", layers: int = 3, **sizes: Any) -> Viewer:
    """Return a model whose weights, norms and biases are all random, so that nothing is 0 by chance."""
    spec = tasks.make_spec(KINDS[kind], kind)
    spec = replace(spec, model=replace(spec.model, norm=norm, layers=layers, **sizes))
    viewer = Viewer(spec)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for name, parameter in viewer.model.named_parameters():
            spread = 1 / parameter.shape[-1] ** 0.5 if parameter.ndim > 1 else 0.3
            parameter.copy_(
                spread * torch.randn(parameter.shape, generator=generator) + ("norm" in name and parameter.ndim == 1)
            )
    return viewer


def weights_of(viewer: Viewer) -> dict[str, Any]:
    return {name: tensor.detach().numpy().copy() for name, tensor in viewer.model.state_dict().items()}


def read(viewer: Viewer, probe: str = "") -> tuple[Stream, Batch]:
    probe = probe or viewer.data.probe_text
    return viewer.read_stream(weights_of(viewer), probe), viewer.data.make_probe(probe)


def run_blocks(viewer: Viewer, batch: Batch) -> list[Tensor]:
    """Return the stream [T, d] after the embedding and after each layer, by hand."""
    model = viewer.model
    with torch.no_grad():
        if isinstance(model, OneStack):
            hidden = models.base_model.hide_keys(batch.inputs, batch.inputs.shape[1], model.causal)
            stream = [model.embedding(batch.inputs)]
            for block in model.blocks:
                stream.append(block(stream[-1], hidden))
        else:
            assert isinstance(model, EncoderDecoder)
            assert batch.source is not None
            memory = model.encode(batch.source)
            hidden = models.base_model.hide_keys(batch.inputs, batch.inputs.shape[1], True)
            stream = [model.embedding(batch.inputs)]
            for block in model.decoder:
                stream.append(block(stream[-1], hidden, memory.states, memory.hidden))
    return [each[0] for each in stream]


def answer(viewer: Viewer, stream: Tensor) -> Tensor:
    """Return the logits of a stream, by hand."""
    model = cast(Any, viewer.model)
    norm = model.norms[1] if isinstance(viewer.model, EncoderDecoder) else model.norm
    with torch.no_grad():
        x = norm(stream)
        found: Tensor = x @ model.embedding.table.T if model.output is None else model.output(x)
        return found


@pytest.mark.parametrize(("kind", "norm"), BOTH)
def test_the_answer_after_each_layer_is_that_of_the_last_norm_and_the_output_layer(kind: str, norm: str) -> None:
    viewer = make(kind, norm)
    stream, batch = read(viewer)
    side = "decoder" if kind == "encoder-decoder" else kind
    assert [stage.name for stage in stream.stages] == ["embedding", *(f"{side} {i}" for i in (1, 2, 3))]
    for stage, x in zip(stream.stages, run_blocks(viewer, batch), strict=True):
        shares = answer(viewer, x).double().softmax(-1)
        assert stage.places
        for place, token, chance in zip(stage.places, stream.tokens, stage.chances, strict=True):
            row = shares[place.index].clone()
            assert chance == pytest.approx(float(row[viewer.data.vocabulary.index(token)]), rel=1e-5)
            if place.wanted:
                target = int(batch.targets[0, place.index])
                assert place.probability == pytest.approx(float(row[target]), rel=1e-5)
            row[PAD] = -1
            assert place.likeliest[0][0] == viewer.data.vocabulary[int(row.argmax())]
    last = viewer.look(0, weights_of(viewer), viewer.data.probe_text).answer.places
    assert stream.stages[-1].places == last


@pytest.mark.parametrize(("kind", "norm"), BOTH)
def test_what_the_parts_add_sums_to_the_logit_of_the_right_answer(kind: str, norm: str) -> None:
    viewer = make(kind, norm)
    stream, batch = read(viewer)
    with torch.no_grad():
        logits = viewer.model(batch)[0].double()
    for at, place in enumerate(stream.stages[-1].places):
        token = viewer.data.vocabulary.index(stream.tokens[at])
        if place.wanted:
            assert stream.tokens[at] == place.wanted
        assert stream.logits[at] == pytest.approx(float(logits[place.index, token]), abs=1e-6)
    np.testing.assert_allclose(stream.added.sum(0), stream.logits, rtol=1e-5, atol=1e-4)
    heads = viewer.spec.model.heads
    names = [(part.layer, part.name) for part in stream.parts]
    assert names[0] == ("", "embedding")
    assert names[-1] == ("", "norms and biases")
    assert names[1 : 1 + heads] == [(stream.stages[1].name, f"head {h}") for h in range(heads)]
    assert len({*names}) == len(names)
    cross = [part for part in stream.parts if part.layer.startswith("cross")]
    assert len(cross) == (3 * heads if kind == "encoder-decoder" else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_without_norms_a_head_of_the_last_layer_adds_what_the_logit_loses_without_it(kind: str) -> None:
    """Nothing is above the last layer of attention when there is no feed-forward part: its effect is the direct one."""
    viewer = make(kind, "none", d_ff=0)
    stream, batch = read(viewer)
    layer = next(part.layer for part in reversed(stream.parts) if part.head is not None)
    for at, part in enumerate(stream.parts):
        if part.layer != layer:
            continue
        assert part.head is not None
        with torch.no_grad(), switch_off(viewer, [(layer, part.head)]):
            without = viewer.model(batch)[0]
        for p, place in enumerate(stream.stages[-1].places):
            token = viewer.data.vocabulary.index(stream.tokens[p])
            lost = stream.logits[p] - float(without[place.index, token])
            assert stream.added[at, p] == pytest.approx(lost, abs=1e-4)


def test_with_a_last_norm_a_part_adds_its_share_with_the_norms_standard_deviation_held() -> None:
    """By hand, for a decoder like GPT-2's: centre, divide by the deviation of the whole stream, scale, multiply."""
    viewer = make("decoder", layers=1)
    stream, batch = read(viewer, "c a d b")
    model = cast(OneStack, viewer.model)
    block = cast(Any, model.blocks[0])
    norm = cast(nn.LayerNorm, model.norm)
    with torch.no_grad(), watch(model) as traces:
        embedded, whole = (x.double() for x in run_blocks(viewer, batch))
        model(batch)
        context = traces["decoder 1"]["context"][0].double()
        mixed = traces["decoder 1"]["output"][0].double()
        wide = block.feed_forward(block.norms[1]((embedded + mixed).float())).double()
    d_k = viewer.spec.model.d_model // viewer.spec.model.heads
    heads = [context[h] @ block.attention.W_o.double()[h * d_k : (h + 1) * d_k] for h in range(len(context))]
    deviation = (whole.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    for at, part in enumerate((embedded, *heads, wide)):
        share = (part - part.mean(-1, keepdim=True)) / deviation * norm.weight.double()
        for p, place in enumerate(stream.stages[-1].places):
            token = viewer.data.vocabulary.index(stream.tokens[p])
            by_hand = float((share[place.index] @ model.embedding.table[token].double()).detach())
            assert stream.added[at, p] == pytest.approx(by_hand, abs=1e-5)


def test_a_head_that_is_off_adds_nothing_and_the_rest_still_sums_to_the_logit() -> None:
    viewer = make("decoder")
    with switch_off(viewer, [("decoder 2", 1)]):
        stream, _ = read(viewer)
    at = next(i for i, part in enumerate(stream.parts) if (part.layer, part.head) == ("decoder 2", 1))
    assert not stream.added[at].any()
    np.testing.assert_allclose(stream.added.sum(0), stream.logits, rtol=1e-5, atol=1e-4)


def test_without_a_right_answer_it_is_the_models_own_answer_that_is_added_to() -> None:
    viewer = make("encoder")
    stream, _ = read(viewer, "the ▢ sees the cat")
    place = next(p for p, found in enumerate(stream.stages[-1].places) if not found.wanted)
    assert stream.tokens[place] == stream.stages[-1].places[place].likeliest[0][0]


@pytest.mark.parametrize("kind", ["recurrent", "luong", "bahdanau"])
def test_a_recurrent_model_has_no_stream_and_says_why(kind: str) -> None:
    viewer = Viewer(tasks.make_spec("reverse", kind))
    stream, _ = read(viewer)
    assert not stream.stages
    assert not stream.parts
    assert stream.missing.startswith("A recurrent model has no residual stream")


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_stream_or_says_why_not(task: str) -> None:
    viewer = Viewer(tasks.make_spec(task))
    stream, _ = read(viewer)
    assert bool(stream.missing) is (task in ("sum", "questions"))
    np.testing.assert_allclose(stream.added.sum(0), stream.logits, rtol=1e-5, atol=1e-4)
