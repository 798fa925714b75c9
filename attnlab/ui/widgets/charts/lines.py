"""What a chart shows: curves, values to compare with, and events on the x axis, each in words too."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve of ``y`` over ascending ``x``: ``colour`` is a palette's field by name ("accent", "key"); ``faint`` mixes
    it with the background, for noisy curves; ``label`` stands at its end, if not empty. Legends omit what is not
    ``listed``."""

    name: str
    x: NDArray[np.floating]
    y: NDArray[np.floating]
    colour: str = "accent"
    width: float = 1.75
    faint: bool = False
    label: str = ""
    listed: bool = True
    is_dashed: bool = False

    @property
    def style(self) -> tuple[object, ...]:
        """All but the numbers."""
        return tuple(getattr(self, each.name) for each in fields(self) if each.name not in ("x", "y"))


@dataclass(frozen=True, slots=True)
class Level:
    """A value to compare with, drawn as a thin line with its name."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Upright:
    """An event on the x axis, drawn as a thin vertical line with its name."""

    name: str
    x: float


def are_same(before: Sequence[Line], lines: Sequence[Line]) -> bool:
    """Return whether curves have the same numbers and look the same."""
    return [line.style for line in before] == [line.style for line in lines] and all(
        np.array_equal(one.x, other.x) and np.array_equal(one.y, other.y, equal_nan=True)
        for one, other in zip(before, lines, strict=True)
    )


def format_exact(value: float) -> str:
    """Return a value with four digits, as tool tips and screen readers have it."""
    return f"{value:.4g}".replace("-", "−")


def describe_line(line: Line) -> str:
    """Return a curve in words: its name, its first value and its last."""
    finite = np.asarray(line.y)[np.isfinite(line.y)]
    if not finite.size:
        return f"{line.name}: no values yet"
    return f"{line.name}: {format_exact(float(finite[0]))} at first, {format_exact(float(finite[-1]))} now"
