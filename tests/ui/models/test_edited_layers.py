"""A layer edited in the playground: its edits are named and removed one by one; heads and arrows switch too."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from PySide6.QtWidgets import QToolButton

from attnlab.attention.edits.layer_edits import configure, paint_mask, toggle_head
from attnlab.attention.experiment import Experiment
from attnlab.files.source import Source
from attnlab.pretrained.model import read_model
from tests.ui.conftest import Person
from tests.ui.models.reader import ModelReader

TEMPERATURE = "Layer 1: temperature 1 → 2"
W_Q = "Layer 1: W_q edited, 1 number"
CAUSAL = "Layer 1: causal mask off"
MASK = "Layer 1: mask painted, 1 pair hidden"


def turn_one_number(e: Experiment) -> Experiment:
    W_q = e.weights.W_q
    assert W_q is not None
    W_q = W_q.clone()
    W_q[0, 0] += 3.0
    return replace(e, weights=replace(e.weights, W_q=W_q))


EDITS: dict[str, Callable[[Experiment], Experiment]] = {
    W_Q: turn_one_number,
    CAUSAL: lambda e: configure(e, causal=False),
    MASK: lambda e: paint_mask(e, 8, 2, allowed=False),
    TEMPERATURE: lambda e: configure(e, temperature=2.0),
}


def open_layer(reader: ModelReader) -> None:
    reader.models.session.show(layer=1, head=0)
    reader.wait()
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()


def send(reader: ModelReader, *edits: Callable[[Experiment], Experiment]) -> None:
    for edit in edits:
        reader.document.edit("edit", edit)
    reader.settle()
    reader.press("Run the model with it")
    reader.wait()


def list_changes(reader: ModelReader) -> list[str]:
    """Return the lines of the list as they are written."""
    found = reader.models.panel.findChildren(QToolButton)
    return [each.accessibleName().removeprefix("Remove ") for each in found if each.isVisible()]


def remove(reader: ModelReader, line: str) -> None:
    reader.find(QToolButton, f"Remove {line}").click()
    reader.wait()


def predict(*edits: Callable[[Experiment], Experiment]) -> list[float]:
    """Return the probabilities that the model gives, read and run here."""
    run = read_model("induction").run("c a d b f e c a d")
    e = run.experiment(1)
    for edit in edits:
        e = edit(e)
    return run.change(layers={1: e}).probabilities().tolist()


def read_predictions(reader: ModelReader) -> list[float]:
    effect = reader.models.session.effect
    assert effect is not None
    assert effect.prediction is not None
    model = read_model("induction")
    found = {row[0]: row[2] for row in effect.prediction.rows}
    return [found[model.tokenizer.name(i)] for i in range(model.architecture.words)]


@pytest.mark.slow
def test_each_edit_is_named_and_removed_alone_and_comes_back_by_undo(reader: ModelReader) -> None:
    open_layer(reader)
    send(reader, *EDITS.values())
    assert list_changes(reader) == [*EDITS]
    assert read_predictions(reader) == pytest.approx(predict(*EDITS.values()), abs=1e-6)
    for line in EDITS:
        remove(reader, line)
        assert list_changes(reader) == [other for other in EDITS if other != line]
        others = [edit for other, edit in EDITS.items() if other != line]
        assert read_predictions(reader) == pytest.approx(predict(*others), abs=1e-6)
        reader.models.session.undo()
        reader.wait()
        assert list_changes(reader) == [*EDITS]
    for line in EDITS:
        remove(reader, line)
    assert list_changes(reader) == []
    assert reader.models.panel.nothing.isVisible()
    assert not reader.models.session.state.is_changed


@pytest.mark.slow
def test_removing_all_is_one_step(reader: ModelReader) -> None:
    open_layer(reader)
    send(reader, *EDITS.values())
    reader.press("Remove all")
    reader.wait()
    assert list_changes(reader) == []
    reader.models.session.undo()
    reader.wait()
    assert list_changes(reader) == [*EDITS]


@pytest.mark.slow
def test_a_session_keeps_what_was_not_removed(
    reader: ModelReader, tmp_path: Path, sit_down: Callable[..., Person]
) -> None:
    open_layer(reader)
    send(reader, *EDITS.values())
    remove(reader, W_Q)
    expected = read_predictions(reader)
    path = tmp_path / "edited.attnlab"
    reader.playground.files.save_to(path)
    assert reader.playground.files.finish()
    other = sit_down(Source(path=path))
    again = ModelReader(other.window, other.qtbot)
    again.window.show_workspace("models")
    again.wait()
    assert list_changes(again) == [CAUSAL, MASK, TEMPERATURE]
    assert read_predictions(again) == expected
    remove(again, CAUSAL)
    assert read_predictions(again) == pytest.approx(predict(EDITS[MASK], EDITS[TEMPERATURE]), abs=1e-6)


@pytest.mark.slow
def test_heads_and_arrows_of_an_edited_layer_are_switched_off(reader: ModelReader) -> None:
    open_layer(reader)
    send(reader, EDITS[TEMPERATURE])
    reader.models.toggle_arrow(8, 2)
    reader.wait()
    reader.models.toggle_head(1, 1)
    reader.wait()
    assert list_changes(reader) == [TEMPERATURE, "L1 H0, d₈ → d₂ off", "L1 H1 off"]
    assert reader.in_map()[8, 2] == 0
    run = read_model("induction").run("c a d b f e c a d")
    edited = {1: EDITS[TEMPERATURE](run.experiment(1))}
    expected = run.change(heads_off=[(1, 1)], pairs_off=[(1, 0, 8, 2)], layers=edited)
    assert torch.equal(torch.from_numpy(reader.in_map().copy()), expected.attention(1)[0])
    assert read_predictions(reader) == pytest.approx(expected.probabilities().tolist(), abs=1e-6)
    assert reader.models.header.badge.text() == "cannot be opened in the playground"
    assert "in some heads of this layer only" in reader.models.header.open.toolTip()
    remove(reader, TEMPERATURE)
    assert list_changes(reader) == ["L1 H0, d₈ → d₂ off", "L1 H1 off"]


@pytest.mark.slow
def test_a_head_switched_off_in_the_playground_is_listed_as_a_head_and_nothing_as_edited(reader: ModelReader) -> None:
    open_layer(reader)
    send(reader, lambda e: toggle_head(e, 1))
    assert list_changes(reader) == ["L1 H1 off"]
    assert not reader.models.session.state.edited
    assert reader.models.overview._off == {3}
    open_layer(reader)
    assert reader.models.tools.trip.strip.truth.text() == "✓ as in the model with your changes"
    send(reader, lambda e: toggle_head(e, 1))
    assert list_changes(reader) == []


@pytest.mark.slow
def test_another_text_forgets_a_painted_mask_and_keeps_the_other_edits(reader: ModelReader) -> None:
    open_layer(reader)
    send(reader, EDITS[MASK], EDITS[TEMPERATURE])
    reader.models.set_text("a b c a b", "read another text")
    reader.wait()
    assert list_changes(reader) == [TEMPERATURE]
    assert not reader.models.panel.message.isVisible()
    reader.models.session.undo()
    reader.wait()
    assert list_changes(reader) == [MASK, TEMPERATURE]


@pytest.mark.slow
def test_words_typed_in_the_playground_are_read_by_the_model_with_its_other_changes(reader: ModelReader) -> None:
    reader.models.toggle_head(0, 0)
    reader.wait()
    open_layer(reader)
    trip = reader.models.tools.trip
    assert trip.truth == "changed"
    reader.playground.inputs.query_box.tokens.token_removed.emit(0)
    reader.wait_for(lambda: trip.truth == "changed")
    reader.settle()
    expected = read_model("induction").run("a d b f e c a d", heads_off=[(0, 0)]).experiment(1, block=True)
    torch.testing.assert_close(reader.experiment.embeddings, expected.embeddings)
