"""The settings of a run as values: task, model and training. The registries check them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The sizes of a model. ``kind`` is an entry of :mod:`attnlab.training.models`, ``positions`` one of
    :mod:`attnlab.attention.registries.positions`; ``norm`` is "before", "after" or "none"; ``d_ff`` 0 means no
    feed-forward part.

    Recurrent models have ``d_model`` hidden units, one head and no positions.
    """

    kind: str = "decoder"
    layers: int = 2
    heads: int = 4
    d_model: int = 64
    d_ff: int = 256
    norm: str = "before"
    positions: str = "learned"
    dropout: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """The settings of training. ``rate`` is reached after ``warmup`` steps and then follows ``schedule``: "constant",
    "linear", "cosine" or "inverse-sqrt". ``clip`` is the maximum norm of the gradient, 0 for no limit.

    A run ends after ``steps``, when a share ``stop_right`` of the held-out tokens is right, or when the held-out loss
    is below ``stop_loss``; 0 disables a condition. The held-out examples are evaluated every ``evaluate_every`` steps.

    The context of ``heads_off`` is 0 in every step and every view, see :mod:`attnlab.training.heads_off`.
    """

    optimizer: str = "adamw"
    rate: float = 3e-3
    schedule: str = "cosine"
    warmup: int = 50
    batch: int = 64
    steps: int = 2000
    weight_decay: float = 0.01
    clip: float = 1.0
    stop_right: float = 0.0
    stop_loss: float = 0.0
    evaluate_every: int = 50
    device: str = "cpu"
    seed: int = 0
    heads_off: str = ""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A whole run: the name of a task, its options by name, the model and the training."""

    task: str = "reverse"
    options: Mapping[str, int | float | str] = field(default_factory=dict)
    model: ModelSpec = ModelSpec()
    train: TrainSpec = TrainSpec()


HeadsBefore = tuple[tuple[int, str], ...]
"""The ``heads_off`` of a run before it went on with others: each with the last step for which it holds, in order."""


def find_spec_at(spec: RunSpec, before: HeadsBefore, step: int) -> RunSpec:
    """Return the settings of a run at a step: with the heads off that were off then."""
    off = next((off for until, off in before if step <= until), spec.train.heads_off)
    return spec if off == spec.train.heads_off else replace(spec, train=replace(spec.train, heads_off=off))


def replace_field(spec: RunSpec, name: str, value: Any) -> RunSpec:
    """Return a run with one field of its model or its training changed; other layers or heads switch all heads on.

    Raises:
        KeyError: neither has such a field.
    """
    if name in {field.name for field in fields(ModelSpec)}:
        off = "" if name in ("layers", "heads") else spec.train.heads_off  # other heads would be off
        train = replace(spec.train, heads_off=off)
        return replace(spec, model=replace(spec.model, **{name: value}), train=train)
    if name in {field.name for field in fields(TrainSpec)}:
        return replace(spec, train=replace(spec.train, **{name: value}))
    raise KeyError(name)
