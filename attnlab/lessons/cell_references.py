"""References to cells in a lesson, such as ``weights[2, 1]``: parsed, written, and found in an experiment."""

import re
from typing import TYPE_CHECKING

from attnlab.attention.axes import TOKENS, labels, size
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME, Stage
from attnlab.base.counted import format_bounds, format_has
from attnlab.base.errors import AttnlabError
from attnlab.lessons.lesson import Blank

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

MOST_BLANKS = 256
"""The maximum number of cells in one question."""

QUOTED = re.compile(r"\"([^\"]*)\"|“([^”]*)”|'([^']*)'")
"""A token in place of a number. Match a whole text only: searching for it takes quadratic time."""

_NAMED = re.compile(r"(\w+)\s*(?:\[(.*)\])?", re.DOTALL)
_INDEX = re.compile(rf"(?::|[0-9]{{1,6}}|{QUOTED.pattern})")
_CLOSING = {'"': '"', "“": "”", "'": "'"}
_OPENING, _MARKS = re.compile("[" + "".join(_CLOSING) + "]"), re.compile(r"[\[\],]")


def unquote(text: str) -> str | None:
    """Return a quoted token without its quotes, or None if the text is not quoted."""
    found = QUOTED.fullmatch(text)
    return next(group for group in found.groups() if group is not None) if found else None


def split_indices(text: str) -> tuple[str, str | None] | None:
    """Return a name and the text in its brackets (None without brackets), or None if the text has another form."""
    found = _NAMED.fullmatch(text.strip())
    return (found[1], found[2]) if found else None


def split_at_commas(text: str, *, outside_brackets: bool = False) -> list[str]:
    """Split a text at its commas, except those in quoted tokens and, with ``outside_brackets``, in brackets."""
    bracket, ends = "", [len(text)]
    for mark in reversed([*_MARKS.finditer(_mask_quoted(text))]):
        if mark[0] != ",":
            bracket = mark[0]
        elif not (outside_brackets and bracket == "]"):
            ends.append(mark.start())
    ends.reverse()
    return [text[start:end] for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False)]


def _mask_quoted(text: str) -> str:
    """Return a text of the same length with its quoted tokens replaced by _; an unclosed quote stays."""
    parts: list[str] = []
    at, unclosed = 0, set[str]()
    for opening in _OPENING.finditer(text):
        start, closing = opening.start(), _CLOSING[opening[0]]
        if start < at or closing in unclosed:
            continue
        end = text.find(closing, start + 1) + 1
        if not end:
            unclosed.add(closing)  # so are all later ones
            continue
        parts += [text[at:start], "_" * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def parse_blanks(text: str) -> tuple[Blank, ...]:
    """Return the blanks of a comma-separated list; AttnlabError as :func:`parse_blank`."""
    return tuple(map(parse_blank, split_at_commas(text, outside_brackets=True)))


def parse_blank(text: str) -> Blank:
    """Parse a blank: ``weights[2, 1]``, a row ``[2, :]``, with a head ``[0, 2, 1]``, or a whole stage.

    A row or a column may be a token: ``weights["starts", "journey"]``.

    Raises:
        AttnlabError: the text is not a blank; the sentence shows a valid one.
    """
    stage, inside = split_indices(text) or ("", None)
    indices = [":", ":"] if inside is None else [index.strip() for index in split_at_commas(inside)]
    if stage not in BY_NAME or len(indices) not in (2, 3) or not all(map(_INDEX.fullmatch, indices)):
        raise AttnlabError(f"blank is {text[:60]!r}; it needs a stage and numbers from 0, such as weights[2, 1].")
    head = indices[0] if len(indices) == 3 else None
    if head is not None and not head.isdecimal():
        raise AttnlabError(f"blank is {text[:60]!r}; its head needs a number, such as {stage}[0, 2, 1].")
    return Blank(stage, _parse_index(indices[-2]), _parse_index(indices[-1]), None if head is None else int(head))


def _parse_index(index: str) -> int | str | None:
    token = unquote(index)
    return token if token is not None else None if index == ":" else int(index)


def write_blank(blank: Blank) -> str:
    """Return the text of a blank, as lessons write it."""
    places = [] if blank.head is None else [str(blank.head)]
    for at in (blank.row, blank.column):
        places.append(":" if at is None else _quote(at) if isinstance(at, str) else str(at))
    return f"{blank.stage}[{', '.join(places)}]"


def _quote(token: str) -> str:
    return f'"{token}"' if '"' not in token else f"'{token}'" if "'" not in token else f"“{token}”"


def find_position(e: "Experiment", axis: str, index: int | str, what: str) -> int:
    """Return the position on an axis of a number or a token; ``what`` is its name in error messages.

    Raises:
        AttnlabError: no position matches, or several do; the sentence lists the valid ones.
    """
    count = size(e, axis)
    if isinstance(index, int):
        if not 0 <= index < count:
            raise AttnlabError(f"{what} is {index}; it needs {format_bounds(0, count - 1)}.")
        return index
    if axis not in TOKENS:
        raise AttnlabError(f"{what} is “{index}”; it needs {format_bounds(0, count - 1)}, because it is not a token.")
    names = labels(e, axis, count)
    found = [i for i, name in enumerate(names) if name == index]
    if not found:
        raise AttnlabError(f"{what} is “{index}”; there are “{'”, “'.join(names[:12])}”.")
    if len(found) > 1:
        raise AttnlabError(
            f"{what} is “{index}”, which is at {', '.join(map(str, found))}; use one of these numbers instead."
        )
    return found[0]


def choose_head(stage: Stage, head: int | str) -> int | None:
    """Return the head of a cell when ``head`` is shown: the first one for "all", None for the mean."""
    if not stage.has_heads or head == "mean":
        return None
    return head if isinstance(head, int) else 0


def find_cell(e: "Experiment", stage: str, at: tuple[int | str, int | str], head: int | str) -> Cell:
    """Return a stage's cell by row and column, which are numbers or tokens; AttnlabError as :func:`find_position`."""
    entry = BY_NAME[stage]
    row, column = (
        find_position(e, axis, index, f"The {name} of {stage}")
        for axis, index, name in zip(entry.axes[-2:], at, ("row", "column"), strict=True)
    )
    return Cell(stage, row, column, choose_head(entry, head))


def list_cells(e: "Experiment", blank: Blank, head: int | str) -> tuple[Cell, ...]:
    """Return the cells of a blank, row by row.

    Raises:
        AttnlabError: the stage does not exist, a number is out of range, or there are too many cells.
    """
    stage = BY_NAME[blank.stage]
    if not stage.present(e):
        raise AttnlabError(f"blank names {blank.stage}, which this state does not have.")
    if blank.head is not None and (not stage.has_heads or blank.head >= e.n_heads):
        there = format_has("head", 0, e.n_heads - 1 if stage.has_heads else -1)
        raise AttnlabError(f"blank names head {blank.head}; {blank.stage} {there}.")
    rows, columns = (
        range(size(e, axis)) if at is None else (find_position(e, axis, at, f"A {name} of the blank in {blank.stage}"),)
        for axis, at, name in zip(stage.axes[-2:], (blank.row, blank.column), ("row", "column"), strict=True)
    )
    if len(rows) * len(columns) > MOST_BLANKS:
        raise AttnlabError(f"blank names {len(rows) * len(columns)} cells; the maximum is {MOST_BLANKS}.")
    which = choose_head(stage, head if blank.head is None else blank.head)
    return tuple(Cell(blank.stage, i, j, which) for i in rows for j in columns)
