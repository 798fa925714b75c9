"""The blocks of a real model as a tree for its diagram: shapes on a text, and parameters, without reading a tensor."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.base.counted import format_count
from attnlab.pretrained.architecture import Architecture
from attnlab.pretrained.architecture import Stack as Layers
from attnlab.pretrained.families.families import build
from attnlab.pretrained.layers import ACTIVATIONS, AttentionLayer, FeedForward, Layer, Linear, Map, Norm
from attnlab.training.model_tree import Block, ModelTree, Part, Side, Stack, Table

if TYPE_CHECKING:
    from attnlab.pretrained.model import Model
    from attnlab.pretrained.model_run import Run

_OUTPUT = re.compile(r"(^|\.)(lm_head|cls\.predictions|vocab_\w+|output)\.")
_TASKS = ("cls.", "classifier.", "qa_outputs.", "lm_head.", "vocab_")
_NUMBERED = re.compile(r"\.\d+\.")
_ACTIVATION_NAMES = {function: name for name, function in reversed(ACTIVATIONS.items())}


def describe_model(run: "Run") -> ModelTree:
    """Return the blocks of a model with their shapes on the tokens of a run; layers count from 0.

    Every tensor of the model's files is counted in one block: those of no layer belong to the embedding or the output
    by their names, and what attnlab does not use is counted apart.
    """
    return _Describer(run).describe()


class _Describer:
    def __init__(self, run: "Run") -> None:
        self._run, model = run, run.model
        self._architecture, self._names = _make_empty(model)
        self._rest = dict(_list_tensors(model))
        self._d = model.d_model
        self._biases: set[int] = set()

    def describe(self) -> ModelTree:
        run, architecture = self._run, self._architecture
        stacks = [self._describe_stack(stack) for stack in architecture.stacks]
        norms = [self._describe_last_norm(stack) for stack in architecture.stacks]
        output, unused = self._describe_output(), self._describe_unused()
        sides: list[Side] = []
        for stack, layers, last in zip(architecture.stacks, stacks, norms, strict=True):
            first = not sides and len(stacks) > 1
            sides.append(Side(self._describe_embedding(stack, source=first), layers, last))
        path = "before" if architecture.stacks[0].layer(0).norm_first else "after"
        norm = path if stacks[0].layers[0][0].norm is not None else "none"
        tree = ModelTree("", architecture.about, norm, sides[-1], output, first=0, unused=unused)
        if len(sides) == 1:
            return tree
        shape = len(run.tokens), self._d
        about = f"The encoder’s output: a row of {self._d} numbers for each token, from which keys and values come."
        n = len(stacks[-1].layers)
        asked = f"all {n} decoder layers ask it" if n > 1 else "the decoder asks it"
        return replace(tree, reading=sides[0], memory=Block("memory", "Memory", shape, (), asked, about))

    def _describe_stack(self, stack: Layers) -> Stack:
        layers = tuple(tuple(self._list_parts(stack, i)) for i in range(stack.n_layers))
        return Stack(stack.name.capitalize(), layers)

    def _list_parts(self, stack: Layers, index: int) -> Iterator[Part]:
        """Yield the parts of one layer, from the bottom to the top."""
        layer: Layer = stack.layer(index)
        name, length = f"{stack.name} {index}", self._count(stack)
        title = "Masked self-attention" if layer.attention.causal else "Self-attention"
        own = self._describe_attention(layer.attention, f"{name} attention", title, name, (length, length))
        yield Part(own, self._describe_norm(layer.attention_norm, f"{name} attention norm", length))
        if layer.cross is not None and layer.cross_norm is not None:
            called, lengths = f"cross {index}", (length, len(self._run.tokens))
            across = self._describe_attention(
                layer.cross, f"{name} cross-attention", "Cross-attention", called, lengths
            )
            yield Part(across, self._describe_norm(layer.cross_norm, f"{name} cross-attention norm", length))
        if layer.feed_forward is not None:
            wide = self._describe_feed_forward(layer.feed_forward, f"{name} feed-forward", length)
            yield Part(wide, self._describe_norm(layer.feed_forward_norm, f"{name} feed-forward norm", length))

    def _describe_attention(
        self, layer: AttentionLayer, name: str, title: str, called: str, lengths: tuple[int, int]
    ) -> Block:
        queries, keys = lengths
        heads, width, across = layer.n_heads, layer.q.weight.shape[1], title.startswith("Cross")
        each, origin = width // heads, "the memory" if across else "the stream"
        tables = [*_list_linear({f"{part}": getattr(layer, part) for part in "qkvo"})]
        for symbol, norm in (("g_q", layer.norm_q), ("g_k", layer.norm_k)):
            tables += [] if norm is None else [(symbol, norm.gain)]
        if layer.bias is not None and (key := _find_storage(layer.bias.table)) not in self._biases:
            self._biases.add(key)  # T5 has one for all layers, which is counted in the first
            tables.append(("B", layer.bias.table))
        inputs = (
            ("Q", "from the decoder" if across else "from the stream", (heads, queries, each)),
            ("K", f"from {origin}", (layer.n_kv_heads, keys, each)),
            ("V", f"from {origin}", (layer.n_kv_heads, keys, each)),
            ("Weights", "a map per head" if heads > 1 else "one map", (heads, queries, keys)),
            ("Output", "to the stream", (queries, self._d)),
        )
        mask = _name_mask(layer)
        formula = f"softmax({_write_score(layer, each)}) V W_o" + (" + b_o" if layer.o.bias is not None else "")
        about = _say_what_is_seen(layer, lengths, across)
        note, shape = f"mask: {mask}", (queries, self._d)
        return Block(
            name, title, shape, self._take(tables), note, about, formula, inputs, called, heads, mask, "attention"
        )

    def _describe_norm(self, norm: Map, name: str, length: int) -> Block | None:
        if not isinstance(norm, Norm):
            return None
        tables = [("scale", norm.gain), *([] if norm.shift is None else [("shift", norm.shift)])]
        if norm.shift is None:
            about = f"Each row of {self._d} numbers is divided by its root mean square, then scaled per column."
            said, formula = "RMS norm", "x ÷ √(mean of x²) × scale"
        else:
            about = (
                f"Each row of {self._d} numbers gets mean 0 and standard deviation 1, then a scale and a shift per "
                "column."
            )
            said, formula = "layer norm", "(x − mean) ÷ std × scale + shift"
        return Block(name, "Norm", (length, self._d), self._take(tables), said, about, formula)

    def _describe_last_norm(self, stack: Layers) -> Block | None:
        if stack.norm is None:
            return None
        return self._describe_norm(stack.norm(), f"{stack.name} norm", self._count(stack))

    def _describe_feed_forward(self, part: FeedForward, name: str, length: int) -> Block:
        wide = part.into.weight.shape[1]
        step = _ACTIVATION_NAMES.get(part.activation, "activation").removesuffix("_new").removesuffix("_pytorch_tanh")
        named = {"1": part.into, "2": part.out} | ({} if part.gate is None else {"g": part.gate})
        about = f"Each row passes two linear layers on its own: to {wide:,} numbers and back, with {step} between."
        formula = f"{step}(x W_1) W_2"
        if part.gate is not None:
            about = (
                f"Each row passes linear layers on its own: to {wide:,} numbers, multiplied by {step} of as many, and "
                "back."
            )
            formula = f"({step}(x W_g) · x W_1) W_2"
        tables = self._take(list(_list_linear(named)))
        inside = (("Hidden", step, (length, wide)),)
        return Block(
            name, "Feed-forward", (length, self._d), tables, f"{self._d} → {wide}, {step}", about, formula, inside
        )

    def _describe_output(self) -> Block | None:
        """Return the block of the predictions; None for a model without."""
        model, length = self._run.model, self._count(self._architecture.stacks[-1])
        if model.architecture.predict is None:
            return None
        names = [name for name in self._rest if _OUTPUT.search(name)]
        tables = tuple(Table(_shorten(name), self._rest.pop(name)) for name in names)
        words = self._architecture.words
        tied = "" if tables else ", the embedding again"
        about = f"A probability for each of the {words:,} tokens, at each position."
        return Block("output", "Output", (length, words), tables, f"{self._d} → {words:,}{tied}", about)

    def _describe_unused(self) -> Block | None:
        """Return the tensors of the files that attnlab does not use; None without any."""
        names = [name for name in self._rest if _is_unused(name)]
        tables = tuple(Table(_shorten(name), self._rest.pop(name)) for name in names)
        return Block("unused", "Not used", (), tables) if tables else None

    def _describe_embedding(self, stack: Layers, *, source: bool) -> Block:
        """Return what a stack begins with: all tensors that are left, or in the first of two those of the source."""
        several = len(self._architecture.stacks) > 1
        names = [name for name in self._rest if not source or not name.startswith(("embedding.", "decoder."))]
        tables = tuple(Table(_shorten(name), self._rest.pop(name)) for name in names)
        about = f"Each token becomes a row of {self._d} numbers, learned with the model."
        if not tables:
            about += " The table is that of the encoder, and is counted there."
        name = f"{stack.name} embedding" if several else "embedding"
        learned = any("position" in name or "wpe" in name for name in names)
        note = ("+ learned positions" if learned else "") if tables else "the encoder’s table"
        return Block(name, "Embedding", (self._count(stack), self._d), tables, note, about)

    def _count(self, stack: Layers) -> int:
        """Return how many tokens a stack reads."""
        first = stack is self._architecture.stacks[0]
        return len(self._run.tokens if first else self._run.target_tokens)

    def _take(self, tables: Sequence[tuple[str, Tensor]]) -> tuple[Table, ...]:
        """Return tables of a block, and note that their tensors are counted."""
        for _, tensor in tables:
            self._rest.pop(self._names.get(_find_storage(tensor), ""), None)
        return tuple(Table(name, tuple(tensor.shape)) for name, tensor in tables)


def _make_empty(model: "Model") -> tuple[Architecture, dict[int, str]]:
    """Return the architecture of a model with zeros in place of its tensors, and their names by their storage.

    A run of attnlab, which is small and was read at once, keeps its own numbers.
    """
    folder = model.folder
    if not folder.arrays:
        return model.architecture, {_find_storage(tensor): name for name, tensor in folder.held.items()}
    held = {name: torch.zeros(()).expand(array.shape) for name, array in folder.arrays.items()}
    return build(replace(folder, held=held)), {_find_storage(tensor): name for name, tensor in held.items()}


def _list_tensors(model: "Model") -> Iterator[tuple[str, tuple[int, ...]]]:
    folder = model.folder
    for name, tensor in (folder.arrays or folder.held).items():
        yield name, tuple(tensor.shape)


def _find_storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _shorten(name: str) -> str:
    """Return the last words of a tensor's name: "word_embeddings", "LayerNorm.bias"."""
    words = name.removesuffix(".weight").split(".")
    return ".".join(words[-2:] if words[-1] == "bias" else words[-1:])


