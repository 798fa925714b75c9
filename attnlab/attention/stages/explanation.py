"""A cell of a stage and its explanation: the value and the arithmetic that leads to it."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from attnlab.attention.axes import label
from attnlab.attention.stages.arithmetic import Floats, Line, Span, line, number
from attnlab.attention.stages.computed import Computed

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a stage; ``head`` is None for the mean over heads, and for a stage without heads."""

    stage: str
    row: int
    column: int
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A cell's value and the lines of arithmetic that lead to it; ``labels`` name its row and column.

    ``place`` is both in one text, without the row of a vector, which has only one.
    """

    cell: Cell
    title: str
    role: str
    labels: tuple[str, str]
    value: float
    lines: tuple[Line, ...]
    place: str


def labels(e: "Experiment", axes: tuple[str, ...], row: int, column: int) -> tuple[str, str]:
    """Return the labels of a cell's row and column."""
    return label(e, axes[-2], row), label(e, axes[-1], column)


def name_place(axes: tuple[str, ...], names: tuple[str, str]) -> str:
    """Return the labels of a cell's row and column as one text; a vector has no row."""
    return " → ".join(name for name, axis in zip(names, axes[-2:], strict=True) if axis != "one")


def value_of(trace: Computed, cell: Cell, stage: str | None = None) -> float:
    """Return the number in a cell, or in the same place of another stage; for the first head if the cell has none."""
    name = stage or cell.stage
    array = trace.array(name)
    return float(array[cell.head or 0, cell.row, cell.column] if array.ndim == 3 else array[cell.row, cell.column])


def find_shown_value(trace: Computed, cell: Cell) -> float:
    """Return the number shown for a cell: the mean over heads if the stage has heads and the cell has none."""
    if cell.head is None and trace.stage(cell.stage).has_heads:
        return float(trace.mean(cell.stage)[cell.row, cell.column])
    return value_of(trace, cell)


def make_explanation(trace: Computed, cell: Cell, *lines: Line) -> Explanation:
    """Return the explanation of a cell made of ``lines``."""
    stage = trace.stage(cell.stage)
    names = labels(trace.experiment, stage.axes, cell.row, cell.column)
    place = name_place(stage.axes, names)
    return Explanation(cell, stage.title, stage.role, names, value_of(trace, cell), lines, place)


def result_line(trace: Computed, cell: Cell, exact: float, stage: str | None = None) -> Line:
    """Return the line ``= value``, which says so if the computation's dtype rounded it away from the exact result."""
    value = value_of(trace, cell, stage)
    return line("= ", Span(number(value), style="strong"), describe_rounding(value, exact, dtype_name(trace)))


def describe_rounding(value: float, exact: float, dtype: str) -> Line:
    """Return the words behind a number that the dtype of the computation rounded; none if the digits agree."""
    if number(value) == number(exact) or not math.isfinite(value):
        return ()
    return (Span(f", rounded to {dtype}", style="muted"),)


def dtype_name(trace: Computed) -> str:
    """Return the name of the dtype of a computation, such as float32."""
    return str(trace.dtype).removeprefix("torch.")


def numbers_of(trace: Computed, tensor: "Tensor") -> Floats:
    """Return numbers rounded to the trace's dtype, in which they are computed, as float64."""
    here = tensor.detach().cpu()  # rounded on the CPU, to avoid a copy to the device and back
    rounded: Floats = here.to(trace.dtype).to(torch.float64).numpy()
    return rounded


def number_of(trace: Computed, tensor: "Tensor") -> float:
    """Return one number rounded to the trace's dtype."""
    return float(numbers_of(trace, tensor))
