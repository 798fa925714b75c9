"""The messages of a training run and the commands to it: frozen values that are sent between processes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]
"""Named arrays: the weights of a model (float32, by the names of its state dict), or a whole checkpoint."""


@dataclass(frozen=True, slots=True)
class Point:
    """One step of training: the loss of its batch before the step, and the learning rate of the step."""

    step: int
    loss: float
    rate: float


@dataclass(frozen=True, slots=True)
class Metric:
    """The evaluation of the held-out examples after ``step`` steps: loss, shares of right tokens and right examples.

    ``right`` and ``exact`` are NaN if the task is about numbers, not tokens. ``by_length`` holds (length, share of
    examples of that length that are entirely right), empty if all lengths are equal. ``gradients`` holds (layer, norm
    of its gradient before clipping) of the step before; empty if that step was not measured, as before the first one.
    """

    step: int
    loss: float
    right: float
    exact: float
    by_length: tuple[tuple[int, float], ...] = ()
    gradients: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """The model is built: its number of parameters, how many of them are trained, and its device.

    ``digest`` is the SHA-256 of the user's own text that it learns from, "" without one.
    """

    parameters: int
    trainable: int
    device: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress: ``step`` steps done in ``seconds`` of training, and the points and metrics since the last message.

    ``weights`` are those after ``step``, None if they were not wanted; ``moment`` if they should be recorded.
    """

    step: int
    seconds: float
    points: tuple[Point, ...] = ()
    metrics: tuple[Metric, ...] = ()
    weights: Arrays | None = None
    moment: bool = False
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything needed to continue exactly from here: weights, optimiser and random state, as arrays by name."""

    step: int
    seconds: float
    state: Arrays


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over; ``reason`` is "steps", "right", "loss", "stopped", or "nan" with the step in ``sentence``."""

    step: int
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The run cannot continue, with the reason in one sentence; ``details`` is the traceback, for the log.

    ``unexpected`` if the program is at fault, not the settings or the computer.
    """

    sentence: str
    details: str = ""
    unexpected: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was refused, with the reason in one sentence; nothing has changed, and the run continues."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause after the current step."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Continue after a pause."""


@dataclass(frozen=True, slots=True)
class Step:
    """Take one step and pause."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End after the current step."""


@dataclass(frozen=True, slots=True)
class Want:
    """Send the weights with the next message: the previous ones have been drawn. Several of these count as one."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Record a moment every ``steps`` steps from now on (the recorder thins them out as it grows)."""

    steps: int


@dataclass(frozen=True, slots=True)
class Put:
    """Replace weights, named as in the state dict; those not named stay. The optimiser's state is kept."""

    weights: Arrays


Message = Started | Progress | Checkpoint | Refused | Ended | Failed
Command = Pause | Resume | Step | Stop | Want | Interval | Put
