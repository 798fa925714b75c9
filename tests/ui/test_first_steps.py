"""The first steps: ticked by doing them, gone after the last or when closed, brought back by Help, and remembered."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolButton, QWidget

from attnlab.attention.edits import token_edits
from attnlab.document.settings import Settings, load_settings
from attnlab.ui.playground.first_steps_card import FirstStepsCard
from attnlab.ui.playground.first_steps_place import MARGIN, FirstStepsPlace
from tests.ui.conftest import Person

Sit = Callable[..., Person]
Key = Qt.Key


def card(person: Person) -> FirstStepsCard | None:
    """Return the visible card, None for none."""
    found = [one for one in person.window.findChildren(FirstStepsCard) if one.isVisible()]
    assert len(found) <= 1
    return found[0] if found else None


def read(person: Person) -> list[str]:
    """Return what the card says about each step."""
    shown = card(person)
    assert shown is not None, "the card is not shown"
    names = [label.accessibleName() for label in shown.findChildren(QLabel)]
    return [name for name in names if name.startswith(("Done", "To do"))]


def links(person: Person) -> list[str]:
    found = person.playground.lenses.findChildren(QToolButton)
    return [one.text() for one in found if one.isVisible() and one.text().startswith("First steps")]


def do_all(person: Person) -> None:
    person.point_at("weights", 2, 1)
    person.drag_number(0, 1, 12, 30)
    person.press("Step back")
    person.settle()


def test_a_newcomer_finds_three_things_to_do_and_a_lesson(person: Person) -> None:
    assert read(person) == [
        "To do: Go to a weight on its card with the arrow keys: Explain writes it out.",
        "To do: Change a number in W_q with the up and down keys: the weight is said again.",
        "To do: Walk the steps with Page Down and Page Up.",
    ]
    assert person.find(QPushButton, "Start the first lesson").isEnabled()
    assert links(person) == []


def test_each_step_is_ticked_by_doing_it_and_only_by_that(person: Person) -> None:
    person.point_at("scores", 1, 1)
    assert [line[:5] for line in read(person)] == ["To do"] * 3
    person.point_at("weights", 1, 1)
    assert [line[:4] for line in read(person)] == ["Done", "To d", "To d"]
    person.open_table("W_q")
    person.drag_number(0, 1, 12, 30)
    person.settle()
    assert [line[:4] for line in read(person)] == ["Done", "Done", "To d"]
    person.press("Show all steps")
    assert [line[:4] for line in read(person)] == ["Done", "Done", "To d"], "nothing was walked"
    person.press("Step back")
    person.settle()
    assert [line[:4] for line in read(person)] == ["Done"] * 3


def test_the_card_closes_a_moment_after_the_third_step(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    person.playground.first_steps._lingering.setInterval(60)  # a person would wait three seconds
    inputs = person.playground.inputs
    below = inputs.viewport().height()
    do_all(person)
    person.wait_for(lambda: card(person) is None)
    assert inputs.viewport().height() > below, "the inputs have the room again"
    assert links(person) == []


def test_steps_done_by_keyboard_are_ticked(person: Person) -> None:
    person.click_cell("weights", 0, 0)
    person.type_number(0, 0, "0.5")
    person.settle()
    person.playground.canvas.setFocus()
    person.key(Key.Key_Left)
    assert [line[:4] for line in read(person)] == ["Done"] * 3


def test_the_cross_closes_the_card_and_help_brings_it_back_with_nothing_done(person: Person) -> None:
    person.point_at("weights", 1, 1)
    person.press("Close the first steps")
    assert card(person) is None
    person.window.actions_list.run("first-steps")
    assert [line[:5] for line in read(person)] == ["To do"] * 3
    assert person.find(QPushButton, "Start the first lesson").isVisible()


def test_the_lesson_that_is_offered_opens_beside_the_playground(person: Person) -> None:
    person.press("Start the first lesson")
    assert person.window.lessons is not None
    lesson = person.window.lessons.player.lesson
    assert lesson is not None
    assert lesson.name == "why-attention"
    person.settle()


def test_a_low_window_has_a_link_above_the_canvas_that_opens_the_card(person: Person) -> None:
    person.window.resize(1200, 560)
    person.wait_for(lambda: card(person) is None)
    person.point_at("weights", 1, 1)
    assert links(person) == ["First steps 1/3"]
    person.press("First steps 1/3")
    assert [line[:4] for line in read(person)] == ["Done", "To d", "To d"]
    shown = card(person)
    assert shown is not None
    assert shown.window() is not person.window
    person.click(shown.close_button)
    assert links(person) == []
    assert card(person) is None


def test_help_opens_the_card_where_the_window_has_room_for_a_link_only(person: Person) -> None:
    person.playground.inputs.hide()
    person.wait_for(lambda: links(person) == ["First steps 0/3"])
    for pinned in (False, True):
        if pinned:
            person.press("Pin")
            person.wait_for(lambda: links(person) == [])
        person.window.actions_list.run("first-steps")
        assert [line[:5] for line in read(person)] == ["To do"] * 3
        shown = card(person)
        assert shown is not None
        person.key(Key.Key_Escape, widget=shown.window())
        assert card(person) is None


def test_the_link_leaves_its_room_to_the_switches_of_a_pinned_state(person: Person) -> None:
    person.playground.inputs.hide()
    person.wait_for(lambda: links(person) == ["First steps 0/3"])
    person.press("Pin")
    person.wait_for(lambda: links(person) == [])
    person.press("Unpin")
    person.wait_for(lambda: links(person) == ["First steps 0/3"])


def test_with_folded_inputs_a_link_replaces_the_card(person: Person) -> None:
    person.playground.inputs.hide()
    person.wait_for(lambda: links(person) == ["First steps 0/3"])
    person.playground.inputs.show()
    person.wait_for(lambda: card(person) is not None)
    assert links(person) == []


@pytest.mark.slow
def test_the_card_leaves_the_buttons_below_the_table_whole_or_is_a_link(person: Person) -> None:
    inputs, carded = person.playground.inputs, []
    for height in range(640, 941, 20):
        person.window.resize(1366, height)
        person.window.grab()
        shown = card(person)
        carded.append(shown is not None)
        assert bool(links(person)) is (shown is None)
        for button in inputs.fill_bar.findChildren(QWidget) if shown is not None else ():
            if button.isVisible() and button.parent() is inputs.fill_bar:
                assert button.visibleRegion().boundingRect() == button.rect(), (button, height)
    assert carded == sorted(carded), "the card never comes and goes while the window grows"
    assert not carded[0]
    assert carded[-1]


def test_the_room_for_the_card_is_the_same_with_and_without_a_scroll_bar(person: Person) -> None:
    """Or the card needs a scroll bar, beside which the tokens take another row, for which the card goes, and so on."""
    inputs, strip = person.playground.inputs, person.playground.inputs.tokens
    person.press("Close the first steps")
    person.window.resize(1366, 1000)
    person.window.grab()
    narrow = strip.width() - inputs.verticalScrollBar().sizeHint().width()
    word = "the"
    while strip.measure_height(narrow) == strip.measure_height(strip.width()):
        word += "i"
        assert len(word) < 200
        tokens = ("the", "river", "bank", word)
        person.document.edit("Type", lambda e, tokens=tokens: token_edits.set_tokens(e, tokens))
        person.settle()
    person.window.grab()
    high, least = strip.height(), inputs.measure_least_height()
    inputs.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    person.wait_for(lambda: strip.height() > high)
    assert inputs.measure_least_height() == least


def test_the_card_never_goes_because_of_the_scroll_bar_that_it_adds(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or it comes back without the bar, beside which its text takes another line, and so on for ever."""
    inputs, place = person.playground.inputs, person.playground.first_steps_place
    asked, has_room = [], FirstStepsPlace._has_room
    monkeypatch.setattr(FirstStepsPlace, "_has_room", lambda place: asked.append(1) or has_room(place))
    wide = inputs.width() - 2 * MARGIN
    heights = [place.card.heightForWidth(wide - less) for less in (0, inputs.verticalScrollBar().sizeHint().width())]
    assert heights[0] < heights[1]
    around = person.window.height() - inputs.height() + inputs.measure_least_height() + 2 * MARGIN
    for height in range(heights[0] - 1, heights[1] + 2, 3):
        person.window.resize(1440, around + height)
        person.wait_for(lambda wanted=around + height: person.window.height() == wanted)
        asked.clear()
        for _ in range(10):
            QApplication.processEvents()
        assert len(asked) <= 3, height


