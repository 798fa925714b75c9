"""Transformers: attention alone, decoders, encoders, and both together."""

import math

from torch import Tensor, nn

from attnlab.training.models.attention import Attention
from attnlab.training.models.base_model import Memory, Model, hide_keys
from attnlab.training.models.blocks import Block, Embedding, Positions, configure_self_attention, scale_down
from attnlab.training.specs import ModelSpec
from attnlab.training.tasks.data import Data


class OneStack(Model):
    """Embeddings, blocks of self-attention, and logits.

    With the norm before each part there is another norm at the end, and the embedding table computes the logits, as in
    GPT-2 (Radford et al. 2019); else a separate output layer does. ``activation`` is that of the feed-forward part.
    """

    def __init__(self, spec: ModelSpec, data: Data, name: str, causal: bool, activation: type[nn.Module]) -> None:
        super().__init__(data.longest, causal)
        self.causal = causal
        self.embedding = Embedding(len(data.vocabulary), spec, data.longest, tied=spec.norm == "before")
        config = configure_self_attention(spec, causal)
        blocks = [Block(spec, config, activation) for _ in range(spec.layers)]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.LayerNorm(spec.d_model) if spec.norm == "before" else nn.Identity()
        self.output = None if spec.norm == "before" else nn.Linear(spec.d_model, len(data.vocabulary))
        if spec.norm != "after":
            scale_down(blocks)
        self.layers = {f"{name} {i}": block.attention for i, block in enumerate(blocks, 1)}

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V]."""
        hidden = hide_keys(inputs, inputs.shape[1], self.causal)
        x = self.embedding(inputs)
        for block in self.blocks:
            x = block(x, hidden)
        x = self.norm(x)
        logits: Tensor = nn.functional.linear(x, self.embedding.table) if self.output is None else self.output(x)
        return logits


class OnNumbers(Model):
    """Layers of attention on rows of numbers [B, T, d]; the last layer's output is the prediction."""

    def __init__(self, spec: ModelSpec, data: Data) -> None:
        super().__init__(data.longest, data.causal)
        self.causal = data.causal
        self.positions = Positions(spec.positions, data.longest, spec.d_model, 1 / math.sqrt(spec.d_model))
        config = configure_self_attention(spec, data.causal)
        layers = [Attention(spec.d_model, config, spec.dropout) for _ in range(spec.layers)]
        self.blocks = nn.ModuleList(layers)
        self.layers = {f"attention {i}": layer for i, layer in enumerate(layers, 1)}

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return numbers [B, T, d]."""
        hidden = hide_keys(inputs, inputs.shape[1], self.causal)
        x: Tensor = self.positions(inputs)
        for layer in self.blocks:
            x = layer(x, None, hidden)
        return x


class EncoderDecoder(Model):
    """An encoder, and a decoder that attends to it (Vaswani et al. 2017), with embeddings scaled by √d_model and ReLU.
    There are three masks: PAD of the source in each stack, and PAD and later tokens in the decoder.
    """

    def __init__(self, spec: ModelSpec, data: Data) -> None:
        super().__init__(data.longest, True)
        size = len(data.vocabulary)
        self.source_embedding = Embedding(size, spec, data.longest_source, scaled=True)
        self.embedding = Embedding(size, spec, data.longest, scaled=True)
        encoder, decoder = configure_self_attention(spec, False), configure_self_attention(spec, True)
        reading = [Block(spec, encoder, nn.ReLU) for _ in range(spec.layers)]
        writing = [Block(spec, decoder, nn.ReLU, cross=True) for _ in range(spec.layers)]
        self.encoder, self.decoder = nn.ModuleList(reading), nn.ModuleList(writing)
        normed = spec.norm == "before"
        self.norms = nn.ModuleList(nn.LayerNorm(spec.d_model) if normed else nn.Identity() for _ in range(2))
        self.output = nn.Linear(spec.d_model, size)
        if spec.norm != "after":
            scale_down(reading)
            scale_down(writing)
        self.layers = {f"encoder {i}": block.attention for i, block in enumerate(reading, 1)}
        self.layers |= {f"decoder {i}": block.attention for i, block in enumerate(writing, 1)}
        self.layers |= {f"cross {i}": block.cross for i, block in enumerate(writing, 1) if block.cross is not None}

    def encode(self, source: Tensor) -> Memory:
        """Return the states of a source [B, S]."""
        hidden = hide_keys(source, 1, False)
        x = self.source_embedding(source)
        for block in self.encoder:
            x = block(x, hidden)
        return Memory(self.norms[0](x), hidden)

    def decode(self, inputs: Tensor, memory: Memory | None) -> Tensor:
        """Return logits [B, T, V]."""
        assert memory is not None
        hidden = hide_keys(inputs, inputs.shape[1], True)
        x = self.embedding(inputs)
        for block in self.decoder:
            x = block(x, hidden, memory.states, memory.hidden)
        logits: Tensor = self.output(self.norms[1](x))
        return logits
