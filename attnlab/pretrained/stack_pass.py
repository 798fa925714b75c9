"""One pass of a text through a stack: hidden states, computed layer by layer as far as they are asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import torch
from torch import Tensor

from attnlab.pretrained.architecture import Stack
from attnlab.pretrained.attend import NOTHING_OFF, Off, attend, find_weights
from attnlab.pretrained.block_in import Surroundings, find_surroundings
from attnlab.pretrained.layers import AttentionLayer
from attnlab.pretrained.outputs import HeadOutputs, find_outputs

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
                self._advance()
        return self._hidden[layer]

    def walk(self, cross: bool = False) -> Iterator[Tensor]:
        """Yield the softmax weights of every layer [h, T_q, T_k], first to last, each computed once with its layer."""
        self.hidden(0)
        for layer in range(self.stack.n_layers):
            if len(self._hidden) > layer + 1:
                yield self.weights(layer, cross)
                continue
            with torch.no_grad():
                made = self._advance()[-1 if cross else 0]
            yield made
            del made  # before the next layer's are computed: those of a long text are large

    def _advance(self) -> list[Tensor]:
        """Compute the next layer; return the weights of its attention and, in a decoder, of its cross-attention."""
        index = len(self._hidden) - 1
        x, made = self._step(index, self._hidden[index])
        if index + 1 == self.stack.n_layers and self.stack.norm is not None:
            x = self.stack.norm()(x)
        self._hidden.append(x)
        return made

    def read(self, layer: int, cross: bool = False) -> tuple[AttentionLayer, Tensor, Tensor]:
        """Return an attention layer, and what its queries and keys are made from: [T_q, d_model], [T_k, d_memory]."""
        attention, _, x, memory = self._read(layer, cross)
        return attention, x, memory

    def outputs(self, layer: int, cross: bool = False) -> HeadOutputs:
        """Return the output of a layer's attention, head by head."""
        attention, residual, x, memory = self._read(layer, cross)
        off = (self._cross_off if cross else self._off).get(layer, NOTHING_OFF)
        return find_outputs(attention, residual, x, memory, off)

    def _read(self, layer: int, cross: bool) -> tuple[AttentionLayer, Tensor, Tensor, Tensor]:
        """Return an attention layer, what its output is added to, and what its queries and keys are made from."""
        part, around = self.stack.layer(layer), self._find_surroundings(layer)
        x = self.hidden(layer)
        with torch.no_grad():
            if not cross:
                own = around.attention.read(x)
                return part.attention, x, own, own
            assert part.cross is not None
            assert around.cross is not None
            assert self.memory is not None
            off = self._off.get(layer, NOTHING_OFF)
            x = around.attention.add(x, lambda y: attend(part.attention, y, y, off)[0])
            return part.cross, x, around.cross.read(x), self.memory()

    def _find_surroundings(self, layer: int) -> Surroundings:
        off, cross_off = (each.get(layer, NOTHING_OFF) for each in (self._off, self._cross_off))
        return find_surroundings(self.stack.layer(layer), off, cross_off)

    def read_block(self, layer: int, cross: bool = False) -> tuple[Surroundings, Tensor, Tensor, bool]:
        """Return what stands around the attention of a layer, what enters the part and what leaves it, [T, d_model].

        The last one is whether the feed-forward follows this part. What leaves the last layer is that before the norm
        of the stack.
        """
        residual = self._read(layer, cross)[1]
        is_last = cross or self.stack.layer(layer).cross is None
        with torch.no_grad():
            after = self._step(layer, self.hidden(layer))[0] if is_last else self._read(layer, True)[1]
        return self._find_surroundings(layer), residual, after, is_last

    def weights(self, layer: int, cross: bool = False) -> Tensor:
        """Return the softmax weights of a layer, [h, T_q, T_k]."""
        attention, x, memory = self.read(layer, cross)
        with torch.no_grad():
            off = (self._cross_off if cross else self._off).get(layer, NOTHING_OFF)
            return find_weights(attention, x, memory, off)

    def _step(self, index: int, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return what leaves a layer, before the last norm, and its softmax weights."""
        layer = self.stack.layer(index)
        off, cross_off = self._off.get(index, NOTHING_OFF), self._cross_off.get(index, NOTHING_OFF)
        cross, memory = layer.cross, self.memory
        made: list[Tensor] = []

        def read(attention: AttentionLayer, y: Tensor, other: Tensor, what: Off) -> Tensor:
            output, weights = attend(attention, y, other, what)
            made.append(weights)
            return output

        around = self._find_surroundings(index)
        x = around.attention.add(x, lambda y: read(layer.attention, y, y, off))
        if cross is not None and around.cross is not None and memory is not None:
            x = around.cross.add(x, lambda y: read(cross, y, memory(), cross_off))
        if around.feed_forward is not None:
            x = around.last.add(x, around.feed_forward)
        return x, made
