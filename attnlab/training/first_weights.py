"""The weights that a run begins with, drawn as its trainer draws them, without what only training needs."""

import torch

from attnlab.base.errors import TrainingError
from attnlab.training import models, run_state, tasks
from attnlab.training.messages import Arrays
from attnlab.training.own_random import OwnRandom
from attnlab.training.specs import RunSpec


def first_weights(spec: RunSpec) -> Arrays:
    """Return the first weights of a run by name, float32, on whatever device it trains.

    A trainer would tell them too, but it makes an optimiser, for which torch loads 800 modules: seconds that a window
    would wait for its first maps, and for its end if it is closed meanwhile.

    Raises:
        TrainingError: settings that cannot be.
    """
    problem = tasks.check(spec)
    if problem:
        raise TrainingError(problem)
    with OwnRandom(spec.train.seed, torch.device("cpu")).lent():
        return run_state.weights(models.build(spec.model, tasks.data(spec)))
