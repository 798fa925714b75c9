"""The arrows lens: what is drawn, what a drag and the keyboard change, and what is said of it."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QRadioButton

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import Weights
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.walk import Place
from attnlab.base.spoken_text import speak_number
from attnlab.figures.arrows.arrow_data import ArrowsData
from attnlab.ui.base.motion import set_reduced_motion
from attnlab.ui.playground.lenses.arrows_lens import ArrowsLens
from attnlab.ui.widgets.arrows.arrow_plane import ArrowPlane
from tests.ui.lessons.test_lessons_workspace import find_controller

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Person

Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def moving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let arrows move between stages, as they do unless motion is reduced."""
    monkeypatch.setattr("attnlab.ui.widgets.arrows.arrow_motion.motion_ms", lambda _: 150)


def open_lens(person: "Person") -> ArrowsLens:
    person.playground.lenses.open_lens("arrows")
    person.settle()
    lens = person.playground.lenses.stack.currentWidget()
    assert isinstance(lens, ArrowsLens)
    person.wait_for(lambda: lens.plane.width() > 200)
    return lens


def tips(plane: ArrowPlane, kind: str) -> np.ndarray:
    assert plane.data is not None
    return list_tips(plane.data, kind)


def list_tips(data: ArrowsData, kind: str) -> np.ndarray:
    return np.array([arrow.tip for arrow in data.arrows if isinstance(arrow.key, tuple) and arrow.key[0] == kind])


def pull(person: "Person", plane: ArrowPlane, key: "Hashable", *by: tuple[int, int]) -> None:
    """Drag a tip by some pixels, through points on the way."""
    person.drag(plane, plane.tip(key).toPoint(), *by)
    person.settle()


def unit(plane: ArrowPlane) -> float:
    """Return the pixels per unit of a plane."""
    assert plane._layout is not None
    return plane._layout.sight.unit


def test_the_arrows_are_the_vectors_and_the_score_is_a_projection(person: "Person") -> None:
    lens = open_lens(person)
    person.document.select(Cell("scores", 2, 1, 0), pin=True)
    trace = attnlab.compute(person.experiment)
    np.testing.assert_allclose(tips(lens.plane, "queries"), trace.array("queries")[0], atol=1e-6)
    np.testing.assert_allclose(tips(lens.plane, "keys"), trace.array("keys")[0], atol=1e-6)
    np.testing.assert_allclose(tips(lens.values, "values"), trace.array("values")[0], atol=1e-6)
    assert lens.coverage.text() == "Shows all lengths in full."
    query, key = trace.array("queries")[0, 2].astype(float), trace.array("keys")[0, 1].astype(float)
    length = np.linalg.norm(query)
    assert lens.score.text() == (
        f"“starts” → “journey”: the query is {number(length)} long, the key reaches {number(query @ key / length)} "
        f"along it; their product is the score, {number(float(trace.array('scores')[0, 2, 1]))}."
    )
    data = lens.values.data
    assert data is not None
    assert data.mixture is not None
    np.testing.assert_allclose(data.mixture.tip, trace.array("context")[0, 2], atol=1e-6)
    lens.grab()


def test_numbers_that_the_walk_has_not_reached_are_neither_told_nor_drawn(person: "Person") -> None:
    lens = open_lens(person)
    person.document.select(Cell("scores", 2, 1, 0), pin=True)

    def is_mixed() -> bool:
        assert lens.values.data is not None
        return lens.values.data.mixture is not None

    def read_reach() -> str:
        assert lens.plane.data is not None
        assert lens.plane.data.projection is not None
        return lens.plane.data.projection.along

    def read(title: str, row: int) -> str:
        first, *rows = (line.split("\t") for line in lens.table.text().splitlines())
        return rows[row][first.index(title)]

    assert is_mixed()
    for place in (Place("scores", asked=((2, 1),)), Place("scores", 1)):
        person.document.show(at=place)
        person.settle()
        assert lens.score.text() == "“starts” → “journey”: the score is not computed yet."
        assert lens.context.text() == "The context of “starts” is not computed yet."
        assert not is_mixed()
        assert read_reach() == "?"
        assert [read(title, 1) for title in ("along the query", "score", "weight")] == ["?"] * 3
        assert (read("score", 0) == "?") is not bool(place.asked), "only the cell that is asked for"
    person.document.show(at=None)
    person.settle()
    assert "their product is the score" in lens.score.text()
    assert is_mixed()
    assert read_reach() in lens.score.text()


