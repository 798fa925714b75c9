"""Undoing everything restores the first state after random events in the real window."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from attnlab.attention.examples.presets import PRESETS
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.walk import Place
from attnlab.ui.widgets.fields.undo_fields import NumberBox
from attnlab.ui.workspaces.lessons import LESSONS

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key, Mod, Button = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton
Event = Callable[["Person", random.Random], object]
EVENTS: list[Event] = []
LENGTH = 45


def event(function: Event) -> Event:
    EVENTS.append(function)
    return function


@event
def drag_a_number(person: "Person", chance: random.Random) -> None:
    grid = person.table.grid()
    start = grid.cell(chance.randrange(min(grid.rows, 2)), 0).center()
    person.drag(person.table.viewport(), start, *((chance.randrange(-40, 40), 0) for _ in range(3)))


@event
def hold_a_drag_and_undo(person: "Person", chance: random.Random) -> None:
    view, at = person.table.viewport(), person.table.grid().cell(0, 0).center()
    QTest.mousePress(view, Button.LeftButton, Mod.NoModifier, at)
    for x in (10, 40):
        person._move_to(view, view.mapToGlobal(at) + QPoint(x, 0), Button.LeftButton, Mod.NoModifier)
    person.document.undo()
    person._move_to(view, view.mapToGlobal(at) + QPoint(chance.randrange(60), 0), Button.LeftButton, Mod.NoModifier)
    QTest.mouseRelease(view, Button.LeftButton, Mod.NoModifier, at)


@event
def type_into_the_table(person: "Person", chance: random.Random) -> None:
    person.table.setFocus()
    for key in chance.choices(
        [Key.Key_Up, Key.Key_Down, Key.Key_Right, Key.Key_5, Key.Key_Delete, Key.Key_Return], k=4
    ):
        QTest.keyClick(person.table, key)


@event
def turn_the_wheel(person: "Person", chance: random.Random) -> None:
    person.turn(person.table.viewport(), person.table.grid().cell(0, 0).center(), chance.choice([-1, 2]))


@event
def open_another_table(person: "Person", chance: random.Random) -> None:
    inputs = person.playground.inputs
    inputs.open_table(chance.choice([name for name, tab in inputs.tabs.items() if not tab.isHidden()]))


@event
def change_a_table(person: "Person", chance: random.Random) -> None:
    bar = person.playground.inputs.fill_bar
    chance.choice(
        [
            lambda: bar.fill_requested.emit(chance.choice(["normal", "zeros", "identity"]), chance.randrange(9)),
            lambda: bar.scale_requested.emit(2.0),
            bar.transpose_requested.emit,
            lambda: bar.round_requested.emit(1),
        ]
    )()


@event
def type_a_size(person: "Person", chance: random.Random) -> None:
    """Type into a field, and sometimes leave it unfinished and focused."""
    bar = person.playground.inputs.shape_bar
    boxes = [b for b in (bar.sizes | bar.memory_sizes | bar.free_sizes).values() if not b.isHidden()]
    box: NumberBox = chance.choice(boxes)  # type: ignore[assignment]
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, str(chance.randrange(1, 7)))
    if chance.random() < 0.6:
        QTest.keyClick(box, Key.Key_Return)


@event
def type_a_sentence(person: "Person", chance: random.Random) -> None:
    box = chance.choice([person.playground.inputs.query_box, person.playground.inputs.memory_box])
    if box.isHidden():
        return
    box.sentence.setFocus()
    box.sentence.selectAll() if chance.random() < 0.5 else box.sentence.end(False)
    QTest.keyClicks(box.sentence, chance.choice([" so", "b c d", "x"]))
    QTest.keyClick(box.sentence, chance.choice([Key.Key_Return, Key.Key_Escape, Key.Key_Backspace]))


@event
def use_the_token_strip(person: "Person", chance: random.Random) -> None:
    box = chance.choice([person.playground.inputs.query_box, person.playground.inputs.memory_box])
    if box.isHidden():
        return
    box.tokens.setFocus()
    for key, mod in chance.choices(
        [
            (Key.Key_Delete, Mod.NoModifier),
            (Key.Key_D, Mod.ControlModifier),
            (Key.Key_Right, Mod.AltModifier),
            (Key.Key_Insert, Mod.NoModifier),
            (Key.Key_End, Mod.NoModifier),
            (Key.Key_F2, Mod.NoModifier),
            (Key.Key_A, Mod.NoModifier),
        ],
        k=3,
    ):
        QTest.keyClick(person.keyboard(), key, mod)


@event
def flip_a_switch(person: "Person", chance: random.Random) -> None:
    p = person.playground
    chance.choice(
        [
            p.toggle_causal,
            p.toggle_output,
            p.toggle_biases,
            p.inputs.memory_switch.click,
            p.comparison.toggle,
            p.mask.toggle,
            p.mask.clear,
            p.inputs.add_button.click,
            p.toggle_strips,
            p.let_go,
        ]
    )()


@event
def go_through_the_batch(person: "Person", chance: random.Random) -> None:
    bar = person.playground.inputs.batch_bar
    if not bar.isHidden():
        bar.buttons[chance.choice(list(bar.buttons))].click()


@event
def open_something_else(person: "Person", chance: random.Random) -> None:
    person.playground.open_preset(chance.choice(["journey", "the-cat-sat", "causal-5x8", "multi-head-8", "no-such"]))
    assert "journey" in PRESETS


@event
def ask_for_what_cannot_be_computed(person: "Person", chance: random.Random) -> None:
    """Sometimes a valid edit follows before the reply, so that the invalid state stays in the history."""

    def to(device: str) -> None:
        person.document.edit_scene(
            f"To {device}", lambda scene: replace(scene, device=device), chance.choice([None, 1])
        )

    to("abacus")
    if chance.random() < 0.6:
        person.playground.toggle_causal()
        to("cpu")


@event
def change_the_format(person: "Person", chance: random.Random) -> None:
    dtype = chance.choice(["float32", "float64", "float16"])
    person.document.edit_scene(dtype, lambda scene: replace(scene, dtype=dtype))


@event
def hold_a_cell_and_walk(person: "Person", chance: random.Random) -> None:
    document = person.document
    stage = chance.choice(["queries", "keys", "scores", "weights", "output"])
    document.select(Cell(stage, chance.randrange(6), chance.randrange(6), chance.choice([0, None])), pin=True)
    document.show(at=chance.choice([None, Place(stage, chance.randrange(6), 0)]), depth=chance.choice(["cell", "row"]))
    document.show(head=chance.choice([0, 3, "mean", "all"]), alone=chance.choice([None, "weights"]))
    person.playground.comparison.look(chance.choice(["present", "pinned", "difference"]))


@event
def paint_the_mask(person: "Person", chance: random.Random) -> None:
    card = person.card("weights")
    if card.grid is not None and card.isVisible():
        person.playground.mask.set_painting(True)
        start, end = (card.cell_rect(*chance.choices(range(2), k=2), 0).center().toPoint() for _ in range(2))
        person.drag(card, start, ((end - start).x(), (end - start).y()))
        person.playground.mask.set_painting(False)


@event
def switch_a_head_off(person: "Person", chance: random.Random) -> None:
    person.playground.canvas.head_ablated.emit(chance.randrange(9))


@event
def walk_a_lesson(person: "Person", chance: random.Random) -> None:
    from attnlab.lessons.library import find

    controller = person.window.workspace(LESSONS)
    assert controller is not None
    player = controller.player
    if player.lesson is None:
        player.open(find("why-attention"))
    else:
        chance.choice([player.go_next, player.go_back, player.skip, player.close, player.return_here])()


@event
def undo_or_redo(person: "Person", chance: random.Random) -> None:
    for _ in range(chance.randrange(1, 4)):
        chance.choice([person.document.undo, person.document.undo, person.document.redo])()
        if chance.random() < 0.5:
            settle(person)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_undoing_everything_restores_the_first_state(person: "Person", seed: int) -> None:
    chance, first = random.Random(seed), person.document.scene
    before = numbers(person)
    for _ in range(LENGTH):
        chance.choice(EVENTS)(person, chance)
        if chance.random() < 0.4:
            settle(person)
    settle(person)
    person.table.setFocus()  # what was begun in a field is taken over, or given up
    settle(person)
    last, steps = person.document.scene, person.document.history.index
    labels = person.history()
    for _ in range(steps):
        person.document.undo()
        settle(person)
    assert person.document.history.undo_label is None
    assert person.document.scene is first, labels
    assert numbers(person) == before
    for _ in range(len(person.history())):
        person.document.redo()
        settle(person)
    if person.history() == labels and steps == len(labels) - 1:
        assert person.document.scene is last


def settle(person: "Person") -> None:
    """Wait until the open experiment is computed, or removed from the history as invalid."""
    person.settle()


def numbers(person: "Person") -> dict[str, bytes]:
    from attnlab.files.sessions.session_experiment import arrays_of

    return {name: array.numpy().tobytes() for name, array in arrays_of(person.experiment).items()}
