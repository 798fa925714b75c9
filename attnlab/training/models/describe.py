"""Describes a model as a tree of blocks, counted from its real modules, with their shapes for one probe."""

from collections.abc import Iterator
from dataclasses import replace

from torch import nn

from attnlab.attention.registries.positions import POSITIONS
from attnlab.training.batch import Batch
from attnlab.training.model_tree import Block, ModelTree, Part, Side, Stack, Table
from attnlab.training.models.attention import Attention
from attnlab.training.models.base_model import Model
from attnlab.training.models.blocks import Block as Layer
from attnlab.training.models.blocks import Embedding
from attnlab.training.models.describe_attention import describe_attention
from attnlab.training.models.kinds import KINDS
from attnlab.training.models.recurrent import Luong, Recurrent
from attnlab.training.models.transformers import EncoderDecoder, OneStack, OnNumbers
from attnlab.training.specs import ModelSpec

AHEAD, PADDING, BOTH = "causal", "padding", "causal + padding"
"""What a mask hides: later tokens, PAD, or both."""


def describe_model(model: Model, spec: ModelSpec, batch: Batch) -> ModelTree:
    """Return the blocks of a model with their shapes for the first example of a batch.

    Every parameter of the model is counted in exactly one block.
    """
    sizes = _Sizes(spec, batch.inputs.shape[1], 0 if batch.source is None else batch.source.shape[1])
    if isinstance(model, EncoderDecoder):
        return _describe_encoder_decoder(model, sizes)
    if isinstance(model, Recurrent):
        return _describe_recurrent(model, sizes)
    if isinstance(model, OneStack):
        return _describe_one_stack(model, sizes)
    assert isinstance(model, OnNumbers)
    return _describe_on_numbers(model, sizes)


class _Sizes:
    """The settings of a model, and the lengths of one probe's inputs and source."""

    def __init__(self, spec: ModelSpec, inputs: int, source: int) -> None:
        self.spec, self.inputs, self.source = spec, inputs, source
        self.d, self.title = spec.d_model, KINDS[spec.kind].title

    def embedding(self, name: str, module: Embedding, length: int, scaled: bool) -> Block:
        learned = any(key.startswith("positions") for key, _ in module.named_parameters())
        return Block(
            name,
            f"Embedding × √{self.d}" if scaled else "Embedding",
            (length, self.d),
            _list_tables(module),
            _name_positions(self.spec.positions, learned),
            f"Each token becomes a row of {self.d} numbers, learned with the model"
            + (f" and multiplied by √{self.d} before positions are added." if scaled else "."),
        )

    def norm(self, name: str, module: nn.Module, length: int) -> Block | None:
        if isinstance(module, nn.Identity):
            return None
        about = (
            f"Each row of {self.d} numbers gets mean 0 and standard deviation 1, then a scale and a shift per column."
        )
        formula = "(x − mean) ÷ std × scale + shift"
        return Block(name, "Norm", (length, self.d), _list_tables(module), "layer norm", about, formula)

    def parts(self, layer: Layer, name: str, length: int, causal: bool) -> Iterator[Part]:
        """Yield the parts of one layer, from the bottom to the top."""
        norms = iter(layer.norms)
        own = f"{name} attention"
        title = "Masked self-attention" if causal else "Self-attention"
        mask = (BOTH if causal else PADDING) if self.source else AHEAD if causal else PADDING
        yield Part(
            describe_attention(layer.attention, own, title, name, (length, length), mask),
            self.norm(f"{own} norm", next(norms), length),
        )
        number = name.split(" ")[-1]
        if layer.cross is not None:
            across = f"{name} cross-attention"
            lengths = length, self.source
            yield Part(
                describe_attention(layer.cross, across, "Cross-attention", f"cross {number}", lengths, PADDING),
                self.norm(f"{across} norm", next(norms), length),
            )
        if layer.feed_forward is not None:
            wide = f"{name} feed-forward"
            yield Part(
                self.feed_forward(layer.feed_forward, wide, length), self.norm(f"{wide} norm", next(norms), length)
            )

    def feed_forward(self, module: nn.Sequential, name: str, length: int) -> Block:
        step = type(module[1]).__name__
        wide = f"{self.spec.d_ff:,}"
        about = f"Each row passes two linear layers on its own: to {wide} numbers and back, with {step} between."
        return Block(
            name,
            "Feed-forward",
            (length, self.d),
            _list_tables(module),
            f"{self.d} → {self.spec.d_ff}, {step}",
            about,
            f"{step}(x W_1 + b_1) W_2 + b_2",
            (("Hidden", step, (length, self.spec.d_ff)),),
        )


def _describe_encoder_decoder(model: EncoderDecoder, sizes: _Sizes) -> ModelTree:
    s, t, d = sizes.source, sizes.inputs, sizes.d
    reading = _describe_side(sizes, "encoder", model.source_embedding, model.encoder, model.norms[0], s, False)
    writing = _describe_side(sizes, "decoder", model.embedding, model.decoder, model.norms[1], t, True)
    n = len(model.decoder)
    asked = f"all {n} decoder layers ask it" if n > 1 else "the decoder asks it"
    about = f"The encoder’s output: a row of {d} numbers for each token of the source, from which keys and values come."
    memory = Block("memory", "Memory", (s, d), (), f"a row per token; {asked}", about)
    output = _describe_output(model.output, (t, d))
    return ModelTree(sizes.spec.kind, sizes.title, sizes.spec.norm, writing, output, reading, memory)