def _is_unused(name: str) -> bool:
    """Return whether a tensor that is left is of no embedding: in a layer, or a pooler of whole texts."""
    return bool(_NUMBERED.search(name)) or "pooler" in name or name.startswith(_TASKS)


def _list_linear(named: dict[str, Linear]) -> Iterator[tuple[str, Tensor]]:
    """Yield the matrices of linear maps, then their biases."""
    yield from ((f"W_{name}", each.weight) for name, each in named.items())
    yield from ((f"b_{name}", each.bias) for name, each in named.items() if each.bias is not None)


def _name_mask(layer: AttentionLayer) -> str:
    if not layer.causal:
        return "none"
    return "causal" if layer.window is None else f"causal, window {layer.window}"


def _say_what_is_seen(layer: AttentionLayer, lengths: tuple[int, int], across: bool) -> str:
    queries, keys = lengths
    if across:
        return f"Each of the {queries} positions of the answer attends to the {keys} tokens of the source."
    if not layer.causal:
        return f"Each of the {queries} positions attends to all {keys}."
    if layer.window is not None:
        last = format_count(layer.window, "position")
        return f"Each of the {queries} positions attends to the last {last}, itself included."
    return f"Each of the {queries} positions attends to itself and the positions before it."


def _write_score(layer: AttentionLayer, d_k: int) -> str:
    score = "Q Kᵀ"
    if layer.divisor is not None:
        score += f" ÷ √{d_k}" if layer.divisor == math.sqrt(d_k) else f" ÷ {layer.divisor:.4g}"
    return f"{score} + B" if layer.bias is not None else score
