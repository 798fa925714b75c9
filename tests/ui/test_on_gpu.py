"""The window on a GPU: every view of the playground, and an edit."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

import attnlab
from attnlab.compute.engine import devices
from attnlab.document.settings import Settings
from tools import gallery
from tools.gallery_window import list_others

if TYPE_CHECKING:
    from tests.ui.conftest import Person

pytestmark = pytest.mark.skipif(not torch.accelerator.is_available(), reason="needs a GPU")
GPU = devices()[-1]
VIEWS = {view.name: view for view in gallery.list_views() if view.name.startswith(("lens-", "state-", "size-"))}
TITLE = "Metal" if GPU == "mps" else GPU.upper().replace("CUDA", "GPU")


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_of_the_playground_computes_on_a_gpu(name: str, sit_down: Callable[..., "Person"]) -> None:
    view = VIEWS[name]
    person = sit_down(view.preset, size=(1366, 768), settings=Settings(reduced_motion=True))
    person.choose("Device and number format", f"{TITLE} float32")
    person.settle()
    view.prepare(person.playground, person.window)
    person.wait_for(lambda: not person.playground.lane.busy)
    assert person.document.scene.device == GPU
    assert person.message() == ""
    exact = attnlab.compute(person.experiment, dtype="float64")
    on_gpu = attnlab.compute(person.experiment, device=GPU)
    for stage in exact.all_stages:
        np.testing.assert_allclose(on_gpu.array(stage), exact.array(stage), atol=2e-3, rtol=2e-3, err_msg=stage)
    for other in list_others(person.window):
        other.close()


def test_an_edit_is_computed_on_the_gpu_and_undone(person: "Person") -> None:
    person.choose("Device and number format", f"{TITLE} float32")
    person.check_every_number()
    before = person.painted("weights")
    person.type_number(0, 0, "5")
    person.check_every_number()
    assert not np.array_equal(person.painted("weights"), before)
    person.undo()
    person.check_every_number()
    np.testing.assert_array_equal(person.painted("weights"), before)