def test_a_pulled_query_takes_W_q_along_and_is_one_undo(person: "Person") -> None:
    lens = open_lens(person)
    before, steps = attnlab.compute(person.experiment), len(person.history())
    size = unit(lens.plane)
    pull(person, lens.plane, ("queries", 2), (10, -4), (25, -12), (40, -20))
    after = attnlab.compute(person.experiment)
    moved = after.array("queries")[0] - before.array("queries")[0]
    np.testing.assert_allclose(moved[2], [40 / size, 20 / size], atol=1e-4)
    np.testing.assert_array_equal(after.array("keys"), before.array("keys"))
    np.testing.assert_array_equal(after.array("inputs"), before.array("inputs"))
    np.testing.assert_allclose(tips(lens.plane, "queries"), after.array("queries")[0], atol=1e-6)
    scores = [float(line.split("\t")[3]) for line in lens.table.text().splitlines()[1:]]
    np.testing.assert_allclose(scores, after.array("scores")[0, 2], rtol=1e-5)
    assert person.history()[steps:] == ["Drag W_q"]
    person.undo()
    person.settle()
    np.testing.assert_allclose(tips(lens.plane, "queries"), before.array("queries")[0], atol=1e-6)


def test_while_a_tip_is_held_the_arrows_follow_and_then_the_sentences_and_tables(person: "Person") -> None:
    lens = open_lens(person)
    at = lens.plane.tip(("queries", 2)).toPoint()
    QTest.mousePress(lens.plane, Qt.MouseButton.LeftButton, pos=at)
    for x in (10, 20, 30):
        QTest.mouseMove(lens.plane, at + QPoint(x, 0))
        person.settle()
        after = attnlab.compute(person.experiment)
        np.testing.assert_allclose(tips(lens.plane, "queries"), after.array("queries")[0], atol=1e-6)
    score, w_q = number(float(after.array("scores")[0, 2, 1])), person.experiment.weights.W_q
    assert w_q is not None
    person.wait_for(lambda: f"score, {score}." in lens.score.text())
    spoken = [speak_number(value) for value in w_q.flatten().tolist()]
    person.wait_for(lambda: [person.table.name_cell(i).split(", ")[-1] for i in range(len(spoken))] == spoken)
    rows = [line.split("\t") for line in lens.table.text().splitlines()[1:]]
    np.testing.assert_allclose([float(row[3]) for row in rows], after.array("scores")[0, 2], rtol=1e-5)
    QTest.mouseRelease(lens.plane, Qt.MouseButton.LeftButton, pos=at + QPoint(30, 0))
    person.settle()
    assert person.history()[-1] == "Drag W_q"


def test_a_pulled_key_can_take_its_token_along(person: "Person") -> None:
    lens = open_lens(person)
    before = attnlab.compute(person.experiment)
    person.click(person.find(QRadioButton, "the token", lens))
    size = unit(lens.plane)
    pull(person, lens.plane, ("keys", 4), (8, 0), (30, 12))
    after = attnlab.compute(person.experiment)
    moved = after.array("keys")[0] - before.array("keys")[0]
    np.testing.assert_allclose(moved[4], [30 / size, -12 / size], atol=1e-4)
    assert not np.delete(moved, 4, 0).any()
    assert (
        person.experiment.weights is attnlab.preset("journey").weights
        or not np.delete(after.array("inputs") - before.array("inputs"), 4, 0).any()
    )
    assert person.history()[-1] == "Drag X"


def test_a_pulled_token_takes_its_row_of_X_along(sit_down: "Callable[..., Person]") -> None:
    rng = np.random.default_rng(1)
    person = sit_down(attnlab.Experiment(tokens=("a", "b", "c"), embeddings=rng.normal(size=(3, 2))))
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    before, size = person.experiment.embeddings.numpy().copy(), unit(lens.plane)
    pull(person, lens.plane, ("inputs", 1), (12, 5), (24, 10))
    after = person.experiment.embeddings.numpy()
    np.testing.assert_allclose(after[1] - before[1], [24 / size, -10 / size], atol=1e-6)
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(tips(lens.plane, "inputs"), after, atol=1e-6)


