"""What is shown of a model equals forward passes done by hand, and text written token by token."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import attnlab
from attnlab.attention import edits
from attnlab.attention.stages.presence import find_last
from attnlab.base.errors import TrainingError
from attnlab.training import models, tasks
from attnlab.training.batch import IGNORED, PAD, Batch
from attnlab.training.block_experiment import find_block
from attnlab.training.look import Viewer, _read_numbers
from attnlab.training.specs import RunSpec

KINDS = tuple(models.KINDS)
Arrays = Mapping[str, NDArray[np.float32]]


def first_weights(spec: RunSpec, seed: int = 0) -> tuple[models.Model, Arrays]:
    torch.manual_seed(seed)
    model = models.build(spec.model, tasks.make_data(spec)).eval()
    return model, {name: tensor.numpy() for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_look_equals_a_forward_pass_on_the_probe(kind: str) -> None:
    spec = tasks.make_spec("reverse", kind)
    model, weights = first_weights(spec)
    look = Viewer(spec).look(7, weights, "c a d b")
    batch = tasks.make_data(spec).make_probe("c a d b")
    with torch.no_grad(), models.watch(model) as traces:
        assert look.loss == pytest.approx(float(models.compute_loss(model(batch), batch.targets)), rel=1e-5)
    assert (look.step, look.source) == (7, ("c", "a", "d", "b"))
    assert look.expected[:4] == ("b", "d", "a", "c")
    assert [maps.layer for maps in look.maps] == list(model.layers)
    for maps in look.maps:
        np.testing.assert_allclose(maps.weights, traces[maps.layer].join("weights")[0], rtol=0, atol=1e-6)
        assert maps.weights.shape[1:] == (len(maps.query_tokens), len(maps.key_tokens))
        assert maps.weights.dtype == np.float32
        np.testing.assert_allclose(maps.weights.sum(-1), 1, atol=1e-5)
        if maps.hidden is not None:
            assert not maps.weights[:, maps.hidden].any()


def test_maps_have_their_tokens_and_masks() -> None:
    spec = tasks.make_spec("reverse", "encoder-decoder")
    look = Viewer(spec).look(0, first_weights(spec)[1], "cadb")
    maps = {of.layer: of for of in look.maps}
    source, target = ("c", "a", "d", "b"), ("⟨", "b", "d", "a", "c")
    assert (maps["encoder 1"].query_tokens, maps["encoder 1"].key_tokens) == (source, source)
    assert (maps["decoder 1"].query_tokens, maps["decoder 1"].key_tokens) == (target, target)
    assert (maps["cross 2"].query_tokens, maps["cross 2"].key_tokens) == (target, source)
    assert maps["encoder 1"].hidden is None
    assert maps["cross 1"].hidden is None
    np.testing.assert_array_equal(maps["decoder 2"].hidden, np.triu(np.ones((5, 5), bool), 1))


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder", "luong", "bahdanau", "recurrent", "attention"])
def test_the_prediction_is_what_the_model_writes(kind: str) -> None:
    spec = tasks.make_spec("copy", kind)
    model, weights = first_weights(spec, 3)
    data = tasks.make_data(spec)
    look = Viewer(spec).look(0, weights, "cadbb")
    batch = data.make_probe("cadbb")
    first = int((batch.targets[0] != IGNORED).nonzero()[0])
    given = Batch(batch.inputs[:, : first + 1], batch.targets[:, : first + 1], batch.source)
    written = model.write(given, len(look.expected))[0]
    assert look.predicted == data.decode(written[written != PAD])


def test_a_look_may_leave_out_what_the_model_writes() -> None:
    spec = tasks.make_spec("reverse")
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    whole, read = (viewer.look(0, weights, viewer.data.probe_text, write=write) for write in (True, False))
    assert whole.answer.written
    assert not read.answer.written
    for one, other in zip(whole.maps, read.maps, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
    assert (read.expected, read.loss) == (whole.expected, whole.loss)


def test_text_continues_the_prompt_and_depends_on_the_seed() -> None:
    spec = tasks.make_spec("characters", "decoder")
    model, weights = first_weights(spec)
    data, viewer = tasks.make_data(spec), Viewer(spec)
    assert viewer.write_text(weights, "the ", 40, 1.0, 0, 5) == viewer.write_text(weights, "the ", 40, 1.0, 0, 5)
    assert viewer.write_text(weights, "the ", 40, 1.0, 0, 5) != viewer.write_text(weights, "the ", 40, 1.0, 0, 6)
    assert viewer.write_text(weights, "the ", 40, 9.0, 1, 5) == viewer.write_text(weights, "the ", 40)
    row = torch.tensor([[data.vocabulary.index(c) for c in "the "]])
    alone = data.decode(model.write(Batch(row, row), 6)[0])
    assert viewer.write_text(weights, "the ", 6) == "".join(alone)


def test_sampling_from_nan_is_refused() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    _, weights = first_weights(spec)
    huge = {name: np.full_like(array, 3e38) for name, array in weights.items()}
    with pytest.raises(TrainingError, match="the logits are not finite"):
        Viewer(spec).write_text(huge, "cadb", 4, 1.0)


def test_text_of_a_task_with_an_answer_starts_before_the_answer() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    _, weights = first_weights(spec, 1)
    viewer = Viewer(spec)
    assert viewer.write_text(weights, "cadb", 3) == "".join(viewer.look(0, weights, "cadb").predicted[:3])


def test_looking_keeps_random_states_and_weights() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    _, weights = first_weights(spec)
    kept = {name: array.copy() for name, array in weights.items()}
    for array in weights.values():
        array.flags.writeable = False
    state = torch.get_rng_state()
    viewer = Viewer(spec)
    viewer.look(0, weights, "cadb")
    viewer.write_text(weights, "cadb", 4, 1.0, 3, 2)
    viewer.compute_gradients(weights, "cadb")
    assert torch.equal(state, torch.get_rng_state())
    assert all(np.array_equal(kept[name], weights[name]) for name in kept)


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder", "luong", "bahdanau"])
def test_gradients_equal_the_change_of_the_loss(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tasks.make_spec("reverse", kind)
    model, weights = first_weights(spec)
    batch = tasks.make_data(spec).make_probe("cadb")
    maps = Viewer(spec).compute_gradients(weights, "cadb")
    assert [of.layer for of in maps] == list(model.layers)
    last = list(model.double().layers.values())[-1]
    more: dict[tuple[int, int, int], float] = {}
    asked: list[models.LayerTrace] = []
    evaluate = models.LayerTrace._evaluate

    def shifted(trace: models.LayerTrace, name: str) -> torch.Tensor:
        """Evaluate a stage with one attention weight of the last layer changed after softmax."""
        made = evaluate(trace, name)
        if name == "weights" and trace.experiment.weights is last:
            asked.append(trace)
            for (head, query, key), step in more.items():
                if made.shape[-2] > 1 or query == len(asked) - 1:  # Bahdanau's queries come one by one
                    made[0, head, query if made.shape[-2] > 1 else 0, key] += step
        return made

    def loss_with(cell: tuple[int, int, int], step: float) -> float:
        asked.clear()
        more.clear()
        more[cell] = step
        with torch.no_grad():
            return float(models.compute_loss(model(batch), batch.targets))

    monkeypatch.setattr(models.LayerTrace, "_evaluate", shifted)
    heads, queries, _ = maps[-1].weights.shape
    for cell in ((0, queries - 1, 1), (heads - 1, queries - 2, 0)):
        slope = (loss_with(cell, 1e-4) - loss_with(cell, -1e-4)) / 2e-4
        assert slope != 0
        assert maps[-1].weights[cell] == pytest.approx(slope, rel=1e-2, abs=1e-6)


def test_any_stage_of_a_layer_can_be_computed() -> None:
    spec = tasks.make_spec("dates", "bahdanau")
    _, weights = first_weights(spec)
    viewer, probe = Viewer(spec), tasks.make_data(spec).probe_text
    batch = tasks.make_data(spec).make_probe(probe)
    t, s = batch.inputs.shape[1], batch.source.shape[1]
    d = spec.model.d_model
    shapes = {"inputs": (t, d), "memory": (s, d), "queries": (1, t, d), "keys": (1, s, d), "scores": (1, t, s)}
    for name, shape in (shapes | {"weights": (1, t, s), "context": (1, t, d), "output": (t, d)}).items():
        assert viewer.compute_stage(weights, probe, "alignment", name).shape == shape, name
    with pytest.raises(KeyError, match="there is no stage 'masked'"):
        viewer.compute_stage(weights, probe, "alignment", "masked")


def test_held_out_examples_have_predictions() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    model, weights = first_weights(spec)
    data = tasks.make_data(spec)
    written = Viewer(spec).write_examples(weights, 5)
    assert len(written) == 5
    for i, example in enumerate(written):
        assert example.expected == (*reversed(example.source), "⟩")
        row = data.held_out.inputs[i]
        bar = len(example.source)
        alone = model.write(Batch(row[None, : bar + 1], row[None, : bar + 1]), bar + 1)[0]
        assert example.predicted == data.decode(alone[alone != PAD])


def test_number_tasks_show_the_first_column() -> None:
    spec = tasks.make_spec("sum", "attention")
    model, weights = first_weights(spec)
    viewer, data = Viewer(spec), tasks.make_data(spec)
    look = viewer.look(0, weights, data.probe_text)
    batch = data.make_probe(data.probe_text)
    with torch.no_grad():
        outputs = model(batch)
    assert look.loss == pytest.approx(float((outputs - batch.targets).square().mean()), rel=1e-5)
    sums = [2, 5, 8]
    for shown, numbers in (
        (look.source, batch.inputs[0]),
        (look.expected, batch.targets[0, sums]),
        (look.predicted, outputs[0, sums]),
    ):
        assert [float(x.replace("−", "-")) for x in shown] == pytest.approx(numbers[:, 0].tolist(), abs=0.00501)
        assert all(len(x.partition(".")[2]) == 2 for x in shown)
    assert look.maps[0].query_tokens == tuple(map(str, range(10)))
    with pytest.raises(TrainingError, match="outputs numbers"):
        viewer.write_text(weights, data.probe_text, 5)


@pytest.mark.parametrize(("number", "told"), [(-0.004, "0.00"), (-1.5, "−1.50"), (2.0, "2.00"), (math.inf, "∞")])
def test_numbers_have_two_decimals_and_zero_no_sign(number: float, told: str) -> None:
    inputs, outputs = torch.zeros(1, 1, 1), torch.full((1, 1, 1), number)
    assert _read_numbers(Batch(inputs, inputs + 1), outputs)[0].predicted == (told,)


class Unanswered:
    """A task without answers for the user's texts."""

    def __init__(self, data: tasks.Data) -> None:
        self._data = data

    def __getattr__(self, name: str) -> object:
        return getattr(self._data, name)

    def make_probe(self, text: str) -> Batch:
        batch = self._data.make_probe(text)
        return Batch(batch.inputs[:, :1], torch.full_like(batch.inputs[:, :1], IGNORED), batch.source)


