"""A layer moved between a training and the playground, as values; used by the worker, without widgets."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnlab.training.messages import Arrays, Checkpoint
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from attnlab.ui.train.inspector import Inspector

if TYPE_CHECKING:
    from collections.abc import Callable

    from attnlab.attention.experiment import Experiment

MORE_STEPS = 0.25
"""The share of its steps by which a finished run is extended to continue with edited weights."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """The source of the open experiment: a layer of a run at a step, with a probe.

    ``weights`` are those of the whole model; ``head`` is the one in view, −1 for all. ``whole`` is whether the norms
    and the feed-forward around the layer came too.
    """

    run: Run | None
    spec: RunSpec
    step: int
    weights: Arrays
    probe: str
    layer: str
    head: int
    whole: bool = False

    @property
    def title(self) -> str:
        """Its title in the playground."""
        from attnlab.training.tasks import TASKS

        block = ", whole block" if self.whole else ""
        return f"{TASKS[self.spec.task].title} · {self.layer}{block} · step {self.step:,}"


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A layer as an experiment, with its origin."""

    origin: Origin
    experiment: "Experiment"


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """The weights of the whole model to continue with; with a checkpoint if no process waits for them."""

    origin: Origin
    weights: Arrays
    checkpoint: Checkpoint | None


def has_blocks(spec: RunSpec) -> bool:
    """Return whether the layers of a model stand in blocks, with norms or a feed-forward around them."""
    from attnlab.training.models import KINDS
    from attnlab.training.tasks import sums

    return "norm" in KINDS[spec.model.kind].fields and spec.task != sums.NAME  # its layers stand alone


def open_layer(made: "Callable[[Arrays], Origin]", spec: RunSpec, weights: Arrays | None) -> Opened:
    """Return a layer as an experiment; without weights, at the first ones."""
    from attnlab.training.look import Viewer

    origin = made(weights if weights is not None else Inspector().make_first_weights(spec))
    return Opened(origin, Viewer(spec).make_experiment(origin.weights, origin.probe, origin.layer, origin.whole))


def insert_layer(origin: Origin, experiment: "Experiment", stands: bool) -> Sent:
    """Return the weights with those of an experiment; unless the process still waits there, with a checkpoint.

    The optimiser then starts anew: its state at that step is not stored.
    """
    from attnlab.training.look import Viewer
    from attnlab.training.trainer import Trainer

    weights = Viewer(origin.spec).replace_layer(origin.weights, origin.layer, experiment)
    if stands:
        return Sent(origin, weights, None)
    trainer = Trainer(replace(origin.spec, train=replace(origin.spec.train, device="cpu")))
    trainer.replace_weights(weights)
    trainer.step, trainer.seconds = origin.step, origin.run.seconds if origin.run is not None else 0.0
    return Sent(origin, weights, trainer.make_checkpoint())


def extend_run(spec: RunSpec, step: int) -> RunSpec:
    """Return settings with steps left after this one."""
    steps = step + max(1, int(spec.train.steps * MORE_STEPS))
    return spec if step < spec.train.steps else replace(spec, train=replace(spec.train, steps=steps))
