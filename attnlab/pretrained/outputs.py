"""What attention moves: the output of each head, and how much each key adds to it."""

from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.pretrained.attend import NOTHING_OFF, Off, attend, find_values, find_weights
from attnlab.pretrained.edited import attend_edited, find_output
from attnlab.pretrained.layers import AttentionLayer


class HeadOutputs(NamedTuple):
    """The output of one layer's attention, taken apart; its parts sum to ``whole``."""

    moved: Tensor
    """‖α v W_o‖ [h, T_q, T_k]: the length of what each key adds to each query (Kobayashi et al. 2020)."""
    heads: Tensor
    """The output of each head [h, T_q, d_model]."""
    residual: Tensor
    """What the layer adds the heads to [T_q, d_model]."""
    bias: Tensor
    """The bias of W_o [d_model], 0 without one."""
    whole: Tensor
    """What the layer computes [T_q, d_model]: the sum, before a norm that follows it."""

    @property
    def difference(self) -> float:
        """The largest difference between the sum of the parts and the whole, relative to the whole's largest number."""
        total = self.heads.sum(0) + self.residual + self.bias
        return float((total - self.whole).abs().max() / self.whole.abs().max().clamp_min(1e-12))


def find_outputs(
    layer: AttentionLayer, residual: Tensor, x: Tensor, memory: Tensor, off: Off = NOTHING_OFF
) -> HeadOutputs:
    """Return the output of a layer's attention, head by head. The output of a head that is off is 0."""
    with torch.no_grad():
        weights = find_weights(layer, x, memory, off)
        values = find_values(layer, memory) if off.edited is None else attend_edited(off, layer, x, memory).values
        values = values.repeat_interleave(layer.n_heads // len(values), 0)
        own = layer.o if off.edited is None else find_output(off.edited, len(values) * values.shape[-1])
        into = own.weight.reshape(layer.n_heads, -1, own.weight.shape[1])
        written = values @ into  # [h, T_k, d_model]: what a weight of 1 would add
        for head in off.heads:
            written[head] = 0.0
        bias = own.bias if own.bias is not None else torch.zeros(residual.shape[-1])
        whole = residual + attend(layer, x, memory, off)[0]
        moved = weights * written.norm(dim=-1)[:, None]
        return HeadOutputs(moved, weights @ written, residual, bias, whole)
