"""Checks the answers to choose from: the one given as right must be nearest to the number that is asked for."""

import re
from typing import TYPE_CHECKING

from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import find_shown_value
from attnlab.lessons.lesson import Problem

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide

_NUMBER = re.compile(r"([−-]?\d+(?:\.\d+)?)\s*(%?)")


def check_choices(slide: "Slide", choices: tuple[str, ...], trace: "Trace") -> list[Problem]:
    """Return the problem of a right choice that is not nearest to the asked cell.

    ``choices`` are the filled texts. They are compared if each has exactly one number and one cell is asked for: the
    only blank, or the step's own cell if that is blank.
    """
    question, cell = slide.step.question, _find_asked_cell(slide)
    values = [_read_number(text) for text in choices]
    if question is None or not choices or cell is None or None in values:
        return []
    asked = find_shown_value(trace, cell)
    nearest = min(range(len(values)), key=lambda i: abs((values[i] or 0.0) - asked))
    if nearest + 1 == question.right:
        return []
    reason = (
        f"“{choices[question.right - 1]}” is given as right, but {cell.stage}[{cell.row}, {cell.column}] is "
        f"{number(asked)}, which is nearest to “{choices[nearest]}”."
    )
    return [Problem(question.line, reason)]


def _find_asked_cell(slide: "Slide") -> "Cell | None":
    if len(slide.blanks) == 1:
        return slide.blanks[0]
    own = slide.cell
    if own is None:
        return None
    place = own.stage, own.row, own.column
    return next((each for each in slide.blanks if (each.stage, each.row, each.column) == place), None)


def _read_number(text: str) -> float | None:
    """Return the only number of a text, a share if it is in per cent; None for none or several."""
    found = _NUMBER.findall(text)
    if len(found) != 1:
        return None
    digits, percent = found[0]
    return float(digits.replace("−", "-")) / (100 if percent else 1)
