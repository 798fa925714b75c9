"""The scales that turn numbers into colours: where they end, how they curve, and which numbers lie beyond the end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError
from attnlab.base.special_tokens import is_special

LONG_ROW = 32
"""On a scale to 1, rows of more probabilities than this would have a single colour."""
DECADES = 4
"""How many powers of ten a logarithmic scale covers below its end; smaller numbers have the first colour."""
SCALES = MappingProxyType(
    {
        "auto": "Automatic",
        "full": "0 to 1",
        "largest": "To the largest number",
        "percentile": "To the 99th percentile",
        "sqrt": "Square root",
        "log": "Logarithm",
    }
)
"""The choices of a scale, and what the menu calls them."""
_CURVES = {"sqrt": "sqrt", "log": "log"}
_PERCENTILE = 0.99
_STRONG_IN_A_ROW = 2
"""How many numbers of a long row may lie beyond the end of an automatic scale, on average."""
_LEAST_SHARE = 1 / 20
"""An automatic scale ends at least at this share of the largest number, or noise would look strong."""
_WORTH_SHOWING = 0.1
"""Where the other numbers hold less than this share of all weight, the scale reaches to the largest number."""
_SAMPLE = 1 << 16
"""A percentile is taken from whole rows with about this many numbers; larger samples take long."""


@dataclass(frozen=True, slots=True)
class Colouring:
    """What a reader chose for the colours of a stage: one of ``SCALES``, a scale for each head, and muted sinks.

    Raises:
        AttnlabError: there is no such scale.
    """

    scale: str = "auto"
    each_head: bool = False
    mute_sinks: bool = False

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise AttnlabError(f"The scale of the colours cannot be {self.scale!r}, only {', '.join(SCALES)}.")


AUTOMATIC = Colouring()


@dataclass(frozen=True, slots=True)
class Scale:
    """How the numbers of maps become colours: the last colour stands for ``limit``.

    ``curve`` is "linear", "sqrt" or "log". ``clipped``: some numbers lie beyond the limit and have its colour too.
    ``own`` are limits of single maps, in place of the common one.
    """

    limit: float
    curve: str = "linear"
    clipped: bool = False
    own: tuple[float, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the scale is linear, the same for all maps, and reaches to the largest number."""
        return self.curve == "linear" and not self.clipped and not self.own

    def limits(self, count: int) -> float | NDArray[np.float64]:
        """Return the limit of ``count`` maps as a number, or as [count, 1, 1] if each has its own."""
        return np.array(self.own[:count])[:, None, None] if self.own else self.limit

    def of(self, first: int, last: int) -> "Scale":
        """Return the scale of some of the maps."""
        return replace(self, own=self.own[first:last]) if self.own else self

    def bend(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return where numbers lie on the scale, from −1 to 1 unless they are beyond the limit; changes ``values``.

        They are [n, rows, columns] if maps have limits of their own, otherwise of any shape.
        """
        values /= self.limits(len(values)) if self.own else self.limit  # first: extreme numbers must not overflow
        if self.curve == "linear":
            return values
        size = np.abs(values)
        with np.errstate(divide="ignore"):
            bent = np.sqrt(size) if self.curve == "sqrt" else np.fmax(1 + np.log10(size) / DECADES, 0)
        signed: NDArray[np.floating] = np.copysign(np.where(np.isnan(values), values, bent), values)
        return signed

    def find_value(self, place: float) -> float:
        """Return the number at a place of the scale, from −1 to 1; the inverse of ``bend``."""
        if self.curve == "sqrt":
            return math.copysign(place * place, place) * self.limit
        if self.curve == "log":
            return math.copysign(10.0 ** (DECADES * (abs(place) - 1)), place) * self.limit if place else 0.0
        return place * self.limit


TO_ONE = Scale(1.0)
"""The scale of numbers from 0 to 1, or from −1 to 1."""


def find_scale(
    values: NDArray[np.floating],
    kind: str,
    masked: NDArray[np.bool_] | None = None,
    colouring: Colouring = AUTOMATIC,
    *,
    tight: bool = False,
    muted: Sequence[int] = (),
) -> Scale:
    """Return the scale of maps [..., rows, columns].

    An automatic scale of probabilities ends at 1. In rows of more than ``LONG_ROW`` it ends where about two numbers of
    a row lie beyond it, because on a scale to 1 a row of hundreds has a single colour; with ``tight``, and where these
    two hold almost all of the weight, it ends at the largest. An automatic scale of positive numbers ends at the
    largest, but not below 1; one of signed numbers at the largest finite magnitude, or at 1 if that is 0. Ends of
    probabilities are rounded up to one digit.
    Cells that are ``masked`` and columns that are ``muted`` do not count.
    """
    if muted and len(muted) < values.shape[-1]:
        values = np.delete(values, list(muted), -1)
        masked = None if masked is None else np.delete(masked, list(muted), -1)
    if not colouring.each_head or values.ndim < 3 or len(values) < 2:
        return _find_one(values, kind, masked, colouring.scale, tight)
    each = [_find_one(one[None], kind, masked, colouring.scale, tight) for one in values]
    return Scale(
        max(one.limit for one in each),
        each[0].curve,
        any(one.clipped for one in each),
        tuple(one.limit for one in each),
    )


def describe_scale(scale: Scale) -> str:
    """Return what is unusual about a scale in a few words; "" for one that is linear and the same for all maps."""
    words = {"sqrt": ["square root"], "log": ["logarithm"]}.get(scale.curve, [])
    return ", ".join([*words, *(["each head to its own largest"] if scale.own else [])])


def join_scales(scales: Sequence[Scale]) -> Scale:
    """Return a scale that several states share: it reaches as far as the furthest."""
    first = max(scales, key=lambda scale: scale.limit)
    own = tuple(map(max, zip(*(each.own for each in scales), strict=True))) if _have_same_heads(scales) else ()
    return replace(first, clipped=any(each.clipped for each in scales), own=own)


def _have_same_heads(scales: Sequence[Scale]) -> bool:
    return len({len(each.own) for each in scales}) == 1


def find_sinks(tokens: Sequence[str]) -> tuple[int, ...]:
    """Return the columns that often take weight without meaning: the first token, and separators such as [SEP]."""
    return tuple(place for place, token in enumerate(tokens) if place == 0 or is_special(token.strip()))


def _find_one(
    values: NDArray[np.floating], kind: str, masked: NDArray[np.bool_] | None, choice: str, tight: bool
) -> Scale:
    if kind == "probability" and (choice == "full" or (choice == "auto" and not tight and _is_short(values))):
        return Scale(1.0)
    largest = _find_largest(values, kind, masked)
    limit = largest
    if choice == "percentile":
        limit = _find_quantile(values, masked, _PERCENTILE)
    elif choice == "auto" and kind == "probability" and not _is_short(values):
        limit = _find_strong(values, masked, largest)
    if kind == "probability":
        limit = _round_up(limit or largest)
    elif kind == "positive" and choice in ("auto", "full"):
        limit = max(limit, 1.0)
    limit = limit or largest or 1.0
    return Scale(limit, _CURVES.get(choice, "linear"), clipped=largest > limit * (1 + 1e-6))


def _is_short(values: NDArray[np.floating]) -> bool:
    return int(values.shape[-1]) <= LONG_ROW


def _find_largest(values: NDArray[np.floating], kind: str, masked: NDArray[np.bool_] | None) -> float:
    """Return the largest finite magnitude of the cells that are not masked."""
    if masked is not None and kind == "signed" and _is_filled(values, masked):  # −1e9 instead of −∞
        values = np.where(masked, 0, values)
    with np.errstate(invalid="ignore"):
        largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))  # avoids copying a large map
    if not np.isfinite(largest):
        largest = float(np.abs(np.where(np.isfinite(values), values, 0)).max(initial=0.0))
    return largest


def _is_filled(values: NDArray[np.floating], masked: NDArray[np.bool_]) -> bool:
    """Whether masked cells, which are all alike, hold a finite number."""
    row, column = divmod(int(masked.argmax()), masked.shape[-1])
    return bool(masked[row, column] and np.isfinite(values[..., row, column]).any())


def _find_strong(values: NDArray[np.floating], masked: NDArray[np.bool_] | None, largest: float) -> float:
    """Return the number that about two weights of a row exceed, or the largest if the others hold almost nothing."""
    seen = values.shape[-1] if masked is None else max(float((~masked).mean()) * values.shape[-1], 1.0)
    sizes, place = _sort_sizes(values, masked, max(1 - _STRONG_IN_A_ROW / seen, 0.5))
    if not sizes.size or sizes[:place].sum() < _WORTH_SHOWING * sizes.sum():
        return largest
    return max(float(sizes[place]), _LEAST_SHARE * largest)


def _find_quantile(values: NDArray[np.floating], masked: NDArray[np.bool_] | None, share: float) -> float:
    sizes, place = _sort_sizes(values, masked, share)
    return float(sizes[place]) if sizes.size else 0.0


def _sort_sizes(
    values: NDArray[np.floating], masked: NDArray[np.bool_] | None, share: float
) -> tuple[NDArray[np.floating], int]:
    """Return the magnitudes of the visible cells, from a sample of whole rows, and the place of a quantile.

    They are sorted only in that those before the place are smaller.
    """
    every = math.ceil(values.size / _SAMPLE)
    rows = values[..., ::every, :]
    shown = rows if masked is None else rows[..., ~masked[::every]]
    sizes = np.abs(shown[np.isfinite(shown)])
    place = min(int(share * sizes.size), max(sizes.size - 1, 0))
    return (np.partition(sizes, place) if sizes.size else sizes), place


def _round_up(limit: float) -> float:
    """Return a probability rounded up to one digit; 0 stays 0."""
    if not limit:
        return 0.0
    digit = 10.0 ** np.floor(np.log10(limit))
    return min(1.0, float(np.ceil(limit / digit - 1e-9) * digit))
