"""One setting that a field edits: its name, type and bounds, and how it is read, written and stepped."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from attnlab.base.errors import ExperimentError
from attnlab.base.number_text import NumberError, parse_number
from attnlab.ui.widgets.fields.choice import Choice, same
from attnlab.ui.widgets.numbers.number_format import NOISE_DECIMALS

Kind = Literal["number", "whole", "switch", "choice", "counted", "file"]

_LADDER = (1, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.3, 3.6, 4, 4.5, 5, 5.5, 6, 6.5, 7, 8, 9)
"""Round numbers about 10 % apart, repeated in each decade."""


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: a "number", a "whole" number, a "switch", a "choice", "counted", or a "file".

    ``least`` and ``most`` bound a number; ``open_least`` excludes ``least`` itself. "counted" is a switch with a whole
    number beside it: its value is None while it is off, as at the start, and ``default`` when it is switched on. A
    ``reason`` says why the field is disabled now. A field that ``needs_no_title`` has the whole width of its form; one
    that ``shows_about`` has its description below its title, as the choices of a pill have.
    """

    name: str
    title: str
    about: str
    kind: Kind
    value: object
    default: object
    least: float | None = None
    most: float | None = None
    open_least: bool = False
    choices: tuple[Choice, ...] = ()
    reason: str = ""
    needs_no_title: bool = False
    shows_about: bool = False

    @property
    def rest(self) -> object:
        """The value before any change."""
        return None if self.kind == "counted" else self.default

    @property
    def differs(self) -> bool:
        """Whether it has another value than at the start."""
        return self.value != self.rest

    @property
    def needs(self) -> str:
        """The condition on a number, to follow "it needs"."""
        low, high = _write_bound(self.least), _write_bound(self.most)
        kind = "a whole number" if self.kind in ("whole", "counted") else "a number"
        if low is not None and high is not None:
            return f"{kind} {'above' if self.open_least else 'from'} {low} {'up ' * self.open_least}to {high}"
        if low is not None:
            return f"{kind} {'above' if self.open_least else 'of at least'} {low}"
        return kind if high is None else f"{kind} of at most {high}"

    def text(self, value: object) -> str:
        """Return a value as text."""
        if self.kind == "choice":
            return next((c.title for c in self.choices if same(c.value, value)), str(value))
        if value is None or isinstance(value, bool):
            return "on" if value else "off"
        return write_number(value) if isinstance(value, int | float) else str(value)

    def describe(self) -> str:
        """Name and value as part of a sentence: temperature 2."""
        lower = self.title[:1].lower() if self.title[1:2].islower() else self.title[:1]
        return f"{lower}{self.title[1:]} {self.text(self.value)}"

    def write_name(self) -> str:
        """Return the title, followed by its name in files and on the command line if that differs."""
        name = self.name.rpartition(" ")[2]
        return self.title if name == self.title.lower().replace(" ", "_") else f"{self.title} ({name})"

    def read(self, typed: str) -> int | float:
        """Return the typed number; raises ExperimentError with a sentence if it is not a number or out of bounds."""
        try:
            number = parse_number(typed)
        except NumberError as error:
            raise ExperimentError(f"{self.title}: {error}.") from None
        whole = self.kind in ("whole", "counted")
        if not self._holds(number) or (whole and not number.is_integer()):
            raise ExperimentError(f"{self.title} is {write_number(number)}; it needs {self.needs}.")
        if not whole:
            return number
        digits = typed.strip().lstrip("+-")
        return int(typed) if digits.isdecimal() else int(number)  # keeps digits of a long seed that a float would lose

    def step(self, value: float, steps: int, fine: bool = False) -> int | float:
        """Return the value some steps up or down, within its bounds.

        The step of a whole number is 1. A positive number without an upper bound changes by about 10 %, finely by 1 %;
        any other by a twentieth of its range, or by 0.1, and finely by a tenth of that.
        """
        if self.kind in ("whole", "counted"):
            return round(self._clamp(value + steps, value))
        low, high = _finite(self.least), _finite(self.most)
        if low is not None and low >= 0 and high is None and value > 0:
            return self._clamp(_climb(value, steps, fine), value)
        step = 0.1 if low is None or high is None else (high - low) / 20
        return self._clamp(round(value + steps * step / (10 if fine else 1), NOISE_DECIMALS) + 0.0, value)

    def _holds(self, number: float) -> bool:
        low, high = _finite(self.least), _finite(self.most)
        above = low is None or (number > low if self.open_least else number >= low)
        return above and (high is None or number <= high)

    def _clamp(self, number: float, before: float) -> float:
        """Return the number, or the bound that it passes; if the lower bound is excluded, ``before`` instead."""
        low, high = _finite(self.least), _finite(self.most)
        if low is not None and number <= low:
            return before if self.open_least else low
        return min(number, high) if high is not None else number


def whole_field(name: str, title: str, about: str, value: int, least: int, most: int) -> Field:
    """Return a field for a whole number."""
    return Field(name, title, about, "whole", value, value, least, most)


def choice_field(
    name: str, title: str, about: str, choices: Sequence[tuple[str, object]], value: object = None
) -> Field:
    """Return a field for one of several titled values; without a ``value`` the first is chosen."""
    value = choices[0][1] if value is None and choices else value
    listed = tuple(Choice(each, text) for text, each in choices)
    return Field(name, title, about, "choice", value, value, choices=listed)


def write_number(value: float) -> str:
    """Return every digit of a number, with a true minus sign: −0.5, 10000, −1e9."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    text = str(value)
    if isinstance(value, float):
        exact = Decimal(repr(value)).normalize()
        plain = value == 0 or 1e-4 <= abs(value) < 1e6
        text = f"{exact + 0:f}" if plain else f"{exact:e}".replace("+", "")
    return text.replace("-", "−")


def _climb(value: float, steps: int, fine: bool) -> float:
    for _ in range(abs(steps)):
        if fine:
            value = float(f"{value * (1.01 if steps > 0 else 1 / 1.01):.3g}")
            continue
        decade = math.floor(math.log10(value))
        rungs = [float(f"{rung:g}e{at}") for at in (decade - 1, decade, decade + 1) for rung in _LADDER]
        value = next(r for r in rungs if r > value) if steps > 0 else next(r for r in reversed(rungs) if r < value)
    return value


def _finite(bound: float | None) -> float | None:
    return bound if bound is not None and math.isfinite(bound) else None


def _write_bound(bound: float | None) -> str | None:
    return None if _finite(bound) is None else write_number(float(bound or 0))
