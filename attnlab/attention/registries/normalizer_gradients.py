"""The gradients of the normalisers, by hand: from that of the weights to that of the scores they come from.

Each function takes the scores x, the weights a and the gradient d of the weights, all [h, T_q, T_k], and returns the
gradient of x. Masked scores are −∞ and have the gradient 0; in rows where everything is masked, all weights are 0.
"""

import torch
from torch import Tensor

SOFTMAX_CODE = "{a} * ({d} - ({a} * {d}).sum(-1, keepdim=True))"
SUM_CODE = """out = {x} == -torch.inf
total = {x}.masked_fill(out, 0).sum(-1, keepdim=True)
(({d} - ({a} * {d}).sum(-1, keepdim=True)) / total).masked_fill(out, 0)"""
SPARSEMAX_CODE = """on = {a} > 0
mean = ({d} * on).sum(-1, keepdim=True) / on.sum(-1, keepdim=True).clamp_min(1)
torch.where(on, {d} - mean, 0)"""
ENTMAX15_CODE = """root = {a}.sqrt()
total = root.sum(-1, keepdim=True)
mean = (root * {d}).sum(-1, keepdim=True) / torch.where(total > 0, total, 1)
root * ({d} - mean)"""
SIGMOID_CODE = "{a} * (1 - {a}) * {d}"


def softmax(x: Tensor, a: Tensor, d: Tensor) -> Tensor:
    """Return a (d − a·d): each weight takes from the others what it gains."""
    return a * (d - (a * d).sum(-1, keepdim=True))


def by_sum(x: Tensor, a: Tensor, d: Tensor) -> Tensor:
    """Return (d − a·d) ÷ Σ x."""
    out = x == -torch.inf
    total = x.masked_fill(out, 0).sum(-1, keepdim=True)
    return ((d - (a * d).sum(-1, keepdim=True)) / total).masked_fill(out, 0)


def sparsemax(x: Tensor, a: Tensor, d: Tensor) -> Tensor:
    """Return d minus its mean over the keys with a weight, 0 for the others (Martins & Astudillo 2016, section 2.5)."""
    on = a > 0
    mean = (d * on).sum(-1, keepdim=True) / on.sum(-1, keepdim=True).clamp_min(1)
    return torch.where(on, d - mean, 0)


def entmax15(x: Tensor, a: Tensor, d: Tensor) -> Tensor:
    """Return √a (d − mean), the mean weighted by √a (Peters, Niculae & Martins 2019, proposition 2)."""
    root = a.sqrt()
    total = root.sum(-1, keepdim=True)
    mean = (root * d).sum(-1, keepdim=True) / torch.where(total > 0, total, 1)
    return root * (d - mean)


def sigmoid(x: Tensor, a: Tensor, d: Tensor) -> Tensor:
    """Return a (1 − a) d."""
    return a * (1 - a) * d
