"""The view of a session is saved as plain JSON and restored; any JSON is read without an error."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.walk import Place
from attnlab.document.document import View, fit_view
from attnlab.document.saved_view import LOOKS, LessonPlace, SavedView, describe_dropped, from_plain, to_plain

E = attnlab.preset("multi-head-causal")
STAGES = [stage.name for stage in walk.stages_of(E)]


@st.composite
def places(draw: st.DrawFn) -> Place | None:
    depth = draw(st.sampled_from(walk.DEPTHS))
    return walk.place_of_step(E, depth, draw(st.integers(0, walk.count_steps(E, depth) - 1)))


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    stage = draw(st.sampled_from(STAGES))
    rows, columns = walk.shape(E, stage)
    heads = st.none() | st.integers(0, E.n_heads - 1)
    has_heads = next(each for each in walk.stages_of(E) if each.name == stage).has_heads
    head = draw(heads if has_heads else st.none())
    return Cell(stage, draw(st.integers(0, rows - 1)), draw(st.integers(0, columns - 1)), head)


views = st.builds(
    View,
    head=st.sampled_from(["mean", "all"]) | st.integers(0, E.n_heads - 1),
    alone=st.none() | st.sampled_from(STAGES),
    cell=cells(),
    pinned=st.booleans(),
    look=st.sampled_from(LOOKS),
    strips=st.booleans(),
    depth=st.sampled_from(walk.DEPTHS),
    at=places(),
).map(lambda view: fit_view(view, E))
saved_views = st.builds(
    SavedView,
    view=views,
    lens=st.sampled_from(["canvas", "statistics", "positions/order"]),
    table=st.sampled_from(["", "W_q"]),
    pinned=st.none() | st.tuples(st.just("cpu"), st.sampled_from(["float32", "float64"])),
    lesson=st.none() | st.builds(LessonPlace, st.sampled_from(["one", "two.md"]), st.integers(0, 9), st.integers(0, 9)),
)


@given(saved_views)
def test_a_saved_view_is_restored_completely(saved: SavedView) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(saved))), E) == (saved, ())


def test_every_place_of_a_lesson_survives_saving() -> None:
    for stage in STAGES:
        for depth in walk.DEPTHS:
            for at in walk.frames(E, stage, depth, (1, 1)):
                saved = SavedView(fit_view(View(at=at), E))
                assert from_plain(to_plain(saved), E) == (saved, ())


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
anything = st.recursive(
    scalars | st.sampled_from([*STAGES, "all", "cell", "difference", "positions/none", "cpu"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["stage", "row", "column", "term", "head", "device", "dtype", "lesson", "step", "frame"]),
            inner,
        )
    ),
    max_leaves=8,
)
KEYS = sorted(to_plain(SavedView(View())))


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=9), anything) | anything)
def test_any_saved_view_becomes_a_valid_view(plain: Any) -> None:
    saved, dropped = from_plain(plain, E)
    assert fit_view(saved.view, E) == saved.view
    if saved.view.at is not None:
        assert walk.unknown_cells(E, saved.view.at, saved.view.at.stage) is None or saved.view.step is not None
        walk.step_forward(E, saved.view.depth, saved.view.at)
    assert from_plain(to_plain(saved), E) == (saved, ())
    assert describe_dropped(dropped) == "" or describe_dropped(dropped).endswith("; everything else is restored.")


@pytest.mark.parametrize(
    ("key", "value", "called"),
    [
        ("head", E.n_heads, "the head"),
        ("head", -1, "the head"),
        ("head", True, "the head"),
        ("alone", "wieghts", "the stage that filled the canvas"),
        ("cell", {"stage": "weights", "row": E.T_q, "column": 0, "head": 0}, "the selected cell"),
        ("cell", {"stage": "weights", "row": -1, "column": 0, "head": 0}, "the selected cell"),
        ("cell", {"stage": "weights"}, "the selected cell"),
        ("cell", [1, 2], "the selected cell"),
        ("at", {"stage": "scores", "row": 0, "column": 10**9}, "the step"),
        ("at", {"stage": "scores", "row": -1, "column": 2}, "the step"),
        ("at", {"stage": "scores", "column": 2}, "the step"),
        ("at", {"stage": "zeroed"}, "the step"),
        ("depth", "atom", "how far a step goes"),
        ("held", 1, "the selected cell"),
        ("look", "past", "the comparison"),
        ("lens", "microscope", "the lens"),
        ("lens", "positions/none", "the lens"),
        ("pinned", "yes", "the pinned state"),
        ("lesson", {"lesson": "a\nb"}, "the lesson"),
        ("lesson", {"lesson": "a", "step": -1}, "the lesson"),
    ],
)
def test_an_invalid_part_is_dropped_alone_and_named(key: str, value: object, called: str) -> None:
    whole = SavedView(fit_view(View(head=1, strips=True), E), lens="cost")
    saved, dropped = from_plain({**to_plain(whole), key: value}, E)
    assert dropped == (called,)
    assert saved.view.strips
    assert saved.view.head == (fit_view(View(), E, first=True).head if key == "head" else 1)
    assert saved.lens == ("canvas" if key == "lens" else "cost")
    assert describe_dropped(dropped) == f"The file has no valid value for {called}; everything else is restored."


def test_an_empty_saved_view_is_the_default_view() -> None:
    assert from_plain({}, E) == (SavedView(fit_view(View(), E, first=True)), ())
    assert from_plain([], E)[1] == ("the view",)


def test_a_saved_cell_outside_the_layer_is_not_selected() -> None:
    plain = {**to_plain(SavedView(View(pinned=True))), "held": True}
    assert from_plain(plain, E)[0].view == replace(fit_view(View(), E, first=True), head=0)
