"""Optimisers and schedules: the rate at each step, and falling losses for every pair."""

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from torch.nn import Parameter

import attnlab
from attnlab.training.optimizers import OPTIMIZERS, SCHEDULES, compute_rate, create_optimizer, take_step
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


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_a_step_is_that_of_torch_to_the_bit(name: str) -> None:
    def after(step: Callable[[torch.optim.Optimizer], object]) -> torch.Tensor:
        weight = Parameter(torch.linspace(-1, 1, 12))
        optimizer = create_optimizer(replace(TRAIN, optimizer=name, weight_decay=0.1), [weight], torch.device("cpu"))
        for power in (1, 2, 3):
            weight.grad = torch.linspace(-1, 2, 12) ** power
            step(optimizer)
        return weight.detach()

    assert torch.equal(after(take_step), after(lambda optimizer: optimizer.step()))


def test_training_never_loads_the_compiler_of_torch() -> None:
    code = """
import sys
from attnlab.training.optimizers import OPTIMIZERS
from attnlab.training.trainer import Trainer
from tests.training.runs import tiny
for name in OPTIMIZERS:
    trainer = Trainer(tiny(steps=3, optimizer=name))
    trainer.evaluate()
    trainer.take()
    Trainer(tiny(steps=3, optimizer=name), trainer.make_checkpoint().state).take()
print("torch._dynamo" in sys.modules)
"""
    root = Path(attnlab.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)
    assert (done.stdout, done.stderr) == ("False\n", "")
