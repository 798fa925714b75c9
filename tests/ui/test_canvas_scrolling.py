"""A canvas longer than its room: the wheel and the bar scroll it, steps and held cells are scrolled to, inputs fold."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QPixmap
from PySide6.QtWidgets import QToolButton, QWidget

from attnlab.attention.stages.explain import Cell
from attnlab.document.settings import Settings
from attnlab.figures.text import find_key, measure_text
from attnlab.ui.base.themed import palette_of
from attnlab.ui.playground import paint_cache
from attnlab.ui.playground.canvas_scroll_bar import HANDLE_MARGIN
from attnlab.ui.playground.card_grid import label_face
from tests.ui.lessons.test_lessons_workspace import find_controller

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def small(person: "Person") -> "Person":
    """Return a person at a window in which the cards of cross-attention are longer than the canvas."""
    person.playground.open_preset("cross-attention")
    person.settle()
    person.window.resize(1024, 640)
    person.window.grab()  # which lays out what was asked for
    assert person.playground.canvas.is_longer
    return person


def is_whole(person: "Person", stage: str) -> bool:
    return person.playground.canvas.rect().contains(person.card(stage).geometry())


def test_the_wheel_scrolls_to_the_end_and_back(small: "Person") -> None:
    canvas = small.playground.canvas
    first = small.card("inputs").y()
    small.turn(canvas, QPoint(5, 100), -100)
    assert canvas.scroll_bar.value() == canvas.scroll_bar.maximum()
    assert is_whole(small, "context")
    assert canvas.zoom == 1
    small.turn(canvas, QPoint(5, 100), 100)
    assert small.card("inputs").y() == first


def test_another_example_is_shown_from_its_top(small: "Person") -> None:
    small.turn(small.playground.canvas, QPoint(5, 100), -100)
    small.playground.open_preset("multi-head-8")
    small.settle()
    assert small.playground.canvas.is_longer
    assert small.playground.canvas.scroll_bar.value() == 0


@pytest.mark.parametrize("type_size", [100, 150])
def test_no_wire_runs_below_the_scroll_bar(sit_down: "Callable[..., Person]", type_size: int) -> None:
    """The values of a whole block reach the context past the cards of the scores."""
    settings = Settings(theme="light", type_size=type_size)
    person = sit_down("whole-block", size=(1366, 768), settings=settings)
    person.window.grab()  # which lays out what was asked for
    canvas = person.playground.canvas
    assert canvas.scroll_bar.isVisible()
    image = canvas.ground().toImage()
    below = range(canvas.scroll_bar.x() + HANDLE_MARGIN, canvas.width())
    plain = QColor(palette_of(canvas).ground)
    assert {image.pixelColor(x, y).name() for x in below for y in range(image.height())} == {plain.name()}


@pytest.fixture
def enlarged(sit_down: "Callable[..., Person]") -> "Person":
    """Return a person at a small window of large type, beside a lesson: a card of eight columns is too wide."""
    person = sit_down(size=(1024, 640), settings=Settings(type_size=175))
    find_controller(person).open("why-attention", 0)
    person.window.show_workspace("playground")
    person.settle()
    person.window.grab()  # which lays out what was asked for
    return person


def test_a_card_too_wide_for_the_canvas_is_scrolled_sideways(enlarged: "Person") -> None:
    canvas, card = enlarged.playground.canvas, enlarged.card("inputs")
    assert card.geometry().right() > canvas.width()
    assert canvas.sideways_bar.isVisible()
    first, top = card.x(), card.y()
    enlarged.turn(canvas, QPoint(5, 100), -100, Mod.ShiftModifier)
    assert card.geometry().right() < canvas.width()
    assert card.y() == top
    enlarged.turn(canvas, QPoint(5, 100), 100, Mod.ShiftModifier)
    assert card.x() == first


def test_a_cell_held_at_the_end_of_a_wide_card_stays_in_place(enlarged: "Person") -> None:
    canvas, card = enlarged.playground.canvas, enlarged.card("inputs")
    canvas.sideways_bar.setValue(canvas.sideways_bar.maximum())
    canvas.scroll_bar.setValue(0)
    before = card.x()
    enlarged.click_cell("inputs", 0, 7)
    assert enlarged.document.view.pinned
    assert card.x() == before


def test_a_canvas_that_becomes_wide_enough_has_no_bar_below(enlarged: "Person") -> None:
    canvas = enlarged.playground.canvas
    canvas.sideways_bar.setValue(canvas.sideways_bar.maximum())
    enlarged.window.resize(1366, 768)
    enlarged.settle()
    assert not canvas.sideways_bar.isVisible()
    assert enlarged.card("inputs").x() >= 0


def test_the_wheel_with_ctrl_zooms(small: "Person") -> None:
    small.turn(small.playground.canvas, QPoint(5, 100), 3, Mod.ControlModifier)
    assert small.playground.canvas.zoom > 1


def test_the_wheel_zooms_a_canvas_that_fits(person: "Person") -> None:
    assert not person.playground.canvas.is_longer
    assert not person.playground.canvas.scroll_bar.isVisible()
    person.turn(person.playground.canvas, QPoint(5, 100), 3)
    assert person.playground.canvas.zoom > 1


def test_a_step_of_a_walk_is_scrolled_to(small: "Person") -> None:
    assert not is_whole(small, "context")
    small.key(Key.Key_Left)
    at = small.document.view.at
    assert at is not None
    assert is_whole(small, "context" if at.stage == "output" else at.stage)
    small.key(Key.Key_Home)
    assert is_whole(small, "inputs")


def test_a_held_cell_is_scrolled_to(small: "Person") -> None:
    small.document.select(Cell("context", 1, 1, 0), pin=True)
    assert is_whole(small, "context")


def test_painting_scrolls_to_a_map_unless_one_is_in_view(small: "Person") -> None:
    assert not is_whole(small, "scores")
    small.playground.mask.toggle()
    assert is_whole(small, "weights")
    small.playground.mask.toggle()
    small.playground.canvas.scroll_bar.setValue(0)
    small.playground.canvas.show_card("scores")
    assert not is_whole(small, "weights")
    small.playground.mask.toggle()
    assert is_whole(small, "scores")
    small.playground.mask.toggle()
    small.document.show(alone="inputs")
    small.playground.mask.toggle()
    assert small.document.view.alone is None
    small.key(Key.Key_Escape)


def test_tab_scrolls_to_the_card_that_it_reaches(small: "Person") -> None:
    small.card("inputs").setFocus(Qt.FocusReason.TabFocusReason)
    assert is_whole(small, "inputs")
    small.card("context").setFocus(Qt.FocusReason.TabFocusReason)
    assert is_whole(small, "context")


def test_folded_inputs_open_with_the_table_that_was_chosen(small: "Person") -> None:
    inputs, spine = small.playground.inputs, small.playground.spine
    assert not inputs.isVisible()
    spine.unfold_button.setFocus()
    small.key(Key.Key_Backtab)
    assert not spine.hasFocus(), "it has nothing to do with the focus, and shows none"
    small.click(spine.buttons["W_v"])
    assert inputs.isVisible()
    assert not spine.isVisible()
    assert inputs.name == "W_v"
    small.type_number(0, 0, "0.25")
    small.settle()
    assert float(small.experiment.weights.W_v[0, 0]) == 0.25
    small.click(small.find(QToolButton, "Fold the inputs"))
    assert not inputs.isVisible()
    small.key(Key.Key_L, Mod.ControlModifier)  # edit the sentence
    assert inputs.isVisible()
    assert inputs.sentence.hasFocus()
    small.click(small.find(QToolButton, "Fold the inputs"))
    small.press("Edit the sentence")
    assert inputs.isVisible()
    assert inputs.sentence.hasFocus()


def test_a_table_and_the_sentence_scroll_into_view_with_large_type(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(size=(1024, 640), settings=Settings(theme="light", type_size=170))
    inputs, table = person.playground.inputs, person.table

    def is_seen(part: QWidget) -> bool:
        place = part.rect().translated(part.mapTo(inputs.viewport(), QPoint(0, 0)))
        return inputs.viewport().rect().contains(place)

    person.press("Table X")
    person.wait_for(lambda: is_seen(table))
    assert is_seen(inputs.tabs["W_k"])
    assert table.verticalScrollBar().maximum() == 0, "the last row is cut"
    person.key(Key.Key_L, Mod.ControlModifier)
    person.wait_for(lambda: is_seen(inputs.sentence))


def test_inputs_folded_by_hand_stay_folded_in_a_wide_window(person: "Person") -> None:
    person.press("Fold the inputs")
    assert not person.playground.inputs.isVisible()
    person.window.resize(1600, 1000)
    assert not person.playground.inputs.isVisible()
    person.press("Show the inputs")
    assert person.playground.inputs.isVisible()


def test_a_held_cell_stays_in_view_when_the_window_shrinks(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8", size=(1920, 1400))
    person.click_cell("output", 3, 2)
    card, canvas = person.card("output"), person.playground.canvas
    for size in ((1366, 768), (1024, 640), (1200, 700)):
        person.window.resize(*size)
        person.settle()
        assert canvas.scroll_bar.isVisible()
        assert canvas.rect().contains(card.geometry().center()), size
    canvas.scroll_bar.setValue(0)
    person.window.resize(1100, 680)
    person.settle()
    assert not canvas.rect().contains(card.geometry().center())


def test_maps_of_heads_get_the_room_of_the_inputs_in_a_small_window(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8", size=(1024, 640))
    assert person.playground.spine.isVisible()
    person.window.resize(1600, 900)
    person.settle()
    assert not person.playground.spine.isVisible()


def test_the_cards_are_planned_again_for_two_states(person: "Person") -> None:
    person.press("Pin")
    person.press("Causal")
    person.settle()
    before = person.playground.canvas.plan
    person.press("Both")
    assert person.playground.canvas.plan is not before
    card = person.card("weights")
    assert card.grid is not None
    assert card.grid.cell_width >= 30
    person.press("Present")
    assert len(person.painted("weights")) == 1


class Red(QPixmap):
    """A picture that is red where nothing was drawn; the memory of a new picture could hold anything."""

    def __init__(self, *size: object) -> None:
        super().__init__(*size)
        self.fill(QColor("red"))


def test_corners_are_whole_after_a_card_that_was_painted_half_visible_is_scrolled_in(
    small: "Person", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paint_cache, "QPixmap", Red)
    canvas, card = small.playground.canvas, small.card("scores")
    canvas.scroll_bar.setValue(canvas.scroll_bar.value() + card.geometry().center().y() - canvas.height())
    for _ in range(3):  # the second time a card is painted, its picture is kept
        small.window.grab()
    assert card.y() < canvas.height() < card.geometry().bottom()
    small.turn(canvas, QPoint(5, 100), -100)
    picture = canvas.grab().toImage()
    assert is_whole(small, "scores")
    for corner in (card.geometry().bottomLeft(), card.geometry().bottomRight()):
        assert picture.pixelColor(corner).saturation() < 60


def test_labels_of_two_heads_are_whole(person: "Person") -> None:
    person.choose("Heads", "2")
    person.settle()
    person.window.resize(1366, 768)
    person.window.grab()
    for card in (person.playground.canvas.heads, person.card("keys")):
        assert card.grid is not None
        widest = measure_text("journey", find_key(label_face(card.grid, card._zoom)))
        assert widest <= card.grid.label_width - 6


def test_a_scene_opened_after_a_held_cell_stays_at_the_top(sit_down: "Callable[..., Person]") -> None:
    """A layer from Models makes the canvas lower, as a strip above tells where it came from."""
    person = sit_down(size=(1024, 640), settings=Settings(theme="light", type_size=150))
    canvas = person.playground.canvas
    person.playground.view_control.hold_cell(Cell("context", 1, 1, 0))
    person.settle()
    assert canvas.scroll_bar.value() > 0
    person.playground.open("Open another", person.document.scene)
    person.window.resize(1024, 600)
    person.settle()
    assert canvas.scroll_bar.value() == 0
