"""The backward lens: a loss is chosen, its gradients stand on cards, one is tried, and steps down are one edit."""

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import QBuffer, QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QScrollArea

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits import descent
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.document.settings import Settings
from attnlab.figures.subscripts import text_width
from attnlab.ui.base.theme import font
from attnlab.ui.export.export_dialog import ExportDialog
from attnlab.ui.playground.card_words import shorten_shape
from attnlab.ui.playground.lenses.backward_found import Stepped, describe_steps
from attnlab.ui.playground.lenses.backward_lens import BackwardLens
from tests.ui.export.test_code_actions import clipboard, copied, entry, menu_on, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QAbstractButton, QWidget

    from attnlab.ui.playground.canvas_card import CanvasCard
    from tests.ui.conftest import Person


def finish(person: "Person") -> None:
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)
    person.settle()


def open_lens(person: "Person") -> BackwardLens:
    person.playground.lenses.open_lens("backward")
    finish(person)
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, BackwardLens)
    return lens


def click(person: "Person", button: "QAbstractButton") -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    finish(person)


def choose(person: "Person", lens: BackwardLens, title: str) -> None:
    click(person, next(button for button in lens.panel.kind.buttons() if button.text() == title))


def type_number(person: "Person", field: "QWidget", text: str) -> None:
    field.setFocus()
    field.lineEdit().selectAll()  # type: ignore[attr-defined]
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    finish(person)


def click_cell(person: "Person", lens: BackwardLens, stage: str, row: int, column: int) -> None:
    card = lens.canvas.cards[stage]
    lens.canvas.show_card(stage)
    person.settle()
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.cell_rect(row, column).center().toPoint())
    finish(person)


def lose(e: attnlab.Experiment) -> float:
    return float(attnlab.compute(e, dtype="float64")["loss"])


@pytest.fixture
def three(person: "Person") -> BackwardLens:
    """Return the lens on the three tokens, with “sat” → “cat” wanted at 0.8."""
    person.playground.open_preset("the-cat-sat")
    finish(person)
    person.document.select(Cell("weights", 2, 1, 0), pin=True)
    lens = open_lens(person)
    assert lens.welcome.isVisible()
    assert not lens.canvas.isVisible()
    choose(person, lens, "one weight")
    type_number(person, lens.panel.wanted, "0.8")
    return lens


def test_a_wanted_weight_shows_its_gradients_on_cards(person: "Person", three: BackwardLens) -> None:
    option = person.experiment.config.option
    assert (option("loss"), option("loss_query"), option("loss_key"), option("loss_wanted")) == ("weight", 2, 1, 0.8)
    assert three.panel.about.text() == (
        "The weight “sat” → “cat” is 0.3362; the loss is 0.2151. W_v does not affect a weight."
    )
    shown = [name for name, card in three.canvas.cards.items() if card.isVisible()]
    assert shown == [
        "weights", "loss", "d_weights", "jacobian", "d_scaled", "d_scores", "d_queries", "d_keys", "d_W_q", "d_W_k",
        "d_inputs",
    ]  # fmt: skip
    assert "loss" not in person.playground.canvas.cards
    assert three.canvas.cards["jacobian"].title == "Jacobian of “sat”"
    assert [name for name, chip in three.panel.chips.items() if chip.isVisible()] == ["W_q", "W_k", "embeddings"]
    assert three.panel.may_move == ("W_q", "W_k")


def test_a_held_gradient_is_explained_and_tried(person: "Person", three: BackwardLens) -> None:
    click_cell(person, three, "d_W_q", 2, 0)
    assert person.document.view.cell == Cell("d_W_q", 2, 0)
    assert three.trial.title.text() == "Checked by trying: dW_q, row 2, column 0"
    lines = three.trial.lines.text().splitlines()
    assert lines[2:] == ["difference ÷ 0.002: −0.00516543", "computed backwards: −0.00516543"]
    assert three.trial.told.text() == "They agree."
    said = person.playground.explain.spoken_text() if hasattr(person.playground.explain, "spoken_text") else ""
    assert "NaN" not in said
    click_cell(person, three, "d_scores", 2, 1)
    assert three.trial.title.text() == "Checked by trying: dScores, sat → cat"
    click_cell(person, three, "weights", 0, 0)
    assert not three.trial.lines.isVisible()


