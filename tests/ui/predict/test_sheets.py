"""Sheets from exercises: the required tables for every kind of attention, without the answer."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.edits import configure
from attnlab.attention.edits.token_edits import resize_tokens
from attnlab.attention.stages.explanation import Cell
from attnlab.base.errors import AttnlabError
from attnlab.figures.exercise_sheet import Sheet
from attnlab.figures.handout import HandoutWriter
from attnlab.lessons.exercise import Exercise, list_row, make_variant, trace_exactly
from attnlab.ui.predict.sheets import FORMULAS, check_sizes, make_sheet


def made(preset: str, *cells: Cell, **more: object) -> Sheet:
    return make_sheet(Exercise(attnlab.preset(preset), cells, seed=3, **more), "Ada")  # type: ignore[arg-type]


def titles(sheet: Sheet) -> list[str]:
    return [table.title for table in sheet.given]


@pytest.mark.parametrize(
    ("preset", "cell", "given"),
    [
        ("journey", Cell("weights", 2, 1, 0), ["Inputs X", "W_q", "W_k"]),
        ("journey", Cell("context", 2, 1, 0), ["Inputs X", "W_q", "W_k", "W_v"]),
        ("journey", Cell("queries", 2, 1, 0), ["Inputs X", "W_q"]),
        ("journey-untrained", Cell("weights", 0, 0, 0), ["Inputs X"]),
        ("cross-attention", Cell("scores", 0, 1, 0), ["Inputs X", "Memory M", "W_q", "W_k"]),
        ("uneven-heads", Cell("output", 0, 1), ["Inputs X", "W_q", "W_k", "W_v", "W_o"]),
        ("rope", Cell("scores", 1, 0, 0), ["Rotated queries Q", "Rotated keys K"]),
        ("alibi", Cell("weights", 2, 1, 3), ["Inputs X", "W_q", "W_k", "What positions add, head 3"]),
        ("sparsemax", Cell("weights", 1, 1, 0), ["Inputs X", "W_q", "W_k"]),
    ],
)
def test_the_required_tables_are_given(preset: str, cell: Cell, given: list[str], qtbot: QtBot) -> None:
    assert titles(made(preset, cell)) == given


def test_tables_of_the_score_function_are_given(qtbot: QtBot) -> None:
    assert {"W_d", "W_e", "v_a"} <= set(titles(made("additive", Cell("scores", 0, 1, 0))))


def test_blank_inputs_start_from_the_embeddings_if_positions_are_added(qtbot: QtBot) -> None:
    e = attnlab.Experiment(
        ("a", "b"), [[0.5, 1], [2, 3]], attnlab.Weights(), attnlab.AttentionConfig(positions="sinusoidal")
    )
    drawn = make_sheet(Exercise(e, (Cell("inputs", 1, 0),)), "")
    assert titles(drawn) == ["embeddings"]
    assert drawn.given[0].rows == ("a", "b")
    assert titles(made("journey", Cell("inputs", 0, 0))) == []


def test_the_task_says_what_the_loss_is_about(qtbot: QtBot) -> None:
    """No formula says which weight is w, and without it no gradient can be computed on paper."""
    e = attnlab.preset("the-cat-sat")
    cell = Cell("d_W_q", 2, 0)
    weight = configure(e, loss="weight", loss_query=2, loss_key=1)
    a_class = configure(e, loss="class", loss_query=1, loss_class=2)
    for asked, sentence in (
        (weight, "In the loss, w is the weight that “sat” gives to “cat”."),
        (a_class, "The loss is about “cat”, which should be of class 2."),
    ):
        assert sentence in make_sheet(Exercise(asked, (cell,)), "").task
    assert not any("loss" in sentence for sentence in made("journey", Cell("weights", 2, 1, 0)).task)


def test_starting_from_the_previous_stage_gives_fewer_tables(qtbot: QtBot) -> None:
    one = made("causal-5x8", Cell("weights", 2, 1, 0), given="before")
    assert titles(one) == ["Masked S"]
    assert [title for title, _ in one.formulas] == ["Weights"]


def test_rows_of_weights_with_a_blank_are_empty_and_others_are_filled(qtbot: QtBot) -> None:
    (table,) = made("causal-5x8", Cell("weights", 2, 1, 0)).wanted
    assert dict(table.boxes) == {(2, 1): "a"}
    assert table.secret == {(2, 0), (2, 2)}
    assert (2, 4) in table.masked
    (scores,) = made("causal-5x8", Cell("scores", 2, 1, 0)).wanted
    assert scores.secret == frozenset()


def test_the_score_the_other_way_round_is_empty_if_it_is_the_answer(qtbot: QtBot) -> None:
    (same,) = made("journey-untrained", Cell("scores", 2, 1, 0)).wanted
    assert same.cells[1][2] == same.cells[2][1]
    assert same.secret == {(1, 2)}
    (different,) = made("journey", Cell("scores", 2, 1, 0)).wanted
    assert different.secret == frozenset()


def test_a_blank_is_empty_in_every_table_of_pairs(qtbot: QtBot) -> None:
    one = made("journey", Cell("scores", 2, 1, 0), Cell("scaled", 3, 3, 0))
    scores, scaled = one.wanted
    assert (3, 3) in scores.secret
    assert (2, 1) in scaled.secret
    before = made("journey", Cell("scores", 2, 1, 0), Cell("scaled", 3, 3, 0), given="before")
    assert titles(before) == ["Queries Q", "Keys K"], "a stage with blanks is not given as a whole"


def test_the_student_can_compute_the_answers_from_the_sheet(qtbot: QtBot) -> None:
    e = attnlab.preset("journey")
    exercise = Exercise(e, list_row(e, Cell("weights", 2, 0, 0)), seed=9)
    one = make_sheet(exercise, "Ada")
    x, w_q, w_k = (
        np.array([[float(text.replace("−", "-")) for text in row] for row in table.cells]) for table in one.given
    )
    scores = (x @ w_q)[2] @ (x @ w_k).T / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose([float(blank.value) for blank in one.blanks], weights, atol=1e-4)
    assert trace_exactly(make_variant(exercise, "Ada")).array("weights")[0, 2] == pytest.approx(weights, abs=1e-6)


@pytest.mark.parametrize(
    ("preset", "cell"),
    [
        ("journey", Cell("weights", 2, 1, 0)),
        ("causal-5x8", Cell("masked", 0, 3, 0)),
        ("mask-fill-1e9", Cell("masked", 0, 3, 0)),
        ("mask-after-softmax", Cell("zeroed", 1, 0, 0)),
        ("padding-batch", Cell("weights", 1, 1, 0)),
        ("cross-attention", Cell("context", 1, 1, 0)),
        ("grouped-keys", Cell("weights", 2, 1)),
        ("rope", Cell("rotated_keys", 2, 1, 0)),
        ("alibi", Cell("biased", 2, 1, 0)),
        ("t5-bias", Cell("weights", 2, 1, 1)),
        ("sparsemax", Cell("weights", 2, 1, 0)),
        ("attention-sink", Cell("weights", 2, 1, 0)),
        ("qk-norm", Cell("normed_queries", 2, 1, 0)),
        ("dropout", Cell("context", 2, 1, 0)),
        ("head-ablated", Cell("output", 2, 1)),
        ("learned-positions", Cell("inputs", 2, 1)),
    ],
)
@pytest.mark.parametrize("given", ["inputs", "before"])
def test_every_kind_of_attention_is_printed(preset: str, cell: Cell, given: str, qtbot: QtBot) -> None:
    one = made(preset, cell, given=given)
    writer, pages, refused = HandoutWriter("Letter", "x", FORMULAS), [1], ""
    try:
        pages = [writer.add(one, solved) for solved in (False, True)]
    except attnlab.AttnlabError as error:
        refused = str(error)
    assert "too many for the paper" in refused or not refused
    assert not refused or check_sizes(attnlab.preset(preset)), "what is refused was advised against"
    assert pages == sorted(pages)
    assert writer.finish().startswith(b"%PDF")


def test_a_state_of_too_many_tokens_is_refused_before_computing() -> None:
    e = resize_tokens(attnlab.preset("journey"), 512)
    with pytest.raises(AttnlabError, match="512 tokens are too many for the paper"):
        make_sheet(Exercise(e, (Cell("weights", 2, 1, 0),)), "")


def test_softmax_is_written_out_and_the_file_of_answers_explained(qtbot: QtBot) -> None:
    sheet = made("journey", Cell("weights", 2, 1, 0))
    assert r"\frac" in dict(sheet.formulas)["Weights"]
    assert any("student, letter, value" in sentence for sentence in sheet.task)


def test_all_numbers_of_a_table_have_the_same_decimals(qtbot: QtBot) -> None:
    sheet = made("journey", Cell("weights", 2, 1, 0))
    for table in (*sheet.given, *sheet.wanted):
        assert len({len(text.partition(".")[2]) for row in table.cells for text in row}) == 1
    assert any(text.endswith("0") and "." in text for table in sheet.given for row in table.cells for text in row)
