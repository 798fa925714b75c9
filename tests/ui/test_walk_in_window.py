"""The walk in the window: rows, cells and terms by key; uncomputed numbers are hidden everywhere."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QProxyStyle, QStyle, QToolButton

from attnlab.attention.stages import walk
from attnlab.attention.stages.walk import Place
from attnlab.ui.base.motion import set_reduced_motion
from attnlab.ui.widgets.elided_label import ElidedLabel
from tests.ui.explained import ask_for_formula

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


def known(person: "Person", stage: str) -> int:
    """Return the number of known cells of a card."""
    data = person.card(stage).data
    if data is None:
        return 0
    return data.values[0].size if data.unknown is None else int((~np.asarray(data.unknown)).sum())


def told(person: "Person") -> str:
    labels = [label.text() for label in person.playground.step_bar.findChildren(QLabel) if label.isVisible()]
    return next(text for text in labels if " of " in text or text == "All steps")


def explained(person: "Person") -> str:
    """Return Explain's value and arithmetic."""
    names = [label.accessibleName() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    beginnings = ("Value of the cell", "The cell as arithmetic")
    return " | ".join(name.partition(": ")[2] for name in names if name.startswith(beginnings))


def walk_to(person: "Person", depth: str, at: Place) -> None:
    person.document.show(depth=depth, at=at)
    person.window.setFocus()


def framed(person: "Person", stage: str) -> list[tuple[int | None, int | None]]:
    return [(outline.row, outline.column) for outline in person.card(stage)._outlines()[0]]


# How far a step goes


def test_a_key_chooses_the_depth_of_a_step(person: "Person") -> None:
    person.window.setFocus()
    depths = []
    for key, modifiers in ((Key.Key_D, Mod.NoModifier),) * 4 + ((Key.Key_D, Mod.ShiftModifier),):
        person.key(key, modifiers)
        depths.append(person.document.view.depth)
    assert depths == ["row", "cell", "term", "stage", "term"]
    person.choose("Depth of a step", "row")
    assert person.document.view.depth == "row"
    assert person.document.view.at is None


def test_d_is_a_letter_while_typing(person: "Person") -> None:
    person.write_sentence("Dad did G P d")
    assert person.experiment.tokens == ("Dad", "did", "G", "P", "d")
    assert person.document.view.depth == "stage"


def test_rows_appear_one_by_one_and_disappear_again(person: "Person") -> None:
    walk_to(person, "row", Place("queries"))
    counts = []
    for _ in range(13):
        person.key(Key.Key_Right)
        counts.append((known(person, "keys"), known(person, "values"), known(person, "scores")))
    assert counts[:6] == [(2 * rows, 0, 0) for rows in range(1, 7)]
    assert counts[6:12] == [(12, 2 * rows, 0) for rows in range(1, 7)]
    assert counts[12] == (12, 12, 6)
    assert told(person) == "25 of 54: Scores"
    for _ in range(13):
        person.key(Key.Key_PageUp)
    assert (known(person, "queries"), known(person, "keys")) == (12, 0)


def test_cells_appear_one_by_one_with_their_arithmetic(person: "Person") -> None:
    ask_for_formula(person)
    walk_to(person, "cell", Place("scores", 2, 0))
    person.key(Key.Key_Right)
    assert known(person, "scores") == 14
    assert explained(person).startswith("1.8284 | q·k = ")
    assert framed(person, "scores") == [(2, 1)]
    assert (framed(person, "queries"), framed(person, "keys")) == ([(2, None)], [(1, None)])
    assert (framed(person, "values"), framed(person, "inputs")) == ([], [])
    person.key(Key.Key_Left)
    assert known(person, "scores") == 13


def test_the_tokens_of_the_cell_that_a_walk_reaches_are_lit_though_another_is_held(person: "Person") -> None:
    person.click_cell("weights", 3, 5)
    walk_to(person, "cell", Place("weights", 3, 1))
    person.leave("weights")
    tokens = person.playground.inputs.tokens
    said = [tokens.name_cell(place).partition(": ")[2] for place in (3, 1, 5)]
    assert said == ["with, query", "journey, key", "step"]


def test_a_sum_grows_term_by_term_until_the_cell_is_known(person: "Person") -> None:
    ask_for_formula(person)
    walk_to(person, "term", Place("scores", 2, 0))
    seen = []
    for _ in range(3):
        person.key(Key.Key_Right)
        seen.append((known(person, "scores"), explained(person)))
    assert seen[:2] == [
        (13, "? | q·k = 0.43·0.4433 + …"),
        (13, "? | q·k = 0.43·0.4433 + 1.4343·1.1419"),
    ]
    assert seen[2][0] == 14
    assert seen[2][1].startswith("1.8284 | ")
    assert framed(person, "keys") == [(1, None)]
    person.key(Key.Key_Left)
    assert framed(person, "keys") == [(1, 1)]


def test_a_stage_step_frames_all_its_sources(person: "Person") -> None:
    walk_to(person, "stage", Place("context"))
    assert framed(person, "weights") == framed(person, "values") == framed(person, "context") == [(None, None)]
    assert framed(person, "queries") == []
    walk_to(person, "row", Place("context", 3))
    assert (framed(person, "weights"), framed(person, "values")) == ([(3, None)], [(None, None)])


def test_the_depth_can_change_within_a_stage(person: "Person") -> None:
    walk_to(person, "cell", Place("scores", 2, 3))
    person.key(Key.Key_D, Mod.ShiftModifier)
    person.key(Key.Key_Right)
    assert person.document.view.at == Place("scores", 2)
    person.key(Key.Key_D, Mod.ShiftModifier)
    person.key(Key.Key_Left)
    assert person.document.view.at == Place("values")


# What is not computed yet


def test_uncomputed_cells_are_described_as_not_computed_yet(person: "Person") -> None:
    ask_for_formula(person)
    walk_to(person, "cell", Place("weights", 2, 1))
    card = person.card("weights")
    assert person.tip(card, person.cell("weights", 2, 1)).startswith("starts → journey: 0.2256")
    assert person.tip(card, person.cell("weights", 2, 2)) == "starts → starts: not computed yet"
    assert "not all computed yet" in card.accessibleName()
    assert person.card("context").accessibleName() == "Context: not computed yet"
    person.point_at("weights", 4, 4)
    assert explained(person) == "? | not computed yet"
    assert card.accessibleDescription() == "one → one: not computed yet"
    person.leave("weights")
    assert explained(person).startswith("0.2256 | ")


def test_the_bars_of_a_row_have_question_marks(person: "Person") -> None:
    walk_to(person, "cell", Place("weights", 2, 1))
    bars = person.playground.explain.bars
    assert [bars.row_text(key) for key in range(6)] == ["0.1503", "0.2256", "?", "?", "?", "?"]
    assert person.tip(bars.viewport(), bars.row_rect(3).center()) == "not computed yet"
    names = [label.accessibleName() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    assert not any(name.startswith("Row:") for name in names)
    walk_to(person, "row", Place("weights", 2))
    person.point_at("weights", 2, 1)
    assert "?" not in [bars.row_text(key) for key in range(6)]


def test_masked_cells_are_hatched_before_they_are_computed(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("causal-5x8")
    walk_to(person, "row", Place("weights", 1))
    data = person.card("weights").data
    assert data is not None
    assert data.empty is not None
    np.testing.assert_array_equal(data.empty[0], np.tril(np.ones((5, 5), bool)) & (np.arange(5) > 1)[:, None])
    assert person.tip(person.card("weights"), person.cell("weights", 3, 4)).endswith(": masked")


def test_the_overview_of_heads_hides_unknown_cells(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    walk_to(person, "row", Place("weights", 1))
    heads = person.playground.canvas.heads
    assert heads.data is not None
    assert heads.data.unknown is not None
    assert heads.data.unknown[:, 0].tolist() == [False, False, True, True, True]
    assert "not all computed yet" in heads.accessibleName()
    walk_to(person, "row", Place("masked", 1))
    assert heads.data is None


def test_an_edit_during_a_walk_keeps_its_place(person: "Person") -> None:
    walk_to(person, "cell", Place("scores", 2, 1))
    person.type_number(0, 0, "4")
    person.settle()
    assert known(person, "scores") == 14
    assert explained(person).startswith(f"{person.painted('scores')[0, 2, 1]:.4f}")
    person.press("Causal")
    person.settle()
    assert person.document.view.at == Place("scores", 2, 1)


@pytest.mark.parametrize("width", [960, 1440])
def test_the_bar_shows_the_place_of_a_step_at_any_width(person: "Person", width: int) -> None:
    person.window.resize(width, 700)
    walk_to(person, "cell", Place("scores", 2, 1))
    labels = person.playground.step_bar.findChildren(ElidedLabel)
    person.wait_for(lambda: any(label.isVisible() and label.visible_text.startswith("row 3 of 6") for label in labels))


# Going further


def test_a_click_on_the_row_of_steps_goes_into_a_stage(person: "Person") -> None:
    walk_to(person, "row", Place("inputs"))
    bar = person.playground.step_bar.progress
    person.click(bar, QPoint(round(bar.width() * (4 + 2.5 / 6) / 9), bar.height() // 2))
    assert person.document.view.at == Place("scores", 2)
    assert bar.toolTip() == "step 27 of 54"


def test_a_step_can_be_chosen_by_its_number(person: "Person") -> None:
    walk_to(person, "row", Place("inputs"))
    person.key(Key.Key_G)
    field = person.find(QLineEdit, "Go to step")
    assert field.hasFocus()
    person.type("27")
    person.key(Key.Key_Return)
    assert person.document.view.at == Place("scores", 2)
    assert not field.isVisible()


@pytest.mark.parametrize("typed", ["0", "55", "two", "1.5"])
def test_a_step_out_of_range_is_refused_in_a_sentence(person: "Person", typed: str) -> None:
    walk_to(person, "row", Place("keys", 1))
    person.key(Key.Key_G)
    person.type(typed)
    person.key(Key.Key_Return)
    assert person.message() == f"There is no step “{typed}”: type a whole number from 1 to 54."
    assert person.document.view.at == Place("keys", 1)


def test_escape_closes_only_the_field(person: "Person") -> None:
    walk_to(person, "row", Place("keys", 1))
    person.key(Key.Key_G)
    person.type("3")
    person.key(Key.Key_Escape)
    assert not person.playground.step_bar.findChild(QLineEdit).isVisible()
    assert person.document.view.at == Place("keys", 1)


@pytest.mark.slow
def test_steps_play_until_they_are_paused(person: "Person") -> None:
    bar = person.playground.step_bar
    person.choose("Depth of a step", "row")
    bar.play_timer.setInterval(1)
    person.window.setFocus()
    person.key(Key.Key_P)
    assert bar.playing
    person.wait_for(lambda: known(person, "scores") > 6)
    person.key(Key.Key_P)
    assert not bar.playing
    assert person.find(QToolButton, "Play the steps (P)")


def test_steps_play_to_the_end_and_stop(person: "Person") -> None:
    bar = person.playground.step_bar
    bar.play_timer.setInterval(1)
    person.click(person.find(QToolButton, "Play the steps (P)"))
    assert person.document.view.at is not None
    person.wait_for(lambda: not bar.playing)
    assert person.document.view.at is None


@pytest.mark.parametrize("key", [Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_End])
def test_a_manual_step_pauses_playback(person: "Person", key: Key) -> None:
    person.window.setFocus()
    person.key(Key.Key_P)
    person.key(key)
    assert not person.playground.step_bar.playing


def test_the_speed_of_playback_can_be_chosen(person: "Person") -> None:
    person.open_pill("Depth of a step")
    popup = person.playground.step_bar.depths.popup()
    assert popup is not None
    popup.options.control("speed").taken.emit(400)
    assert person.playground.step_bar.play_timer.interval() == 400
    person.key(Key.Key_Escape, widget=popup)


# Motion


class Still(QProxyStyle):
    """The style of a system with reduced motion."""

    def styleHint(self, hint: QStyle.StyleHint, *arguments: object) -> int:
        if hint == QStyle.StyleHint.SH_Widget_Animation_Duration:
            return 0
        return int(super().styleHint(hint, *arguments))


def test_numbers_are_drawn_at_once_under_a_moving_veil(person: "Person") -> None:
    fade = person.playground.canvas.fade
    walk_to(person, "row", Place("scores", 1))
    fade.skip()
    before = person.card("scores").grab().toImage()
    person.key(Key.Key_Right)
    assert known(person, "scores") == 18
    assert fade.running
    assert person.card("scores").grab().toImage() != before
    person.wait_for(lambda: not fade.running)
    after = person.card("scores").grab().toImage()
    x, y = person.cell("scores", 2, 1).toTuple()
    assert after.pixel(x - 8, y - 6) != before.pixel(x - 8, y - 6)


def test_any_key_or_click_skips_the_motion(person: "Person") -> None:
    fade = person.playground.canvas.fade
    walk_to(person, "row", Place("scores", 1))
    person.key(Key.Key_Right)
    fade.animation.setDuration(100_000)
    assert fade.running
    person.key(Key.Key_Shift)
    assert not fade.running
    person.key(Key.Key_Right)
    fade.animation.setDuration(100_000)
    assert fade.running
    person.click(person.card("inputs"), QPoint(4, 4))
    assert not fade.running


def test_going_back_has_no_motion(person: "Person") -> None:
    walk_to(person, "row", Place("scores", 1))
    person.playground.canvas.fade.skip()
    person.key(Key.Key_Left)
    assert not person.playground.canvas.fade.running


def test_nothing_moves_if_the_system_reduces_motion(person: "Person") -> None:
    style = Still("fusion")
    style.setParent(QApplication.instance())  # which outlives whoever is dressed in it
    person.playground.canvas.setStyle(style)
    walk_to(person, "row", Place("scores", 1))
    person.key(Key.Key_Right)
    assert known(person, "scores") == 18
    assert not person.playground.canvas.fade.running
    person.playground.canvas.setStyle(QApplication.style())
    style.deleteLater()


def test_nothing_moves_if_the_settings_reduce_motion(person: "Person") -> None:
    walk_to(person, "row", Place("scores", 1))
    set_reduced_motion(True)
    try:
        person.key(Key.Key_Right)
        assert known(person, "scores") == 18
        assert not person.playground.canvas.fade.running
    finally:
        set_reduced_motion(False)
    person.key(Key.Key_Right)
    assert person.playground.canvas.fade.running


@pytest.mark.slow
def test_every_step_of_a_small_layer_can_be_painted(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("the-cat-sat")
    e = person.experiment
    for depth in walk.DEPTHS:
        steps = walk.count_steps(e, depth)
        for index in range(0, steps, max(1, steps // 12)):
            person.document.show(depth=depth, at=walk.place_of_step(e, depth, index))
            person.playground.canvas.fade.skip()
            person.window.grab()
    person.document.show(depth="stage", at=None)
