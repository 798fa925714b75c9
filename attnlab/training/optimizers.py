"""The registries of optimisers and of learning rate schedules."""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import unwrap
from types import FunctionType, MappingProxyType

import torch
import torch._compile
from torch.nn import Parameter
from torch.optim import SGD, Adam, AdamW, Optimizer

from attnlab.training.specs import TrainSpec

MOMENTUM = 0.9
"""The momentum of SGD (Sutskever et al. 2013)."""


@dataclass(frozen=True, slots=True)
class OptimizerEntry:
    """One optimiser. ``build(parameters, rate, weight_decay, fused)`` makes it; ``fused`` uses one kernel per step."""

    name: str
    title: str
    about: str
    build: Callable[[Iterable[Parameter], float, float, bool], Optimizer]


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule. ``share(step, steps, warmup)`` is the rate after the warm-up, as a share of the full rate."""

    name: str
    title: str
    about: str
    share: Callable[[int, int, int], float]


OPTIMIZERS: Mapping[str, OptimizerEntry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            OptimizerEntry(
                "sgd",
                "SGD",
                f"Gradient descent with momentum {MOMENTUM:g} (Sutskever et al. 2013).",
                lambda p, rate, decay, fused: SGD(p, rate, MOMENTUM, weight_decay=decay, fused=fused),
            ),
            OptimizerEntry(
                "adam",
                "Adam",
                "Scales each step by the mean and squared gradients (Kingma & Ba 2015); decay joins the gradient.",
                lambda p, rate, decay, fused: Adam(p, rate, weight_decay=decay, fused=fused),
            ),
            OptimizerEntry(
                "adamw",
                "AdamW",
                "Adam, with the decay applied to the weights directly (Loshchilov & Hutter 2019).",
                lambda p, rate, decay, fused: AdamW(p, rate, weight_decay=decay, fused=fused),
            ),
        )
    }
)

SCHEDULES: Mapping[str, Schedule] = MappingProxyType(
    {
        schedule.name: schedule
        for schedule in (
            Schedule("constant", "Constant", "The rate stays the same.", lambda step, steps, warmup: 1.0),
            Schedule(
                "linear",
                "Linear",
                "Falls to 0 at the last step, in a straight line.",
                lambda step, steps, warmup: 1 - _find_progress(step, steps, warmup),
            ),
            Schedule(
                "cosine",
                "Cosine",
                "Falls to 0 at the last step, slowly at both ends (Loshchilov & Hutter 2017).",
                lambda step, steps, warmup: (1 + math.cos(math.pi * _find_progress(step, steps, warmup))) / 2,
            ),
            Schedule(
                "inverse-sqrt",
                "1/√step",
                "Falls with the square root of the step after the warm-up (Vaswani et al. 2017).",
                lambda step, steps, warmup: math.sqrt(max(warmup, 1) / max(step, warmup, 1)),
            ),
        )
    }
)


def _find_progress(step: int, steps: int, warmup: int) -> float:
    """Return the share of the steps after the warm-up that are done, 0 to 1."""
    return min(max(step - warmup, 0) / max(steps - warmup, 1), 1.0)


def compute_rate(train: TrainSpec, step: int) -> float:
    """Return the learning rate after ``step`` steps; during the warm-up it rises linearly to ``train.rate``."""
    if step < train.warmup:
        return train.rate * (step + 1) / train.warmup
    return train.rate * SCHEDULES[train.schedule].share(step, train.steps, train.warmup)


def create_optimizer(train: TrainSpec, parameters: Iterable[Parameter], device: torch.device) -> Optimizer:
    """Return the optimiser of a run."""
    _leave_compiler_unloaded()
    entry = OPTIMIZERS[train.optimizer]
    return entry.build(parameters, train.rate, train.weight_decay, device.type in ("cpu", "cuda"))


def take_step(optimizer: Optimizer) -> None:
    """Change the parameters by their gradients, as ``optimizer.step()`` does, without loading torch's compiler."""
    with torch.no_grad():
        unwrap(type(optimizer).step)(optimizer)


def _leave_compiler_unloaded() -> None:
    """Let optimisers be made without torch's compiler, which attnlab does not use.

    torch loads it (torch 2.13: 1.8 s, 830 modules) at the first call of a method that must not be compiled, only to ask
    it for a wrapper, which it keeps in an attribute. Here the wrapper is the method itself.
    """
    if "torch._dynamo" in sys.modules:
        return
    for method in vars(Optimizer).values():
        if isinstance(method, FunctionType) and method.__code__.co_filename == torch._compile.__file__:
            inner: FunctionType = unwrap(method)
            inner.__dict__.setdefault("__dynamo_disable", inner)
