"""Grading: each answer is compared with an independent rule, written in fractions."""

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import attnlab
from attnlab.attention.stages.explanation import Cell
from attnlab.base.errors import AttnlabError
from attnlab.lessons.exercise import (
    Answer,
    Exercise,
    compute_answers,
    make_variant,
    read_answers_of,
    trace_exactly,
    write_cell,
)
from attnlab.lessons.grading import Grade, grade, mark, read_answer_file, read_answers, read_number, sort_answers

EXACT = Fraction(1, 10**9)
"""The allowed excess over the tolerance, so that binary rounding does not matter at its edge."""
MINUS = ("-", "−", "–", "－")


def asked(value: float, *, masked: bool = False) -> Answer:
    return Answer(Cell("scores", 0, 0, 0), "a", value, masked)


def is_right(text: str, value: float, tolerance: float = 0.01, *, masked: bool = False) -> bool:
    return mark(asked(value, masked=masked), text, tolerance).right


# The sign


@pytest.mark.parametrize("value", [0.38, -0.38, 2.0, -2.0, 0.02, -0.02, 1e6, -1e6])
def test_the_opposite_sign_is_wrong(value: float) -> None:
    size = f"{abs(value)}"
    for minus in MINUS:
        assert is_right(f"{minus}{size}", value) == (value < 0), minus
    for plus in ("", "+", "＋"):
        assert is_right(f"{plus}{size}", value) == (value > 0), plus


@pytest.mark.parametrize(("text", "value"), [("0,38", 0.38), ("38 %", 0.38), ("19/50", 0.38), ("3.8e-1", 0.38)])
def test_every_notation_keeps_the_sign(text: str, value: float) -> None:
    for minus in MINUS:
        assert is_right(text, value)
        assert is_right(f"{minus}{text}", -value)
        assert not is_right(f"{minus}{text}", value), minus
        assert not is_right(text, -value), minus


def test_single_character_infinities_and_fractions_keep_their_sign() -> None:
    assert is_right("−∞", -math.inf)
    assert is_right("∞", math.inf)
    assert not is_right("∞", -math.inf)
    assert not is_right("-inf", math.inf)
    assert is_right("−½", -0.5)
    assert not is_right("−½", 0.5)
    assert not is_right("½", -0.5)
    assert is_right("-1¼", -1.25)
    assert not is_right("-1¼", -0.75), "the whole and the fraction have one sign"
    assert is_right("3/-8", -0.375)
    assert not is_right("3/-8", 0.375)
    assert is_right("-3/-8", 0.375)


def test_near_zero_the_sign_does_not_matter_within_the_tolerance() -> None:
    for text in ("0", "-0", "−0.0", "0.004", "-0.004"):
        assert is_right(text, 0.0)
        assert is_right(text, 0.003)
    assert not is_right("-0.011", 0.0)


# The size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.8", 0.38),
        ("0.038", 0.38),
        ("38", 0.38),
        ("0.38 %", 0.38),
        ("3.8e-2", 0.38),
        ("0.76", 0.38),
        ("0.62", 0.38),
        ("8/3", 0.375),
        ("1/0.38", 0.38),
        ("1.38", 0.38),
        ("0", 0.38),
        ("1", 0.38),
        ("½", 0.38),
    ],
)
def test_another_magnitude_is_wrong(text: str, value: float) -> None:
    assert is_right(text, read_number(text)), "the answer itself is read"
    assert not is_right(text, value)


@given(
    st.decimals(-1000, 1000, places=4, allow_nan=False),
    st.decimals(-1000, 1000, places=4, allow_nan=False),
    st.decimals(0, 2, places=3),
)
def test_an_answer_is_correct_only_within_the_tolerance(typed: object, true: object, tolerance: object) -> None:
    apart = abs(Fraction(str(typed)) - Fraction(str(true)))
    marked = mark(asked(float(str(true))), str(typed), float(str(tolerance)))
    assert marked.right == (apart <= Fraction(str(tolerance)) + EXACT)
    assert marked.gap == pytest.approx(float(apart), abs=1e-9)


