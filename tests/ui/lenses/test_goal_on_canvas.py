"""A weight on the canvas: Shift and a drag say what it should be, and its menu leads to the lenses that tell why."""

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip

import attnlab
from attnlab.attention import edits
from attnlab.attention.edits.token_edits import retype
from attnlab.attention.stages.explain import Cell
from attnlab.ui.base.theme import px
from attnlab.ui.playground.cell_actions import ENTRIES
from attnlab.ui.playground.lenses.goal_lens import GoalLens
from attnlab.ui.playground.weight_drag import FULL

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ui.conftest import Person

SHIFT = Qt.KeyboardModifier.ShiftModifier


def finish(person: "Person") -> None:
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)
    person.settle()


def weigh(person: "Person", query: int, key: int, head: int = 0) -> float:
    return float(attnlab.compute(person.experiment).array("weights")[head, query, key])


def find_lens(person: "Person") -> GoalLens:
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, GoalLens)
    return lens


def choose(person: "Person", at: QPoint, words: str, reason: QContextMenuEvent.Reason) -> None:
    card = person.card("weights")
    event = QContextMenuEvent(reason, at, card.mapToGlobal(at), Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(card, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.close()
    finish(person)


def test_one_drag_with_shift_makes_it_look_at_cat_at_0_8(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(retype(attnlab.preset("multi-head-8"), "the cat slept because it purred"))
    tokens = list(person.experiment.tokens)
    query, key = tokens.index("it"), tokens.index("cat")
    before, start = person.experiment, weigh(person, query, key)
    up = round((0.8 - start) * px(FULL))
    person.drag(person.card("weights"), person.cell("weights", query, key), (0, -20), (0, -up), modifiers=SHIFT)
    finish(person)
    assert weigh(person, query, key) == pytest.approx(0.8, abs=5e-5)
    assert find_lens(person).changes.isVisible()
    assert person.document.history.current.label == "Goal 0.8"
    person.document.undo()
    assert person.experiment is before


def test_a_weight_that_may_be_negative_is_dragged_below_0(person: "Person") -> None:
    person.document.edit("Sum", lambda e: edits.configure(e, normalizer="sum"))
    finish(person)
    start = weigh(person, 1, 2)
    person.drag(person.card("weights"), person.cell("weights", 1, 2), (0, 20), (0, px(FULL)), modifiers=SHIFT)
    finish(person)
    assert start < 1
    assert weigh(person, 1, 2) == pytest.approx(round(start - 1, 2), abs=5e-5)
    lens = find_lens(person)
    person.drag(lens.weights.now, lens.weights.now.cell_rect(1, 2).center().toPoint(), (0, -20), (0, -px(FULL) // 10))
    finish(person)
    assert weigh(person, 1, 2) == pytest.approx(round(start - 0.9, 2), abs=5e-5)


def test_while_a_weight_is_dragged_its_pair_and_its_goal_stand_beside_the_pointer(person: "Person") -> None:
    card, at = person.card("weights"), person.cell("weights", 2, 1)
    start = weigh(person, 2, 1)
    seen: list[str] = []
    person.playground.canvas.weight_dragged.connect(lambda *_: seen.append(QToolTip.text()))
    person.drag(card, at, (0, -px(FULL) // 4), modifiers=SHIFT)
    finish(person)
    assert seen == [f"“starts” → “journey”: {start:.4f}, wanted {round(start + px(FULL) // 4 / px(FULL), 2):.3f}"]
    assert QToolTip.text() == ""


def test_a_click_with_shift_holds_the_weight_and_a_drag_without_it_moves_the_canvas(person: "Person") -> None:
    before, card = person.experiment, person.card("weights")
    person.drag(card, person.cell("weights", 2, 1), (0, 0), modifiers=SHIFT)
    assert person.document.view.cell == Cell("weights", 2, 1, 0)
    person.drag(card, person.cell("weights", 3, 1), (0, -60))
    person.drag(person.card("scores"), person.cell("scores", 3, 1), (0, -60), modifiers=SHIFT)
    finish(person)
    assert person.experiment is before
    assert person.playground.lenses.current == "canvas"


def test_a_masked_weight_that_is_dragged_says_why_it_stays(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("journey")
    person.playground.toggle_causal()
    finish(person)
    before = person.experiment
    person.drag(person.card("weights"), person.cell("weights", 0, 3), (0, -px(FULL) // 2), modifiers=SHIFT)
    finish(person)
    assert "masked" in find_lens(person).panel.status.text()
    assert person.experiment is before


def test_the_mean_of_the_heads_has_no_goal(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-8")
    person.playground.show_mean()
    finish(person)
    person.drag(person.card("weights"), person.cell("weights", 2, 1), (0, -px(FULL) // 2), modifiers=SHIFT)
    finish(person)
    assert person.playground.lenses.current == "canvas"


@pytest.mark.parametrize(("lens", "words"), ENTRIES)
def test_the_menu_of_a_weight_leads_to_the_lenses_that_tell_why(person: "Person", lens: str, words: str) -> None:
    choose(person, person.cell("weights", 3, 2), words, QContextMenuEvent.Reason.Mouse)
    assert person.playground.lenses.current == lens
    assert person.document.view.cell == Cell("weights", 3, 2, 0)


def test_the_key_for_menus_opens_that_of_the_held_weight(person: "Person") -> None:
    person.click_cell("weights", 4, 5)
    at = person.card("weights").inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle).center()
    choose(person, at, "Set a goal for this weight", QContextMenuEvent.Reason.Keyboard)
    assert person.document.view.cell == Cell("weights", 4, 5, 0)
    assert find_lens(person).panel.name.text() == f"The weight “one” → “step” is {weigh(person, 4, 5):.4f}."
