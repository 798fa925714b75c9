"""The columns of the playground: what is folded depends on what is shown, not on the way to it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton

from attnlab.attention import edits
from attnlab.document.settings import Settings
from attnlab.ui.playground.lens_bar import CANVAS

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from tests.ui.conftest import Person

    Sit = Callable[..., Person]

LAPTOP = 1366, 768


def begin(sit_down: "Sit", size: tuple[int, int] = LAPTOP) -> "Person":
    """Sit down before a window of a size."""
    person = sit_down()
    person.window.resize(*size)
    person.window.grab()  # which lays out what was asked for
    return person


def set_two_heads(person: "Person") -> None:
    person.playground.document.edit("Heads 2", lambda e: edits.configure(e, n_heads=2))
    person.settle()


def test_the_inputs_unfold_at_a_smaller_size_of_type_though_they_were_hidden(sit_down: "Sit") -> None:
    person = begin(sit_down)
    body, lenses = person.playground.body, person.playground.lenses
    at_first = body.sizes()
    assert at_first[1] > 0
    person.window.change_settings(type_size=150)
    lenses.open_lens("backward")
    person.wait_for(lambda: body.sizes()[1] == 0)  # while which the controls of the inputs are not laid out
    person.window.grab()
    person.window.change_settings(type_size=100)
    lenses.open_lens(CANVAS)
    person.wait_for(lambda: body.sizes() == at_first)


def test_a_side_that_is_folded_or_dragged_shut_can_be_opened_again(sit_down: "Sit") -> None:
    person = begin(sit_down)
    body, explain = person.playground.body, person.playground.explain
    person.press("Fold the explanation")
    assert not explain.isVisible()
    assert person.find(QPushButton, "Explain").hasFocus()
    person.press("Explain")
    assert explain.width() > 200
    for border, shut in ((3, body.width()), (2, -body.width())):
        handle = body.handle(border)
        person.drag(handle, handle.rect().center(), (shut // 2, 0), (shut, 0))
    assert not explain.isVisible()
    assert not person.playground.inputs.isVisible()
    person.press("Explain")
    person.press("Show the inputs")
    assert explain.width() > 200
    assert person.playground.inputs.width() > 200


def test_sides_that_do_not_fit_beside_each_other_are_never_cut(sit_down: "Sit") -> None:
    person = begin(sit_down, (1024, 640))
    person.window.change_settings(type_size=170)
    person.settle()
    inputs, explain = person.playground.inputs, person.playground.explain
    person.press("Show the inputs")
    person.press("Explain")
    assert explain.isVisible()
    assert not inputs.isVisible()
    person.press("Show the inputs")
    assert not explain.isVisible()
    assert inputs.width() >= inputs.sizeHint().width()


def test_all_heads_have_their_room_at_once(sit_down: "Sit") -> None:
    person = begin(sit_down, (1440, 960))
    set_two_heads(person)
    body = person.playground.body
    assert body.sizes()[1] > 0
    person.playground.show_all_heads()
    person.settle()
    assert body.sizes()[1] == 0
    person.playground.view_control.choose_head(0)
    person.settle()
    assert body.sizes()[1] > 0


def test_a_card_that_fills_the_canvas_leaves_the_columns_as_all_cards_need_them(sit_down: "Sit") -> None:
    person = begin(sit_down)
    document, body = person.playground.document, person.playground.body
    document.show(alone="weights")
    person.settle()
    set_two_heads(person)
    alone = body.sizes()
    document.show(alone=None)
    person.settle()
    body.arrange()
    assert body.sizes() == alone


def test_a_lens_opens_nothing_that_the_canvas_had_folded(sit_down: "Sit") -> None:
    person = begin(sit_down)
    set_two_heads(person)
    lenses, body = person.playground.lenses, person.playground.body
    assert body.sizes()[1] == 0
    left = lenses.bar.mapTo(person.window, QPoint(0, 0)).x()
    for name in ("statistics", "positions", "arrows", CANVAS):
        lenses.open_lens(name)
        person.settle()
        assert lenses.bar.mapTo(person.window, QPoint(0, 0)).x() == left, name


@pytest.mark.parametrize("type_size", [100, 125])
def test_a_second_sequence_moves_no_column(sit_down: "Sit", type_size: int) -> None:
    """The longer names of its sizes made the inputs wider."""
    person = sit_down("multi-head-8", settings=Settings(theme="light", type_size=type_size), size=LAPTOP)
    inputs = person.playground.inputs
    needed, wide = inputs.sizeHint().width(), inputs.width()
    person.press("Second sequence")
    person.settle()
    assert inputs.memory_box.isVisible()
    assert (inputs.sizeHint().width(), inputs.width()) == (needed, wide)


@pytest.mark.parametrize("type_size", [100, 125])
def test_a_size_that_only_a_score_has_moves_no_column(sit_down: "Sit", type_size: int) -> None:
    """The name of the additive score's size, "hidden", made the inputs wider."""
    person = sit_down(settings=Settings(theme="light", type_size=type_size), size=(1920, 1080))
    inputs = person.playground.inputs
    needed, wide = inputs.sizeHint().width(), inputs.width()
    person.choose("Score", "additive")
    person.settle()
    assert inputs.shape_bar.free_sizes["hidden"].isVisible()
    assert (inputs.sizeHint().width(), inputs.width()) == (needed, wide)


def test_pinning_and_looking_at_another_state_move_no_column(sit_down: "Sit") -> None:
    person = begin(sit_down)
    set_two_heads(person)
    comparison, body = person.playground.comparison, person.playground.body
    at_first = body.sizes()
    comparison.toggle()
    for look in ("both", "difference", "pinned", "present"):
        comparison.look(look)
        person.settle()
        assert body.sizes() == at_first, look


@pytest.mark.parametrize(
    ("preset", "edit"),
    [
        ("journey", lambda e: edits.configure(e, sink=True)),
        ("cross-attention", lambda e: edits.resize(e, d_memory=3)),
        ("whole-block", lambda e: edits.resize_free(e, "d_ff", 3)),
    ],
    ids=["the column of a sink", "columns of the second sequence", "hidden numbers of a feed-forward"],
)
def test_cards_get_the_room_for_other_columns_at_once(
    sit_down: "Sit", preset: str, edit: "Callable[[Experiment], Experiment]"
) -> None:
    person = sit_down(preset)
    canvas = person.playground.canvas
    person.document.edit("Change", edit)
    person.settle()
    assert canvas.plan is not None
    planned = canvas.plan
    canvas.resize(canvas.width() + 1, canvas.height())
    canvas.resize(canvas.width() - 1, canvas.height())
    assert canvas.plan.places == planned.places
