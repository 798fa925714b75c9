"""The answers to a probe equal the softmax of the model's own logits, computed by hand, for every task and kind."""

import math

import numpy as np
import pytest
import torch

from attnlab.training import models, tasks
from attnlab.training.answers import Answer, read_answer
from attnlab.training.batch import END, IGNORED, PAD, Batch
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.models.base_model import OwnAnswers
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import TASKS

WRITING = ("copy", "reverse", "sort", "dates", "questions", "pairs")
ON_TOKENS = [(name, kind) for name, task in TASKS.items() for kind in task.kinds if name != "sum"]


def _compute(spec: RunSpec, probe: str = "") -> tuple[models.Model, Batch, Answer]:
    """Return a model with its first weights, a probe, and the answer that a viewer computes from these weights."""
    viewer, weights = Viewer(spec), draw_first_weights(spec)
    probe = probe or viewer.data.probe_text
    model = models.build(spec.model, viewer.data).eval()
    model.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in weights.items()})
    return model, viewer.data.make_probe(probe), viewer.look(0, weights, probe).answer


@pytest.mark.parametrize(("task", "kind"), ON_TOKENS)
def test_every_place_has_the_likeliest_tokens_of_the_models_own_logits(task: str, kind: str) -> None:
    spec = tasks.make_spec(task, kind)
    model, batch, answer = _compute(spec)
    vocabulary = tasks.make_data(spec).vocabulary
    with torch.no_grad():
        shares = model(batch)[0].softmax(-1)
    asked = {index for index, target in enumerate(batch.targets[0].tolist()) if target != IGNORED}
    assert asked <= {place.index for place in answer.places}
    for place in answer.places:
        target, row = int(batch.targets[0, place.index]), shares[place.index].clone()
        assert place.read == vocabulary[int(batch.inputs[0, place.index])]
        assert place.wanted == ("" if target == IGNORED else vocabulary[target])
        if place.wanted:
            assert place.probability == pytest.approx(float(row[target]), abs=1e-6)
        row[PAD] = 0
        best = row.sort(descending=True)
        assert [share for _, share in place.likeliest] == pytest.approx(best.values[:3].tolist(), abs=1e-6)
        assert place.right is (None if not place.wanted else vocabulary[int(best.indices[0])] == place.wanted)
    writes = task in WRITING and (kind != "encoder" or task not in ("copy", "reverse", "sort"))
    assert bool(answer.written) == writes, "only a model that writes after the begin token has an answer of its own"


@pytest.mark.parametrize("kind", TASKS["dates"].kinds)
def test_a_date_is_written_by_the_model_itself_before_any_step(kind: str) -> None:
    spec = tasks.make_spec("dates", kind)
    model, batch, answer = _compute(spec, "3 mar 2019")
    data = tasks.make_data(spec)
    written = [place.likeliest[0][0] for place in answer.written]
    begun = batch if batch.source is not None else Batch(batch.inputs[:, : len("3 mar 2019") + 1], batch.targets)
    alone = model.write(begun, len(answer.places))[0]
    assert tuple(written) == data.decode(alone[alone != PAD])
    assert [place.read for place in answer.written] == ["⟨", *written[:-1]]
    assert "".join(place.wanted for place in answer.places) == "2019-03-03⟩"


def test_an_answer_of_the_models_own_ends_with_its_first_end() -> None:
    """What a model predicts after it has said that it is done is no part of its answer."""
    spec = tasks.make_spec("reverse")
    viewer, batch = Viewer(spec), tasks.make_data(spec).make_probe("b e h f")
    first = int((batch.targets[0] != IGNORED).nonzero()[0])
    logits = torch.zeros(1, batch.inputs.shape[1], len(viewer.data.vocabulary))
    logits[0, :, 5] = 1.0
    logits[0, first + 2, END] = 2.0
    own = OwnAnswers(batch.inputs, logits, logits.argmax(-1))
    answer = read_answer(viewer.model, viewer.data, batch, logits, own)
    assert len(answer.places) == 5
    assert [place.likeliest[0][0] for place in answer.written] == [viewer.data.vocabulary[5]] * 2 + ["⟩"]


def test_a_hidden_word_without_a_target_has_candidates() -> None:
    answer = _compute(tasks.make_spec("masked"), "the girl ▢ [herself] .")[2]
    assert [(place.index, place.read, place.wanted) for place in answer.places] == [(2, "▢", ""), (3, "▢", "herself")]
    assert answer.places[0].right is None
    assert math.isnan(answer.places[0].probability)
    assert len(answer.places[0].likeliest) == 3


def test_each_character_of_a_text_has_the_place_that_predicted_it() -> None:
    answer = _compute(tasks.make_spec("characters"), "the rose")[2]
    assert answer.row == tuple("the rose")
    found = answer.find_predicted()
    assert found[0] is None
    assert [place.wanted for place in found[1:] if place is not None] == list("he rose")
    assert answer.places[-1].wanted == ""  # what follows is not known


def test_places_of_numbers_are_the_three_sums() -> None:
    model, batch, answer = _compute(tasks.make_spec("sum"))
    with torch.no_grad():
        outputs = model(batch)[0]
    assert [place.index for place in answer.numbers] == [2, 5, 8]
    assert not answer.places
    for place in answer.numbers:
        right, output = batch.targets[0, place.index], outputs[place.index]
        assert place.wanted == pytest.approx(float(right[0]))
        assert place.output == pytest.approx(float(output[0]), abs=1e-6)
        explained = 1 - float(((output - right) ** 2).sum() / (right**2).sum())
        assert place.explained == pytest.approx(explained, abs=1e-5)


def test_weights_that_are_not_finite_are_neither_right_nor_wrong() -> None:
    spec = tasks.make_spec("reverse")
    weights = {name: np.full_like(array, np.nan) for name, array in draw_first_weights(spec).items()}
    answer = Viewer(spec).look(3, weights, "cadb").answer
    assert [place.right for place in answer.places] == [None] * 5


def test_a_text_is_predicted_from_the_right_characters_as_in_the_curve() -> None:
    spec = tasks.make_spec("characters")
    weights = draw_first_weights(spec)
    viewer = Viewer(spec)
    written = viewer.write_examples(weights, 3)
    held_out = viewer.data.held_out
    with torch.no_grad():
        predicted = viewer.model(Batch(held_out.inputs[:3], held_out.targets[:3]))
    predicted[..., PAD] = -torch.inf
    assert [each.predicted for each in written] == [viewer.data.decode(row) for row in predicted.argmax(-1)]
