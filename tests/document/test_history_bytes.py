"""The memory of the history: real bytes of tensors, with shared ones counted once."""

import weakref
from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment, Weights
from attnlab.document.document import Document
from attnlab.document.history import ENTRY_BYTES, Entry, History
from attnlab.document.scene import Scene
from attnlab.files.sessions.session_experiment import arrays_of


def weight(history: History) -> int:
    """Return the bytes of memory used by the entries' tensors, counting shared ones once."""
    storages = {}
    for entry in history.entries:
        for array in arrays_of(entry.scene.experiment).values():
            storages[array.untyped_storage().data_ptr()] = array.untyped_storage().nbytes()
    return sum(storages.values()) + ENTRY_BYTES * len(history.entries)


def wide(width: int) -> Experiment:
    square = torch.zeros(width, width)
    return Experiment(("a", "b"), torch.zeros(2, width), Weights(W_q=square, W_k=square, W_v=square))


@pytest.mark.slow
def test_a_thousand_edits_of_a_wide_layer_stay_within_the_budget() -> None:
    document = Document("Open", Scene(wide(1024)))
    document.set_history_budget(64 << 20)
    gone = weakref.ref(document.scene.experiment.weights.W_q)  # type: ignore[arg-type]
    for edit in range(1000):
        document.edit("Type", lambda e, edit=edit: edits.set_block(e, "W_q", edit % 1024, 0, [[float(edit + 1)]]))
    history = document.history
    assert history.nbytes == weight(history) <= 64 << 20
    assert history.nbytes > 48 << 20  # as many steps as there is room for
    assert history.let_go + len(history.entries) == 1001
    assert gone() is None
    last = document.experiment
    for _ in range(len(history.entries) - 1):
        document.undo()
    assert history.undo_label is None
    assert float(document.experiment.weights.W_q[history.let_go - 1, 0]) == history.let_go  # type: ignore[index]
    document.jump(1001)
    assert document.experiment is last


def test_the_last_step_can_be_undone_with_any_budget() -> None:
    history = History("Open", Scene(wide(64)), budget=1)
    scenes = [Scene(wide(64)) for _ in range(3)]
    for scene in scenes:
        history.push("edit", scene)
    assert [entry.scene for entry in history.entries] == scenes[1:]
    history.jump(0)
    assert history.current.scene is scenes[1]


def test_a_smaller_budget_drops_entries_at_once_and_a_larger_one_restores_none() -> None:
    history = History("Open", Scene(wide(64)))
    for _ in range(20):
        history.push("edit", Scene(wide(64)))
    history.budget = 10 * (64 * 64 * 4)
    assert len(history.entries) < 10
    assert history.nbytes == weight(history) <= history.budget
    left = history.entries
    history.budget = 1 << 30
    assert history.entries == left


def test_with_everything_undone_a_smaller_budget_drops_the_first_undone_entries() -> None:
    history = History("Open", Scene(wide(64)))
    for _ in range(20):
        history.push("edit", Scene(wide(64)))
    history.jump(0)
    first, following = history.entries[:2]
    history.budget = 1
    assert [entry.scene for entry in history.entries] == [first.scene, following.scene]


def test_a_document_keeps_no_saved_scene_of_dropped_entries(tmp_path: Any) -> None:
    document = Document("Open", Scene(wide(256)))
    document.mark_saved(tmp_path / "a.attnlab")
    gone = weakref.ref(document.experiment.weights.W_q)  # type: ignore[arg-type]
    document.set_history_budget(1)
    for name in ("journey", "the-cat-sat", "causal-5x8"):
        document.open(f"Open {name}", Scene(preset(name)))
    assert gone() is None
    assert document.ever_saved(0)
    document.undo()
    assert not document.modified


SCENES = [Scene(wide(8)) for _ in range(3)]


