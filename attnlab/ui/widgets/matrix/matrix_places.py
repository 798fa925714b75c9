"""Texts about places in a matrix table."""

from collections.abc import Sequence


def cell_name(row_labels: Sequence[str], column_labels: Sequence[str], row: int, column: int) -> str:
    """Return a cell's name from its labels, or from its indices from 0 where a label is blank."""
    return f"Row {_label(row_labels, row)}, column {_label(column_labels, column)}"


def misfit_sentence(
    row_labels: Sequence[str], column_labels: Sequence[str], at: tuple[int, int], shape: tuple[int, int]
) -> str:
    """Return a sentence that a pasted block of that shape does not fit at a cell, and what would fit."""
    rows, columns = len(row_labels), len(column_labels)
    place = cell_name(row_labels, column_labels, *at)
    room = f"{rows - at[0]} × {columns - at[1]}"
    if shape[0] <= rows and shape[1] <= columns:
        corner = cell_name(row_labels, column_labels, rows - shape[0], columns - shape[1])
        advice = f"start at {corner[0].lower()}{corner[1:]}, or further up or left"
    else:
        advice = f"this table takes at most {rows} × {columns}"
    return (
        f"{place}: the pasted block is {shape[0]} × {shape[1]} but there is room for {room} here; {advice}."
        " Nothing was changed."
    )


def _label(labels: Sequence[str], index: int, limit: int = 24) -> str:
    label = " ".join(labels[index].split())
    return (label if len(label) <= limit else f"{label[: limit - 1]}…") or str(index)
