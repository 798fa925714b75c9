"""The open document: edits go through it, refused ones change nothing, and the view fits the layer."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.edits import token_edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.attention.stages.explain import Cell, explain
from attnlab.attention.stages.table import STAGES
from attnlab.attention.stages.walk import Place
from attnlab.base.errors import ExperimentError
from attnlab.compute.engine import compute
from attnlab.document.document import Document, View, fit_view
from attnlab.document.scene import Scene


class Listener:
    """Records the signals of a document, in order."""

    def __init__(self, document: Document) -> None:
        self.said: list[str] = []
        self.messages: list[str] = []
        document.scene_changed.connect(lambda scene: self.said.append("scene"))
        document.view_changed.connect(lambda view: self.said.append("view"))
        document.history_changed.connect(lambda: self.said.append("history"))
        document.message_raised.connect(self.messages.append)


@pytest.fixture
def document(qtbot: QtBot) -> Document:
    return Document("Open", Scene(preset("journey"), "Journey", "journey"))


def refuse(e: Experiment) -> Experiment:
    raise ExperimentError("That cannot be.")


def test_an_edit_is_announced_once_and_recorded(document: Document) -> None:
    listener = Listener(document)
    assert document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    assert listener.said == ["scene", "history"]
    assert listener.messages == [""]
    assert document.experiment.config.causal
    assert document.history.undo_label == "Causal on"


def test_a_refused_edit_changes_nothing_and_gives_one_sentence(document: Document) -> None:
    listener, before = Listener(document), document.scene
    assert not document.edit("No", refuse)
    assert listener.said == []
    assert listener.messages == ["That cannot be."]
    assert document.scene is before
    assert not document.modified


def test_an_edit_without_effect_is_not_recorded(document: Document) -> None:
    listener = Listener(document)
    assert document.edit("Same", lambda e: e)
    assert document.edit_scene("Same", lambda scene: scene)
    assert listener.said == []
    assert len(document.history.entries) == 1


def test_an_unexpected_error_is_not_swallowed(document: Document) -> None:
    def broken(e: Experiment) -> Experiment:
        raise KeyError("inside")

    with pytest.raises(KeyError):
        document.edit("Broken", broken)
    assert len(document.history.entries) == 1


def test_undo_and_redo_return_the_same_scene_objects(document: Document) -> None:
    first = document.scene
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    second = document.scene
    document.undo()
    assert document.scene is first
    document.undo()
    assert document.scene is first
    document.redo()
    document.redo()
    assert document.scene is second


def test_undo_announces_only_changes(document: Document) -> None:
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    listener = Listener(document)
    document.redo()
    assert listener.said == []
    document.undo()
    assert listener.said == ["scene", "history"]


def test_device_and_dtype_can_be_undone(document: Document) -> None:
    document.edit_scene("float64", lambda scene: replace(scene, dtype="float64"))
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    assert document.scene.dtype == "float64"
    document.jump(0)
    assert (document.scene.dtype, document.scene.device) == ("float32", "cpu")


# Files


def test_modified_means_different_from_the_saved_state(document: Document, tmp_path: Path) -> None:
    path = tmp_path / "a.attnlab"
    assert (document.path, document.modified) == (None, False)
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    assert document.modified
    document.mark_saved(path)
    assert (document.path, document.modified) == (path, False)
    document.undo()
    assert (document.path, document.modified) == (path, True)
    document.redo()
    assert not document.modified


def test_each_opened_session_keeps_its_own_file(document: Document, tmp_path: Path) -> None:
    a, b = tmp_path / "a.attnlab", tmp_path / "b.attnlab"
    document.mark_saved(a)
    document.open("Open b", Scene(preset("the-cat-sat")), b)
    assert (document.path, document.modified) == (b, False)
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    assert (document.path, document.modified) == (b, True)
    document.jump(0)
    assert (document.path, document.modified) == (a, False)
    document.open("Open a preset", Scene(preset("causal-5x8")))
    assert (document.path, document.modified) == (None, False)
    document.undo()
    assert document.path == a


def test_opening_resets_the_view(document: Document) -> None:
    document.show(step=3)
    document.select(Cell("scores", 1, 1, 0), pin=True)
    document.open("Open heads", Scene(preset("multi-head-8")))
    assert document.view == View(head="all")
    document.open("Open one head", Scene(preset("journey")))
    assert document.view == View(head=0)


# What is selected


def test_pointing_does_not_move_the_pinned_cell(document: Document) -> None:
    document.select(Cell("scores", 1, 2, 0))
    assert not document.view.pinned
    document.select(Cell("scores", 1, 3, 0), pin=True)
    document.select(Cell("weights", 0, 0, 0))
    document.select(None)
    assert document.view.cell == Cell("scores", 1, 3, 0)
    document.select(None, pin=True)
    assert document.view.cell is None
    assert not document.view.pinned


def test_the_same_view_is_announced_once(document: Document) -> None:
    listener = Listener(document)
    document.select(Cell("scores", 1, 2, 0))
    document.select(Cell("scores", 1, 2, 0))
    document.show(head=0)
    assert listener.said == ["view"]


@pytest.mark.parametrize(
    "cell",
    [
        Cell("masked", 0, 0, 0),
        Cell("weights", 6, 0, 0),
        Cell("weights", 0, 6, 0),
        Cell("queries", 0, 2, 0),
        Cell("weights", 0, 0, 1),
        Cell("output", 0, 2),
    ],
)
def test_a_cell_outside_the_layer_cannot_be_selected(document: Document, cell: Cell) -> None:
    document.select(cell, pin=True)
    assert document.view.cell is None


def test_the_view_is_fitted_to_the_current_layer(document: Document) -> None:
    document.edit("Heads 2", lambda e: edits.configure(e, n_heads=2))
    document.show(head=1, alone="scaled", step=99)
    assert (document.view.head, document.view.alone, document.view.step) == (1, "scaled", 9)
    document.undo()
    assert document.view.head == 0
    document.edit("Scale none", lambda e: edits.configure(e, scale="none"))
    assert (document.view.alone, document.view.step) == (None, 8)
    document.show(step=-5)
    assert document.view.step == 1


def test_a_walk_counts_the_stages_that_it_has_begun(document: Document) -> None:
    listener = Listener(document)
    document.show(at=Place("scores", 2))
    assert (document.view.at, document.view.step) == (Place("scores", 2), 5)
    document.show(step=4)
    assert (document.view.at, document.view.step) == (Place("values"), 4)
    document.show(depth="cell")
    assert (document.view.at, document.view.depth) == (Place("values"), "cell")
    document.show(at=None)
    assert (document.view.at, document.view.step) == (None, None)
    document.show(step=None)
    assert listener.said == ["view"] * 4


def test_a_walk_keeps_its_place_when_stages_are_added_or_removed(document: Document) -> None:
    document.show(at=Place("weights", 5, 5))
    document.edit("Causal on", lambda e: edits.configure(e, causal=True))
    assert (document.view.at, document.view.step) == (Place("weights", 5, 5), 8)
    document.edit("Three tokens", lambda e: token_edits.resize_tokens(e, 3))
    assert document.view.at == Place("weights")
    document.show(at=Place("masked", 1))
    document.edit("Causal off", lambda e: edits.configure(e, causal=False))
    assert (document.view.at, document.view.step) == (Place("scaled"), 6)


@pytest.mark.parametrize(
    ("view", "subject"),
    [
        (View(cell=Cell("scores", 0, 0, 0)), Cell("scores", 0, 0, 0)),
        (View(at=Place("weights", 2, 1)), Cell("weights", 2, 1, 0)),
        (View(at=Place("weights", 2, 1), head="all"), Cell("weights", 2, 1, 0)),
        (View(at=Place("weights", 2, 1), head="mean"), Cell("weights", 2, 1, None)),
        (View(at=Place("inputs", 2, 1)), Cell("inputs", 2, 1, None)),
        (View(at=Place("weights", 2, 1), cell=Cell("scores", 0, 0, 0), pinned=True), Cell("weights", 2, 1, 0)),
        (View(at=Place("weights", 2, 1), cell=Cell("scores", 0, 0, 0)), Cell("scores", 0, 0, 0)),
        (View(at=Place("weights", 2), cell=Cell("scores", 0, 0, 0), pinned=True), Cell("scores", 0, 0, 0)),
        (View(at=Place("weights")), None),
    ],
)
def test_the_explained_cell_is_the_pointed_the_walked_or_the_held_one(view: View, subject: Cell | None) -> None:
    assert view.subject == subject


CONFIGS = st.builds(
    AttentionConfig, st.sampled_from([1, 2, 4]), st.booleans(), st.sampled_from(["sqrt_d_k", "none", 2.0])
)
CELLS = st.builds(
    Cell,
    st.sampled_from([stage.name for stage in STAGES]),
    st.integers(0, 6),
    st.integers(0, 6),
    st.sampled_from([None, 0, 1, 3]),
)
PLACES = st.builds(
    Place,
    st.sampled_from([stage.name for stage in STAGES]),
    st.one_of(st.none(), st.integers(-1, 6)),
)
VIEWS = st.builds(
    View,
    st.sampled_from([0, 1, 3, "mean", "all"]),
    st.sampled_from([None, "masked", "scaled", "output"]),
    st.one_of(st.none(), st.integers(-2, 20)),
    st.one_of(st.none(), CELLS),
    st.booleans(),
    depth=st.sampled_from(["stage", "row", "cell", "term", "all"]),
    at=st.one_of(st.none(), PLACES),
)


@given(VIEWS, CONFIGS, st.integers(1, 5))
def test_a_fitted_view_can_always_be_painted(view: View, config: AttentionConfig, tokens: int) -> None:
    e = token_edits.resize_tokens(edits.resize(preset("the-cat-sat"), d_k=4, d_v=4), tokens)
    e = replace(e, config=config)
    shown = fit_view(view, e)
    trace = compute(e)
    assert fit_view(shown, e) == shown
    assert shown.head in ("mean", "all") or 0 <= int(shown.head) < e.n_heads
    assert shown.alone is None or shown.alone in trace
    assert shown.step is None or 1 <= shown.step <= len(trace.all_stages)
    assert (shown.at is None) == (shown.step is None)
    if shown.at is not None and shown.step is not None:
        assert trace.all_stages[shown.step - 1] == shown.at.stage
    if shown.cell is not None:
        explain(trace, shown.cell)  # raises when there is no such cell
    else:
        assert not shown.pinned or view.cell is None


def test_the_saved_state_is_the_one_written_to_the_file(document: Document) -> None:
    document.edit("one", lambda e: edits.configure(e, causal=True))
    written = document.history.current
    document.edit("two", lambda e: edits.configure(e, scale="none"))
    document.mark_saved(Path("a.attnlab"), written)  # the file was written meanwhile
    assert document.modified
    document.undo()
    assert not document.modified
    document.undo()
    assert document.modified
    assert document.path == Path("a.attnlab")


@pytest.mark.parametrize("saved", [True, False])
def test_restored_work_counts_as_unsaved(document: Document, saved: bool) -> None:
    scene = Scene(preset("causal-5x8"), "Brought back")
    document.open("Recovered", scene, saved=saved)
    assert document.modified == (not saved)
    assert document.ever_saved(document.history.current.opening) == saved
    document.mark_saved(Path("b.attnlab"))
    assert not document.modified
    assert document.ever_saved(document.history.current.opening)


def test_undo_and_redo_go_one_step_at_a_time(document: Document) -> None:
    for number in range(4):
        document.edit(str(number), lambda e, number=number: edits.set_block(e, "W_q", 0, 0, [[number]]))  # type: ignore[misc]
    for index in (3, 2, 1, 0, 0):
        document.undo()
        assert document.history.index == index
    for index in (1, 2, 3, 4, 4):
        document.redo()
        assert document.history.index == index