@pytest.mark.parametrize("kind", ["encoder-decoder", "luong"])
def test_without_a_known_answer_the_maps_show_the_written_one(kind: str) -> None:
    spec = tasks.make_spec("reverse", kind)
    model, weights = first_weights(spec, 2)
    data = tasks.make_data(spec)
    viewer = Viewer(spec, Unanswered(data))  # type: ignore[arg-type]
    look = viewer.look(0, weights, "cadb")
    written = model.write(data.make_probe("cadb"), data.longest - 1)[0]
    assert look.expected == ()
    assert look.predicted == data.decode(written[written != PAD])
    assert math.isnan(look.loss)
    assert look.maps[-1].query_tokens == ("⟨", *look.predicted)
    with pytest.raises(TrainingError, match="This input has no targets"):
        viewer.compute_gradients(weights, "cadb")


def test_settings_that_no_run_can_have_are_refused_in_a_sentence() -> None:
    """As in the run.json of a stranger."""
    spec = tasks.make_spec("reverse")
    with pytest.raises(TrainingError, match="heads is 7; it needs to divide d_model = 48"):
        Viewer(replace(spec, model=replace(spec.model, heads=7)))
    with pytest.raises(TrainingError, match="symbols is 0"):
        Viewer(replace(spec, options={**spec.options, "symbols": 0}))


