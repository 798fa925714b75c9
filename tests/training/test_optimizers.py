"""Optimisers and schedules: the rate at each step, and falling losses for every pair."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch.nn import Parameter

from attnlab.training.optimizers import OPTIMIZERS, SCHEDULES, compute_rate, create_optimizer
from attnlab.training.specs import TrainSpec

TRAIN = TrainSpec(rate=0.5, warmup=10, steps=110)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_rate_rises_linearly_to_its_maximum(schedule: str) -> None:
    train = replace(TRAIN, schedule=schedule)
    rates = [compute_rate(train, step) for step in range(train.steps)]
    assert rates[:10] == pytest.approx([0.05 * (i + 1) for i in range(10)])
    assert rates[10] == pytest.approx(0.5)
    assert all(later <= earlier for earlier, later in pairwise(rates[10:]))
    assert min(rates) > 0


@pytest.mark.parametrize(
    ("schedule", "step", "expected"),
    [
        ("constant", 109, 0.5),
        ("linear", 60, 0.25),
        ("linear", 110, 0.0),
        ("cosine", 35, 0.5 * (1 + math.sqrt(0.5)) / 2),
        ("cosine", 110, 0.0),
        ("inverse-sqrt", 40, 0.25),
    ],
)
def test_after_the_warm_up_the_rate_follows_the_schedule(schedule: str, step: int, expected: float) -> None:
    assert compute_rate(replace(TRAIN, schedule=schedule), step) == pytest.approx(expected)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_without_warm_up_the_first_step_has_the_full_rate(schedule: str) -> None:
    assert compute_rate(replace(TRAIN, schedule=schedule, warmup=0), 0) == pytest.approx(0.5)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimiser_reduces_the_loss(name: str) -> None:
    weight = Parameter(torch.tensor([3.0, -2.0]))
    steps = create_optimizer(TrainSpec(optimizer=name, rate=0.05, weight_decay=0.0), [weight], torch.device("cpu"))
    for _ in range(100):
        steps.zero_grad()
        weight.square().sum().backward()
        steps.step()
    assert float(weight.detach().abs().max()) < 0.5


def test_adamw_decays_weights_and_adam_adds_decay_to_the_gradient() -> None:
    after = {}
    for name in ("adam", "adamw"):
        weight = Parameter(torch.tensor([1.0]))
        steps = create_optimizer(TrainSpec(optimizer=name, rate=0.1, weight_decay=0.5), [weight], torch.device("cpu"))
        (weight * 0).sum().backward()
        steps.step()
        after[name] = weight.item()
    assert after["adamw"] == pytest.approx(1 - 0.1 * 0.5)
    assert after["adam"] == pytest.approx(1 - 0.1)  # the gradient is all decay, and Adam's first step is the rate
