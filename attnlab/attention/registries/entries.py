"""What registry entries are made of: tables of learned numbers, options, and the conditions on choosing them."""

import math
import operator
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from attnlab.attention.layer import Layer
from attnlab.base.errors import ExperimentError


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of an entry: a "number", a "whole" number, a "switch" or a "choice".

    ``least`` and ``most`` bound a number, ``above`` leaves ``least`` itself out. ``choices`` are (value, title, about).
    ``under`` names another option without which this one does nothing.
    """

    name: str
    title: str
    about: str
    kind: str
    default: Any
    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    choices: tuple[tuple[str, str, str], ...] = ()
    under: str = ""

    def take(self, value: Any) -> Any:
        """Return a value as a plain one.

        Raises:
            ExperimentError: it is none that the option can have; the sentence says which would do.
        """
        if self.kind == "choice":
            taken: Any = value if isinstance(value, str) and value in [choice[0] for choice in self.choices] else None
        elif self.kind == "switch":
            taken = bool(value) if isinstance(value, bool) or type(value).__name__ == "bool" else None
        else:
            taken = self._number(value)
        if taken is None:
            raise ExperimentError(f"{self.name} is {reprlib.repr(value)}; it needs {self.needs}.")
        return taken

    def _number(self, value: Any) -> float | None:
        if isinstance(value, bool) or not isinstance(value, Real):
            return None
        try:
            number: float = operator.index(value) if self.kind == "whole" else float(value)  # type: ignore[arg-type]
        except (TypeError, OverflowError):
            return None
        low = number > self.least if self.above else number >= self.least
        return number if low and number <= self.most and math.isfinite(number) else None

    @property
    def needs(self) -> str:
        """What a value has to be, in words."""
        if self.kind == "choice":
            return f"one of {', '.join(choice[0] for choice in self.choices)}"
        if self.kind == "switch":
            return "True or False"
        words = "a whole number" if self.kind == "whole" else "a number"
        low = "" if self.least == -math.inf else f"{'above' if self.above else 'from'} {_plain(self.least)}"
        high = "" if self.most == math.inf else f"{'up to' if not low or self.above else 'to'} {_plain(self.most)}"
        if low.startswith("from") and not high:
            low = f"of {_plain(self.least)} or more"
        return " ".join(filter(None, (words, low, high)))


def _plain(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


@dataclass(frozen=True, slots=True)
class Table:
    """One table of learned numbers: ``axes`` name its sizes (see :mod:`attnlab.attention.axes`), one or two of them.

    An axis that is no size of the layer, such as "hidden", is free: all tables of an entry that have it agree in it,
    and ``free`` may name the option that gives it its size: (("bucket", "t5_buckets"),).
    ``fill`` is what it begins as: identity, zeros, ones or normal (divided by √(last size), seeded by its name).
    ``role`` colours it: query, key, value, attention, neutral. ``may_be_longer``: more rows than needed may be given.
    """

    name: str
    about: str
    axes: tuple[str, ...]
    fill: str = "normal"
    role: str = "neutral"
    may_be_longer: bool = False
    free: tuple[tuple[str, str], ...] = ()


def fits(e: Layer) -> str:
    """Return "": most entries fit every experiment."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What every registry entry has. ``check(e)`` returns why it does not go with an experiment, "" when it does:
    one sentence that says which two things disagree and what would do.
    """

    name: str
    title: str
    about: str
    tables: tuple[Table, ...] = ()
    options: tuple[Option, ...] = ()
    check: Callable[[Layer], str] = fits
