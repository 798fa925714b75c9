"""The initial weights of a run, drawn as its trainer draws them but without making an optimiser."""

import torch

from attnlab.base.errors import TrainingError
from attnlab.training import models, run_state, tasks
from attnlab.training.messages import Arrays
from attnlab.training.own_random import OwnRandom
from attnlab.training.specs import RunSpec


def draw_first_weights(spec: RunSpec) -> Arrays:
    """Return the initial weights of a run by name, float32, the same for every device.

    A trainer has them too, but it makes an optimiser, for which torch loads 800 modules. That takes seconds and would
    delay the window's first maps, and its closing.

    Raises:
        TrainingError: the settings are not valid.
    """
    problem = tasks.check(spec)
    if problem:
        raise TrainingError(problem)
    with OwnRandom(spec.train.seed, torch.device("cpu")).use():
        return run_state.read_weights(models.build(spec.model, tasks.make_data(spec)))
