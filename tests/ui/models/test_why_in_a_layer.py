"""Why a head of a real model attends: its layer, opened in the playground, in the lenses that answer this."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

import attnlab
from attnlab.attention.measures.sensitivity import measure_causes
from attnlab.attention.stages.explain import Cell
from attnlab.document.document import Document
from attnlab.ui.playground.lenses.backward_lens import BackwardLens
from attnlab.ui.playground.lenses.goal_lens import GoalLens
from attnlab.ui.playground.lenses.lens import Lens
from attnlab.ui.playground.lenses.sensitivity_lens import SensitivityLens
from tests.ui.models.reader import ModelReader

MODELS = {
    "induction": "c a d b f e c a d",
    "reverse": "d a c b ⟨",
    "hidden-words": "the girl near the old kings sees ▢ .",
    "characters": "Shall I compare",
}


def finish(reader: ModelReader) -> None:
    reader.settle()
    reader.wait_for(lambda: not reader.playground.lane.busy)
    reader.settle()


def open_layer(reader: ModelReader, model: str, layer: int = 0) -> Document:
    """Open a layer of a model in the playground, and hold a weight of its head 1."""
    reader.open(model, MODELS[model])
    reader.models.session.show(layer=layer, head=1)
    reader.wait()
    reader.press("Open in Playground")
    reader.wait_for(lambda: reader.window.current == "playground")
    finish(reader)
    document = reader.document
    document.select(Cell("weights", 3, 1, 1), pin=True)
    finish(reader)
    return document


def open_lens(reader: ModelReader, name: str) -> Lens:
    reader.playground.lenses.open_lens(name)
    finish(reader)
    lens = reader.playground.lenses.stack.currentWidget()
    assert isinstance(lens, Lens)
    return lens


def click(reader: ModelReader, button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    finish(reader)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_sensitivity_tells_which_numbers_move_a_weight(reader: ModelReader, model: str) -> None:
    document = open_layer(reader, model)
    lens = open_lens(reader, "sensitivity")
    assert isinstance(lens, SensitivityLens)
    causes = measure_causes(document.experiment, 1, 3, 1)
    assert set(lens.tables) == set(causes)
    for name, figure in lens.tables.items():
        assert figure.data is not None
        shown = figure.data.values[0]
        start = 0 if name == "embeddings" else shown.shape[1]  # the columns of head 1
        np.testing.assert_allclose(shown, causes[name][:, start : start + shown.shape[1]], rtol=1e-6, atol=1e-12)
        assert not np.delete(causes[name], np.s_[start : start + shown.shape[1]], 1).any()
    e = document.experiment
    assert lens.causes_text.text().startswith(f"The weight “{e.tokens[3]}” → “{e.tokens[1]}”")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_goal_is_reached_by_one_edit(reader: ModelReader, model: str) -> None:
    document = open_layer(reader, model)
    before = document.experiment
    lens = open_lens(reader, "goal")
    assert isinstance(lens, GoalLens)
    field = lens.panel.wanted
    field.setFocus()
    field.lineEdit().selectAll()
    QTest.keyClicks(field, "0.6")
    QTest.keyClick(field, Qt.Key.Key_Return)
    finish(reader)
    click(reader, lens.panel.reach)
    reader.wait_for(lambda: document.experiment is not before)
    finish(reader)
    assert float(attnlab.compute(document.experiment).array("weights")[1, 3, 1]) == pytest.approx(0.6, abs=2e-3)
    document.undo()
    finish(reader)
    assert document.experiment is before


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_steps_down_move_biases_too(reader: ModelReader, model: str) -> None:
    document = open_layer(reader, model)
    lens = open_lens(reader, "backward")
    assert isinstance(lens, BackwardLens)
    click(reader, next(button for button in lens.panel.kind.buttons() if button.text() == "one weight"))
    e = document.experiment
    trace = attnlab.compute(e, dtype="float64")
    for name, chip in lens.panel.chips.items():
        assert chip.isVisible() == (f"d_{name}" in trace or name == "embeddings")
    before = float(trace["loss"])
    click(reader, lens.panel.step)
    assert lens.panel.status.text().startswith("One step at rate 0.5: the loss went from ")
    assert document.experiment is not e
    assert float(attnlab.compute(document.experiment, dtype="float64")["loss"]) < before
