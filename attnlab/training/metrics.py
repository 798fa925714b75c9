"""Evaluation of a model on held-out examples."""

import math
from collections import defaultdict
from collections.abc import Iterator

import torch
from torch import Tensor

from attnlab.training.batch import IGNORED, Batch
from attnlab.training.messages import Metric
from attnlab.training.models import Model, compute_loss

AT_ONCE = 1 << 14
"""Positions evaluated in one forward pass: more would not be faster and would need more memory."""


@torch.no_grad()
def compute_metric(model: Model, held_out: Batch, lengths: tuple[int, ...], step: int) -> Metric:
    """Return the loss and the shares right after ``step`` steps; each token is predicted from the right ones before it.

    An example has every token right in this way exactly if greedy decoding writes it right.
    """
    model.eval()
    losses, marks = zip(*(_predict(model, part) for part in _split(held_out)), strict=True)
    weights = [float(mark[0].sum()) for mark in marks]
    mean = sum(each * weight for each, weight in zip(losses, weights, strict=True)) / sum(weights)
    if held_out.targets.is_floating_point():
        return Metric(step, mean, math.nan, math.nan)
    asked, right = (torch.cat(each) for each in zip(*marks, strict=True))
    whole = (right | ~asked).all(1)
    return Metric(
        step, mean, float(right.sum() / asked.sum()), float(whole.float().mean()), _average_by_length(lengths, whole)
    )


def _predict(model: Model, part: Batch) -> tuple[float, tuple[Tensor, Tensor]]:
    """Return the loss, which positions have targets [B, T], and which of them are right [B, T]."""
    outputs = model(part)
    value = compute_loss(outputs, part.targets).item()
    if part.targets.is_floating_point():
        everywhere = torch.ones(part.targets.shape[:2], dtype=torch.bool)
        return value, (everywhere, everywhere)
    asked = part.targets != IGNORED
    return value, (asked, (outputs.argmax(-1) == part.targets) & asked)


def _split(batch: Batch) -> Iterator[Batch]:
    size = max(1, AT_ONCE // (batch.inputs.shape[1] + (0 if batch.source is None else batch.source.shape[1])))
    for start in range(0, len(batch.inputs), size):
        part = slice(start, start + size)
        yield Batch(batch.inputs[part], batch.targets[part], None if batch.source is None else batch.source[part])


def _average_by_length(lengths: tuple[int, ...], whole: Tensor) -> tuple[tuple[int, float], ...]:
    found: dict[int, list[bool]] = defaultdict(list)
    for length, is_whole in zip(lengths, whole.tolist(), strict=True) if lengths else ():
        found[length].append(is_whole)
    return tuple((length, sum(found[length]) / len(found[length])) for length in sorted(found))
