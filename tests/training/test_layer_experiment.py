"""A layer of a model computes the same in the playground, and its edited weights can be returned."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import attnlab
from attnlab import AttentionConfig, Weights
from attnlab.attention.edits.layer_tables import with_table, with_weights
from attnlab.base.errors import TrainingError
from attnlab.training import models, tasks
from attnlab.training.batch import PAD, Batch
from attnlab.training.look import Viewer
from attnlab.training.specs import ModelSpec, RunSpec

Arrays = Mapping[str, NDArray[np.float32]]
TASK = {"encoder": "masked"}


def run_of(kind: str, **sizes: object) -> RunSpec:
    spec = tasks.make_spec(TASK.get(kind, "reverse"), kind)
    return replace(spec, model=replace(spec.model, **sizes))


def some_weights(spec: RunSpec) -> Arrays:
    """Return weights that all differ from the first ones, so that an omitted one is noticed."""
    torch.manual_seed(1)
    model = models.build(spec.model, tasks.make_data(spec))
    return {name: (t + 0.1 * torch.randn_like(t)).numpy() for name, t in model.state_dict().items()}


class Padded:
    """A task whose probes end with PAD, like rows of a batch with longer ones."""

    def __init__(self, data: tasks.Data) -> None:
        self._data = data

    def __getattr__(self, name: str) -> object:
        return getattr(self._data, name)

    def make_probe(self, text: str) -> Batch:
        batch = self._data.make_probe(text)
        two = torch.full((1, 2), PAD)
        source = None if batch.source is None else torch.cat([batch.source, two], 1)
        return Batch(torch.cat([batch.inputs, two], 1), torch.cat([batch.targets, two - 100], 1), source)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(
    ("kind", "norm", "positions"),
    [
        ("attention", "before", "sinusoidal"),
        ("decoder", "before", "learned"),
        ("decoder", "after", "rope"),
        ("decoder", "none", "alibi"),
        ("encoder", "after", "t5"),
        ("encoder", "before", "rope"),
        ("encoder-decoder", "after", "sinusoidal"),
        ("encoder-decoder", "before", "t5"),
        ("bahdanau", "before", "learned"),
        ("luong", "before", "learned"),
    ],
)
def test_every_layer_computes_the_same_in_the_playground(kind: str, norm: str, positions: str, padded: bool) -> None:
    spec = run_of(kind, norm=norm, positions=positions, dropout=0.2)
    weights, data = some_weights(spec), tasks.make_data(spec)
    viewer = Viewer(spec, Padded(data) if padded else data)  # type: ignore[arg-type]
    probe = " ".join(data.probe_text.split()[:6])
    if not padded:
        probe = data.probe_text
    assert viewer.layers
    for maps in viewer.look(0, weights, probe).maps:
        e = viewer.make_experiment(weights, probe, maps.layer)
        trace = attnlab.compute(e)
        np.testing.assert_allclose(trace["weights"], maps.weights, rtol=0, atol=1e-6)
        output = viewer.compute_stage(weights, probe, maps.layer, "output")
        np.testing.assert_allclose(trace["output"], output, rtol=1e-6, atol=1e-6)
        assert (e.tokens, e.key_tokens) == (maps.query_tokens, maps.key_tokens)
        if maps.hidden is None:
            assert trace.hidden is None
        else:
            np.testing.assert_array_equal(trace.hidden, maps.hidden)
        if padded:
            places = [i for i, token in enumerate(maps.key_tokens) if token == data.vocabulary[PAD]]
            assert places
            assert maps.hidden is not None
            assert maps.hidden[:, places].all()
            assert e.config.mask is not None
        back = viewer.replace_layer(weights, maps.layer, e)
        assert list(back) == list(weights)
        assert all(np.array_equal(back[name], weights[name]) for name in weights)


def test_inputs_are_normalised_with_a_pre_norm() -> None:
    spec = run_of("decoder", norm="before")
    weights = some_weights(spec)
    e = Viewer(spec).make_experiment(weights, "cadb", "decoder 1")
    row = tasks.make_data(spec).make_probe("cadb").inputs[0]
    x = weights["embedding.table"][row] + weights["embedding.positions.P"][: len(row)]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    x = x * weights["blocks.0.norms.0.weight"] + weights["blocks.0.norms.0.bias"]
    np.testing.assert_allclose(e.embeddings, x, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "layer", "table"),
    [
        ("decoder", "decoder 2", "W_q"),
        ("decoder", "decoder 1", "b_v"),
        ("encoder-decoder", "cross 1", "W_o"),
        ("bahdanau", "alignment", "v_a"),
        ("luong", "alignment", "W_a"),
    ],
)
def test_an_edited_number_is_transferred_back(kind: str, layer: str, table: str) -> None:
    spec = run_of(kind)
    weights, viewer = some_weights(spec), Viewer(spec)
    e = viewer.make_experiment(weights, "cadb", layer)
    numbers = (e.weights.extra[table] if table in e.weights.extra else getattr(e.weights, table)).clone()
    numbers.view(-1)[3] = 0.0
    edited = with_table(e, table, numbers[None] if numbers.ndim == 1 else numbers)
    back = viewer.replace_layer(weights, layer, edited)
    changed = [name for name in weights if not np.array_equal(back[name], weights[name])]
    assert len(changed) == 1
    assert changed[0].endswith(f".{table}")
    assert np.flatnonzero(back[changed[0]] != weights[changed[0]]).tolist() == [3]
    assert back[changed[0]].dtype == np.float32
    again = viewer.make_experiment(back, "cadb", layer)
    rows = slice(1) if kind == "bahdanau" else slice(None)  # whose later queries follow from what the first ones got
    there, here = (attnlab.compute(one)["weights"][:, rows] for one in (edited, again))
    np.testing.assert_allclose(here, there, rtol=0, atol=1e-6)


def test_a_removed_weight_returns_as_identity_and_a_bias_as_zeros() -> None:
    spec = run_of("decoder")
    weights, viewer = some_weights(spec), Viewer(spec)
    e = viewer.make_experiment(weights, "cadb", "decoder 1")
    back = viewer.replace_layer(weights, "decoder 1", with_weights(e, W_o=None, b_q=None))
    np.testing.assert_array_equal(back["blocks.0.attention.W_o"], np.eye(spec.model.d_model))
    assert not back["blocks.0.attention.b_q"].any()


def test_tokens_and_embeddings_are_not_transferred() -> None:
    spec = run_of("decoder")
    weights, viewer = some_weights(spec), Viewer(spec)
    e = viewer.make_experiment(weights, "cadb", "decoder 1")
    n = len(e.tokens)
    other = replace(e, tokens=["x"] * n, embeddings=torch.zeros_like(e.embeddings))
    other = replace(other, config=replace(e.config, mask=torch.ones(n, n, dtype=torch.bool)))
    back = viewer.replace_layer(weights, "decoder 1", other)
    assert all(np.array_equal(back[name], weights[name]) for name in weights)


def test_an_unsupported_edit_is_refused_in_a_sentence() -> None:
    spec = run_of("decoder", heads=4)
    weights, viewer = some_weights(spec), Viewer(spec)
    e = viewer.make_experiment(weights, "cadb", "decoder 1")

    def refused(config: AttentionConfig, sentence: str) -> None:
        with pytest.raises(TrainingError, match=sentence):
            viewer.replace_layer(weights, "decoder 1", replace(e, config=config))

    refused(replace(e.config, n_heads=2), "n_heads is 2 in the playground and 4 in this layer; only the numbers")
    refused(replace(e.config, causal=False), "causal is False in the playground and True in this layer")
    refused(replace(e.config, normalizer="sparsemax"), "normalizer is 'sparsemax' in the playground and 'softmax'")
    refused(replace(e.config, temperature=2.0), "options is {'temperature': 2.0} in the playground and {}")
    refused(replace(e.config, ablated=(1, 3)), "Heads off: 1, 3 in the playground, none in this layer. Only numbers")
    d = spec.model.d_model
    wide = replace(e, weights=replace(e.weights, W_o=torch.zeros(d, 5), b_o=None))
    with pytest.raises(
        TrainingError, match=rf"W_o has shape \[{d}, 5\] in the playground; this layer needs \[{d}, {d}\]"
    ):
        viewer.replace_layer(weights, "decoder 1", wide)


def test_projections_cannot_be_added_to_a_layer_without_them() -> None:
    spec = run_of("luong")
    weights, viewer = some_weights(spec), Viewer(spec)
    e = viewer.make_experiment(weights, "cadb", "alignment")
    assert e.weights.W_q is None
    with pytest.raises(
        TrainingError, match="W_v was added in the playground, but this layer has none; W_a can go back"
    ):
        viewer.replace_layer(weights, "alignment", with_weights(e, W_v=torch.eye(spec.model.d_model)))


def test_the_layer_of_the_sum_task_opens_with_its_numbers() -> None:
    spec = tasks.make_spec("sum", "attention")
    weights, viewer = some_weights(spec), Viewer(spec)
    probe = tasks.make_data(spec).probe_text
    e = viewer.make_experiment(weights, probe, "attention 1")
    assert e.embeddings.shape == (10, 512)
    np.testing.assert_array_equal(e.embeddings, tasks.make_data(spec).make_probe(probe).inputs[0])
    np.testing.assert_allclose(
        attnlab.compute(e)["weights"], viewer.look(0, weights, probe).maps[0].weights, rtol=0, atol=1e-6
    )
    assert isinstance(e.weights, Weights)
    assert spec.model == ModelSpec("attention", 1, 8, 512, 0, "none", "none", 0.0)
