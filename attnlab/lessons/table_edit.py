"""Edits of tables in a lesson: ``W_q[0, 1]: 0.5``, a row, a column, the whole table, or a fill."""

from typing import TYPE_CHECKING, Any

import torch

from attnlab.attention import edits
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ExperimentError
from attnlab.lessons.cell_references import find_position, split_at_commas, unquote

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


def to_number(text: object) -> float | None:
    """Return a number, even if YAML read it as text, such as "1e-3"; None for anything else."""
    if isinstance(text, bool):
        return None
    try:
        return float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def edit_table(e: "Experiment", name: str, indices: str | None, value: object) -> "Experiment":
    """Return the experiment with a cell, a row, a column or the whole of a table replaced.

    Raises:
        AttnlabError: the indices do not exist, or the numbers do not fit.
    """
    if indices is None:
        return _replace_table(e, name, value)
    rows, columns = edits.shape(e, name)
    row, column = find_place(e, name, indices)
    block = _to_rows(name, value)
    shape = (rows if row is None else 1, columns if column is None else 1)
    if len(block) == 1 and shape[0] > 1 and shape[1] == 1:
        block = [[number] for number in block[0]]  # a column is written as a list, like a row
    if (len(block), len(block[0])) != shape:
        count = shape[0] * shape[1]
        raise ExperimentError(f"{name}[{indices}] got {sum(map(len, block))} numbers; it needs {count}.")
    return edits.set_block(e, name, row or 0, column or 0, block)


def find_place(e: "Experiment", name: str, indices: str) -> tuple[int | None, int | None]:
    """Return the row and the column that indices such as ``0, 1`` name in a table; None for all of them.

    Raises:
        AttnlabError: the text is no row and column, or the table has none of that number or token.
    """
    rows, columns = edits.shape(e, name)
    parts = [part.strip() for part in split_at_commas(indices)]
    if len(parts) == 1 and rows == 1:
        parts = ["0", *parts]
    if len(parts) != 2:
        raise ExperimentError(f"{name}[{indices}] is not a cell; {name}[0, 1] is one, {name}[0, :] a row.")
    return _find_index(e, name, parts[0], rows, "row"), _find_index(e, name, parts[1], columns, "column")


def _find_index(e: "Experiment", name: str, text: str, count: int, what: str) -> int | None:
    """Return the number of a row or a column, given by number or token; None for all."""
    if text == ":":
        return None
    token = unquote(text)
    axis = {"embeddings": "token", "memory_embeddings": "key"}.get(name)
    if token is not None and axis and what == "row":
        return find_position(e, axis, token, f"The row of {name}")
    if not text.isdecimal() or len(text) > 6 or int(text) >= count:
        raise ExperimentError(f"The {what} of {name} is {text[:20]}; it needs {format_bounds(0, count - 1)}, or :.")
    return int(text)


def _to_rows(name: str, value: object) -> list[list[float]]:
    """Return rows of numbers from a single number, a list, or a list of lists."""
    rows: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
    if not rows or not all(isinstance(row, list | tuple) for row in rows):
        rows = [rows]
    numbers = [[to_number(each) for each in row] for row in rows]
    known = [[each for each in row if each is not None] for row in numbers]
    if known != numbers or not known[0] or len({*map(len, known)}) > 1:
        raise ExperimentError(f"{name} is {str(value)[:60]!r}; it needs numbers in rows of equal length.")
    return known


def _replace_table(e: "Experiment", name: str, value: object) -> "Experiment":
    """Return the experiment with a whole table replaced by numbers, by a fill such as zeros, or by nothing."""
    if value is None or value == "none":
        return edits.with_table(e, name, None)
    if isinstance(value, str) and value in edits.FILLS:
        return edits.fill(e, name, value)
    rows = _to_rows(name, value)
    if (len(rows), len(rows[0])) == edits.shape(e, name):
        return edits.set_block(e, name, 0, 0, rows)
    return edits.with_table(e, name, torch.tensor(rows, dtype=edits.dtype(e), device="cpu"))
