"""What a head is worth equals the metric of the model whose rows of W_o for that head are 0."""

import numpy as np
import pytest

from attnlab.training import models, tasks
from attnlab.training.batch import Batch
from attnlab.training.head_effects import MOST_EXAMPLES, measure_heads
from attnlab.training.look import Viewer
from attnlab.training.messages import Metric
from attnlab.training.metrics import compute_metric
from tests.training.test_look import Arrays, first_weights


def measure_without(viewer: Viewer, weights: Arrays, layer: str, head: int) -> Metric:
    attention = viewer.model.layers[layer]
    prefix = next(name for name, module in viewer.model.named_modules() if module is attention)
    d_k = weights[f"{prefix}.W_o"].shape[0] // attention.config.n_heads
    changed = {name: np.array(array) for name, array in weights.items()}
    changed[f"{prefix}.W_o"][head * d_k : (head + 1) * d_k] = 0
    viewer.load(changed)
    held_out = viewer.data.held_out
    n = min(MOST_EXAMPLES, len(held_out.inputs))
    source = None if held_out.source is None else held_out.source[:n]
    lengths = viewer.data.held_out_lengths[:n]
    return compute_metric(viewer.model, Batch(held_out.inputs[:n], held_out.targets[:n], source), lengths, 3)


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder"])
def test_a_head_that_is_off_is_one_whose_output_is_nothing(kind: str) -> None:
    spec = tasks.make_spec("reverse", kind)
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    found = measure_heads(viewer, weights, 3)
    assert set(found.without) == {
        (name, head) for name, layer in viewer.model.layers.items() for head in range(layer.config.n_heads)
    }
    for (layer, head), metric in list(found.without.items())[::3]:
        expected = measure_without(viewer, weights, layer, head)
        assert metric.loss == pytest.approx(expected.loss, rel=1e-4)
        assert metric.right == pytest.approx(expected.right, abs=1e-6)


@pytest.mark.parametrize("kind", list(models.KINDS))
def test_every_kind_is_afterwards_what_it_was(kind: str) -> None:
    spec = tasks.make_spec("reverse", kind)
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    before = viewer.look(0, weights, "c a d b")
    found = measure_heads(viewer, weights, 0)
    after = viewer.look(0, weights, "c a d b")
    for one, other in zip(before.maps, after.maps, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
    assert after.predicted == before.predicted
    for layer, head in found.without:
        assert "without this head" in found.describe(layer, head, 0)
        assert found.describe(layer, head, 5).startswith("At step 0: ")
    assert found.describe("no layer", 0, 0) == ""
