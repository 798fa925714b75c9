"""From Models to the playground and back: a layer opens there, and its edits run in the model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QToolButton

from attnlab.attention.experiment import Experiment
from attnlab.compute.engine import compute
from attnlab.files.source import Source
from attnlab.pretrained.model import read_model
from tests.pretrained.conftest import SCALED, make_model, save_tokenizer
from tests.ui.conftest import Person
from tests.ui.models.reader import ModelReader

if TYPE_CHECKING:
    from collections.abc import Callable

Key, Mod = Qt.Key, Qt.KeyboardModifier


def test_a_layer_opens_in_the_playground_and_computes_the_same(reader: ModelReader) -> None:
    expected = reader.in_map()
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()
    assert reader.experiment.tokens == tuple("cadbfecad")
    assert reader.document.view.head == 1
    weights = compute(reader.experiment).array("weights")[1]
    assert abs(weights - expected).max() < 1e-6
    assert isinstance(reader.experiment, Experiment)
    assert "induction · layer 1" in reader.window.windowTitle()
    assert reader.playground.canvas.hasFocus(), "no field is ringed before a key is used"


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCALED)
def test_a_layer_that_scales_rope_opens_in_the_playground_with_its_table_of_frequencies(
    reader: ModelReader, tmp_path: Path, kind: str
) -> None:
    make_model(kind).save_pretrained(tmp_path)
    save_tokenizer(tmp_path, kind)
    reader.open(str(tmp_path), "the cat sat on the mat , it was soft")
    assert reader.models.header.badge.text().startswith("✓ true to the model")
    expected = reader.in_map()
    open_in_playground(reader)
    assert reader.experiment.config.positions == "rope_scaled"
    weights = compute(reader.experiment).array("weights")
    assert abs(weights[reader.document.view.head] - expected).max() < 1e-5
    assert reader.models.tools.trip.strip.truth.text() == "✓ true to the model"
    reader.open_table("omega")
    before = reader.in_table()
    assert before.shape == (1, 3)
    reader.type_number(0, 1, "0.5")
    reader.settle()
    assert reader.experiment.weights.extra["omega"][1] == 0.5
    assert reader.models.tools.trip.strip.truth.text().startswith("edited")
    reader.check_every_number()
    reader.undo()
    reader.settle()
    np.testing.assert_array_equal(reader.in_table(), before)
    assert reader.models.tools.trip.strip.truth.text() == "✓ true to the model"


def open_in_playground(reader: ModelReader) -> None:
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    reader.settle()


def test_an_edited_layer_runs_in_the_model_and_changes_its_answer(reader: ModelReader) -> None:
    open_in_playground(reader)
    strip = reader.models.tools.trip.strip
    assert strip.isVisible()
    assert strip.truth.text() == "✓ true to the model"
    reader.document.edit("zero W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v * 0)))
    reader.settle()
    assert strip.truth.text().startswith("edited")
    reader.press("Run the model with it")
    assert reader.window.current == "models"
    reader.wait()
    reader.find(QToolButton, "Remove Layer 1: W_v edited, 2,304 numbers")
    assert reader.models.effect.sentence.text().startswith("After “d”: “b” 99.8\N{NO-BREAK SPACE}% becomes")
    reader.models.overview.setFocus()
    reader.key(Key.Key_Z, Mod.ControlModifier)
    reader.wait()
    assert reader.list_predictions()[0] == ("b", "0.998")


@pytest.mark.slow
def test_the_way_back_to_the_model_stays_with_large_type(reader: ModelReader) -> None:
    open_in_playground(reader)
    reader.window.resize(1366, 768)
    reader.window.change_settings(type_size=175)
    reader.settle()
    reader.document.edit("zero W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v * 0)))
    reader.settle()
    strip = reader.models.tools.trip.strip
    for button in (strip.leave, strip.send):
        assert button.isVisible()
        assert button.width() >= button.sizeHint().width()
        assert strip.rect().contains(button.geometry())
    reader.press("To the model")
    assert reader.window.current == "models"


@pytest.mark.slow
def test_new_words_are_called_invented_until_the_model_reads_them(reader: ModelReader) -> None:
    open_in_playground(reader)
    trip = reader.models.tools.trip
    reader.key(Key.Key_L, Mod.ControlModifier)
    reader.type("b c b")
    reader.settle()
    assert trip.truth == "invented"
    assert trip.strip.truth.text() == "new random words: not the model’s; Enter lets it read them"
    reader.key(Key.Key_Return)
    reader.wait_for(lambda: trip.truth == "true")
    reader.settle()
    assert reader.document.undo_label == "run the model on these words"
    expected = read_model("induction").run("b c b")
    weights = compute(reader.experiment).array("weights")
    assert abs(weights - expected.attention(1).numpy()).max() < 1e-6
    reader.key(Key.Key_L, Mod.ControlModifier)
    reader.type("b Z")
    reader.key(Key.Key_Return)
    reader.wait_for(lambda: "is not a token of this model" in trip.strip.truth.text())
    reader.press("To the model")
    assert reader.window.current == "models"


@pytest.mark.slow
def test_a_token_that_is_removed_lets_the_model_read_the_others(reader: ModelReader) -> None:
    open_in_playground(reader)
    trip = reader.models.tools.trip
    before = reader.experiment.tokens
    reader.playground.inputs.query_box.tokens.token_removed.emit(0)
    reader.wait_for(lambda: trip.truth == "true")
    reader.settle()
    assert reader.experiment.tokens == before[1:]
    weights = compute(reader.experiment).array("weights")
    expected = read_model("induction").run(" ".join(before[1:])).attention(1).numpy()
    assert abs(weights - expected).max() < 1e-6
    reader.document.undo()
    reader.settle()
    assert trip.truth == "invented"  # undo does not run the model again
    reader.press("Run the model on these words")
    reader.wait_for(lambda: trip.truth == "true")


@pytest.mark.slow
def test_a_session_keeps_the_model_its_text_and_its_changes(
    reader: ModelReader, tmp_path: Path, sit_down: "Callable[..., Person]"
) -> None:
    open_in_playground(reader)
    reader.document.edit("halve W_v", lambda e: replace(e, weights=replace(e.weights, W_v=e.weights.W_v / 2)))
    reader.settle()
    reader.press("Run the model with it")
    reader.wait()
    reader.models.toggle_head(0, 0)
    reader.wait()
    reader.models.session.show(layer=0, head=1)
    reader.wait()
    expected = reader.list_predictions(), reader.in_map().copy()
    path = tmp_path / "with a model.attnlab"
    reader.playground.files.save_to(path)
    assert reader.playground.files.finish()
    other = sit_down(Source(path=path))
    again = ModelReader(other.window, other.qtbot)
    saved = tmp_path / "again.attnlab"
    again.playground.files.save_to(saved)
    assert again.playground.files.finish()
    for name in (path, saved):
        again.playground.files.open(name)
        again.settle()
    again.window.show_workspace("models")
    again.wait()
    assert again.models.session.state.text == "c a d b f e c a d"
    assert again.place == (0, 1)
    assert [each.place for each in again.models.session.state.off] == ["L0 H0"]
    assert again.list_predictions() == expected[0]
    assert (again.in_map() == expected[1]).all()
    again.find(QToolButton, "Remove Layer 1: W_v edited, 2,304 numbers")


@pytest.mark.slow
def test_the_directions_of_the_lesson_switch_a_head_off_work(reader: ModelReader) -> None:
    """Follow its step “Try it on the model itself”, and read the predictions that the lesson tells."""
    field = reader.find(QPlainTextEdit, "Input")
    field.setFocus()
    field.selectAll()
    reader.type("c a d b c a")
    reader.wait()
    overview = reader.models.overview
    told = []
    for heads in (((1, 1),), ((1, 0),), ((1, 1), (1, 0), (0, 1))):  # the last three: both on again, then L0 H1 off
        for head in heads:
            reader.click(overview, overview.cell_rect(reader.models.places.index(head), 2, 2).center().toPoint())
            reader.wait()
            reader.key(Key.Key_Delete)
            reader.wait()
        told.append(reader.models.effect.sentence.text())
    one, both, previous = told
    assert one == "After “a”: still “d”, 99.8\N{NO-BREAK SPACE}% → 98.6\N{NO-BREAK SPACE}%."
    assert both.startswith("After “a”: “d” 99.8\N{NO-BREAK SPACE}% becomes “a” 2")
    assert previous == "After “a”: “d” 99.8\N{NO-BREAK SPACE}% becomes “c” 99.4\N{NO-BREAK SPACE}%."
