"""The computation stage by stage: arrows, buttons and bars reveal stages and hide them again."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QToolButton

from attnlab.attention import edits
from attnlab.attention.stages.walk import Place, stages_of
from attnlab.ui.playground import recovery
from attnlab.ui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier
STAGES = ["inputs", "queries", "keys", "values", "scores", "scaled", "weights", "context", "output"]


def revealed(person: "Person") -> list[str]:
    """Return the stages with numbers on the canvas."""
    return [name for name, card in person.playground.canvas.cards.items() if card.isVisible() and card.data is not None]


def told(person: "Person") -> str:
    """Return the status bar's text about the step."""
    labels = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    return next(text for text in labels if " of " in text or text == "All steps")


def test_arrows_walk_back_through_the_stages_and_on_again(person: "Person") -> None:
    person.window.setFocus()
    assert told(person) == "All steps"
    for count in range(8, 0, -1):
        person.key(Key.Key_Left)
        assert revealed(person) == STAGES[:count]
    assert told(person) == "1 of 9: Inputs"
    person.key(Key.Key_Left)
    assert revealed(person) == ["inputs"]
    for count in range(2, 9):
        person.key(Key.Key_Right)
        assert revealed(person) == STAGES[:count]
    assert told(person) == "8 of 9: Context"
    person.key(Key.Key_Right)
    assert revealed(person) == STAGES
    assert told(person) == "All steps"
    person.key(Key.Key_Right)
    assert revealed(person) == STAGES


def test_a_step_is_described(person: "Person") -> None:
    person.window.setFocus()
    person.key(Key.Key_Home)
    for _ in range(4):
        person.key(Key.Key_PageDown)
    labels = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    assert "5 of 9: Scores" in labels
    assert "How well each query matches each key." in labels


@pytest.mark.parametrize(
    ("back", "on"), [(Key.Key_Left, Key.Key_Right), (Key.Key_PageUp, Key.Key_PageDown)], ids=["arrows", "clicker"]
)
def test_a_clicker_works_like_the_arrow_keys(person: "Person", back: Key, on: Key) -> None:
    person.window.setFocus()
    person.key(back)
    person.key(back)
    assert revealed(person) == STAGES[:7]
    person.key(on)
    assert revealed(person) == STAGES[:8]
    person.key(Key.Key_End)
    assert revealed(person) == STAGES


def test_buttons_walk_the_steps_and_are_disabled_at_the_ends(person: "Person") -> None:
    def button(name: str) -> QToolButton:
        return person.find(QToolButton, name)

    first, back, on, last = (
        button(name) for name in ("First step (Home)", "Step back (←)", "Step forward (→)", "Show all steps (End)")
    )
    assert [b.isEnabled() for b in (first, back, on, last)] == [True, True, False, False]
    person.click(back)
    assert revealed(person) == STAGES[:8]
    person.click(first)
    assert revealed(person) == ["inputs"]
    assert [b.isEnabled() for b in (first, back, on, last)] == [False, False, True, True]
    person.click(on)
    assert revealed(person) == STAGES[:2]
    person.click(last)
    assert revealed(person) == STAGES


