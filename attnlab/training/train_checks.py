"""Checks of the training settings: rates, steps, batches and their memory, stop conditions, device."""

import math

from attnlab.base.errors import DeviceError
from attnlab.compute.engine import resolve_device
from attnlab.training.optimizers import OPTIMIZERS, SCHEDULES
from attnlab.training.specs import RunSpec, TrainSpec
from attnlab.training.tasks.data import Data

MOST = 10**9
"""The maximum of steps and of settings in steps."""
MOST_BATCH = 1 << 16
MOST_SEED = 2**32 - 1
MOST_MEMORY = 4 << 30
"""The maximum memory of one step in bytes, roughly estimated: more would bring a personal computer to a halt."""
_ROWS, _FLOAT = 12, 4
"""Rows of d_model numbers that a layer keeps per token for its gradients, and bytes per number."""


def check_train(train: TrainSpec) -> str:
    """Return one sentence that names an invalid training setting and a valid one, "" if all are valid."""
    if train.optimizer not in OPTIMIZERS:
        return f"The optimiser {train.optimizer!r} is unknown; there are {', '.join(OPTIMIZERS)}."
    if train.schedule not in SCHEDULES:
        return f"The schedule {train.schedule!r} is unknown; there are {', '.join(SCHEDULES)}."
    problem = _check_whole(train) or _check_numbers(train)
    if problem:
        return problem
    try:
        resolve_device(train.device)
    except DeviceError as error:
        return str(error)
    return ""


def check_memory(spec: RunSpec, data: Data) -> str:
    """Return a sentence that a batch needs too much memory, roughly estimated, and which size fits; "" if it fits."""
    one, batch = _estimate_example(spec, data), spec.train.batch
    if batch * one <= MOST_MEMORY:
        return ""
    fits = MOST_MEMORY // one
    do = f"a batch of {fits:,} would do" if fits else "a smaller model would do"
    return f"A batch of {batch:,} takes about {batch * one / 2**30:,.0f} GiB for one step; {do}."


def _estimate_example(spec: RunSpec, data: Data) -> int:
    """Return roughly the bytes of one example in a step: outputs, activations of the layers, attention weights."""
    model, length = spec.model, data.longest + data.longest_source
    numbers = len(data.vocabulary) + model.layers * (_ROWS * model.d_model + model.heads * length)
    return length * numbers * _FLOAT


def _check_whole(train: TrainSpec) -> str:
    for name, title, least, most in (
        ("steps", "The number of steps", 1, MOST),
        ("batch", "The batch", 1, MOST_BATCH),
        ("warmup", "The warm-up", 0, MOST),
        ("evaluate_every", "The number of steps between evaluations", 1, MOST),
        ("seed", "The seed", 0, MOST_SEED),
    ):
        value = getattr(train, name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            return f"{title} is {value!r}; it needs a whole number from {least:,} to {most:,}."
    return ""


def _check_numbers(train: TrainSpec) -> str:
    if not _is_finite(train.rate) or train.rate <= 0:
        return f"The rate is {train.rate!r}; it needs a number above 0, such as 0.001."
    for name, title in (
        ("weight_decay", "The weight decay"),
        ("clip", "The largest norm of the gradient"),
        ("stop_loss", "The loss to stop at"),
    ):
        value = getattr(train, name)
        if not _is_finite(value) or value < 0:
            return f"{title} is {value!r}; it needs a number of 0 or more."
    if not _is_finite(train.stop_right) or not 0 <= train.stop_right <= 1:
        return f"The share of right tokens to stop at is {train.stop_right!r}; it needs a number from 0 to 1."
    return ""


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