def test_the_keyboard_walks_holds_and_moves(person: "Person") -> None:
    lens = open_lens(person)
    lens.plane.setFocus()
    lens.plane._place = 0
    person.key(Key.Key_Down, widget=lens.plane)
    person.key(Key.Key_Down, widget=lens.plane)
    person.key(Key.Key_Return, widget=lens.plane)
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row) == ("scores", 2)
    before, steps = attnlab.compute(person.experiment).array("queries")[0], len(person.history())
    for _ in range(3):
        person.key(Key.Key_Right, Mod.ShiftModifier, lens.plane)
    person.settle()
    after = attnlab.compute(person.experiment).array("queries")[0]
    assert (after - before)[2, 0] > 0
    assert abs((after - before)[2, 1]) < 1e-6
    assert person.history()[steps:] == ["Drag W_q"] * 3


def test_a_click_holds_an_arrow_and_does_not_let_it_go(person: "Person") -> None:
    lens = open_lens(person)
    at = lens.plane.tip(("keys", 4)).toPoint()
    for _ in range(2):
        person.click(lens.plane, at)
        cell = person.document.view.cell
        assert cell is not None
        assert person.document.view.pinned
        assert cell.column == 4
    assert person.tip(lens.plane, lens.plane.tip(("keys", 4)).toPoint()).startswith("key of one")
    assert lens.plane.tool_tip(QPointF(2, 2)).startswith("Pull a tip")


@pytest.mark.parametrize("title", ["Strongest directions", "Query and best keys", "Two columns"])
def test_with_more_columns_the_plane_is_chosen_and_what_is_lost_is_said(
    sit_down: "Callable[..., Person]", title: str
) -> None:
    person = sit_down("multi-head-causal")
    lens = open_lens(person)
    person.click(person.find(QRadioButton, title, lens))
    person.document.select(Cell("scores", 3, 1, 2), pin=True)
    trace = attnlab.compute(person.experiment)
    rows = np.concatenate([trace.array("queries")[2], trace.array("keys")[2]]).astype(float)
    drawn = np.concatenate([tips(lens.plane, "queries"), tips(lens.plane, "keys")])
    share = (np.linalg.norm(drawn, axis=1) / np.linalg.norm(rows, axis=1)).mean()
    width = person.experiment.d_model
    assert lens.coverage.text() == (
        f"Shows {round(100 * share)}\N{NO-BREAK SPACE}% of the lengths. "
        f"Head 2 projects the {width} numbers of a token to 8."
    )
    data = lens.plane.data
    assert data is not None
    assert (data.projection is not None) == (title == "Query and best keys")
    if data.projection is not None:
        np.testing.assert_allclose(
            tips(lens.plane, "keys") @ tips(lens.plane, "queries")[3], trace.array("scores")[2, 3], atol=1e-5
        )
    lens.grab()