@pytest.mark.slow
def test_a_longer_sentence_folds_the_card(person: Person) -> None:
    inputs = person.playground.inputs
    person.window.resize(1366, 1000)
    person.window.grab()
    while card(person) is not None:
        person.window.resize(1366, person.window.height() - 10)
        person.window.grab()
    person.window.resize(1366, person.window.height() + 10)
    person.wait_for(lambda: card(person) is not None)
    person.click(inputs.memory_switch)
    person.settle()
    person.wait_for(lambda: card(person) is None and links(person) == ["First steps 0/3"])
    person.undo()
    person.wait_for(lambda: card(person) is not None and links(person) == [])


@pytest.mark.parametrize("type_size", [100, 175, 250])
def test_the_card_is_not_clipped(person: Person, type_size: int) -> None:
    person.window.resize(1920, 1080)
    person.window.change_settings(type_size=type_size)
    shown = card(person)
    if shown is None:
        assert links(person) == ["First steps 0/3"]
        person.press("First steps 0/3")
        shown = card(person)
    assert shown is not None
    for part in shown.findChildren(QWidget):
        assert shown.rect().contains(
            part.geometry().translated(part.parentWidget().mapTo(shown, part.rect().topLeft()))
        )
    for label in shown.findChildren(QLabel):
        assert label.height() >= label.heightForWidth(label.width())
    if shown.window() is not person.window:
        shown.window().close()


@pytest.mark.slow
def test_finished_steps_are_remembered_and_the_lesson_is_offered_once(
    sit_down: Sit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNLAB_CONFIG_DIR", str(tmp_path))
    first = sit_down(settings=load_settings()[0], remember=True)
    first.window.resize(1440, 900)
    first.wait_for(lambda: card(first) is not None)
    assert first.find(QPushButton, "Start the first lesson").isVisible()
    first.point_at("weights", 1, 1)
    first.window.close()
    saved, problems = load_settings()
    assert problems == ()
    assert (saved.first_steps, saved.first_steps_shown, saved.lesson_offered) == (("weight",), True, True)
    second = sit_down(settings=saved, remember=True)
    second.window.resize(1440, 900)
    second.wait_for(lambda: card(second) is not None)
    assert [line[:4] for line in read(second)] == ["Done", "To d", "To d"]
    shown = card(second)
    assert shown is not None
    assert not shown.lesson_button.isVisible()
    second.press("Close the first steps")
    second.window.close()
    third = sit_down(settings=load_settings()[0], remember=True)
    assert card(third) is None
    assert links(third) == []


def test_unknown_saved_steps_are_ignored(sit_down: Sit) -> None:
    person = sit_down(settings=Settings(theme="light", first_steps=("weight", "of an older version")))
    assert [line[:4] for line in read(person)] == ["Done", "To d", "To d"]
