"""The list of lessons says how far the user is, finds lessons, and fits windows of every size."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from attnlab.lessons.library import list_shipped
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.elided_label import ElidedLabel
from tests.ui.lessons.test_lessons_workspace import find_controller, step_of, walk, workspace_of

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_pages import LessonPages
    from attnlab.ui.lessons.list_rows import Row
    from tests.ui.conftest import Person

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier


def row_of(workspace: "LessonPages", title: str) -> "Row":
    return next(row for row in workspace.shelf.rows if row.title == title)


def filled(person: "Person") -> str:
    """Return the text of the page's filled button."""
    page = find_controller(person).workspace.page  # type: ignore[union-attr]
    buttons = [button for button in page.findChildren(QPushButton) if button.isVisible()]
    (primary,) = [button for button in buttons if button.property("primary")]
    assert len(buttons) == 4
    return primary.text()


@pytest.mark.slow
def test_the_way_through_a_lesson_is_shown_and_kept(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    workspace = workspace_of(person)
    assert row_of(workspace, "Masks in four steps").state == ""
    person.key(Key.Key_1, CTRL)
    for _ in range(8):
        person.press("Next")
        person.settle()
    assert step_of(person) == 2
    workspace_of(person)
    row = row_of(workspace, "Masks in four steps")
    assert (row.state, row.done, row.share) == ("at step 3", False, 0.5)
    assert [(each.done, each.now) for each in workspace.page.steps.rows] == [
        (True, False),
        (True, False),
        (False, True),
        (False, False),
    ]
    assert filled(person) == "Continue at step 3"
    assert person.window.settings.lesson_progress == (f"{lesson_file}=2:0-1",)
    person.press("Continue at step 3")
    person.press("Next")
    person.press("Reveal")
    assert find_controller(person).player.at_end
    find_controller(person).close()
    workspace_of(person)
    row = row_of(workspace, "Masks in four steps")
    assert (row.state, row.done, row.share) == ("done", True, 1.0)
    assert "1 done" in workspace.header.counts
    assert filled(person) == "Start again"
    person.press("Start again")
    workspace_of(person)
    assert row_of(workspace, "Masks in four steps").state == ""


def test_a_step_that_was_jumped_over_is_not_done(person: "Person") -> None:
    controller = find_controller(person)
    controller.open("six-words")
    controller.player.go(4)
    controller.player.go(5)
    controller.player.go(1)
    workspace = workspace_of(person)
    assert [i for i, row in enumerate(workspace.page.steps.rows) if row.done] == [4]
    assert filled(person) == "Continue at step 2"


def test_a_tour_is_no_lesson(person: "Person") -> None:
    person.key(Key.Key_F5)
    controller = find_controller(person)
    assert controller.presentation is not None
    person.key(Key.Key_PageDown, widget=controller.presentation)
    person.key(Key.Key_Escape, widget=controller.presentation)
    assert person.window.settings.lesson_progress == ()


@pytest.mark.slow
def test_words_are_found_in_titles_and_steps(person: "Person") -> None:
    workspace = workspace_of(person)
    search = workspace.header.search
    search.setFocus()
    person.type("handshakes")
    assert [(row.title, row.about) for row in workspace.shelf.rows] == [
        ("What attention costs", "Step 2: Twice the text: how large is the map?")
    ]
    person.key(Key.Key_Return, widget=search)
    assert workspace.page.chosen == 1
    assert workspace.chosen is not None
    assert workspace.chosen[0].name == "cost"
    person.key(Key.Key_Escape)
    assert search.text() == ""
    assert len(workspace.shelf.rows) == len(list_shipped())
    search.setFocus()
    person.type("zebra crossing")
    assert [row.title for row in workspace.shelf.rows] == ["No lesson has these words"]


def test_twelve_lessons_fit_without_scrolling(person: "Person") -> None:
    person.window.resize(1440, 900)
    workspace = workspace_of(person)
    person.wait_for(lambda: workspace.shelf.viewport().height() > 500)
    assert [row.number for row in workspace.shelf.rows] == list(range(1, len(list_shipped()) + 1))
    shelf = workspace.shelf
    assert shelf.viewport().rect().contains(shelf.visualItemRect(shelf.item(11)))
    steps = workspace.page.steps
    tops = [steps.visualItemRect(steps.item(i)).top() for i in range(6)]
    assert tops[0] == tops[4] < tops[5]  # five in a row


def test_a_narrow_bar_leaves_out_the_hours_instead_of_cutting_them(person: "Person") -> None:
    person.window.change_settings(type_size=175)
    person.window.resize(1024, 640)
    counts = workspace_of(person).header.findChild(ElidedLabel)
    assert counts is not None
    person.wait_for(lambda: counts.visible_text == f"{len(list_shipped())} lessons")
    assert "hours" in counts.text()


def test_a_lesson_is_read_where_the_explanation_was_folded(person: "Person") -> None:
    person.window.change_settings(type_size=175)
    person.window.resize(1024, 640)
    person.settle()
    body = person.playground.body
    person.wait_for(lambda: not person.playground.explain.isVisible())
    controller = find_controller(person)
    controller.open("scaling", 3)
    person.settle()
    panel = controller.panel
    assert panel is not None
    person.wait_for(lambda: panel.isVisible() and panel.width() > 300)
    controller.close()
    person.settle()
    person.wait_for(lambda: not person.playground.explain.isVisible())
    assert body.sizes()[3] == 0


def test_in_a_narrow_window_the_list_is_a_page_of_its_own(person: "Person") -> None:
    workspace = workspace_of(person)
    person.window.resize(1100, 700)
    person.wait_for(lambda: 280 <= workspace.shelf.width() <= 310)
    steps = workspace.page.steps
    person.wait_for(lambda: steps.visualItemRect(steps.item(3)).top() < steps.visualItemRect(steps.item(4)).top())
    assert workspace.page.isVisible()
    person.window.resize(800, 640)
    person.wait_for(lambda: not workspace.page.isVisible())
    assert workspace.shelf.isVisible()
    person.click(workspace.shelf.viewport(), workspace.shelf.visualItemRect(workspace.shelf.item(2)).center())
    assert workspace.page.isVisible()
    assert not workspace.shelf.isVisible()
    person.press("All lessons")
    assert workspace.shelf.isVisible()
    assert not workspace.page.isVisible()


def test_the_number_of_a_step_is_in_a_circle(person: "Person", lesson_file: Path) -> None:
    walk(person, lesson_file)
    steps = workspace_of(person).page.steps
    card = steps.visualRect(steps.model().index(0, 0))
    image = steps.viewport().grab().toImage()
    accent, edge = palette_of(steps).accent.lower(), 9  # the card of the present step has a frame in the accent too
    filled = [
        (x, y)
        for x in range(card.left() + edge, card.center().x())
        for y in range(card.top() + edge, card.center().y())
        if image.pixelColor(x, y).name() == accent
    ]
    wide, high = (max(each) - min(each) for each in zip(*filled, strict=True))
    assert wide > 10
    assert abs(wide - high) <= 1