@pytest.mark.parametrize(
    ("value", "tolerance"), [(0.38, 0.01), (-0.38, 0.01), (0.1, 0.2), (0.3, 0.1), (12.5, 0.5), (0.0, 0.05), (1.1, 0)]
)
def test_the_edge_of_the_tolerance_is_correct(value: float, tolerance: float) -> None:
    true, wide = Fraction(str(value)), Fraction(str(tolerance))
    for side in (1, -1):
        assert is_right(f"{float(true + side * wide):.10f}", value, tolerance)
        assert not is_right(f"{float(true + side * (wide + Fraction(1, 10**6))):.10f}", value, tolerance)


@pytest.mark.parametrize("value", [0.18000001, 0.17999998])
def test_the_edge_of_the_tolerance_is_correct_for_a_number_rounded_to_float32(value: float) -> None:
    assert is_right("0.19", value, 0.01)
    assert is_right("0.17", value, 0.01)
    assert not is_right("0.1901", value, 0.01)


# The ways to write it


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.38", 0.38), ("0,38", 0.38), (",38", 0.38), (".38", 0.38), ("٫38", 0.38), ("0.", 0.0), ("7,", 7.0),
        ("\u00a00.38\u2009", 0.38), ("1.5e3", 1500.0), ("1,5E-3", 0.0015), ("+.5", 0.5),
        ("3/8", 0.375), ("3⁄8", 0.375), ("3∕8", 0.375), ("3 ÷ 8", 0.375), ("0,5/2", 0.25), ("1/3", 1 / 3),
        ("50%", 0.5), ("50 %", 0.5), ("12,5 %", 0.125), ("50％", 0.5), ("150 %", 1.5), ("-5 %", -0.05),
        ("½", 0.5), ("⅜", 0.375), ("1½", 1.5), ("1 ½", 1.5), ("2⅔", 8 / 3), ("+¾", 0.75),
        ("Infinity", math.inf), ("INF", math.inf), ("+∞", math.inf), ("− ∞", -math.inf),
    ],
)  # fmt: skip
def test_a_number_has_the_value_that_it_states(text: str, value: float) -> None:
    assert read_number(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    ["1.234,5", "1,234.5", "1 000", "1'000", "0x10", "1_0", "--1", "-+1", "3//8", "1/2/3", "50%%", "%", "5/8%", "/8",
     "3/", "½½", "x½", "1e", "e5", "∞∞", "−", "+", ".", ",", "²", "3²", "x²", "五", "3五", "⑤", "nan", "NaN", "-nan",
     "none", "True", "0.38 or so", "½/2", "one", "\x00", "0.3\n8"],
)  # fmt: skip
def test_an_ambiguous_number_is_never_correct(text: str) -> None:
    with pytest.raises(AttnlabError):
        read_number(text)
    for value in (0.38, 0.5, 1.0, 1000.0, 0.0, math.nan):
        marked = mark(asked(value), text, 1e9)
        assert (marked.result, marked.right, marked.given) == ("unreadable", False, text.strip())


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u00a0"])
def test_an_empty_answer_is_missing_and_not_zero(text: str) -> None:
    for value in (0.0, 0.38):
        marked = mark(asked(value, masked=True), text, 1e9)
        assert (marked.result, marked.right, marked.given) == ("missing", False, "")


def test_no_number_is_correct_for_nan() -> None:
    for text in ("0", "nan", "∞", "−∞", "masked", "0.38"):
        assert not is_right(text, math.nan, 1e9), text
    assert mark(asked(math.nan), "0", 0.01).said == "The correct result is not a number."


def test_an_infinity_is_correct_only_for_the_same_infinity() -> None:
    for value, text in itertools.product((math.inf, -math.inf), ("1e300", "-1e300", "0", "∞", "−∞")):
        assert is_right(text, value, 1e9) == (text == ("∞" if value > 0 else "−∞"))
    for text in ("∞", "−∞"):
        assert not is_right(text, 0.38, 1e9)