def test_one_step_down_is_one_edit_and_lowers_the_loss(person: "Person", three: BackwardLens) -> None:
    before = person.experiment
    gradients = attnlab.compute(before, dtype="float64")
    click(person, three.panel.step)
    after = person.experiment
    assert person.document.history.current.label == "One step down"
    for name in ("W_q", "W_k"):
        expected = getattr(before.weights, name).double() - 0.5 * gradients[f"d_{name}"]
        torch.testing.assert_close(getattr(after.weights, name).double(), expected, rtol=1e-6, atol=1e-7)
    assert after.embeddings is before.embeddings
    assert lose(after) < lose(before)
    assert three.panel.status.text() == "One step at rate 0.5: the loss went from 0.215067 to 0.214917."
    person.document.undo()
    finish(person)
    assert person.experiment is before


def test_ten_steps_are_one_edit_with_a_curve(person: "Person", three: BackwardLens) -> None:
    before = person.experiment
    click(person, three.panel.ten)
    assert person.document.history.current.label == "10 steps down"
    assert three.curve.isVisible()
    own, better = three.curve.chart.lines
    expected = descent.descend(before, 0.5, ("W_q", "W_k"), 10).losses
    assert own.y.tolist() == list(expected)
    assert len(own.y) == 11
    assert lose(person.experiment) == pytest.approx(expected[-1], rel=1e-5)
    assert better.is_dashed
    assert better.y[-1] < own.y[-1]
    assert three.curve.told.text().startswith(f"At {better.name} the same number of steps would reach ")
    person.document.undo()
    finish(person)
    assert person.experiment is before
    assert not three.curve.isVisible()


def test_the_loss_moves_to_the_held_weight(person: "Person", three: BackwardLens) -> None:
    person.document.select(None, pin=True)
    click(person, three.panel.hold)
    assert three.panel.status.text() == "Hold a weight on its card by a click first."
    click_cell(person, three, "weights", 0, 2)
    click(person, three.panel.hold)
    assert "“The” → “sat”" in three.panel.about.text()
    gradient = attnlab.compute(person.experiment)["d_weights"][0]
    assert gradient.nonzero().tolist() == [[0, 2]]


def test_a_masked_weight_is_refused_and_nothing_changes(person: "Person", three: BackwardLens) -> None:
    person.document.edit("Causal", lambda e: edits.configure(e, causal=True))
    finish(person)
    before = person.experiment
    person.document.select(Cell("weights", 0, 2, 0), pin=True)
    click(person, three.panel.hold)
    assert person.experiment is before
    expected = "“The” → “sat” is masked, so its weight has no gradient; choose a pair that the mask allows."
    assert three.panel.status.text() == expected


def test_a_saturated_row_a_zero_loss_and_nothing_to_move_are_said(person: "Person", three: BackwardLens) -> None:
    large = edits.with_table(person.experiment, "W_q", torch.eye(4) * 1e6)
    person.document.edit("Large", lambda _: large)
    finish(person)
    click(person, three.panel.step)
    assert person.experiment is large
    assert three.panel.status.text().startswith("The loss has no gradient here: the row is saturated, so a small")
    person.document.undo()
    finish(person)
    for chip in three.panel.chips.values():
        chip.setChecked(False)
    click(person, three.panel.step)
    assert three.panel.status.text() == "Nothing may move: choose W_q, W_k or another table."


