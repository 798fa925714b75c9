"""First weights without a trainer equal the trainer's, bit for bit, and load little."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from attnlab.base.errors import TrainingError
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.models import KINDS
from attnlab.training.tasks import TASKS, make_spec
from attnlab.training.trainer import Trainer
from tests.patience import PATIENCE_S

SAMPLES = {kind: name for name in reversed(TASKS) for kind in TASKS[name].kinds}
"""The first compatible task for every kind of model."""
LOOK = """
import sys
from attnlab.training.tasks import make_spec
from attnlab.ui.train.inspector import Inspector

spec, eyes = make_spec("reverse"), Inspector()
eyes.prepare()
checked = eyes.check(spec)
assert eyes.look(spec, 0, None, checked.probe, gradients=True).gradients
assert eyes.predict_examples(spec, None, 2)
assert eyes.generate_text(spec, None, checked.probe, 4, (0.8, 0, 0))
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_first_weights_equal_those_of_the_trainer(kind: str) -> None:
    spec = make_spec(SAMPLES[kind], kind)
    spec = replace(spec, train=replace(spec.train, seed=3))
    before = torch.get_rng_state()
    found, trained = draw_first_weights(spec), Trainer(spec).read_weights()
    assert torch.equal(torch.get_rng_state(), before)
    assert found.keys() == trained.keys()
    for name, array in found.items():
        np.testing.assert_array_equal(array, trained[name], err_msg=name)


def test_invalid_settings_are_refused() -> None:
    spec = make_spec("reverse")
    with pytest.raises(TrainingError, match="heads"):
        draw_first_weights(replace(spec, model=replace(spec.model, heads=5)))


@pytest.mark.slow
def test_a_first_look_does_not_load_the_training_modules() -> None:
    found = subprocess.run([sys.executable, "-c", LOOK], check=True, timeout=PATIENCE_S, capture_output=True, text=True)
    assert found.stdout.strip() == "False"


@pytest.mark.slow
def test_threads_that_draw_at_once_get_the_weights_of_their_seeds() -> None:
    spec = make_spec("reverse")
    specs = [replace(spec, train=replace(spec.train, seed=seed)) for seed in range(4)]
    expected = [draw_first_weights(each) for each in specs]

    def draw(seed: int) -> bool:
        Viewer(specs[seed])  # draws numbers too, which are thrown away
        drawn = draw_first_weights(specs[seed])
        return all(np.array_equal(drawn[name], array) for name, array in expected[seed].items())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(draw, [seed % 4 for seed in range(80)]))
