"""Blocks of numbers as text: written as tab-separated values, read from the clipboard and from files."""

import csv
import re

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.base.number_text import NumberError, parse_number, quote

_WRAPPER = re.compile(r"[\w.]*(?:array|tensor)\s*\(")
_SCALAR = re.compile(r"\b(?:np|numpy)\.\w+\(([^()]*)\)")
_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_KEYWORD = re.compile(r",\s*(?:\w+\s*=|$)")
_DECIMAL_COMMA = re.compile(r"[+\-−]?(?:\d+(?:,\d+)?|,\d+)(?:[eE][+\-−]?\d+)?")
_LIKE_A_NUMBER = re.compile(r"[+\-−#.,\d∞½]|(?:nan|inf|infinity|n/?a)$", re.IGNORECASE)


class BlockError(AttnlabError):
    """A text that is not a block of numbers; the message is one sentence."""


def format_block(values: NDArray[np.floating]) -> str:
    """Return a block [r, c] as tab-separated lines with all digits, as spreadsheets read it."""
    return "\n".join("\t".join(str(value) for value in row) for row in values)


def parse_block(text: str, source: str = "") -> NDArray[np.float64]:
    """Return the block [r, c] in a text from a spreadsheet (tab, semicolon, comma, space) or a Python or NumPy list.

    Commas are decimal commas if they cannot separate cells; an ambiguous line such as ``0,5`` is one number. A first
    line of labels is skipped, and then also a first column of labels; both may be numbers that count from 0.
    ``source`` is a file's name for error sentences, "" for the clipboard.

    Raises:
        BlockError: a cell is not a number or a row differs in length; names the row and column in the text, counted
            from 1.
    """
    block = source or "the pasted block"
    given = _split_cells(text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), source)
    unlabelled = _drop_labels(given)
    cells = _drop_empty_end(unlabelled)
    above, left = len(given) - len(unlabelled), len(given[-1]) - len(unlabelled[-1])
    width = len(cells[0])
    for number, row in enumerate(cells, start=1 + above):
        if len(row) != width:
            raise BlockError(
                f"Row {number} of {block} has {_count(left + len(row))}, but row {1 + above} has {left + width};"
                " every row needs the same number of columns."
            )
    rows = [
        [_parse_cell(cell, i, j, block) for j, cell in enumerate(row, start=1 + left)]
        for i, row in enumerate(cells, start=1 + above)
    ]
    return np.array(rows, dtype=np.float64)


def _split_cells(text: str, source: str) -> list[list[str]]:
    body = text.strip("\n")
    if not body.strip():
        raise BlockError(_nothing(source))
    if body.lstrip().startswith("[") or _WRAPPER.match(body.lstrip()):
        return _split_list(body.strip(), source)
    lines = body.split("\n")
    delimiter = _find_delimiter(lines)
    if delimiter is None:
        return [line.split() or [""] for line in lines]
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    try:
        return [[cell.strip() for cell in row] or [""] for row in reader]
    except csv.Error:  # a quotation mark that never ends
        text = source or "The pasted text"
        raise BlockError(f"{text} is not a block of numbers; copy a block of cells such as 0.25.") from None


def _nothing(source: str) -> str:
    if source:
        return f"{source} holds no numbers; it needs rows of cells such as 0.25."
    return "The clipboard holds no numbers; copy a block of cells such as 0.25 first."


def _find_delimiter(lines: list[str]) -> str | None:
    """Return the separator of cells: tab, semicolon, comma, or None for white space."""
    for delimiter in "\t;":
        if any(delimiter in line for line in lines):
            return delimiter
    with_comma = [line for line in lines if "," in line]
    if not with_comma or all(_has_decimal_commas(line) for line in lines):
        return None
    return ","


def _has_decimal_commas(line: str) -> bool:
    return all(_DECIMAL_COMMA.fullmatch(word) for word in line.split())


def _split_list(text: str, source: str) -> list[list[str]]:
    """Return the cells of ``[[1, 2], [3, 4]]``, with or without commas, also inside array(...) or tensor(...)."""
    inner = _drop_keywords(_SCALAR.sub(r"\1", _unwrap(text)).strip())
    rows = _INNERMOST.findall(inner)
    around = re.sub(r"[\s,]", "", _INNERMOST.sub("•", inner))
    if not rows or around != "[" * (around.startswith("[")) + "•" * len(rows) + "]" * (around.startswith("[")):
        which = f"The list in {source}," if source else "The pasted list"
        raise BlockError(f"{which} {quote(text)} is not a block; write rows in brackets, such as [[1, 2], [3, 4]].")
    return [re.split(r"\s*[,;]\s*|\s+", row.strip().rstrip(",").strip()) for row in rows]


def _unwrap(text: str) -> str:
    """Return a list without the ``array(…)`` or ``tensor(…)`` around it and without a trailing semicolon."""
    opening = _WRAPPER.match(text)
    ended = text.removesuffix(";").rstrip()
    return (ended[:-1] if ended.endswith(")") else text)[opening.end() if opening else 0 :]


def _drop_keywords(text: str) -> str:
    """Return a list without trailing arguments, such as ``, dtype=torch.float64``."""
    last = text.rfind("]") + 1
    keyword = _KEYWORD.search(text, last)
    return text if keyword is None else text[: keyword.start()]


def _is_label(cell: str) -> bool:
    return bool(cell.strip()) and not _LIKE_A_NUMBER.match(cell.strip())


def _drop_labels(cells: list[list[str]]) -> list[list[str]]:
    """Return the cells without a first row of labels (its corner may be empty) and a first column of labels.

    Columns and rows may also be numbered from 0, as pandas and attnlab write them, below and beside a corner that is
    empty or a label.
    """
    first, rest = cells[0], cells[1:]
    corner = not first[0].strip() and len(first) > 1
    is_numbered = len(first) > 1 and (corner or _is_label(first[0])) and _is_numbered(first[1:])
    if not rest or not (is_numbered or all(_is_label(cell) for cell in first[corner:])):
        return cells
    beside = [row[0] for row in rest]
    labelled = all(_is_label(cell) for cell in beside) or ((corner or is_numbered) and _is_numbered(beside))
    if labelled and all(len(row) > 1 for row in rest):
        return [row[1:] for row in rest]
    return cells if is_numbered else rest


def _is_numbered(cells: list[str]) -> bool:
    return [cell.strip() for cell in cells] == [str(place) for place in range(len(cells))]


def _drop_empty_end(cells: list[list[str]]) -> list[list[str]]:
    """Return the cells without a last column that is empty everywhere because the lines end in a separator."""
    if all(len(row) > 1 and not row[-1].strip() for row in cells):
        return [row[:-1] for row in cells]
    return cells


def _parse_cell(cell: str, row: int, column: int, block: str) -> float:
    try:
        return parse_number(cell)
    except NumberError as error:
        what = "this cell is empty; give it a number such as 0" if not cell.strip() else str(error)
        raise BlockError(f"Row {row}, column {column} of {block}: {what}.") from None


def _count(cells: int) -> str:
    return "1 column" if cells == 1 else f"{cells} columns"
