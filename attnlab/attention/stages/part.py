"""A part of the arithmetic of a gradient: a sum of products, and what it takes from the stages."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from attnlab.attention.stages.arithmetic import Floats, Line
from attnlab.attention.stages.computed import Computed


@dataclass(frozen=True, slots=True)
class Part:
    """A sum of products ``left`` · ``right`` [n], with a label for each; ``note`` says what is multiplied.

    A number is the sum of its parts; one that is not ``is_added`` only prepares the next one.
    """

    title: str
    note: Line
    left: Floats
    right: Floats
    roles: tuple[str, str] = ("", "")
    labels: tuple[str, ...] = ()
    is_added: bool = True
    is_plain: bool = False
    """Whether ``right`` is 1 everywhere, so that only the numbers on the left are written."""

    @property
    def total(self) -> float:
        """The sum of the products."""
        with np.errstate(all="ignore"):
            return float(np.dot(self.left, self.right))


def read_row(t: Computed, name: str, head: int | None, row: int) -> Floats:
    """Return a row of a stage, of one head if it has heads."""
    array = t.array(name)
    found: Floats = (array[head or 0, row] if array.ndim == 3 else array[row]).astype(np.float64)
    return found


def read_column(t: Computed, name: str, head: int | None, column: int) -> Floats:
    """Return a column of a stage, of one head if it has heads."""
    array = t.array(name)
    return (array[head or 0, :, column] if array.ndim == 3 else array[:, column]).astype(np.float64)


def make_single(title: str, note: Line, left: float, right: float) -> Part:
    """Return a part of one product."""
    return Part(title, note, np.array([left]), np.array([right]))


def name_tokens(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Return tokens as labels; ∅ stands for an empty one."""
    return tuple(token or "∅" for token in tokens)


def to_floats(tensor: Tensor) -> Floats:
    """Return a tensor as a float64 array."""
    numbers: Floats = tensor.detach().cpu().double().numpy()
    return numbers


def make_sum(title: str, note: Line, terms: Floats, labels: tuple[str, ...], role: str = "") -> Part:
    """Return a part that only adds numbers."""
    return Part(title, note, terms, np.ones_like(terms), (role, ""), labels, is_plain=True)