def _describe_side(
    sizes: _Sizes, name: str, embedding: Embedding, layers: nn.ModuleList, norm: nn.Module, length: int, causal: bool
) -> Side:
    stack = []
    for number, layer in enumerate(layers, 1):
        assert isinstance(layer, Layer)
        stack.append(tuple(sizes.parts(layer, f"{name} {number}", length, causal)))
    return Side(
        sizes.embedding(f"{name} embedding", embedding, length, True),
        Stack(name.capitalize(), tuple(stack)),
        sizes.norm(f"{name} norm", norm, length),
    )


def _describe_one_stack(model: OneStack, sizes: _Sizes) -> ModelTree:
    name = next(iter(model.layers)).split(" ")[0]
    t, causal, layers = sizes.inputs, model.causal, []
    for number, layer in enumerate(model.blocks, 1):
        assert isinstance(layer, Layer)
        layers.append(tuple(sizes.parts(layer, f"{name} {number}", t, causal)))
    side = Side(
        sizes.embedding("embedding", model.embedding, t, False),
        Stack("Attention only" if name == "attention" else name.capitalize(), tuple(layers)),
        sizes.norm("last norm", model.norm, t),
    )
    if model.output is not None:
        output = _describe_output(model.output, (t, sizes.d))
    else:
        size = len(model.embedding.table)
        about = "The logits are products with the rows of the embedding table, which is counted there."
        output = Block(
            "output", "Output", (t, size), (), f"{sizes.d} → {size}, the embedding again", about, "softmax(x Eᵀ)"
        )
    predicts = "Each position predicts the next token." if causal else "Each position predicts its own token."
    output = replace(output, about=f"{predicts} {output.about}")
    return ModelTree(sizes.spec.kind, sizes.title, sizes.spec.norm, side, output)


def _describe_on_numbers(model: OnNumbers, sizes: _Sizes) -> ModelTree:
    t, layers = sizes.inputs, []
    for number, layer in enumerate(model.blocks, 1):
        assert isinstance(layer, Attention)
        name, causal = f"attention {number}", layer.config.causal
        title = "Masked self-attention" if causal else "Self-attention"
        part = Part(describe_attention(layer, f"{name} attention", title, name, (t, t), AHEAD if causal else "nothing"))
        layers.append((part,))
    tables = _list_tables(model.positions)
    note = _name_positions(sizes.spec.positions, bool(tables))
    about = f"This task consists of numbers: each token is a row of {sizes.d} numbers already."
    rows = Block("embedding", "Numbers", (t, sizes.d), tables, note, about)
    side = Side(rows, Stack("Attention only", tuple(layers), residual=False))
    return ModelTree(sizes.spec.kind, sizes.title, "none", side)


def _describe_recurrent(model: Recurrent, sizes: _Sizes) -> ModelTree:
    s, t, d = sizes.source, sizes.inputs, sizes.d
    size = model.embedding.num_embeddings
    seen = "Each word becomes a row of numbers, learned with the model."
    source = Block(
        "encoder embedding", "Source tokens", (s, d), _list_tables(model.source_embedding), f"embedding of {size}", seen
    )
    inputs = Block(
        "decoder embedding", "Written tokens", (t, d), _list_tables(model.embedding), f"embedding of {size}", seen
    )
    both = f"two directions of {d // 2} units"
    reads = "Reads the source once in each direction; a state of both at each token."
    encoder = Block("encoder", "Encoder states", (s, d), _list_tables(model.encoder), both, reads)
    steps = "Starts from the one vector; each step reads the token before and its own last state."
    decoder = Block("decoder", "Decoder states", (t, d), _list_tables(model.decoder), f"{d} units", steps)
    vector = Block(
        "vector",
        "One vector",
        (d,),
        _list_tables(model.bridge),
        f"{d} numbers for {s} tokens",
        "The last states of both directions, mixed into one row, from which the decoder starts."
        + ("" if model.layers else " It is everything that the decoder will know of the source."),
        "tanh([last forward; last backward] W + b)",
    )
    asked = None
    if "alignment" in model.layers:
        layer = model.layers["alignment"]
        title = "Luong’s attention" if isinstance(model, Luong) else "Bahdanau’s attention"
        asked = describe_attention(layer, "attention", title, "alignment", (t, s), PADDING)
    mixed = _list_tables(getattr(model, "mixed", nn.Identity()), "mixed")
    tables = (*mixed, *_list_tables(model.output))
    note = f"{d} → {size}, softmax"
    about = "A probability for each token of the vocabulary, at each step."
    output = Block("output", "Output", (t, size), tables, note, about, "softmax(x W + b)")
    return ModelTree(
        sizes.spec.kind,
        sizes.title,
        "none",
        Side(inputs, cell=decoder),
        output,
        Side(source, cell=encoder),
        vector,
        asked,
    )


def _describe_output(module: nn.Linear, shape: tuple[int, int]) -> Block:
    length, d = shape
    size = module.out_features
    about = "A probability for each token of the vocabulary, at each position."
    return Block(
        "output", "Output", (length, size), _list_tables(module), f"{d} → {size}, softmax", about, "softmax(x W + b)"
    )


def _name_positions(name: str, learned: bool) -> str:
    if name == "none":
        return "no positions"
    if learned:
        return "+ learned positions"
    if POSITIONS[name].encode is not None:
        return f"+ {POSITIONS[name].title.lower()} positions, nothing to learn"
    return f"positions in the layers: {POSITIONS[name].title}"


def _list_tables(module: nn.Module, prefix: str = "") -> tuple[Table, ...]:
    """Return the parameters of a module, with a short name each."""
    return tuple(
        Table(f"{prefix} {name}".strip(), tuple(each.shape), each.requires_grad)
        for name, each in module.named_parameters()
    )
