"""Undo by values: the history behaves like a plain list, whatever is pushed, opened and jumped to."""

from hypothesis import given
from hypothesis import strategies as st

from attnlab.attention.experiment import Experiment
from attnlab.document.history import History
from attnlab.document.scene import Scene

EXPERIMENT = Experiment(("a",), [[1.0]])


def scene(title: str = "") -> Scene:
    return Scene(EXPERIMENT, title)


def test_a_new_history_has_nothing_to_undo() -> None:
    first = scene()
    history = History("Open", first)
    assert history.current.scene is first
    assert (history.undo_label, history.redo_label, history.index) == (None, None, 0)


def test_labels_name_what_undo_and_redo_change() -> None:
    history = History("Open", scene())
    history.push("one", scene())
    history.push("two", scene())
    assert (history.undo_label, history.redo_label) == ("two", None)
    history.jump(1)
    assert (history.undo_label, history.redo_label) == ("one", "two")
    history.jump(0)
    assert (history.undo_label, history.redo_label) == (None, "one")


def test_each_gesture_is_one_entry() -> None:
    history = History("Open", scene())
    for step in range(5):
        history.push(f"drag {step}", scene(), gesture=7)
    history.push("drag", scene(), gesture=8)
    assert [entry.label for entry in history.entries] == ["Open", "drag 4", "drag"]


def test_a_gesture_does_not_merge_with_an_opening() -> None:
    history = History("Open", scene())
    history.push("edit", scene(), gesture=None)
    history.push("again", scene(), gesture=None)
    assert len(history.entries) == 3
    other = History("Open", scene())
    other.push("drag", scene(), gesture=1)
    assert len(other.entries) == 2


def test_a_gesture_ends_at_undo_or_redo() -> None:
    history = History("Open", scene())
    history.push("drag", scene(), gesture=1)
    history.jump(0)
    history.jump(1)
    history.push("drag", scene(), gesture=1)
    assert [entry.label for entry in history.entries] == ["Open", "drag", "drag"]


def test_each_edit_has_the_number_of_its_opening() -> None:
    history = History("Open", scene())
    history.push("edit", scene())
    assert history.open("Open B", scene()) == 1
    history.push("edit B", scene())
    assert [entry.opening for entry in history.entries] == [0, 0, 1, 1]
    history.jump(1)
    assert history.open("Open C", scene()) == 2  # a number is never used again
    assert [entry.opening for entry in history.entries] == [0, 0, 2]


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.sampled_from([None, 1, 2])),
        st.tuples(st.just("open"), st.none()),
        st.tuples(st.just("jump"), st.integers(-3, 30)),
    ),
    max_size=40,
)


@given(OPERATIONS)
def test_the_history_agrees_with_a_plain_list(operations: list[tuple[str, int | None]]) -> None:
    first = scene()
    history, plain, at, gesture = History("0", first), [first], 0, None
    for operation, argument in operations:
        made = scene()
        if operation == "jump":
            assert argument is not None
            history.jump(argument)
            at, gesture = min(max(argument, 0), len(plain) - 1), None
        else:
            merges = operation == "push" and argument is not None and argument == gesture and at > 0
            plain = [*plain[: at if merges else at + 1], made]
            at, gesture = len(plain) - 1, argument
            history.push("edit", made, argument) if operation == "push" else history.open("open", made)
        assert [entry.scene for entry in history.entries] == plain
        assert history.index == at
        assert history.current.scene is plain[at]
        assert (history.undo_label is None) is (at == 0)
        assert (history.redo_label is None) is (at == len(plain) - 1)


def test_entries_cannot_be_changed_from_outside() -> None:
    history = History("Open", scene())
    entries = history.entries
    history.push("edit", scene())
    assert len(entries) == 1


def test_a_gesture_never_continues_after_an_undo() -> None:
    history = History("Open", scene())
    history.push("drag", scene(), gesture=7)
    history.push("turn", scene(), gesture=8)
    history.jump(1)
    history.push("drag on", scene(), gesture=7)
    assert [entry.label for entry in history.entries] == ["Open", "drag", "drag on"]
    history.jump(1)
    history.jump(2)
    history.push("drag still", scene(), gesture=7)
    assert [entry.label for entry in history.entries] == ["Open", "drag", "drag on", "drag still"]


def test_an_edit_after_an_undo_drops_the_undone_entries() -> None:
    history = History("Open", scene())
    for label in ("one", "two", "three"):
        history.push(label, scene())
    history.jump(1)
    history.push("other", kept := scene())
    assert [entry.label for entry in history.entries] == ["Open", "one", "other"]
    assert history.current.scene is kept
    assert history.redo_label is None
