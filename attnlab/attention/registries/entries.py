"""The base class of registry entries, with their options, tables of learned numbers and compatibility checks."""

import math
import operator
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

from attnlab.attention.layer import Layer, LayerConfig
from attnlab.base.errors import ExperimentError


@dataclass(frozen=True, slots=True)
class Option:
    """One setting of an entry: a "number", a "whole" number, a "switch" or a "choice".

    ``least`` and ``most`` bound a number; ``above`` excludes ``least`` itself. ``choices`` are (value, title, about).
    ``under`` names the option that must be on for this one to have an effect; ``only_with`` are the name of a choice
    and the value that it must have, if this one has no effect with another.
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
    only_with: tuple[str, str] = ("", "")

    def take(self, value: Any) -> Any:
        """Return a valid value as a plain Python object.

        Raises:
            ExperimentError: the value is invalid; the sentence names the valid ones.
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
        """The valid values, in words."""
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
    """One table of learned numbers: ``axes`` name its one or two sizes (see :mod:`attnlab.attention.axes`).

    An axis that is not a size of the layer, such as "hidden", is free: it has the same size in all tables of an entry,
    and ``free`` may name the option that sets it: (("bucket", "t5_buckets"),).
    ``fill`` is its initial value: identity, zeros, ones, frequencies (RoPE's) or normal (divided by √(last size),
    seeded by its name). The numbers of a table that ``is_exact`` are not rounded to the dtype of a computation.
    ``role`` is its colour: query, key, value, attention, neutral. ``may_be_longer`` allows more rows than needed.
    """

    name: str
    about: str
    axes: tuple[str, ...]
    fill: str = "normal"
    role: str = "neutral"
    may_be_longer: bool = False
    free: tuple[tuple[str, str], ...] = ()
    is_exact: bool = False


def accept_all(e: Layer) -> str:
    """Return "": most entries fit every experiment."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The fields of every registry entry. ``check(e)`` returns "" if the entry is compatible with an experiment,
    otherwise one sentence that names the two incompatible settings and a way to fix it. ``convention`` is a sentence on
    a choice on which libraries differ, "" if they agree.
    """

    name: str
    title: str
    about: str
    tables: tuple[Table, ...] = ()
    options: tuple[Option, ...] = ()
    check: Callable[[Layer], str] = accept_all
    convention: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature(Entry):
    """One feature; ``group`` is its switch: normalizer, masks, heads, loss. ``on(config)`` says if it is active."""

    group: str
    on: Callable[[LayerConfig], bool]
