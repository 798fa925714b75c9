"""A training on a GPU, watched in the window, and the way back to the playground."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnlab.compute.engine import devices
from tests.ui.train.pupil import Pupil, tiny

GPU = devices()[-1]


@pytest.mark.skipif(not torch.accelerator.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("task", ["copy", "reverse"])
def test_a_model_trains_on_a_gpu_and_its_layer_opens(task: str, pupil: Pupil) -> None:
    spec = tiny(task, steps=30)
    pupil.begin(replace(spec, train=replace(spec.train, device=GPU)))
    assert pupil.trainer.header.main.isEnabled()
    pupil.train_to_the_end()
    assert pupil.run.device == GPU
    assert np.isfinite(pupil.run.losses).all()
    pupil.wait_for(lambda: pupil.shown_step == 30)
    trip = pupil.tools.round_trip
    trip.open(trip.layers[0], -1)
    pupil.wait_for_playground()
    pupil.check_every_number()