def test_weights_of_another_model_are_refused_in_a_sentence() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    less = {name: array for name, array in weights.items() if name != "blocks.0.attention.W_q"}
    with pytest.raises(TrainingError, match=r"These weights have no blocks.0.attention.W_q, which this model needs"):
        viewer.look(0, less, "cadb")
    with pytest.raises(TrainingError, match=rf"b_q has shape \[3\]; this model needs \[{spec.model.d_model}\]"):
        viewer.look(0, {**weights, "blocks.0.attention.b_q": np.zeros(3, np.float32)}, "cadb")
    with pytest.raises(TrainingError, match="There is no layer 'cross 1'; there are decoder 1, decoder 2"):
        viewer.compute_stage(weights, "cadb", "cross 1", "weights")
    with pytest.raises(TrainingError, match="'!' is not a letter"):
        viewer.look(0, weights, "cad!")


BLOCKS = (
    ("reverse", "decoder", "decoder 2", "before", "gelu"),
    ("reverse", "decoder", "decoder 1", "after", "relu"),
    ("reverse", "encoder", "encoder 1", "none", "gelu"),
    ("reverse", "encoder-decoder", "encoder 2", "after", "relu"),
    ("reverse", "encoder-decoder", "decoder 1", "before", "none"),
    ("reverse", "encoder-decoder", "cross 2", "before", "relu"),
    ("reverse", "attention", "attention 1", "before", "none"),
)


