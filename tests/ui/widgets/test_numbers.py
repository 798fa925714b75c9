"""Numbers are read in common notations, refused with a reason, and shown short without hiding nonzero values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.base.number_text import FLOAT32_MAX, NumberError, parse_number
from attnlab.ui.widgets.numbers.number_format import (
    as_written,
    format_cell,
    format_exact,
    format_for_reading,
    shift_values,
)

usable = st.floats(min_value=-FLOAT32_MAX, max_value=FLOAT32_MAX, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("0,5", 0.5),
        ("1/2", 0.5),
        ("½", 0.5),
        ("1½", 1.5),
        ("-¼", -0.25),
        ("1e-3", 0.001),
        ("1,5E2", 150),
        ("−0.5", -0.5),
        ("+3", 3),
        ("  7 ", 7),
        (".5", 0.5),
        ("5.", 5),
        ("-3 / 4", -0.75),
        ("1⁄3", 1 / 3),
        ("٠٫٥", 0.5),
        ("3.4028234e38", 3.4028234e38),
        ("\u00a02\u00a0", 2),
    ],
)
def test_numbers_are_read_in_common_notations(text: str, value: float) -> None:
    assert parse_number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("abc", "'abc' is not a number; type one such as 0.25"),
        ("", "this field is empty; type a number such as 0.25"),
        ("   ", "this field is empty; type a number such as 0.25"),
        ("nan", "'nan' is not a finite number; type one such as 0.25"),
        ("-inf", "'-inf' is not a finite number; type one such as 0.25"),
        ("∞", "'∞' is not a finite number; type one such as 0.25"),
        ("1e999", "'1e999' is too large; the largest magnitude is 3.4028234e38"),
        ("-3.41e38", "'-3.41e38' is too large; the largest magnitude is 3.4028234e38"),
        ("1/0", "'1/0' divides by zero; type a number such as 0.25"),
        ("1.234,5", "'1.234,5' is not a number; type one such as 0.25"),
        ("1_000", "'1_000' is not a number; type one such as 0.25"),
        ("0.1 0.2", "'0.1 0.2' is not a number; type one such as 0.25"),
        ("0x10", "'0x10' is not a number; type one such as 0.25"),
        ("--1", "'--1' is not a number; type one such as 0.25"),
        ("abcdefghijklmnopqrstuvwxyz", "'abcdefghijklmnopqrstuvw…' is not a number; type one such as 0.25"),
    ],
)
def test_an_invalid_number_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(NumberError) as refusal:
        parse_number(text)
    assert str(refusal.value) == reason


@given(usable)
def test_every_digit_survives_writing_and_reading(value: float) -> None:
    assert parse_number(format_exact(np.float64(value))) == value
    assert parse_number(format_exact(value).replace(".", ",").replace("-", "−")) == value


@given(st.text(max_size=12))
def test_any_text_is_a_finite_number_or_refused_with_a_reason(text: str) -> None:
    try:
        value, reason = parse_number(text), ""
    except NumberError as error:
        value, reason = math.nan, str(error)
    assert math.isfinite(value) == (not reason)
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.2961, "0.2961"),
        (-0.0, "0.0000"),
        (0.0, "0.0000"),
        (1e38, "1.0e38"),
        (-1e-7, "−1.0e−7"),
        (12.34567, "12.3457"),
        (-12.34567, "−12.346"),
        (123456.7, "123457"),
        (-1e38, "−1.0e38"),
        (float("nan"), "nan"),
        (float("inf"), "∞"),
        (-float("inf"), "−∞"),
        (-0.00001, "−1.0e−5"),
        (9.99999, "10.0000"),
        (-3.4e-38, "−3e−38"),
    ],
)
def test_a_cell_shows_four_decimals_if_they_fit(value: float, text: str) -> None:
    assert format_cell(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.2961, "0.296"),
        (-0.2961, "−0.296"),
        (0.0, "0.000"),
        (-0.0001, "−1e−4"),
        (12.345678, "12.346"),
        (-12.345678, "−12.35"),
        (-1e-10, "−1e−10"),
        (123456.7, "123457"),
        (-1234567.0, "−1.2e6"),
    ],
)
def test_a_narrow_cell_has_equal_decimals_with_and_without_a_sign(value: float, text: str) -> None:
    assert format_cell(value, 6) == text


@given(usable, st.integers(7, 14))
def test_a_cell_is_accurate_and_within_its_width(value: float, characters: int) -> None:
    text = format_cell(value, characters)
    assert len(text) <= characters
    assert (parse_number(text) == 0) == (value == 0) if abs(value) < 3.3e38 else text
    assert float(text.replace("−", "-")) == pytest.approx(value, rel=0.5, abs=0.00005)


def test_float32_values_are_written_in_their_own_digits() -> None:
    assert format_exact(np.float32(0.1)) == "0.1"
    assert (format_exact(-1e-7), format_for_reading(-1e-7)) == ("-1e-07", "−1e−07")  # one to copy, one to read


def test_steps_leave_no_binary_noise() -> None:
    value = np.array([0.3])
    for _ in range(3):
        value = shift_values(value, -0.1)
    assert value.tolist() == [0.0]
    assert math.copysign(1, value[0]) == 1


def test_a_shift_is_clamped_to_what_float32_holds() -> None:
    top = np.array([FLOAT32_MAX, -FLOAT32_MAX, 1e300])
    assert shift_values(top, 1e38).tolist() == [FLOAT32_MAX, -FLOAT32_MAX + 1e38, 1e300]  # what was beyond stays
    assert shift_values(np.array([65504.0, 65000.0]), 1000, 65504.0).tolist() == [65504, 65504]


def test_no_shift_changes_no_digit() -> None:
    value = np.array([0.1234567890123456789, -1e-30])
    assert np.array_equal(shift_values(value, 0.0), value)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_written_float32_reads_back_as_itself(value: float) -> None:
    narrow = np.array([[value]], np.float32)
    wide = as_written(narrow)
    assert np.array_equal(wide.astype(np.float32), narrow)
    assert parse_number(format_exact(narrow[0, 0])) == wide[0, 0]


def test_steps_of_a_float32_leave_no_noise() -> None:
    value = np.array([0.3], np.float32)
    texts = []
    for _ in range(3):
        value = shift_values(as_written(value), -0.1).astype(np.float32)
        texts.append(format_exact(value[0]))
    assert texts == ["0.2", "0.1", "0.0"]