def test_hidden_values_are_outside_the_hull(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("multi-head-causal")
    lens = open_lens(person)
    person.document.select(Cell("scores", 2, 1, 0), pin=True)
    data = lens.values.data
    assert data is not None
    assert data.mixture is not None
    assert [arrow.hidden for arrow in data.arrows] == [False, False, False, True, True]
    assert set(data.mixture.hull) <= {0, 1, 2}
    assert data.arrows[4].spoken.endswith("hidden by the mask")


def test_a_context_that_may_leave_the_hull_says_why(sit_down: "Callable[..., Person]") -> None:
    """The scores of “a” are 1 and −0.5: their shares of the sum are 2 and −1."""
    given = attnlab.Experiment(tokens=("a", "b"), embeddings=np.array([[1, 0], [-0.5, 1]]))
    person = sit_down(edits.configure(given, normalizer="sum", scale="none"))
    lens = open_lens(person)
    person.document.select(Cell("weights", 0, 1, 0), pin=True)
    person.settle()
    rest = "so its context need not lie in the hull of the values."
    assert lens.context.text() == f"Some weights of “a” are negative, {rest}"
    person.document.edit("Sink", lambda _: edits.configure(given, sink=True, scale="none"))
    person.settle()
    total = attnlab.compute(person.experiment).array("weights")[0, 0].sum()
    assert total < 0.9
    assert lens.context.text() == f"The weights of “a” sum to {number(total)}, not to 1, {rest}"


def test_rotated_arrows_can_be_pulled(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("rope")
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Two columns", lens)) if person.experiment.d_k > 2 else None
    before, size = attnlab.compute(person.experiment).array("rotated_queries")[0], unit(lens.plane)
    row = person.experiment.T_q - 1
    pull(person, lens.plane, ("queries", row), (6, 0), (20, -10))
    after = attnlab.compute(person.experiment).array("rotated_queries")[0]
    np.testing.assert_allclose((after - before)[row, :2], [20 / size, 10 / size], atol=1e-4)


def test_a_screen_reader_hears_every_arrow(person: "Person") -> None:
    lens = open_lens(person)
    assert lens.plane.count_cells() == 12
    query = attnlab.compute(person.experiment).array("queries")[0, 0].astype(float)
    assert lens.plane.name_cell(0) == (
        f"query of Your, {query[0]:.4f} across, {query[1]:.4f} up, length {np.linalg.norm(query):.4f}"
    )
    assert lens.plane.find_cell(QPointF(lens.plane.tip(("queries", 0)))) is not None


def test_a_pulled_key_of_a_second_sequence_takes_its_row_of_M_along(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("cross-attention")
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "the token", lens))
    assert "that of M its key and its value" in lens.drag.text()
    x, m = person.experiment.embeddings, person.experiment.memory
    pull(person, lens.plane, ("keys", 2), (8, 0), (30, 12))
    assert person.history()[-1] == "Drag M"
    assert person.experiment.embeddings is x
    moved = (person.experiment.memory - m).abs().sum(1)
    assert moved[2] > 0
    assert not moved[[0, 1, 3]].any()


def test_the_tokens_of_a_second_sequence_are_drawn_and_pulled(sit_down: "Callable[..., Person]") -> None:
    person = sit_down("cross-attention")
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    person.click(person.find(QRadioButton, "Two columns", lens))
    lens.plane.motion.skip()
    assert "That of X moves its query; that of M moves its key and its value." in lens.drag.text()
    x, m = person.experiment.embeddings, person.experiment.memory
    np.testing.assert_allclose(tips(lens.plane, "inputs"), x[:, :2], atol=1e-6)
    np.testing.assert_allclose(tips(lens.plane, "memory"), m[:, :2], atol=1e-6)
    assert lens.plane.data is not None
    labels = [arrow.label for arrow in lens.plane.data.arrows]
    memory_tokens = person.experiment.memory_tokens
    assert memory_tokens is not None
    assert labels == [*person.experiment.tokens, *(f"M: {token}" for token in memory_tokens)]
    size = unit(lens.plane)
    pull(person, lens.plane, ("memory", 2), (8, 0), (30, 12))
    assert person.history()[-1] == "Drag M"
    assert person.experiment.embeddings is x
    moved = (person.experiment.memory - m).numpy()
    np.testing.assert_allclose(moved[2, :2], [30 / size, -12 / size], atol=1e-4)
    assert not np.delete(moved, 2, 0).any()
    assert not moved[2, 2:].any()
    person.document.select(Cell("scores", 0, 3, 0), pin=True)
    assert [arrow.key for arrow in lens.plane.data.arrows if arrow.held] == [("inputs", 0), ("memory", 3)]


def test_tokens_of_two_widths_share_a_plane(sit_down: "Callable[..., Person]") -> None:
    narrow, wide = np.array([[1.0, 2.0], [0.5, -1.0]]), np.arange(6.0).reshape(2, 3)
    e = attnlab.Experiment(
        ("a", "b"),
        narrow,
        memory_tokens=("c", "d"),
        memory_embeddings=wide,
        weights=Weights(np.ones((2, 2)), np.ones((3, 2)), np.ones((3, 2))),
    )
    person = sit_down(e)
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    person.click(person.find(QRadioButton, "Two columns", lens))
    lens.plane.motion.skip()
    assert lens.head.text() == "Tokens: rows of X, 2, and of M, 3 numbers; columns that X lacks are 0"
    np.testing.assert_allclose(tips(lens.plane, "memory"), wide[:, :2])
    pull(person, lens.plane, ("inputs", 0), (8, 0), (30, 0))
    assert person.history()[-1] == "Drag X"
    assert float(person.experiment.embeddings[0, 0]) > 1


def test_keys_of_a_second_sequence_travel_from_its_tokens(sit_down: "Callable[..., Person]", moving: None) -> None:
    person = sit_down("cross-attention")
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    lens.plane.motion.skip()
    assert lens.plane.data is not None
    before = {arrow.key: arrow.tip for arrow in lens.plane.data.arrows}
    person.click(person.find(QRadioButton, "Queries and keys", lens))
    assert lens.plane.motion.data is not None
    starts = {arrow.key: arrow.tip for arrow in lens.plane.motion.data.arrows}
    factor = starts["queries", 1][0] / before["inputs", 1][0]
    assert 0 < factor < 1  # tokens reach further than queries and keys
    np.testing.assert_allclose(starts["queries", 1], factor * np.array(before["inputs", 1]), atol=1e-3)
    np.testing.assert_allclose(starts["keys", 1], factor * np.array(before["memory", 1]), atol=1e-3)
    lens.plane.motion.skip()


def test_a_token_of_one_number_is_named_so(sit_down: "Callable[..., Person]") -> None:
    person = sit_down(attnlab.Experiment(tokens=("a", "b"), embeddings=np.array([[1.0], [2.0]])))
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    assert lens.head.text() == "Tokens: rows of 1 number"


def test_arrows_travel_to_those_of_another_head(sit_down: "Callable[..., Person]", moving: None) -> None:
    person = sit_down("multi-head-8")
    lens = open_lens(person)
    person.document.select(Cell("scores", 2, 1, 0), pin=True)
    lens.plane.motion.skip()
    before = tips(lens.plane, "queries")
    person.document.select(Cell("scores", 2, 1, 3), pin=True)
    moved = lens.plane.motion.data
    assert moved is not None
    np.testing.assert_allclose(list_tips(moved, "queries"), before, atol=1e-3)
    assert lens.head.text().startswith("Queries and keys, head 3")
    person.click(lens.plane, QPoint(2, 2))
    assert lens.plane.motion.data is None


def test_a_normalised_query_cannot_be_pulled(person: "Person") -> None:
    lens = open_lens(person)
    person.document.edit("Norm", lambda e: edits.configure(e, qk_norm="rms"))
    person.settle()
    steps = len(person.history())
    pull(person, lens.plane, ("queries", 2), (10, 0), (30, 0))
    assert len(person.history()) == steps
    assert lens.drag.text().endswith("switch QK norm off.")


def test_numbers_that_overflow_are_told_and_an_undo_draws_again(person: "Person") -> None:
    lens = open_lens(person)
    large = attnlab.Experiment(tokens=("a", "b"), embeddings=np.array([[1e30, 0], [0, 1e30]]))
    person.document.edit("Large", lambda _: large)
    person.settle()
    assert lens.coverage.text() == "Context contains NaN or ∞, which cannot be drawn as arrows."
    assert lens.plane.data is None
    assert not lens.table.isVisible()
    lens.grab()
    person.undo()
    person.settle()
    assert lens.coverage.text() == "Shows all lengths in full."
    assert lens.table.isVisible()


def test_tokens_move_to_their_queries_and_keys_and_a_key_ends_the_motion(
    person: "Person", qtbot: "QtBot", moving: None
) -> None:
    lens = open_lens(person)
    person.click(person.find(QRadioButton, "Tokens", lens))
    person.settle()
    lens.plane.motion.skip()
    assert lens.plane.data is not None
    tips = {arrow.key: arrow.tip for arrow in lens.plane.data.arrows}
    person.click(person.find(QRadioButton, "Queries and keys", lens))
    moved = lens.plane.motion.data
    assert moved is not None
    starts = {arrow.key: arrow.tip for arrow in moved.arrows}
    assert starts["queries", 1] == pytest.approx(tips["inputs", 1], abs=1e-3)
    assert moved.projection is None
    with qtbot.waitSignal(lens.plane.motion.animation.finished):
        pass
    assert lens.plane.motion.data is None
    person.click(person.find(QRadioButton, "Tokens", lens))
    assert lens.plane.motion.data is not None
    person.key(Qt.Key.Key_Down, widget=lens.plane)
    assert lens.plane.motion.data is None


def test_with_reduced_motion_the_arrows_are_there_at_once(person: "Person") -> None:
    lens = open_lens(person)
    set_reduced_motion(True)
    try:
        person.click(person.find(QRadioButton, "Tokens", lens))
    finally:
        set_reduced_motion(False)
    assert lens.plane.motion.data is None


def test_a_step_of_a_lesson_draws_the_arrows_of_its_slide(person: "Person") -> None:
    controller = find_controller(person)
    controller.open("attention-is-geometry", 0)
    lens = open_lens(person)
    assert list_kinds(lens.plane) == {"inputs"}, "the text tells where the arrows of the words point"
    controller.player.go(1)
    person.settle()
    assert list_kinds(lens.plane) == {"queries", "keys"}


def list_kinds(plane: ArrowPlane) -> set[str]:
    assert plane.data is not None
    return {arrow.key[0] for arrow in plane.data.arrows if isinstance(arrow.key, tuple)}