def test_a_click_on_the_row_of_steps_goes_to_that_step(person: "Person") -> None:
    bar = person.playground.step_bar.progress
    person.click(bar, QPoint(round(bar.width() * 4.4 / 9), bar.height() // 2))
    assert told(person) == "5 of 9: Scores"
    assert bar.toolTip() == "step 5 of 9"


def test_unrevealed_stages_are_not_explained_or_shown(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    person.window.setFocus()
    person.key(Key.Key_Home)
    heads = person.playground.canvas.heads
    assert heads.grid is None
    assert heads.choice_at(QPoint(60, 80).toPointF()) is None
    person.click_cell("inputs", 1, 1)
    names = [label.accessibleName() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    assert not any(name.startswith("Row:") for name in names)


def test_numbers_can_be_changed_at_any_step_and_stay_hidden_until_revealed(person: "Person") -> None:
    person.window.setFocus()
    person.key(Key.Key_Home)
    person.type_number(0, 0, "4")
    person.settle()
    assert revealed(person) == ["inputs"]
    person.window.setFocus()
    person.key(Key.Key_Right)
    assert revealed(person) == ["inputs", "queries"]


def test_a_layer_with_fewer_stages_has_fewer_steps(person: "Person") -> None:
    person.window.setFocus()
    person.key(Key.Key_Left)
    person.choose("Scale", "none")
    person.settle()
    assert told(person) == "7 of 8: Context"
    person.press("Causal")
    person.settle()
    person.window.setFocus()
    person.key(Key.Key_Home)
    assert told(person) == "1 of 9: Inputs"


def test_alt_and_arrows_step_from_inside_a_field(person: "Person") -> None:
    person.playground.inputs.sentence.setFocus()
    person.key(Key.Key_Left)
    assert revealed(person) == STAGES  # the cursor moved in the sentence
    person.key(Key.Key_Left, Mod.AltModifier)
    assert revealed(person) == STAGES[:8]
    person.key(Key.Key_Right, Mod.AltModifier)
    assert revealed(person) == STAGES


def test_a_message_is_replaced_by_the_next_step_or_disappears(person: "Person", tmp_path: Path) -> None:
    person.playground.files.open(tmp_path / "nothing.attnlab")
    person.settle()
    assert "nothing.attnlab" in person.message()
    person.window.setFocus()
    person.key(Key.Key_Left)
    assert person.message() == ""
    from attnlab.ui.playground import bar_message

    bar = person.playground.step_bar
    person.playground.files.save_to(tmp_path / "mine.attnlab")
    person.settle()
    assert person.message().startswith("Saved ")
    assert (bar.note_timer.isActive(), bar.note_timer.interval()) == (True, bar_message.NOTE_MS)
    bar.note_timer.start(1)
    person.wait_for(lambda: person.message() == "")
    person.playground.files.open(tmp_path / "nothing.attnlab")
    person.settle()
    person.playground.open_preset("causal-5x8")
    assert person.message() == ""


def test_arrows_on_a_card_walk_the_steps_until_a_cell_is_selected(person: "Person") -> None:
    person.click_cell("weights", 1, 1)
    person.card("weights").setFocus()
    person.key(Key.Key_Left)
    assert revealed(person) == STAGES
    person.key(Key.Key_Escape)
    assert person.playground.canvas.hasFocus()
    person.key(Key.Key_Left)
    assert revealed(person) == STAGES[:8]
    person.card("weights").setFocus()
    person.key(Key.Key_Right)
    assert revealed(person) == STAGES


def test_escape_releases_the_enlarged_card_then_the_cell_then_the_step(person: "Person") -> None:
    person.window.setFocus()
    person.key(Key.Key_Left)
    person.click_cell("weights", 1, 1)
    person.document.show(alone="weights")
    left = []
    for _ in range(3):
        person.key(Key.Key_Escape)
        view = person.document.view
        left.append((view.alone, view.cell is not None, view.at is not None))
    assert left == [(None, True, True), (None, False, True), (None, False, False)]


def test_an_enlarged_card_gives_way_to_that_of_the_step(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("whole-block")
    canvas = person.playground.canvas

    def find_shown() -> list[str]:
        return [name for name, card in canvas.cards.items() if card.isVisible()]

    person.document.show(alone="weights")
    person.window.setFocus()
    person.key(Key.Key_Home)
    stages = [stage.name for stage in stages_of(person.experiment)]
    for stage in stages:
        assert find_shown() == [stage]
        person.key(Key.Key_Right)
    person.key(Key.Key_Left)
    assert find_shown() == [stages[-2]]
    person.key(Key.Key_Escape)
    assert len(find_shown()) > 1


def test_the_bar_names_the_button_that_walks_back_wherever_the_focus_is(person: "Person") -> None:
    labels = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    assert "◀ walks back" in labels
    person.click_number(0, 0)
    person.key(Key.Key_Left)  # in a table the key is the table's
    assert told(person) == "All steps"
    person.click(person.playground.step_bar.buttons["back"])
    assert told(person) == "8 of 9: Context"


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_the_text_of_a_step_has_the_room_of_shape_and_time(
    sit_down: Callable[..., "Person"], size: tuple[int, int]
) -> None:
    person = sit_down("causal-5x8", size=size)
    person.document.show(at=Place("scores"))
    person.settle()
    texts = [label for label in person.playground.step_bar.findChildren(ElidedLabel) if label.isVisible()]
    person.wait_for(lambda: "How well each query matches each key." in [label.visible_text for label in texts])


def test_the_rows_are_said_to_sum_to_1_once_their_weights_are_computed(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1920, 1080))
    sums, seen = person.playground.step_bar.figures.sums, []
    for at in (Place("queries"), Place("weights", 2), Place("weights", 5), Place("weights"), Place("context"), None):
        person.document.show(at=at)
        person.settle()
        seen.append(sums.isVisible())
    assert seen == [False, False, True, True, True, True]


def test_the_bar_below_is_as_high_with_many_stages_as_with_few(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1366, 768))
    bar = person.playground.step_bar
    levels, heights = {bar.progress.level}, {bar.height()}
    person.document.edit("Loss", lambda e: edits.configure(e, loss="weight"))
    person.settle()
    person.window.grab()
    levels.add(bar.progress.level)
    heights.add(bar.height())
    assert len(levels) == 2, "with many stages there are bars in place of thumbnails"
    assert len(heights) == 1


@pytest.mark.parametrize("walking", [False, True])
def test_a_message_is_read_as_a_whole(walking: bool, sit_down: "Callable[..., Person]") -> None:
    person = sit_down(size=(1366, 768))
    if walking:
        person.window.setFocus()
        person.key(Key.Key_Left)
        person.settle()
    bar = person.playground.step_bar
    label = bar.findChild(ElidedLabel, "message")

    def look() -> tuple[object, ...]:
        shown = [part.isVisible() for part in (bar.figures.shape, bar.figures.time, bar.figures.sums)]
        return bar.progress.level, bar.progress.geometry(), shown, bar.height()

    usual = look()
    bar.show_note("Copied.")
    person.wait_for(lambda: label.visible_text == "Copied.")
    assert look() == usual
    bar.show_note(recovery.NOTE)
    person.wait_for(lambda: label.visible_text == recovery.NOTE)
    assert bar.height() == usual[-1]
    bar.show_message("")
    person.wait_for(lambda: look() == usual)
