"""A run without some of its heads: it trains and looks like a model whose rows of W_o for them are 0."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base.errors import TrainingError
from attnlab.training import tasks
from attnlab.training.head_effects import measure_heads, switch_off
from attnlab.training.heads_off import read_heads, write_heads
from attnlab.training.look import Viewer
from attnlab.training.spec_json import from_json, to_json
from attnlab.training.specs import RunSpec
from attnlab.training.trainer import Trainer
from tests.training.runs import tiny

PLACES = st.frozensets(
    st.tuples(st.sampled_from(("decoder 1", "decoder 2", "cross 1", "alignment")), st.integers(0, 63))
)
W_O = "blocks.0.attention.W_o"


def without(spec: RunSpec, text: str) -> RunSpec:
    return replace(spec, train=replace(spec.train, heads_off=text))


@given(PLACES)
def test_heads_are_written_and_read_again(places: frozenset[tuple[str, int]]) -> None:
    assert read_heads(write_heads(places)) == places


def test_heads_are_written_in_order() -> None:
    assert write_heads({("decoder 2", 1), ("cross 1", 0), ("decoder 2", 0)}) == "cross 1.0, decoder 2.0, decoder 2.1"
    assert read_heads("") == frozenset()


@pytest.mark.parametrize(
    ("task", "kind", "text", "sentence"),
    [
        ("reverse", None, "decoder 2.1", ""),
        ("reverse", None, " decoder 1.0 ,decoder 2.3", ""),
        ("reverse", None, "decoder", "heads_off names 'decoder'; it needs a layer and a head of it"),
        ("reverse", None, "decoder 1.x", "heads_off names 'decoder 1.x'; it needs a layer and a head of it"),
        ("reverse", None, "decoder 3.0", "the layer 'decoder 3'; the layers are decoder 1, decoder 2."),
        ("reverse", None, "decoder 2.4", "heads_off names head 4 of decoder 2; its heads are 0 to 3."),
        ("reverse", "encoder-decoder", "cross 2.3", ""),
        ("questions", "recurrent", "decoder 1.0", "the layer 'decoder 1'; this model has no attention."),
        ("questions", "luong", "alignment.0", ""),
    ],
)
def test_heads_that_do_not_exist_are_named(task: str, kind: str | None, text: str, sentence: str) -> None:
    found = tasks.check(without(tasks.make_spec(task, kind), text))
    assert found == "" if not sentence else sentence in found


def test_a_run_from_elsewhere_without_such_heads_is_refused() -> None:
    with pytest.raises(TrainingError, match="heads_off names the layer 'decoder 9'"):
        Viewer(without(tiny(), "decoder 9.0"))


def test_a_run_learns_without_a_head() -> None:
    spec = without(tiny(steps=6, weight_decay=0.0), "decoder 1.1")
    other = Trainer(replace(spec, train=replace(spec.train, heads_off="")))
    trainer, half = Trainer(spec), spec.model.d_model // 2
    first = trainer.read_weights()
    other.replace_weights({W_O: np.vstack([first[W_O][:half], np.zeros_like(first[W_O][half:])])})
    assert trainer.take().loss == pytest.approx(other.take().loss, rel=1e-5)  # of the same batch
    while trainer.find_end() is None:
        trainer.take()
    last = trainer.read_weights()
    np.testing.assert_array_equal(last[W_O][half:], first[W_O][half:])  # nothing reaches them
    assert (last[W_O][:half] != first[W_O][:half]).any()
    for name in ("W_q", "W_k", "W_v"):
        before, after = (each[f"blocks.0.attention.{name}"] for each in (first, last))
        np.testing.assert_array_equal(after[:, half:], before[:, half:])
        assert (after[:, :half] != before[:, :half]).any()


def test_what_is_shown_is_without_the_head_as_when_it_is_off_for_looking() -> None:
    spec = tiny(steps=6)
    weights = Trainer(spec).read_weights()
    viewer, shown = Viewer(spec), Viewer(without(spec, "decoder 1.1"))
    whole = viewer.look(0, weights, "c a d b").answer
    with switch_off(viewer, {("decoder 1", 1)}):
        expected = viewer.look(0, weights, "c a d b")
    found = shown.look(0, weights, "c a d b")
    assert found.answer == expected.answer != whole
    assert found.loss == expected.loss
    effects = measure_heads(shown, weights, 0)
    assert effects.without["decoder 1", 1] == effects.whole  # it is off already
    assert effects.without["decoder 1", 0] != effects.whole


def test_another_head_that_is_off_for_looking_leaves_the_first_off() -> None:
    spec = tiny(steps=6)
    weights = Trainer(spec).read_weights()
    viewer, shown = Viewer(spec), Viewer(without(spec, "decoder 1.1"))
    with switch_off(viewer, {("decoder 1", 0), ("decoder 1", 1)}):
        expected = viewer.look(0, weights, "c a d b").answer
    before = shown.look(0, weights, "c a d b").answer
    with switch_off(shown, {("decoder 1", 0)}):
        assert shown.look(0, weights, "c a d b").answer == expected != before
    assert shown.look(0, weights, "c a d b").answer == before


def test_the_layer_has_its_head_off_in_the_playground_and_comes_back() -> None:
    spec = without(tiny(steps=6), "decoder 1.1")
    weights = Trainer(spec).read_weights()
    viewer = Viewer(spec)
    e = viewer.make_experiment(weights, "c a d b", "decoder 1")
    assert e.config.ablated == (1,)
    back = viewer.replace_layer(weights, "decoder 1", e)
    assert all(np.array_equal(back[name], weights[name]) for name in weights)
    sentence = "Heads off: none in the playground, 1 in this layer. Only numbers can go back"
    with pytest.raises(TrainingError, match=sentence):
        viewer.replace_layer(weights, "decoder 1", replace(e, config=replace(e.config, ablated=())))


def test_heads_off_are_kept_in_the_settings_of_a_run() -> None:
    spec = without(tiny(), "decoder 1.1")
    assert from_json(to_json(spec)) == spec
    old = to_json(spec)
    del old["train"]["heads_off"]  # of a run that was saved before heads could be off
    assert from_json(old).train.heads_off == ""