class Histories(RuleBasedStateMachine):
    """Applies actions of the user and the worker to a history and to a plain list that drops nothing."""

    def __init__(self) -> None:
        super().__init__()
        first = Scene(preset("journey"))
        self.history = History("Open", first)
        self.scenes, self.at = [first], 0
        self.good: Entry | None = None

    def scene(self, which: int) -> Scene:
        """Return a new scene that shares its arrays with others of the same number."""
        return Scene(SCENES[which].experiment if which < len(SCENES) else edited(self.history.current.scene))

    def added(self, scene: Scene) -> None:
        self.scenes = [*self.scenes[: self.at + 1], scene]
        self.at += 1
        self.settle()

    def settle(self) -> None:
        """Drop from the plain list the entries that the history dropped at its beginning or end."""
        left = [entry.scene for entry in self.history.entries]
        start = self.scenes.index(left[0])
        assert self.scenes[start : start + len(left)] == left
        self.scenes, self.at = left, self.at - start

    @rule(which=st.integers(0, 5))
    def push(self, which: int) -> None:
        scene = self.scene(which)
        self.history.push("edit", scene)
        self.added(scene)

    @rule(which=st.integers(0, 5), moves=st.integers(1, 4))
    def drag(self, which: int, moves: int) -> None:
        gesture = object()
        for _ in range(moves):
            scene = self.scene(which)
            self.history.push("drag", scene, gesture)
        self.added(scene)

    @rule(which=st.integers(0, 5))
    def open(self, which: int) -> None:
        scene = self.scene(which)
        self.history.open("open", scene)
        self.added(scene)

    @rule(to=st.integers(-2, 40))
    def jump(self, to: int) -> None:
        self.history.jump(to)
        self.at = min(max(to, 0), len(self.scenes) - 1)

    @rule()
    def compute(self) -> None:
        self.good = self.history.note_computed()

    @rule()
    def refuse(self) -> None:
        now, left = self.history.current, len(self.scenes)
        assert self.history.refuse(self.good) == (not now.computed and left > 1)
        if now.computed or left == 1:
            return
        good = self.good
        if good is not None and good.gesture is not None and good.gesture is now.gesture:
            self.scenes[self.at] = good.scene  # the last good state of the same drag
        else:
            del self.scenes[self.at]
            self.at = max(self.at - 1, 0)

    @rule(kib=st.integers(1, 200))
    def change_budget(self, kib: int) -> None:
        self.history.budget = kib << 10
        self.settle()

    @precondition(lambda self: len(self.scenes) > 1)
    @rule()
    def undo_all_and_redo_all(self) -> None:
        before = self.history.current.scene
        for index in reversed(range(len(self.scenes))):
            self.history.jump(index)
            assert self.history.current.scene is self.scenes[index]
        self.history.jump(self.at)
        assert self.history.current.scene is before

    @invariant()
    def it_is_the_list_that_a_person_expects(self) -> None:
        assert [entry.scene for entry in self.history.entries] == self.scenes
        assert self.history.index == self.at
        assert self.history.current.opening in self.history.openings

    @invariant()
    def its_bytes_are_real_and_within_the_budget(self) -> None:
        assert self.history.nbytes == weight(self.history)
        # a step back and a step forward are always kept, and moving among the entries drops none
        assert self.history.nbytes <= self.history.budget or len(self.scenes) <= 3


def edited(scene: Scene) -> Experiment:
    """Return the experiment with one cell changed: one array is new, the others are shared."""
    weights = scene.experiment.weights.W_q
    assert weights is not None
    return edits.set_block(scene.experiment, "W_q", 0, 0, [[float(weights[0, 0]) + 1]])


TestHistories = pytest.mark.slow(Histories.TestCase)
TestHistories.settings = settings(deadline=None)


@pytest.mark.parametrize("shared", [True, False])
def test_shared_arrays_are_counted_once(shared: bool) -> None:
    first = wide(64)
    history = History("Open", Scene(first))
    for _ in range(5):
        history.push("edit", Scene(first if shared else wide(64)))
    one = 2 * 64 * 4 + 3 * 64 * 64 * 4
    assert history.nbytes == 6 * ENTRY_BYTES + (one if shared else 6 * one)
