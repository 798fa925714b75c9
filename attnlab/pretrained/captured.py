"""What was captured of a model: the queries, keys and values of each layer, and its maps, computed when asked for."""

import os
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path
from typing import SupportsIndex

import torch
from torch import Tensor

from attnlab.base.counted import format_bounds
from attnlab.base.errors import ArgumentError

FINE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
"""The largest difference from the model's own output that counts as the same, by the precision that is kept."""


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

    def attention(self, layer: SupportsIndex, part: str | None = None) -> Tensor:
        """Return the softmax weights of a layer [h, T_q, T_k], float32."""
        return self._find(layer, part).weights()

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
