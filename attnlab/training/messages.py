"""What a run tells while it goes on, and what it can be told: plain frozen values that travel between processes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[np.generic]]
"""Named arrays: the weights of a model (float32, by the names of its state dict), or a whole checkpoint."""


@dataclass(frozen=True, slots=True)
class Point:
    """What one step of training gave: the loss of its batch, before the step was taken, and the rate that it took."""

    step: int
    loss: float
    rate: float


@dataclass(frozen=True, slots=True)
class Metric:
    """What the held-out examples gave after ``step`` steps: loss, the share of tokens and of whole examples right.

    Where numbers are learned and not tokens, ``right`` and ``exact`` are NaN. ``by_length`` are (length, share of
    examples of that length wholly right), empty where lengths do not differ.
    """

    step: int
    loss: float
    right: float
    exact: float
    by_length: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Started:
    """The model is made: its numbers, how many of them learn, and the device it is on.

    ``digest`` is the SHA-256 of the text of a person's own that it learns from, "" without.
    """

    parameters: int
    trainable: int
    device: str
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is: ``step`` steps are done in ``seconds`` of training; points and metrics since the last message.

    ``weights`` are those after ``step``, None when nobody asked; ``moment`` says that they are to be recorded.
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
    """Everything that goes on exactly from here: weights, optimiser, random state, as arrays by name."""

    step: int
    seconds: float
    state: Arrays


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over: "steps", "right", "loss", "stopped", or "nan" with the step in ``sentence``."""

    step: int
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The run cannot go on, for the reason in one sentence; ``details`` is the traceback, for the log.

    ``unexpected`` if the program is at fault, not the settings or the machine.
    """

    sentence: str
    details: str = ""
    unexpected: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """A command cannot be done, for the reason in one sentence; nothing was changed, and the run goes on."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop after the step that is being taken, and wait."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Step:
    """Take one step and wait."""


@dataclass(frozen=True, slots=True)
class Stop:
    """End after the step that is being taken."""


@dataclass(frozen=True, slots=True)
class Want:
    """Send the weights with the next message: a picture was drawn, and another can be. Never more than one waits."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Record a moment every so many steps from now on (the recorder thins out as it grows)."""

    steps: int


@dataclass(frozen=True, slots=True)
class Put:
    """Go on with other weights, named as in the state dict; those not named stay. The optimiser's state is kept."""

    weights: Arrays


Message = Started | Progress | Checkpoint | Refused | Ended | Failed
Command = Pause | Resume | Step | Stop | Want | Interval | Put
