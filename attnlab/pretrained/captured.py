"""What was captured of a model: the queries, keys and values of each layer, and its maps, computed when asked for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import SupportsIndex

import torch
from torch import Tensor

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError
from attnlab.base.special_tokens import is_special
from attnlab.pretrained.patterns import HeadPatterns, find_kinds, find_patterns

FINE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
"""The largest difference from the model's own output that counts as the same, by the precision that is kept."""
HIDES = -1e4
"""What is added to the scores of a pair that a mask hides: at most this, as float16 has no −1e9."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CapturedLayer:
    """What the attention function of one layer received: q [h, T_q, d], k and v [h_kv, T_k, d], after rotation.

    ``mask`` and ``bias`` [1 or h, T_q, T_k] are added to the scores; ``softcap`` bounds these, ``sinks`` [h] are scores
    that take weight without a value. ``difference`` is the largest between the output and the model's own.
    """

    name: str
    part: str
    q: Tensor
    k: Tensor
    v: Tensor
    mask: Tensor | None
    scaling: float
    softcap: float | None = None
    sinks: Tensor | None = None
    bias: Tensor | None = None
    difference: float = 0.0

    @property
    def n_heads(self) -> int:
        """Number of query heads."""
        return self.q.shape[0]

    def weights(self) -> Tensor:
        """Return the softmax weights [h, T_q, T_k], float32; with sinks the rows sum to less than 1."""
        scores = self.q.float() @ self._repeat(self.k).mT * self.scaling
        if self.softcap is not None:
            scores = torch.tanh(scores / self.softcap) * self.softcap
        for added in (self.bias, self.mask):
            if added is not None:
                scores = scores + added[..., : scores.shape[-1]]
        if self.sinks is None:
            return scores.softmax(-1)
        sinks = self.sinks[:, None, None].expand(-1, scores.shape[1], 1)
        return torch.cat([scores, sinks], -1).softmax(-1)[..., :-1]

    def context(self) -> Tensor:
        """Return the weighted values [h, T_q, d], float32."""
        return self.weights() @ self._repeat(self.v)

    def moved(self) -> Tensor:
        """Return ‖α v‖ [h, T_q, T_k], the length of each weighted value, float32."""
        lengths = torch.linalg.vector_norm(self._repeat(self.v), dim=-1)
        moved: Tensor = self.weights() * lengths[:, None]
        return moved

    def hidden_pairs(self) -> Tensor | None:
        """Return the pairs that the mask hides in every head, bool [T_q, T_k]; None if it hides none."""
        if self.mask is None:
            return None
        found = (self.mask[..., : self.k.shape[1]] <= HIDES).all(0)
        return found if bool(found.any()) else None

    def note(self, difference: float) -> "CapturedLayer":
        """Return the layer with the difference that was measured."""
        return replace(self, difference=difference)

    def _repeat(self, x: Tensor) -> Tensor:
        return x.float() if len(x) == self.n_heads else x.float().repeat_interleave(self.n_heads // len(x), 0)


class Capture:
    """The attention of a model on one text, from :func:`attnlab.capture`. Layers and heads count from 0.

    ``layers`` are in the order in which the model computed them; ``part`` of the methods is "encoder", "decoder" or
    "cross" in an encoder–decoder, "layers" and "cross" elsewhere; without it, the first part. ``difference`` is the
    largest difference between an output and the model's own.

    Raises:
        ArgumentError: there is no such layer or part.
    """

    def __init__(
        self, name: str, layers: tuple[CapturedLayer, ...], tokens: tuple[str, ...], target_tokens: tuple[str, ...] = ()
    ) -> None:
        self.name, self.layers, self.tokens, self.target_tokens = name, layers, tokens, target_tokens

    def __repr__(self) -> str:
        """Return one line with the sizes."""
        return (
            f"<Capture of {self.name}: {len(self.layers)} layers, {self.n_heads} heads, {len(self.tokens)} tokens, "
            f"largest difference {self.difference:.0e}>"
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """The kinds of attention, in the order in which they were computed first."""
        return tuple(dict.fromkeys(layer.part for layer in self.layers))

    @property
    def n_layers(self) -> int:
        """Number of layers of the first part."""
        return len(self._of(None))

    @property
    def n_heads(self) -> int:
        """Number of heads of the first layer."""
        return self.layers[0].n_heads

    @property
    def difference(self) -> float:
        """The largest difference between an output of attention computed from what was kept, and the model's own."""
        return max(layer.difference for layer in self.layers)

    @property
    def is_true(self) -> bool:
        """Whether the differences are no larger than the kept precision explains."""
        return self.difference <= FINE[self.layers[0].q.dtype]

    def count_layers(self, part: str | None = None) -> int:
        """Return the number of layers of a part."""
        return len(self._of(part))

    def attention(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return the softmax weights of a layer [h, T_q, T_k], float32."""
        return self._find(layer, part).weights()

    def specials(self) -> frozenset[str]:
        """Return the tokens that are no text, told by how tokenizers write them: [CLS], <s>."""
        return frozenset(filter(is_special, (*self.tokens, *self.target_tokens)))

    def walk(self, part: str | None = None) -> Iterator[Tensor]:
        """Yield the softmax weights of every layer [h, T_q, T_k], first to last."""
        return (layer.weights() for layer in self._of(part))

    def moved(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return ‖α v‖ [h, T_q, T_k]: the length of each weighted value, before W_o, which a capture does not know."""
        return self._find(layer, part).moved()

    def hidden_pairs(self, layer: SupportsIndex, part: str | None = None) -> Tensor | None:
        """Return the pairs that the mask of a layer hides, bool [T_q, T_k]; None if it hides none."""
        return self._find(layer, part).hidden_pairs()

    def label_pairs(self, part: str | None = None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the tokens of the queries and of the keys of a part, numbers where they have no names."""
        first = self._of(part)[0]
        own = self.tokens if first.part in ("encoder", "layers") else self.target_tokens or self.tokens
        keys = self.tokens if first.part == "cross" else own
        return _fit(own, first.q.shape[1]), _fit(keys, first.k.shape[1])

    def patterns(self, part: str | None = None) -> list[HeadPatterns]:
        """Return what each head looks at on this text, as :meth:`attnlab.Run.patterns`; ``induction`` is NaN.

        That one is measured on random tokens, which a capture cannot read.

        Raises:
            ArgumentError: the part is cross-attention, whose queries and keys are different texts.
        """
        layers = self._of(part)
        queries, keys = self.label_pairs(part)
        if layers[0].part == "cross" or len(queries) != len(keys):
            raise ArgumentError("Patterns compare a text with itself, but queries and keys are different texts here.")
        hidden = layers[0].hidden_pairs()
        causal = hidden is not None and bool((hidden | hidden.new_ones(hidden.shape).tril()).all())
        kinds = find_kinds(queries, self.specials(), causal)
        rows = []
        for place, layer in enumerate(layers):
            weights = layer.weights()
            none = torch.full((len(weights), 1, 1), torch.nan), torch.ones(1, 1, dtype=torch.bool)
            rows += find_patterns(weights, kinds, place, *none)
        return rows

    def queries(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return the queries of a layer [h, T_q, d_k], as the scores are computed from them."""
        return self._find(layer, part).q

    def keys(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return the keys of a layer [h_kv, T_k, d_k]."""
        return self._find(layer, part).k

    def values(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return the values of a layer [h_kv, T_k, d_v]."""
        return self._find(layer, part).v

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the capture as a safetensors file, which :func:`attnlab.read_model` reads.

        Raises:
            FileError: it cannot be written.
        """
        from attnlab.pretrained.capture_file import save_capture

        save_capture(self, Path(path))

    def _of(self, part: str | None) -> list[CapturedLayer]:
        if part is not None and part not in self.parts:
            raise ArgumentError(f"part is {part!r}; the parts of this capture are {', '.join(self.parts)}.")
        return [layer for layer in self.layers if layer.part == (part or self.parts[0])]

    def _find(self, layer: SupportsIndex, part: str | None) -> CapturedLayer:
        found = self._of(part)
        if not 0 <= index(layer) < len(found):
            raise ArgumentError(f"layer is {layer!r}; it needs {format_bounds(0, len(found) - 1, 'a whole number')}.")
        return found[index(layer)]


def _fit(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return names for tokens: those that are known if there are as many, otherwise numbers."""
    return names if len(names) == count else tuple(map(str, range(count)))
