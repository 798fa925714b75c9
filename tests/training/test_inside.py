"""What a diagram shows of a model equals forward passes done by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnlab.training import models, tasks
from attnlab.training.batch import PAD
from attnlab.training.first_weights import draw_first_weights
from attnlab.training.look import Viewer
from attnlab.training.model_view import Inside
from attnlab.training.models.recurrent import Recurrent


def look(task: str, kind: str | None = None, probe: str = "") -> tuple[Inside, Viewer]:
    spec = tasks.make_spec(task, kind)
    viewer = Viewer(spec)
    return viewer.look_inside(draw_first_weights(spec), probe or viewer.data.probe_text), viewer


@pytest.mark.parametrize("kind", tuple(models.KINDS))
def test_answers_are_the_likeliest_tokens_of_a_forward_pass(kind: str) -> None:
    inside, viewer = look("reverse", kind, "c a d b")
    batch = viewer.data.make_probe("c a d b")
    with torch.no_grad():
        shares = viewer.model(batch)[0].double().softmax(-1)
    assert len(inside.guesses) == len(inside.inputs) == batch.inputs.shape[1]
    for guess, row, target in zip(inside.guesses, shares, batch.targets[0].tolist(), strict=True):
        rest = row.clone()
        rest[PAD] = 0
        assert guess.likeliest[0] == (viewer.data.vocabulary[int(rest.argmax())], pytest.approx(float(rest.max())))
        assert guess.wanted == (viewer.data.vocabulary[target] if target >= 0 else "")
        assert guess.chance == (pytest.approx(float(row[target])) if target >= 0 else 0)
    right = [guess.right for guess in inside.guesses if guess.right is not None]
    assert inside.count_right() == (sum(right), len(right))


@pytest.mark.parametrize("kind", ["recurrent", "luong", "bahdanau"])
def test_states_are_those_of_the_cells(kind: str) -> None:
    inside, viewer = look("reverse", kind, "c a d b")
    model, batch = viewer.model, viewer.data.make_probe("c a d b")
    assert isinstance(model, Recurrent)
    assert inside.states is not None
    with torch.no_grad():
        assert batch.source is not None
        memory = model.encode(batch.source)
        np.testing.assert_allclose(inside.states.reading, memory.states[0], atol=1e-6)
        assert memory.summary is not None
        np.testing.assert_allclose(inside.states.vector, memory.summary[0], atol=1e-6)
        if kind != "bahdanau":
            start = memory.summary.expand(model.decoder.num_layers, -1, -1).contiguous()
            states, _ = model.decoder(model.embedding(batch.inputs), start)
            np.testing.assert_allclose(inside.states.writing, states[0], atol=1e-6)
    assert inside.states.writing.shape == (5, viewer.spec.model.d_model)


def test_masks_hide_padding_and_later_tokens() -> None:
    inside, _ = look("reverse", "encoder-decoder", "c a d b")
    reads, writes, across = inside.masks
    assert [mask.title for mask in inside.masks] == ["source padding", "causal + target padding", "source for target"]
    assert inside.padded == 6
    padding = np.array([False] * 4 + [True] * 2)
    np.testing.assert_array_equal(reads.cells, np.broadcast_to(padding, (6, 6)))
    np.testing.assert_array_equal(across.cells, np.broadcast_to(padding, (7, 6)))
    later = np.triu(np.ones((7, 7), bool), 1)
    later[:, 5:] = True
    np.testing.assert_array_equal(writes.cells, later)


def test_rows_of_numbers_have_no_answers_and_no_padding() -> None:
    inside, _ = look("sum")
    assert not inside.guesses
    assert not inside.masks
    assert len(inside.inputs) == 10


def test_positions_are_the_first_columns_of_the_table() -> None:
    spec = tasks.make_spec("reverse", "decoder")
    spec = replace(spec, model=replace(spec.model, positions="sinusoidal"))
    viewer = Viewer(spec)
    inside = viewer.look_inside(draw_first_weights(spec), "c a d b")
    table = inside.positions["embedding"]
    angles = np.arange(len(inside.inputs))
    np.testing.assert_allclose(table[:, 0], np.sin(angles), atol=1e-6)
    np.testing.assert_allclose(table[:, 1], np.cos(angles), atol=1e-6)
