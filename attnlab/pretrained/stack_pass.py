"""One pass of a text through a stack: hidden states, computed layer by layer as far as they are asked for."""

from collections.abc import Callable, Mapping
from typing import Literal

import torch
from torch import Tensor

from attnlab.pretrained.architecture import Stack
from attnlab.pretrained.attend import NOTHING_OFF, Off, attend, find_weights
from attnlab.pretrained.layers import AttentionLayer, Layer, Norm

Part = Literal["encoder", "decoder", "cross"]


class StackPass:
    """The hidden states of one text in one stack. What is off is given by layer, for its own attention and the cross.

    Nothing is computed before it is asked for, and no weights of a later layer are read. Hidden states are kept; maps,
    which are much larger for long texts, are computed again. ``memory`` gives what a decoder's cross-attention reads.
    """

    def __init__(
        self,
        stack: Stack,
        ids: Tensor,
        memory: Callable[[], Tensor] | None = None,
        off: Mapping[int, Off] | None = None,
        cross_off: Mapping[int, Off] | None = None,
    ) -> None:
        self.stack = stack
        self.ids = ids
        self.memory = memory
        self._off, self._cross_off = off or {}, cross_off or {}
        self._hidden: list[Tensor] = []

    def share(self, other: "StackPass", layers: int) -> None:
        """Take over what enters the first layers, up to ``layers``, from another pass of the same text."""
        self._hidden = other._hidden[: layers + 1]

    def hidden(self, layer: int) -> Tensor:
        """Return what enters a layer, [T, d_model]; ``layer`` n_layers is what leaves the last, after the last norm."""
        with torch.no_grad():
            if not self._hidden:
                self._hidden.append(self.stack.embed(self.ids))
            while len(self._hidden) <= layer:
                index = len(self._hidden) - 1
                x = self._step(index, self._hidden[index])
                if index + 1 == self.stack.n_layers and self.stack.norm is not None:
                    x = self.stack.norm()(x)
                self._hidden.append(x)
        return self._hidden[layer]

    def read(self, layer: int, cross: bool = False) -> tuple[AttentionLayer, Tensor, Tensor]:
        """Return an attention layer, and what its queries and keys are made from: [T_q, d_model], [T_k, d_memory]."""
        part = self.stack.layer(layer)
        x = self.hidden(layer)
        with torch.no_grad():
            own = part.attention_norm(x) if part.norm_first else x
            if not cross:
                return part.attention, own, own
            assert part.cross is not None
            assert part.cross_norm is not None
            assert self.memory is not None
            x = x + attend(part.attention, own, own, self._off.get(layer, NOTHING_OFF))[0]
            return part.cross, part.cross_norm(x), self.memory()

    def weights(self, layer: int, cross: bool = False) -> Tensor:
        """Return the softmax weights of a layer, [h, T_q, T_k]."""
        attention, x, memory = self.read(layer, cross)
        with torch.no_grad():
            off = (self._cross_off if cross else self._off).get(layer, NOTHING_OFF)
            return find_weights(attention, x, memory, off.pairs)

    def _step(self, index: int, x: Tensor) -> Tensor:
        """Return what leaves a layer, before the last norm."""
        layer = self.stack.layer(index)
        off, cross_off = self._off.get(index, NOTHING_OFF), self._cross_off.get(index, NOTHING_OFF)
        cross, memory = layer.cross, self.memory
        x = _add(layer, layer.attention_norm, x, lambda y: attend(layer.attention, y, y, off)[0])
        if cross is not None and layer.cross_norm is not None and memory is not None:
            x = _add(layer, layer.cross_norm, x, lambda y: attend(cross, y, memory(), cross_off)[0])
        return _add(layer, layer.feed_forward_norm, x, layer.feed_forward)


def _add(layer: Layer, norm: Norm, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
    """Add what a part of the layer makes of x, with the norm on its input, or on the sum."""
    return x + part(norm(x)) if layer.norm_first else norm(x + part(x))