@pytest.mark.parametrize("word", ["masked", "Masked", " MASKED ", "mask"])
@pytest.mark.parametrize("value", [0.0, -math.inf, 0.2])
def test_masked_is_correct_in_masked_cells_whatever_their_number(word: str, value: float) -> None:
    assert is_right(word, value, masked=True)
    assert not is_right(word, value, 1e9, masked=False)


# What is said


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("0.38", 0.38, "Exactly."),
        ("0.385", 0.38, "Within 0.0050."),
        ("0.375", 0.38, "Within 0.0050."),
        ("-0.38", 0.38, "Too small by 0.7600."),
        ("0.38", -0.38, "Too large by 0.7600."),
        ("0.5", 0.38, "Too large by 0.1200."),
        ("0.2", 0.38, "Too small by 0.1800."),
        ("-1", -0.38, "Too small by 0.6200."),
        ("5", -math.inf, "It is −∞."),
        ("−∞", 0.38, "It is a finite number."),
    ],
)
def test_the_reported_error_has_a_sign(text: str, value: float, said: str) -> None:
    assert mark(asked(value), text, 0.01).said == said


@pytest.mark.parametrize("header", ["student,cell,value", "Student, Letter, Value", "student;letter;value"])
def test_a_header_as_the_hand_out_writes_it_is_no_student(header: str) -> None:
    mark = ";" if ";" in header else ","
    lines, problems = read_answers(f"{header}\nAda{mark}a{mark}1\n")
    assert [each.student for each in lines] == ["Ada"]
    assert not problems


def test_lines_that_a_spreadsheet_filled_up_are_read_and_other_lines_of_four_fields_are_not() -> None:
    lines, problems = read_answers("\ufeffsep=;\r\nstudent;cell;value\r\nAda;a,b;0,5\r\n")  # written by Excel
    assert [(each.cell, each.value, each.line) for each in lines] == [("a,b", "0,5", 3)]
    assert not problems
    lines, problems = read_answers("student;cell;value;\nAda;a;0,5;\nAda;b;;;\nAda;c;1;2\n")
    assert [(each.cell, each.value) for each in lines] == [("a", "0,5"), ("b", "")]
    assert [each.line for each in problems] == [4]


def test_a_cell_of_a_single_head_may_be_written_without_it() -> None:
    exercise = Exercise(attnlab.preset("causal-5x8"), (Cell("weights", 2, 1, 0),))
    lines, _ = read_answers('Ada,"weights[2, 1]",0.5\nBob,"weights[0, 2, 1]",0.5\n')
    assert sort_answers(exercise, lines) == ({"Ada": {"a": "0.5"}, "Bob": {"a": "0.5"}}, ())


# Cells, heads and students


MANY: dict[str, tuple[Cell, ...]] = {
    "uneven-heads": (Cell("weights", 0, 1, 0), Cell("weights", 1, 0, 0), Cell("weights", 0, 1, 1)),
    "grouped-keys": (Cell("scores", 1, 2, 0), Cell("scores", 2, 1, 0), Cell("scores", 1, 2, 3)),
    "cross-attention": (Cell("context", 0, 1, 0), Cell("context", 1, 0, 0), Cell("weights", 0, 1, 0)),
    "causal-5x8": (Cell("queries", 3, 1, 0), Cell("keys", 3, 1, 0), Cell("values", 3, 1, 0), Cell("output", 3, 1)),
}


def told(exercise: Exercise) -> dict[str, str]:
    return {answer.label: f"{answer.value:.6f}" for answer in compute_answers(exercise, exercise.experiment)}