def test_numbers_that_are_0_are_not_called_saturated(person: "Person", three: BackwardLens) -> None:
    zero = edits.with_table(person.experiment, "W_k", torch.zeros(4, 4))
    person.document.edit("Zeros", lambda _: edits.with_table(zero, "W_q", torch.zeros(4, 4)))
    finish(person)
    before = person.experiment
    click(person, three.panel.step)
    assert person.experiment is before
    assert three.panel.status.text().startswith("What may move has no effect here, as it is multiplied by numbers")


def test_what_may_move_is_named_as_the_layer_has_it(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(attnlab.Experiment(("a", "b"), torch.tensor([[1.0, 1.0], [2.0, 0.5]])))
    lens = open_lens(person)
    choose(person, lens, "one weight")
    assert [name for name, chip in lens.panel.chips.items() if chip.isVisible()] == ["embeddings"]
    before = person.experiment
    click(person, lens.panel.step)
    assert person.experiment is before
    assert lens.panel.status.text() == "Nothing may move: choose X."
    click(person, lens.panel.chips["embeddings"])
    click(person, lens.panel.step)
    assert lose(person.experiment) < lose(before)


def test_a_loss_that_falls_below_1_keeps_its_decimals() -> None:
    e = attnlab.preset("the-cat-sat")
    found = Stepped(e, 0.5, ("W_v",), descent.Descent(e, (1.2345678, 0.9876543)), None)
    assert describe_steps(found) == "One step at rate 0.5: the loss went from 1.234568 to 0.987654."


def test_a_wrong_rate_is_refused_in_one_sentence(person: "Person", three: BackwardLens) -> None:
    type_number(person, three.panel.rate, "-1")
    assert "above 0" in three.panel.status.text()
    type_number(person, three.panel.rate, "50")
    before = person.experiment
    click(person, three.panel.step)
    assert person.experiment is not before
    assert three.panel.status.text().startswith("One step at rate 50: the loss went from ")


def test_a_rate_that_is_refused_as_the_button_is_pressed_takes_no_step(person: "Person", three: BackwardLens) -> None:
    before = person.experiment
    for button in (three.panel.step, three.panel.ten):
        three.panel.rate.setFocus()
        three.panel.rate.lineEdit().selectAll()
        QTest.keyClicks(three.panel.rate, "-1")
        click(person, button)
        assert three.panel.status.text() == "rate is −1; it needs a number above 0."
        assert person.experiment is before
    click(person, three.panel.step)  # the field shows the rate before
    assert three.panel.status.text().startswith("One step at rate 0.5: ")


@pytest.mark.parametrize(("rate", "button"), [("3e38", "step"), ("1e9", "ten")])
def test_a_rate_that_leads_beyond_all_numbers_is_named_and_nothing_changes(
    person: "Person", three: BackwardLens, rate: str, button: str
) -> None:
    """One step leaves float32, or the second of ten finds no finite loss."""
    choose(person, three, "the output")
    person.document.edit("Large", lambda e: edits.with_table(e, "W_v", 1e3 * torch.eye(4)))
    finish(person)
    before = person.experiment
    type_number(person, three.panel.rate, rate)
    click(person, getattr(three.panel, button))
    assert person.experiment is before
    assert three.panel.status.text() == (
        f"At rate {float(rate):g} the steps are so long that numbers become ∞ or NaN; lower the rate. "
        "Nothing was changed."
    )


def test_ten_steps_that_arrive_early_stay_there(person: "Person", three: BackwardLens) -> None:
    """One step at this rate saturates the row; the other nine have no gradient, and the curve is level."""
    before = person.experiment
    type_number(person, three.panel.rate, "1e9")
    click(person, three.panel.ten)
    told = three.panel.status.text()
    assert told.startswith("10 steps at rate 1e+09: the loss went from 0.215067 to 0.")
    losses = three.curve.chart.lines[0].y
    assert len(set(losses[1:].tolist())) == 1
    person.document.undo()
    finish(person)
    assert person.experiment is before


def test_a_wanted_weight_that_softmax_never_gives_is_refused(person: "Person", three: BackwardLens) -> None:
    before = person.experiment
    for text, shown in (("1.2", "1.2"), ("-0.1", "−0.1")):
        type_number(person, three.panel.wanted, text)
        assert three.panel.status.text() == f"wanted is {shown}; it needs a number from 0 to 1."
        assert person.experiment is before
    person.document.edit("Signed", lambda e: edits.configure(e, normalizer="sum"))
    finish(person)
    type_number(person, three.panel.wanted, "1.2")
    assert person.experiment.config.option("loss_wanted") == 1.2


@pytest.mark.slow
def test_a_wanted_output_and_a_class_reach_every_table(person: "Person") -> None:
    lens = open_lens(person)
    choose(person, lens, "the output")
    assert lens.panel.about.text().startswith(
        "The output differs from the wanted Y, which you edit under Numbers, by √0."
    )
    assert "Y" in edits.tables(person.experiment)
    assert lens.panel.may_move == ("W_q", "W_k", "W_v")
    choose(person, lens, "a class")
    assert lens.panel.about.text().startswith("Class 0 has the probability 0.")
    lens.panel.wanted_class.setValue(2)
    finish(person)
    assert person.experiment.config.option("loss_class") == 2
    assert lens.canvas.cards["readout"].isVisible()
    before = lose(person.experiment)
    click(person, lens.panel.step)
    assert lose(person.experiment) < before
    choose(person, lens, "none")
    assert lens.welcome.isVisible()
    assert not any(name.startswith("d_") for name in person.playground.reply.trace)  # type: ignore[union-attr]


def test_the_arithmetic_of_a_class_has_subscripts(person: "Person") -> None:
    lens = open_lens(person)
    choose(person, lens, "a class")
    click_cell(person, lens, "readout", 1, 0)
    labels = person.window.findChildren(QLabel)
    line = next(label for label in labels if label.accessibleName().startswith("The cell as arithmetic: output"))
    assert "× W<span" in line.text()
    assert "W_read" not in line.text()


def test_the_cards_are_pointed_at_magnified_and_walked(person: "Person", three: BackwardLens) -> None:
    person.document.select(None, pin=True)
    card = three.canvas.cards["d_scores"]
    three.canvas.show_card("d_scores")
    person.settle()
    QTest.mouseMove(card, card.cell_rect(2, 1).center().toPoint())
    person.settle()
    assert person.document.view.cell == Cell("d_scores", 2, 1, 0)
    assert not person.document.view.pinned
    QTest.mouseDClick(card, Qt.MouseButton.LeftButton, pos=QPoint(50, 15))
    person.settle()
    assert person.document.view.alone == "d_scores"
    assert [name for name, each in three.canvas.cards.items() if each.isVisible()] == ["d_scores"]
    person.document.show(alone=None)
    person.playground.step_bar.step_back()
    finish(person)
    assert person.document.view.at is not None
    assert person.document.view.at.stage == "d_W_k"
    assert three.canvas.cards["d_inputs"].data is None
    assert three.canvas.cards["d_W_k"].data is not None
    person.document.show(at=Place("weights"))
    finish(person)
    assert person.playground.lenses.current == "canvas"
    for _ in range(3):
        person.playground.step_bar.step_next()
        finish(person)
    assert person.playground.lenses.current == "backward"
    assert person.document.view.at == Place("loss")
    assert three.canvas.cards["d_weights"].data is None


@pytest.mark.parametrize(("size", "type_size"), [((1366, 768), 175), ((1024, 640), 175)])
def test_in_a_low_window_the_page_scrolls_and_the_canvas_does_not(
    sit_down: "Callable[..., Person]", size: tuple[int, int], type_size: int
) -> None:
    person = sit_down("the-cat-sat", size=size, settings=Settings(type_size=type_size))
    lens = open_lens(person)
    choose(person, lens, "one weight")
    (area,) = lens.findChildren(QScrollArea)
    person.wait_for(lambda: area.verticalScrollBar().maximum() > 0)
    assert not lens.canvas.is_longer
    assert not lens.canvas.scroll_bar.isVisible()
    card = lens.canvas.cards["d_W_q"]
    person.document.select(Cell("d_W_q", 1, 1), pin=True)
    person.settle()
    shown = QRect(card.mapTo(area.viewport(), QPoint(0, 0)), card.size())
    assert area.viewport().rect().contains(shown), "the page scrolls to the held card"
    zoom, place, middle = lens.canvas.zoom, area.verticalScrollBar().value(), area.viewport().rect().center()
    person.turn(area.viewport(), middle, 1)
    assert area.verticalScrollBar().value() < place
    assert lens.canvas.zoom == zoom
    person.turn(area.viewport(), middle, 1, Qt.KeyboardModifier.ControlModifier)
    assert lens.canvas.zoom > zoom


def test_in_a_high_window_the_panel_stays_and_the_canvas_fits(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("the-cat-sat", size=(1920, 1080))
    lens = open_lens(person)
    choose(person, lens, "one weight")
    (area,) = lens.findChildren(QScrollArea)
    assert area.verticalScrollBar().maximum() == 0
    assert lens.canvas.plan is not None
    assert not lens.canvas.is_longer


def test_small_gradients_are_written_in_a_power_of_ten(person: "Person", three: BackwardLens) -> None:
    card = three.canvas.cards["d_W_q"]
    assert card.shape_text() == "× 10⁻³   4×4"
    assert card.data is not None
    assert card.data.exponent == -3
    assert three.canvas.cards["d_scores"].shape_text() == "3×3"
    assert three.canvas.cards["d_scores"].data.exponent == 0  # type: ignore[union-attr]
    assert three.canvas.cards["weights"].data.exponent is None  # type: ignore[union-attr]
    loss = three.canvas.cards["loss"]
    assert loss.shape_text() == "1×1"
    type_number(person, three.panel.wanted, "0.35")
    assert 1e-4 < lose(person.experiment) < 1e-3
    assert loss.shape_text() == "× 10⁻⁴   1×1"


@pytest.mark.parametrize(("size", "type_size"), [((1440, 900), 100), ((1024, 640), 175)])
def test_a_power_of_ten_stands_in_the_narrowest_header(
    sit_down: "Callable[..., Person]", size: tuple[int, int], type_size: int
) -> None:
    """A number without it would be wrong by that power; the shape makes room for it."""
    person = sit_down("the-cat-sat", size=size, settings=Settings(type_size=type_size))
    lens = open_lens(person)
    weight = attnlab.compute(person.experiment).array("weights")[0, 2, 1]  # 0.3362; machines differ in its last digit
    near = float(weight) + 2 * float(np.spacing(weight))
    person.document.edit(
        "Near", lambda e: edits.configure(e, loss="weight", loss_query=2, loss_key=1, loss_wanted=near)
    )
    finish(person)
    loss = lens.canvas.cards["loss"]
    assert shorten_shape(loss.shape_text()) == ("× 10⁻¹⁵   1×1", "× 10⁻¹⁵   1×1", "× 10⁻¹⁵")
    for card in (card for card in lens.canvas.cards.values() if card.isVisible()):
        shown = read_header(card)
        assert shorten_shape(card.shape_text())[-1] in shown, card.title


def read_header(card: "CanvasCard") -> str:
    """Return what the header of a card says, from a drawing of it as SVG."""
    drawn, svg = QBuffer(), QSvgGenerator()
    svg.setOutputDevice(drawn)
    painter = QPainter(svg)
    card._paint_header(painter)
    painter.end()
    return " ".join(re.findall(r">([^<>]+)</text>", drawn.data().data().decode()))


@pytest.mark.slow
def test_biases_a_sink_and_the_tables_of_a_score_step_down(person: "Person", three: BackwardLens) -> None:
    person.document.edit("Biases", lambda e: edits.toggle_biases(e, True))
    person.document.edit("Tables", lambda e: edits.configure(e, score="additive", sink=True))
    finish(person)
    names = ["b_q", "b_k", "W_d", "W_e", "v_a", "sinks"]
    assert [name for name, card in three.canvas.cards.items() if card.isVisible()][-7:] == [
        *(f"d_{name}" for name in names), "d_inputs",
    ]  # fmt: skip
    assert three.panel.about.text().endswith("W_v and b_v do not affect a weight.")
    for name in names:
        chip = three.panel.chips[name]
        assert chip.accessibleName() == f"{name} may move"
        assert not chip.isChecked()
    narrow = three.canvas.cards["d_sinks"]
    assert narrow.width() >= 26 + text_width("dsinks", font("title")) + text_width(narrow.shape_text(), font("map"))
    click_cell(person, three, "d_v_a", 0, 1)
    assert three.trial.title.text() == "Checked by trying: dv_a, column 1"
    assert three.trial.told.text() == "They agree."
    assert person.playground.explain._name.text() == "dv_a"
    for name in ("W_q", "W_k"):
        click(person, three.panel.chips[name])
    click(person, three.panel.chips["b_q"])
    click(person, three.panel.chips["v_a"])
    before, gradients = person.experiment, attnlab.compute(person.experiment, dtype="float64")
    click(person, three.panel.step)
    after = person.experiment
    assert three.panel.status.text().startswith("One step at rate 0.5: the loss went from 0.")
    for name in ("b_q", "v_a"):
        expected = edits.table(before, name).double() - 0.5 * gradients[f"d_{name}"]
        torch.testing.assert_close(edits.table(after, name).double(), expected, rtol=1e-6, atol=1e-7)
    assert edits.table(after, "W_q") is edits.table(before, "W_q")
    assert lose(after) < lose(before)
    person.document.undo()
    finish(person)
    assert person.experiment is before


def test_the_menu_of_a_gradients_card_copies_and_exports_it(person: "Person", three: BackwardLens) -> None:
    card = three.canvas.cards["d_W_q"]
    three.canvas.show_card("d_W_q")
    person.settle()
    menu = menu_on(card, card.cell_rect(1, 1).center().toPoint())
    assert copied(person, menu, "Copy dW_q as", "CSV") == "Copied dW_q, 4 × 4, as CSV"
    written = [[float(each) for each in row.split(",")[1:]] for row in clipboard().splitlines()[1:]]
    torch.testing.assert_close(torch.tensor(written), attnlab.compute(person.experiment)["d_W_q"])
    menu = menu_on(card, QPoint(60, 15))
    note = told(person, entry(menu, "Copy picture").trigger)
    menu.close()
    assert note.startswith("Copied dW_q as a picture, ")
    assert not QGuiApplication.clipboard().image().isNull()
    menu = menu_on(card, QPoint(60, 15))
    entry(menu, "Export a picture or a table…").trigger()
    menu.close()
    dialog = person.window.findChild(ExportDialog)
    assert dialog is not None
    with person.qtbot.waitSignal(dialog.previewed):
        pass
    assert dialog.form.stages == ("d_W_q",)
    dialog.reject()
    person.settle()
    menu = menu_on(card, QPoint(60, 15))
    colours = next(action.menu() for action in menu.actions() if action.text() == "Colours of dW_q")
    assert colours is not None
    menu.close()


def test_the_cards_compare_with_a_pinned_state(person: "Person", three: BackwardLens) -> None:
    person.playground.comparison.toggle()
    before = attnlab.compute(person.experiment)["d_W_q"]
    click(person, three.panel.step)
    person.playground.comparison.look("difference")
    finish(person)
    now = attnlab.compute(person.experiment)["d_W_q"]
    data = three.canvas.cards["d_W_q"].data
    assert data is not None
    assert data.values[0].tolist() == (now - before).tolist()
    person.playground.comparison.look("pinned")
    finish(person)
    data = three.canvas.cards["d_W_q"].data
    assert data is not None
    assert data.values[0].tolist() == before.tolist()
