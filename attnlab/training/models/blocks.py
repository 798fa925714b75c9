"""The parts of Transformers: embeddings with positions, and blocks of attention and feed-forward."""

import math
from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from attnlab.attention.experiment import AttentionConfig
from attnlab.attention.registries.masks import Hidden
from attnlab.attention.registries.positions import POSITIONS
from attnlab.base.errors import TrainingError
from attnlab.training.models.attention import Attention
from attnlab.training.specs import ModelSpec


class Positions(nn.Module):
    """Adds absolute positions to embeddings [B, T, d]; changes nothing if the scheme acts within the layers."""

    encoding: Tensor

    def __init__(self, name: str, longest: int, d_model: int, spread: float) -> None:
        super().__init__()
        self._entry = POSITIONS[name]
        self._longest = longest
        if self._entry.encode is None:
            return
        if self._entry.tables:
            self.P = nn.Parameter(torch.empty(longest, d_model).normal_(std=spread))
        else:
            encoding = self._entry.encode(longest, d_model, {}).to(torch.get_default_dtype())
            self.register_buffer("encoding", encoding, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the embeddings with positions.

        Raises:
            TrainingError: there are more tokens than positions.
        """
        length = x.shape[1]
        if self._entry.encode is None:
            return x
        if length > self._longest:
            raise TrainingError(f"The input has {length} tokens; this model has positions for {self._longest}.")
        if self._entry.tables:
            return x + self._entry.encode(length, x.shape[2], {"P": self.P})
        return x + self.encoding[:length].to(x)


class Embedding(nn.Module):
    """The embeddings [B, T, d] of tokens [B, T], with positions and dropout.

    ``scaled`` multiplies them by √d_model before positions are added (Vaswani et al. 2017, section 3.4). ``tied``: the
    table also computes the logits, and is initialised as small as in GPT-2 (Radford et al. 2019), so that all tokens
    are about equally likely.
    """

    def __init__(
        self, vocabulary: int, spec: ModelSpec, longest: int, scaled: bool = False, tied: bool = False
    ) -> None:
        super().__init__()
        spread = 0.02 if tied else 1 / math.sqrt(spec.d_model)
        self.table = nn.Parameter(torch.empty(vocabulary, spec.d_model).normal_(std=spread))
        self.positions = Positions(spec.positions, longest, spec.d_model, spread)
        self.dropout = nn.Dropout(spec.dropout)
        self._scale = math.sqrt(spec.d_model) if scaled else 1.0

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the embeddings [B, T, d] of tokens [B, T]."""
        x = nn.functional.embedding(tokens, self.table)
        placed: Tensor = self.dropout(self.positions(x if self._scale == 1 else x * self._scale))
        return placed


class Block(nn.Module):
    """Attention, optional attention to a memory, and feed-forward, each with a residual connection.

    The norm comes before each part (Radford et al. 2019), after it (Vaswani et al. 2017), or is absent.
    """

    def __init__(
        self, spec: ModelSpec, config: AttentionConfig, activation: Callable[[], nn.Module], cross: bool = False
    ) -> None:
        super().__init__()
        self.attention = Attention(spec.d_model, config, spec.dropout)
        across = AttentionConfig(n_heads=config.n_heads)
        self.cross = Attention(spec.d_model, across, spec.dropout) if cross else None
        self.feed_forward = _build_feed_forward(spec, activation()) if spec.d_ff else None
        normed = spec.norm != "none"
        count = 1 + cross + bool(spec.d_ff)
        self.norms = nn.ModuleList(nn.LayerNorm(spec.d_model) if normed else nn.Identity() for _ in range(count))
        self.dropout = nn.Dropout(spec.dropout)
        self._before = spec.norm == "before"

    def forward(
        self, x: Tensor, hidden: Hidden | None, memory: Tensor | None = None, memory_hidden: Hidden | None = None
    ) -> Tensor:
        """Return the block's output for x [B, T, d]; ``hidden`` masks its tokens, ``memory_hidden`` those of the
        memory.
        """
        norms = iter(self.norms)
        x = self._add(x, next(norms), lambda y: self.attention(y, None, hidden))
        if self.cross is not None:
            ask = self.cross
            x = self._add(x, next(norms), lambda y: ask(y, memory, memory_hidden))
        if self.feed_forward is None:
            return x
        return self._add(x, next(norms), self.feed_forward)

    @property
    def is_norm_first(self) -> bool:
        """Whether a norm is applied to what a part reads, and not to the sum after it."""
        return self._before

    def list_parts(self) -> tuple[tuple[nn.Module, nn.Module], ...]:
        """Return each part with its norm, in the order of computation; the norm is an Identity in a model without."""
        parts = (self.attention, self.cross, self.feed_forward)
        return tuple(zip((part for part in parts if part is not None), self.norms, strict=True))

    def last_weights(self) -> tuple[Tensor, ...]:
        """Return the last weight matrix of each part, which computes what the part adds."""
        layers = (self.attention,) if self.cross is None else (self.attention, self.cross)
        narrow = () if self.feed_forward is None else (cast("nn.Linear", self.feed_forward[-1]).weight,)
        return (*(layer.W_o for layer in layers if layer.W_o is not None), *narrow)

    def _add(self, x: Tensor, norm: nn.Module, function: Callable[[Tensor], Tensor]) -> Tensor:
        if self._before:
            made: Tensor = x + self.dropout(function(norm(x)))
        else:
            made = norm(x + self.dropout(function(x)))
        return made


def _build_feed_forward(spec: ModelSpec, activation: nn.Module) -> nn.Sequential:
    wide, narrow = nn.Linear(spec.d_model, spec.d_ff), nn.Linear(spec.d_ff, spec.d_model)
    return nn.Sequential(wide, activation, nn.Dropout(spec.dropout), narrow)


def configure_self_attention(spec: ModelSpec, causal: bool) -> AttentionConfig:
    """Return the configuration of a layer of self-attention, with the positions if they act within the layer."""
    within = POSITIONS[spec.positions].encode is None
    options = {"t5_bidirectional": False} if spec.positions == "t5" and causal else {}
    return AttentionConfig(
        n_heads=spec.heads, causal=causal, positions=spec.positions if within else "none", options=options
    )


@torch.no_grad()
def scale_down(blocks: Sequence[Block]) -> None:
    """Divide the last weights of all parts by √(number of parts), so that the sum of the residual connections does not
    grow with depth (Radford et al. 2019, section 2.3).
    """
    added = [weight for block in blocks for weight in block.last_weights()]
    for weight in added:
        weight.div_(math.sqrt(len(added)))