@pytest.mark.parametrize("preset", MANY)
def test_each_box_is_graded_with_its_own_cell_and_head(preset: str) -> None:
    e, cells = attnlab.preset(preset), MANY[preset]
    trace = trace_exactly(e)
    exercise = Exercise(e, cells, tolerance=1e-4)
    right = compute_answers(exercise, e)
    arrays = [trace.array(cell.stage) for cell in cells]
    values = [
        float(array[cell.row, cell.column] if array.ndim == 2 else array[cell.head or 0, cell.row, cell.column])
        for cell, array in zip(cells, arrays, strict=True)
    ]
    assert [answer.value for answer in right] == values
    assert [answer.cell for answer in right] == list(cells)
    apart = [abs(a - b) for a, b in itertools.combinations(values, 2)]
    assert min(apart) > 1e-3, "swapped answers would be right"
    whole = told(exercise)
    assert grade(exercise, e, whole).right == len(cells)
    for a, b in itertools.combinations(whole, 2):
        swapped = {**whole, a: whole[b], b: whole[a]}
        assert [each.right for each in grade(exercise, e, swapped).marks] == [label not in (a, b) for label in whole]


def test_without_a_head_the_answer_is_the_mean_of_the_heads() -> None:
    e = attnlab.preset("uneven-heads")
    (answer,) = read_answers_of(trace_exactly(e), (Cell("weights", 0, 1),))
    array = trace_exactly(e).array("weights")
    assert answer.value == pytest.approx(array[:, 0, 1].mean())
    assert not is_right(f"{array[0, 0, 1]:.6f}", answer.value, 1e-4)


def test_answers_are_matched_by_letter_or_by_cell() -> None:
    e = attnlab.preset("uneven-heads")
    exercise = Exercise(e, MANY["uneven-heads"])
    right = compute_answers(exercise, e)
    by_cell = {f" {write_cell(answer.cell).upper()} ": f"{answer.value:.6f}" for answer in right}
    assert grade(exercise, e, by_cell).right == 3
    only = grade(exercise, e, {"b": f"{right[1].value:.6f}", "weights[0, 5, 5]": "1", "z": "1"})
    assert [each.result for each in only.marks] == ["missing", "right", "missing"]
    assert (only.right, only.total) == (1, 3)


def test_wrong_answers_do_not_count_as_correct() -> None:
    answer = asked(0.38)
    marks = tuple(mark(answer, text, 0.01) for text in ("0.38", "-0.38", "", "x", "0.4", "0.385"))
    assert (Grade("Ada", marks).right, Grade("Ada", marks).total) == (2, 6)


FLIPS: dict[str, Callable[[float], float]] = {
    "sign": lambda x: -x,
    "tenfold": lambda x: 10 * x,
    "a little": lambda x: x + 0.02,
    "of one": lambda x: 1 - x,
}


@pytest.mark.parametrize("flip", FLIPS)
def test_a_file_of_answers_is_graded_with_the_sign_and_size_of_each(flip: str, tmp_path: Path) -> None:
    e = attnlab.preset("causal-5x8")
    cells = (Cell("queries", 0, 1, 0), Cell("keys", 2, 0, 0), Cell("values", 1, 1, 0))
    exercise = Exercise(e, cells, seed=5, students=("Ada", "Bob", "Cy"))
    lines = ["student;cell;value"]
    for student in exercise.students:
        for i, answer in enumerate(compute_answers(exercise, make_variant(exercise, student))):
            assert abs(answer.value) > 0.02, "a sign would not matter"
            value = FLIPS[flip](answer.value) if student == "Bob" and i == 1 else answer.value
            lines.append(f"{student};{answer.label};{value:.4f}".replace(".", ",").replace("-", "−"))
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    read, problems = read_answer_file(path)
    found, unknown = sort_answers(exercise, read)
    assert not problems
    assert not unknown
    grades = {s: grade(exercise, make_variant(exercise, s), found[s], s) for s in exercise.students}
    assert {s: [each.right for each in g.marks] for s, g in grades.items()} == {
        "Ada": [True, True, True],
        "Bob": [True, False, True],
        "Cy": [True, True, True],
    }
    assert grades["Bob"].student == "Bob"
