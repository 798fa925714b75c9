"""Worked solutions are correct: both sides of every equation agree to the digits shown."""

import re

import pytest

import attnlab
from tests.lessons.solved import solve
from tests.quick import slow_but
from tests.written import disagreements, equations, value_of

TOO_LARGE = ("head-average", "sinusoidal-100x128", "rotation-property", "saturated", "saturated-scaled")


def plain(line: str) -> str:
    """Return a line of Markdown as plain text; powers as ^{2}, indices as _k."""
    line = re.sub(r"<sup>(.*?)</sup>", r"^{\1}", line.rstrip())
    line = re.sub(r"(?<!\\)\*\*", "", re.sub(r"<sub>(.*?)</sub>", r"_\1", line))
    return re.sub(r"\\(.)", r"\1", line)


def cells(text: str) -> list[list[str]]:
    """Return the lines of each cell of a solution, its title first."""
    return [list(map(plain, block.split("\n"))) for block in text.split("\n\n") if block.startswith("**")]


@pytest.mark.parametrize(
    "preset", slow_but(("journey", "alibi"), [name for name in attnlab.presets() if name not in TOO_LARGE])
)
def test_both_sides_of_every_equation_agree(preset: str) -> None:
    compared, wrong = 0, []
    for title, *lines in cells(solve(preset)):
        count, bad = disagreements(lines)
        compared += count
        wrong += [f"{title}: {each}" for each in bad]
        if not comes_to(title.rpartition(": ")[2], lines):
            wrong.append(f"{title} is none of its equations")
    assert not wrong, wrong[:5]
    assert compared > 50, "and there are many"


def comes_to(value: str, lines: list[str]) -> bool:
    """Whether a cell's value is the result of one of its equations, if it has any."""
    chains = [[side for side in sides if value_of(side) is not None] for sides in equations(lines)]
    last = [sides[-1] for sides in chains if sides]
    return not last or value_of(value) is None or any(disagreements([side, f"= {value}"])[1] == [] for side in last)


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        (["0.5·(−0.25) + 1.00·2.00", "= 1.8750"], 0),
        (["0.5·(−0.25) + 1.00·2.00", "= 1.8760"], 1),
        (["q·k = 2.00·3.00", "+ bias (−1.00)", "= 5.0000"], 0),
        (["q·k = 2.00·3.00", "+ bias (−1.00)", "= 6.0000"], 1),
        (["e^{0.50} ÷ (e^{0.50} + e^{−∞})", "= 1.6487 ÷ 1.6487", "= 0.9000"], 1),
        (["max(0, 0.30 − 0.20)^{2}", "= 0.0100"], 0),
        (["scaled 0.5000 = 1.0000 ÷ √4"], 0),
        (["scaled 0.6000 = 1.0000 ÷ √4"], 1),
        (["all scores ÷ temperature 0.25 = 0.4253"], 0),
    ],
)
def test_the_reader_of_arithmetic_detects_errors(lines: list[str], wrong: int) -> None:
    assert len(disagreements(lines)[1]) == wrong
