"""Reads a model's residual stream on one probe: its answer after each layer, and what each part adds to the answer.

The answer after a layer is the logit lens (nostalgebraist 2020): the last norm and the output layer are applied to the
stream there. What a part adds is its direct effect: the logit is traced back through the stream as a direction, and the
standard deviation in every norm on its way stays the one that it has, so that all parts sum to the logit.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from attnlab.training.answers import find_asked, read_places
from attnlab.training.batch import PAD, Batch
from attnlab.training.models.attention import Attention, LayerTrace
from attnlab.training.models.base_model import Model, watch
from attnlab.training.models.blocks import Block
from attnlab.training.models.recurrent import Recurrent
from attnlab.training.models.transformers import EncoderDecoder, OneStack
from attnlab.training.stream_view import Stage, Stream, StreamPart
from attnlab.training.tasks.data import Data

RECURRENT = "A recurrent model has no residual stream: each state replaces the one before, and no layers are stacked."
NUMBERS = "This model has no residual stream: each layer replaces the numbers that it reads instead of adding to them."
EMBEDDING, FEED_FORWARD, BIASES = "embedding", "feed-forward", "norms and biases"


@dataclass(frozen=True, slots=True, eq=False)
class _Stack:
    """The stack whose stream becomes the answer, and the output layer: ``table`` [V, d], and ``bias`` [V] or None."""

    embedding: nn.Module
    blocks: Mapping[str, Block]
    norm: nn.Module
    table: Tensor
    bias: Tensor | None

    def answer(self, stream: Tensor) -> Tensor:
        """Return the logits [..., V] of a stream [..., d]."""
        return nn.functional.linear(self.norm(stream), self.table, self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class _Record:
    """What modules read and made in a forward pass, [1, T, d], and the traces of the layers of attention."""

    read: dict[nn.Module, Tensor] = field(default_factory=dict)
    made: dict[nn.Module, Tensor] = field(default_factory=dict)
    traces: dict[nn.Module, LayerTrace] = field(default_factory=dict)

    def note(self, module: nn.Module, given: tuple[Tensor, ...], made: Tensor) -> None:
        self.read[module], self.made[module] = given[0], made


@torch.no_grad()
def read_stream(model: Model, data: Data, batch: Batch) -> Stream:
    """Return the residual stream of a model at those places of a probe [1, T] that are in question."""
    stack = _find_stack(model)
    if stack is None:
        return Stream(missing=RECURRENT if isinstance(model, Recurrent) else NUMBERS)
    asked = find_asked(batch, data, model.onward)
    with _record(model) as record:
        logits = model(batch)[0]
    tokens = _choose_tokens(batch.targets[0], logits)[asked]
    stages = []
    for name, module in ((EMBEDDING, stack.embedding), *stack.blocks.items()):
        found = stack.answer(record.made[module][0])
        chances = found[asked].double().softmax(-1).gather(-1, tokens[:, None])[:, 0].tolist()
        places = read_places(data, batch.inputs[0], batch.targets[0], found, asked)
        stages.append(Stage(name, places, tuple(chances)))
    names = {layer: name for name, layer in model.layers.items()}
    parts, added = zip(*_trace_back(stack, tokens, asked, record, names), strict=True)
    return Stream(
        tuple(stages),
        parts[::-1],
        torch.stack(added[::-1]).cpu().numpy(),
        data.decode(tokens),
        logits[asked, tokens].double().cpu().numpy(),
    )


def _find_stack(model: Model) -> _Stack | None:
    """Return the stack that writes a model's answer, None if the model has no residual stream."""
    if isinstance(model, OneStack):
        table, bias = (
            (model.embedding.table, None) if model.output is None else (model.output.weight, model.output.bias)
        )
        return _Stack(model.embedding, _name_blocks(model, model.blocks), model.norm, table, bias)
    if isinstance(model, EncoderDecoder):
        blocks = _name_blocks(model, model.decoder)
        return _Stack(model.embedding, blocks, model.norms[1], model.output.weight, model.output.bias)
    return None


def _name_blocks(model: Model, blocks: nn.ModuleList) -> dict[str, Block]:
    """Return blocks by the names of their layers of self-attention."""
    names = {layer: name for name, layer in model.layers.items()}
    return {names[block.attention]: block for block in blocks if isinstance(block, Block)}


@contextmanager
def _record(model: Model) -> Iterator[_Record]:
    """Provide what the modules of a model do in the forward pass inside the ``with`` block."""
    record = _Record()
    with ExitStack() as handles, watch(model) as traces:
        for module in model.modules():
            handles.callback(module.register_forward_hook(record.note).remove)
        yield record
        record.traces.update({model.layers[name]: trace for name, trace in traces.items()})


def _choose_tokens(targets: Tensor, logits: Tensor) -> Tensor:
    """Return the right tokens [T], and where none is known the model's own answers, from targets and logits."""
    own = logits.clone()
    own[:, PAD] = -torch.inf
    return torch.where(targets >= 0, targets, own.argmax(-1))


def _trace_back(
    stack: _Stack, tokens: Tensor, asked: Tensor, record: _Record, names: Mapping[Attention, str]
) -> Iterator[tuple[StreamPart, Tensor]]:
    """Yield every part, the last one first, with what it adds to the logits of ``tokens`` [P] at the asked places."""
    towards = stack.table[tokens].double()  # [P, d]: a stream adds its product with this to the logit
    rest = torch.zeros(len(tokens), dtype=torch.float64) if stack.bias is None else stack.bias[tokens].double()
    found: list[tuple[StreamPart, Tensor]] = []
    towards, rest = _pass_norm(stack.norm, towards, rest, asked, record)
    for name, block in reversed(list(stack.blocks.items())):
        for part, norm in reversed(block.list_parts()):
            if not block.is_norm_first:
                towards, rest = _pass_norm(norm, towards, rest, asked, record)
            if isinstance(part, Attention):
                if part.b_o is not None:
                    rest = rest + towards @ part.b_o.double()
                shares = _share_heads(part, towards, record.traces[part]["context"][0][:, asked].double())
                found += [(StreamPart(f"head {h}", names[part], h), shares[h]) for h in reversed(range(len(shares)))]
            else:
                found.append((StreamPart(FEED_FORWARD, name), _multiply(record.made[part], asked, towards)))
    found.append((StreamPart(EMBEDDING), _multiply(record.made[stack.embedding], asked, towards)))
    yield StreamPart(BIASES), rest
    yield from found


def _pass_norm(norm: nn.Module, towards: Tensor, rest: Tensor, asked: Tensor, record: _Record) -> tuple[Tensor, Tensor]:
    """Return the direction [P, d] before a norm and the sum of the biases [P] with the norm's own.

    The norm's standard deviation is that of the stream it read; its mean is part of the direction.
    """
    if not isinstance(norm, nn.LayerNorm):
        return towards, rest
    x = record.read[norm][0, asked].double()
    scale = (x.var(-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
    rest = rest + towards @ norm.bias.double()
    towards = towards * norm.weight.double()
    return (towards - towards.mean(-1, keepdim=True)) / scale, rest


def _share_heads(layer: Attention, towards: Tensor, context: Tensor) -> Tensor:
    """Return what each head adds [h, P], from the direction [P, d] and the context of the heads [h, P, d_k]."""
    heads = len(context)
    into = towards if layer.W_o is None else towards @ layer.W_o.double().T
    return (context * into.view(len(towards), heads, -1).transpose(0, 1)).sum(-1)


def _multiply(made: Tensor, asked: Tensor, towards: Tensor) -> Tensor:
    return (made[0, asked].double() * towards).sum(-1)
