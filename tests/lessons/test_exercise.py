"""Exercises: each student's own numbers, answers read and graded, and files saved and loaded."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention import edits
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.explanation import Cell
from attnlab.base.errors import AttnlabError, ExperimentError, FileError
from attnlab.lessons.exercise import (
    Exercise,
    compute_answers,
    describe_cell,
    draw_cells,
    list_row,
    make_variant,
    parse_students,
    read_exercise,
    save_exercise,
    to_letter,
    trace_exactly,
    write_cell,
)
from attnlab.lessons.grading import grade, mark, read_answer_file, read_answers, read_number, sort_answers

KINDS = (
    "journey",
    "causal-5x8",
    "padding-batch",
    "cross-attention",
    "rope",
    "alibi",
    "sparsemax",
    "additive",
    "qk-norm",
    "grouped-keys",
    "attention-sink",
    "mask-fill-1e9",
    "mask-after-softmax",
    "t5-bias",
    "dropout",
    "order-aware",
)


def make(preset: str = "journey", stage: str = "weights", **more: object) -> Exercise:
    blanks = (Cell(stage, 0, 1, 0), Cell(stage, 0, 0, 0))
    return Exercise(attnlab.preset(preset), blanks, **more)  # type: ignore[arg-type]


def test_the_numbers_of_a_student_are_the_same_on_every_machine() -> None:
    e = make_variant(make(seed=7), "Ada")
    printed = [[0.4, 0.0, -0.5], [0.5, -0.1, 0.9]]
    np.testing.assert_allclose(edits.array(e, "embeddings")[:2], printed, atol=1e-6)
    assert np.array_equal(edits.array(make_variant(make(seed=7), "Ada"), "W_q"), edits.array(e, "W_q"))


@pytest.mark.parametrize("preset", KINDS)
def test_every_kind_of_attention_has_variants_with_one_decimal(preset: str) -> None:
    exercise = make(preset, seed=3)
    ada, bob = make_variant(exercise, "Ada"), make_variant(exercise, "Bob")
    for name in edits.tables(ada):
        mine = edits.array(ada, name).astype(np.float64)
        assert np.abs(mine).max() <= 1.5, name
        np.testing.assert_allclose(mine * 10, np.round(mine * 10), atol=1e-4, err_msg=name)
    assert not np.array_equal(edits.array(ada, "embeddings"), edits.array(bob, "embeddings"))
    assert np.isfinite([answer.value for answer in compute_answers(exercise, ada)]).all()


def test_variants_keep_identities_and_equal_tables() -> None:
    e = attnlab.preset("journey-untrained")
    assert make_variant(Exercise(e, (Cell("weights", 0, 0, 0),), seed=1), 1).weights.W_q is None
    x = e.embeddings.clone()
    x[3] = x[0]
    twin = make_variant(Exercise(replace(e, embeddings=x), (Cell("weights", 0, 0, 0),), seed=1), 1)
    rows = twin.embeddings.tolist()
    assert rows[3] == rows[0]
    assert rows[1] != rows[0]


def test_without_a_seed_every_variant_is_the_state_itself() -> None:
    exercise = make()
    assert make_variant(exercise, "Ada") is exercise.experiment
    assert make_variant(exercise, "Ada", 4) is not exercise.experiment


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (Cell("nothing", 0, 0), "There is no stage 'nothing' here; there are inputs"),
        (Cell("masked", 0, 0), "There is no stage 'masked' here"),
        (Cell("weights", 6, 0, 0), "weights[0, 6, 0] is not there; weights has 6 rows and 6 columns."),
        (Cell("weights", 0, 0, 1), "names head 1; weights has only head 0."),
        (Cell("output", 0, 0, 0), "names head 0; output has no heads."),
    ],
)
def test_unknown_blanks_are_refused_with_the_valid_ones(cell: Cell, said: str) -> None:
    with pytest.raises(ExperimentError) as error:
        Exercise(attnlab.preset("journey"), (cell,))
    assert said in str(error.value)


@pytest.mark.parametrize("wrong", [{"tolerance": -1.0}, {"tolerance": float("nan")}, {"blanks": ()}, {"given": "x"}])
def test_invalid_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ExperimentError, match="needs"):
        replace(make(), **wrong)  # type: ignore[arg-type]


def test_blanks_of_a_row_and_random_blanks_skip_masked_cells() -> None:
    e = attnlab.preset("causal-5x8")
    assert [cell.column for cell in list_row(e, Cell("weights", 2, 0, 0))] == [0, 1, 2]
    cells = draw_cells(e, "weights", 6, seed=1, head=0)
    assert len(set(cells)) == 6
    assert all(cell.column <= cell.row for cell in cells)
    assert cells == draw_cells(e, "weights", 6, seed=1, head=0) != draw_cells(e, "weights", 6, seed=2, head=0)
    assert len(draw_cells(e, "weights", 99, seed=1)) == 15
    assert draw_cells(e, "output", 2, seed=1, head=0)[0].head is None


def test_boxes_and_cells_are_named() -> None:
    assert [to_letter(i) for i in (0, 25, 26, 27, 52)] == ["a", "z", "aa", "ab", "ba"]
    e = attnlab.preset("journey")
    assert describe_cell(e, Cell("weights", 2, 1, 0)) == "starts → journey"
    assert describe_cell(e, Cell("queries", 2, 1, 0)) == "starts → column\N{NO-BREAK SPACE}1"
    twice = Experiment(("a", "b", "a"), [[0.0], [1.0], [2.0]])
    assert describe_cell(twice, Cell("weights", 2, 1, 0)) == "a [2] → b"
    many = attnlab.preset("uneven-heads")
    assert describe_cell(many, Cell("weights", 0, 1, 1)).endswith(", head\N{NO-BREAK SPACE}1")
    assert describe_cell(many, Cell("weights", 0, 1)).endswith(", mean of the heads")


def test_students_are_given_by_name_or_by_number() -> None:
    assert parse_students(["Ada ", "", " Bob  B", "Ada"]) == ("Ada", "Bob B")
    assert parse_students(["3"]) == ("Student 1", "Student 2", "Student 3")
    with pytest.raises(ExperimentError, match="1000"):
        parse_students(["1001"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.38", 0.38),
        (" 0,38 ", 0.38),
        ("3/8", 0.375),
        ("3 ÷ 8", 0.375),
        ("½", 0.5),
        ("−1½", -1.5),
        ("38 %", 0.38),
        ("−∞", -np.inf),
        ("-inf", -np.inf),
        ("∞", np.inf),
        ("1e-3", 0.001),
        ("−.5", -0.5),
    ],
)
def test_numbers_are_read_as_typed_by_hand(text: str, value: float) -> None:
    assert read_number(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "1/0",
        "nan",
        "1 2",
        "0.3.8",
        "x" * 500,
        "1e999",
        "-1e999",
        "1/1e999",
        "1e300/1e-300",
        "1/" + "0" * 500,
    ],
    ids=lambda text: text[:12],
)
def test_an_answer_that_is_not_a_number_is_reported(text: str) -> None:
    with pytest.raises(AttnlabError) as error:
        read_number(text)
    assert len(str(error.value)) < 120
    assert re.search(r"; (type|use) ", str(error.value))


def test_a_quoted_answer_has_no_control_characters() -> None:
    for text in ("1\x1b[2J", "\ufeff0.5\x00", "a\u202eb", "\x1b]0;x\x07/0"):
        with pytest.raises(AttnlabError) as error:
            read_number(text)
        assert str(error.value).isprintable()


@given(st.floats(-1e6, 1e6), st.floats(0, 1))
def test_an_answer_is_correct_exactly_within_the_tolerance(value: float, tolerance: float) -> None:
    answer = compute_answers(make(), attnlab.preset("journey"))[0]
    given = mark(answer, repr(value), tolerance)
    assert given.right == (abs(value - answer.value) <= tolerance + 1e-9)


def test_masked_is_correct_only_in_masked_cells() -> None:
    e = attnlab.preset("causal-5x8")
    cells = (Cell("weights", 0, 3, 0), Cell("weights", 3, 0, 0), Cell("masked", 0, 3, 0))
    hidden, open_, score = compute_answers(Exercise(e, cells), e)
    assert mark(hidden, "masked", 0.01).right
    assert mark(hidden, "0", 0.0).right
    assert mark(open_, "Masked", 1e9).said == "No mask hides it; it has a number."
    assert mark(score, "masked", 0.01).right
    assert mark(score, "−∞", 0.01).right
    assert mark(score, "-1e9", 0.01).said == "It is −∞."
    assert mark(open_, "∞", 0.01).said == "It is a finite number."


def test_a_fill_of_0_is_not_reported_as_unmasked() -> None:
    e = attnlab.preset("mask-fill-zero")
    (hidden,) = compute_answers(
        Exercise(e, (Cell("weights", 0, 1, 0),)), e
    )  # the future, which a score of 0 does not hide
    assert hidden.value > 0
    assert mark(hidden, "masked", 0.01).said == "No mask hides it; it has a number."


def test_the_error_of_an_answer_is_reported() -> None:
    first = compute_answers(make(), attnlab.preset("journey"))[0]
    assert mark(first, f"{first.value + 0.2:.6f}", 0.01).said == "Too large by 0.2000."
    assert mark(first, f"{first.value - 0.2:.6f}", 0.01).said == "Too small by 0.2000."
    assert mark(first, f"{first.value + 0.004:.6f}", 0.01).said == "Within 0.0040."
    assert mark(first, "", 0.01).result == "missing"


def test_each_student_is_graded_with_their_own_numbers() -> None:
    exercise = make(seed=5)
    mine = make_variant(exercise, "Ada")
    given = {answer.label: f"{answer.value:.3f}" for answer in compute_answers(exercise, mine)}
    assert (grade(exercise, mine, given, "Ada").right, grade(exercise, mine, given).total) == (2, 2)
    assert grade(exercise, make_variant(exercise, "Bob"), given).right < 2
    by_name = {write_cell(answer.cell): "junk" for answer in compute_answers(exercise, mine)}
    assert [m.result for m in grade(exercise, mine, by_name).marks] == ["unreadable", "unreadable"]
    assert [m.result for m in grade(exercise, mine, {}).marks] == ["missing", "missing"]


@pytest.mark.parametrize("text", ["student,cell,value\nAda,a,0.5\n", "Ada;a;0,5\n", "Ada\ta\t0.5", '\ufeffAda,a,"0,5"'])
def test_answers_are_read_from_any_spreadsheet(text: str) -> None:
    (only,), problems = read_answers(text)
    assert (only.student, only.cell) == ("Ada", "a")
    assert read_number(only.value) == 0.5
    assert not problems


def test_invalid_lines_are_named_and_the_rest_is_read() -> None:
    lines, problems = read_answers("Ada,a,0.5\nAda,b,0,5\nBob\n,a,1\n\nBob,a,1\n")
    assert [each.student for each in lines] == ["Ada", "Bob"]
    assert [each.line for each in problems] == [2, 3, 4]
    assert "needs quotation marks" in problems[0].reason
    assert problems[1].reason == "The line has 1 field; it needs 3: student, cell, value."
    assert problems[2].reason.startswith("The student is missing")


def test_answers_are_assigned_to_students_and_boxes() -> None:
    exercise = make(students=("Ada", "Bob"))
    text = 'ada,A,1\nAda,"weights[0, 0, 0]",2\nEve,a,1\nBob,zz,1\nBob,a,3\nBob,a,4\n'
    found, problems = sort_answers(exercise, read_answers(text)[0])
    assert found == {"Ada": {"a": "1", "b": "2"}, "Bob": {"a": "4"}}
    assert [(p.line, p.reason) for p in problems] == [
        (3, "“Eve” is not on the list of students."),
        (4, "The exercise has no blank “zz”, only a, b."),
        (6, "Bob answers a again; the last answer counts."),
    ]


def test_students_with_similar_names_keep_their_own_answers() -> None:
    exercise = make(students=("Ann Alee", "Anna Lee", "Zo\u00eb", "Bob", "bob"))
    text = "Anna Lee,a,1\nAnn Alee,a,2\nannalee,a,3\nZoe\u0308,a,4\nbob,a,5\nBob,a,6\nBOB,a,7\n"
    found, problems = sort_answers(exercise, read_answers(text)[0])
    assert found == {
        "Ann Alee": {"a": "2"},
        "Anna Lee": {"a": "1"},
        "Zo\u00eb": {"a": "4"},
        "Bob": {"a": "6"},
        "bob": {"a": "5"},
    }
    assert [(p.line, p.reason) for p in problems] == [
        (3, "“annalee” could be Ann Alee or Anna Lee."),
        (7, "“BOB” could be Bob or bob."),
    ]


def test_students_beyond_the_limit_are_not_graded() -> None:
    lines, _ = read_answers("".join(f"student {i},a,1\n" for i in range(5000)))
    found, problems = sort_answers(make(), lines)
    assert len(found) == 1000
    assert [(p.line, p.reason) for p in problems] == [
        (1001, "There are more than 1000 students; the lines from here on are ignored.")
    ]


def test_a_binary_file_of_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes("Zoë,a,1".encode("latin-1"))
    with pytest.raises(FileError, match="UTF-8"):
        read_answer_file(path)
    with pytest.raises(FileError, match="There is no file"):
        read_answer_file(tmp_path / "none.csv")


@pytest.mark.parametrize("preset", KINDS)
def test_an_exercise_survives_saving_and_loading(preset: str, tmp_path: Path) -> None:
    made = make(preset, seed=2, students=("Ada", "Zoë"), title="Weights", tolerance=0.05, given="before")
    save_exercise(made, tmp_path / "x.json")
    back = read_exercise(tmp_path / "x.json")
    assert replace(back, experiment=made.experiment) == made
    for stage in trace_exactly(made.experiment).all_stages:
        np.testing.assert_array_equal(
            trace_exactly(back.experiment).array(stage), trace_exactly(made.experiment).array(stage)
        )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other"}, "is not an exercise of attnlab"),
        ({"version": 2}, "newer attnlab"),
        ({"version": "1"}, "version"),
        ({"seed": 1.5}, "seed is missing or of the wrong kind"),
        ({"blanks": [{"stage": "weights", "row": 0}]}, "a blank cell needs"),
        ({"blanks": [{"stage": "weights", "row": 99, "column": 0, "head": 0}]}, "is not there"),
        ({"state": "!!"}, "damaged"),
        ({"state": "AAAA"}, "the state in it"),
        ({"tolerance": float("inf")}, "Infinity is not a valid number in JSON"),
        ({"tolerance": 10**400}, "damaged"),
        ({"version": True}, "its version is True, not 1"),
        ({"version": 10**400}, "newer attnlab"),
        ({"version": 10**4000}, "a number in it has 4,001 digits"),
        ({"title": "x" * 1_000_000}, "The title has 1000000 characters; the maximum is 200."),
        ({"students": ["Ada", "a\nb"]}, "The student’s name 'a\\nb' needs"),
        ({"students": ["\x1b[31m"]}, "needs 1 to 200 characters"),
        ({"students": ["x" * 1000]}, "needs 1 to 200 characters"),
        ({"students": ["x"] * 100_000}, "There are 100000 students; the maximum is 1000."),
    ],
)
def test_a_damaged_file_is_named_with_the_reason(change: dict[str, object], said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save_exercise(make(), path)
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(FileError) as error:
        read_exercise(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert len(str(error.value)) < 400


def test_a_file_that_is_not_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for data in (b"", b"\xff\xfe", b"[" * 100_000, b"[1]"):
        path.write_bytes(data)
        with pytest.raises(FileError):
            read_exercise(path)


@pytest.mark.parametrize(
    "key", ["format", "version", "tolerance", "title", "seed", "students", "given", "blanks", "state"]
)
def test_a_file_without_one_of_its_fields_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save_exercise(make(seed=2), path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    del plain[key]
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(FileError, match=key):
        read_exercise(path)


def test_a_student_calculates_a_gradient_by_hand_and_it_is_graded(tmp_path: Path) -> None:
    e = edits.configure(attnlab.preset("the-cat-sat"), loss="weight", loss_query=2, loss_key=1, loss_wanted=0.8)
    blanks = tuple(Cell("d_W_q", 2, column) for column in range(4))
    made = Exercise(e, blanks, 1e-4, seed=4, students=("Ada",))
    save_exercise(made, tmp_path / "gradient.json")
    exercise = read_exercise(tmp_path / "gradient.json")
    own = make_variant(exercise, "Ada")
    x, w_q, w_k = (edits.table(own, name).double().numpy() for name in ("embeddings", "W_q", "W_k"))
    q, k = x @ w_q, x @ w_k
    powers = np.exp(q[2] @ k.T / 2)
    w = powers / powers.sum()
    d_score = 2 * (w[1] - 0.8) * w[1] * (np.array([0.0, 1.0, 0.0]) - w) / 2
    by_hand = x[2, 2] * (d_score @ k)
    answers = {letter: f"{value:.4f}" for letter, value in zip("abcd", by_hand, strict=True)}
    assert all(each.right for each in grade(exercise, own, answers, "Ada").marks)
    wrong = grade(exercise, own, {**answers, "b": f"{-by_hand[1]:.4f}"}, "Ada")
    assert [each.right for each in wrong.marks] == [True, False, True, True]
    assert describe_cell(own, blanks[0]) == "row\N{NO-BREAK SPACE}2 → column\N{NO-BREAK SPACE}0"
    assert describe_cell(own, Cell("loss", 0, 0)) == "the number"