@pytest.mark.parametrize(("task", "kind", "layer", "norm", "feed_forward"), BLOCKS)
def test_a_layer_as_a_whole_block_computes_what_leaves_it_in_the_model(
    task: str, kind: str, layer: str, norm: str, feed_forward: str
) -> None:
    spec = tasks.make_spec(task, kind)
    spec = replace(spec, model=replace(spec.model, norm=norm))
    _, weights = first_weights(spec)
    weights = {name: array + 0.02 * np.float32(len(name) % 5) for name, array in weights.items()}
    viewer = Viewer(spec)
    viewer.load(weights)
    made: list[torch.Tensor] = []
    block = find_block(viewer.model, viewer.model.layers[layer])
    assert block is not None
    last = viewer.model.layers[layer] is block.cross or block.cross is None
    with block.register_forward_hook(lambda *given: made.append(given[2])):
        e = viewer.make_experiment(weights, "c a d b", layer, whole=True)
    config = e.config
    assert (config.block, config.feed_forward) == ("before" if norm == "before" else "after", feed_forward)
    trace = attnlab.compute(e)
    alone = attnlab.compute(viewer.make_experiment(weights, "c a d b", layer))
    np.testing.assert_allclose(trace.array("weights"), alone.array("weights"), atol=1e-4)
    if last:
        np.testing.assert_allclose(trace.array(find_last(e)), made[-1][0].detach(), rtol=1e-4, atol=1e-4)
    assert viewer.replace_layer(weights, layer, e).keys() == weights.keys()
    for name, array in viewer.replace_layer(weights, layer, e).items():
        np.testing.assert_array_equal(array, weights[name])


def test_an_edited_block_goes_back_to_the_model_and_another_kind_is_refused() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    _, weights = first_weights(spec)
    viewer = Viewer(spec)
    e = viewer.make_experiment(weights, "c a d b", "decoder 2", whole=True)
    edited = edits.set_block(e, "W_1", 3, 5, [[7.0]])
    edited = edits.set_block(edited, "gamma_2", 0, 1, [[2.0]])
    found = viewer.replace_layer(weights, "decoder 2", edited)
    changed = {name for name, array in found.items() if not np.array_equal(array, weights[name])}
    assert changed == {"blocks.1.feed_forward.0.weight", "blocks.1.norms.1.weight"}
    assert found["blocks.1.feed_forward.0.weight"][5, 3] == 7
    with pytest.raises(TrainingError, match="feed_forward is 'relu' in the playground and 'gelu' in this layer; only"):
        viewer.replace_layer(weights, "decoder 2", edits.configure(e, feed_forward="relu"))
    wide = edits.resize_free(e, "d_ff", 8)
    with pytest.raises(TrainingError, match=r"W_1 has shape \[\d+, 8\] in the playground; this layer needs"):
        viewer.replace_layer(weights, "decoder 2", wide)
    sums = tasks.make_spec("sum")
    _, weights = first_weights(sums)
    plain = Viewer(sums).make_experiment(weights, "0", "attention 1", whole=True)
    assert plain.config.block == "none"
    block = edits.configure(plain, block="before")
    with pytest.raises(TrainingError, match="block is 'before' in the playground and 'none' in this layer"):
        Viewer(sums).replace_layer(weights, "attention 1", block)
