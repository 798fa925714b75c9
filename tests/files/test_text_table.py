"""Tables in the terminal are aligned in every script and fit its width."""

import numpy as np
import pytest

import attnlab
from attnlab.attention.experiment import AttentionConfig, Experiment
from attnlab.files.export.stage_tables import table
from attnlab.files.export.terminal_table import as_text, columns, label


def text(e: Experiment, stage: str = "weights", head: int | str = "all", width: int | None = None) -> str:
    return as_text(table(attnlab.compute(e), stage, head), width)


def test_numbers_are_under_their_tokens_with_four_decimals() -> None:
    assert text(attnlab.preset("causal-5x8")).splitlines() == [
        "weights  [1 × 5 × 5]  Each row becomes a distribution that sums to 1.",
        "        The     cat     sat      on     the",
        "The  1.0000       ·       ·       ·       ·",
        "cat  0.4819  0.5181       ·       ·       ·",
        "sat  0.1984  0.3321  0.4695       ·       ·",
        "on   0.1426  0.3238  0.2273  0.3064       ·",
        "the  0.0676  0.0605  0.3899  0.0957  0.3864",
        "· masked",
    ]


def test_each_of_several_heads_has_its_title() -> None:
    lines = text(attnlab.preset("uneven-heads")).splitlines()
    assert [line for line in lines if line.startswith("head")] == ["head 0", "head 1"]


@pytest.mark.parametrize(
    "tokens", [("北京", "a", "é"), ("👩‍🚀", "🦊", "b"), ("שלום", "مرحبا", "नमस्ते"), ("", " ", "\t")]
)
def test_rows_have_equal_width_in_every_script(tokens: tuple[str, ...]) -> None:
    lines = text(Experiment(tokens, np.eye(3))).splitlines()[1:]
    assert len({columns(line) for line in lines}) == 1, lines


def test_a_wide_character_takes_two_columns_and_an_accent_none() -> None:
    assert columns("北京") == 4
    assert columns("e\u0301") == 1
    assert columns("a\u200db") == 2


def test_control_characters_in_a_token_are_escaped() -> None:
    assert label("a\nb\x1b[31mc") == r"a\nb\x1b[31mc"
    assert label("") == "∅"
    assert label("  ") == "␣␣"
    assert "\x1b" not in text(Experiment(("\x1b[31m", "\r"), np.eye(2)))


def test_a_long_word_is_shortened() -> None:
    lines = text(Experiment(("x" * 500, "b"), np.eye(2))).splitlines()
    assert max(map(columns, lines[1:])) < 80
    assert "xxxxx…" in lines[1]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_fit_the_terminal_and_omitted_columns_are_counted(width: int) -> None:
    lines = text(attnlab.preset("head-average"), "inputs", width=width).splitlines()
    shown = len(lines[1].split())
    assert all(columns(line) <= width for line in lines[1:-1])
    assert lines[-1].startswith(f"… and {512 - shown} more columns")


def test_nothing_is_omitted_without_a_terminal() -> None:
    assert len(text(attnlab.preset("head-average"), "inputs").splitlines()[1].split()) == 512


def test_the_smallest_terminal_still_shows_one_column() -> None:
    assert "0.1551" in text(attnlab.preset("journey"), width=1)


def test_tiny_huge_and_non_finite_numbers_fit_their_columns() -> None:
    values = [[1e-7, 1e30, 0.0], [-7.885e-5, 12345.75, -2.0]]
    lines = text(Experiment(("a", "b"), values), "inputs").splitlines()
    assert lines[2].split() == ["a", "1.0e-7", "1.0e30", "0.0000"]
    assert lines[3].split() == ["b", "-0.0001", "12345.7500", "-2.0000"]
    e = Experiment(("a", "b"), [[1e30, 0.0], [0.0, 1.0]], config=AttentionConfig(scale="none"))
    assert "inf" in text(e, "scores")
    assert "NaN" in text(e, "weights")
