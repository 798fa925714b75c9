"""Writes an explanation's lines as the arithmetic of a slide, in several lengths."""

import re
from collections.abc import Sequence
from dataclasses import replace

from attnlab.attention.stages.arithmetic import DECIMALS, Line, Span, number, short
from attnlab.attention.stages.explanation import Explanation
from attnlab.figures.slides.slide_content import Run, Runs
from attnlab.figures.slides.slide_markdown import split_subscripts

_RESULT = re.compile(r"= [−\d.e]+$")
"""An equation that already ends in its number."""
_DECIMAL = re.compile(r"(?<![\d.])\d+\.(\d{2,})(?![\d.e])")
"""A number with decimals, not in e-notation."""
_INNER_SPACE = re.compile(r"(?<=\S) (?=\S)")
_BREAK = "\x1e"
"""What no run contains."""


def write_versions(explanations: Sequence[Explanation], role: str) -> tuple[tuple[Runs, ...], ...]:
    """Return versions of a cell's arithmetic, the longest first, each ending in the cell's value."""
    ways: list[tuple[Runs, ...]] = []
    for each in explanations:
        chain = _find_chain(each)
        shorter = () if _is_said(chain[0]) else (_cut_chain(chain, 2), _cut_chain(chain, 1))
        ways += [way for lines in (chain, *shorter) if lines and (way := _end_lines(lines, each, role)) not in ways]
    return tuple(map(_pad_decimals, (*ways, (_make_value(explanations[-1], role),))))


def write_partial_sum(explanation: Explanation, so_far: float | None = None) -> tuple[tuple[Runs, ...], ...]:
    """Return the arithmetic of a cell that is partly summed: its terms, and the running sum if that is known."""
    begin = len(explanation.lines) - 1
    while begin > 0 and _is_continuation(explanation.lines[begin]):
        begin -= 1
    lines = tuple(_make_runs(line) for line in explanation.lines[begin:])
    total = () if so_far is None else ((Run("so far ", style="muted"), Run(number(so_far), style="strong")),)
    ways = (lines, *((line,) for line in reversed(lines)))
    return tuple((*_pad_decimals(way), *total) for way in ways)  # the sum is rounded: zeros would make digits of it


def _pad_decimals(lines: tuple[Runs, ...]) -> tuple[Runs, ...]:
    """Return lines in which the numbers of a side of an equation have equally many decimals, the usual count or more.

    Only the zeros that were left out are added: a side that needs more decimals to give its result keeps them.
    """
    text = _BREAK.join(run.text for line in lines for run in line)
    texts = iter("=".join(map(_pad_side, text.split("="))).split(_BREAK))
    return tuple(tuple(replace(run, text=next(texts)) for run in line) for line in lines)


def _pad_side(side: str) -> str:
    decimals = max(DECIMALS, *map(len, _DECIMAL.findall(side)), 0)
    return _DECIMAL.sub(lambda found: found[0] + "0" * (decimals - len(found[1])), side)


def _find_chain(explanation: Explanation) -> tuple[Line, ...]:
    """Return the line that holds the value, or those that lead to it: one, and what goes on from it with = or +.

    What stands before says what went in, such as a temperature, and what stands behind how that came about.
    """
    first, *others = explanation.lines
    lines = (first, *(line for line in others if any(span.style != "muted" for span in line)))
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and _is_continuation(lines[i + 1]):
            end = next((j for j in range(i + 1, len(lines)) if not _is_continuation(lines[j])), len(lines))
            return lines[i:end]
        if not _is_continuation(line) and _has_value(line, explanation.value):
            return (line,)
    return lines[:1]


def _is_continuation(line: Line) -> bool:
    return _join_text(line).startswith(("=", "+"))


def _is_said(line: Line) -> bool:
    """Return whether a line is a sentence, not a side of an equation."""
    return len(line) == 1 and not line[0].role and line[0].style != "strong"


def _has_value(line: Line, value: float) -> bool:
    """Return whether a line gives the value: by a strong number, or at its end."""
    ways = (number(value), short(value))
    return any(span.style == "strong" and span.text in ways for span in line) or _join_text(line).endswith(
        tuple(f"= {way}" for way in ways)
    )


def _cut_chain(chain: tuple[Line, ...], kept: int) -> tuple[Line, ...]:
    """Return the first lines of a chain, with the terms added further down; none if that is no equation."""
    added = [line for line in chain[kept:] if _join_text(line).startswith("+")]
    if len(chain) <= kept or (added and _RESULT.search(_join_text(chain[kept - 1]))):
        return ()
    return (*chain[: kept - 1], (*chain[kept - 1], *(span for line in added for span in (Span(" "), *line))))


def _end_lines(lines: tuple[Line, ...], explanation: Explanation, role: str) -> tuple[Runs, ...]:
    """Return lines ending in the value."""
    shown, value = tuple(_make_runs(line) for line in lines), explanation.value
    if _join_text(lines[-1]).removeprefix("= ") in (number(value), short(value), f"{value:g}"):
        already = len(lines) > 1 and _has_value(lines[-2], value)
        return shown[:-1] if already else (*shown[:-1], _make_value(explanation, role))
    if _has_value(lines[-1], value):
        return shown
    if len(lines) == 1 and not _is_said(lines[0]):
        return (shown[0] + (Run(" "),) + _make_value(explanation, role),)
    return (*shown, _make_value(explanation, role))


def _make_value(explanation: Explanation, role: str) -> Runs:
    return (Run("= "), Run(number(explanation.value), role if role != "neutral" else "", "strong"))


def _make_runs(line: Line) -> Runs:
    """Return the runs of a line; "… 5 more …" stays on one line of a slide."""
    runs = ((span, run) for span in line for run in split_subscripts(_keep_together(span.text), span.style))
    return tuple(replace(run, role=span.role) for span, run in runs)


def _keep_together(text: str) -> str:
    return _INNER_SPACE.sub("\u00a0", text) if "more …" in text else text


def _join_text(line: Sequence[Span]) -> str:
    return "".join(span.text for span in line).strip()
