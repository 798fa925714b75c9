"""The words and bars of a model's answer: a column for each place, and one sentence about all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.base.counted import format_percent
from attnlab.base.spoken_text import speak_number, speak_token

if TYPE_CHECKING:
    from attnlab.training.answers import Answer, NumberPlace, Place

_SIGNS = {" ": "␣", "\n": "↵", "\t": "⇥"}


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a column: ``share`` in 0 to 1 is the length of its bar, without one below 0.

    ``tone`` is "good" for the right answer, "bad" for a wrong first one, else "".
    """

    label: str
    text: str
    share: float = -1.0
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One place: the token read, the one wanted or "", whether the answer is right, and its bars.

    ``short`` is the answer in one word; ``spoken`` and ``tip`` are written when they are asked for.
    """

    read: str
    wanted: str
    right: bool | None
    bars: tuple[Bar, ...]
    short: str
    place: "Place | NumberPlace"

    @property
    def spoken(self) -> str:
        """The place in words, for screen readers."""
        from attnlab.training.answers import Place

        return _speak_place(self.place) if isinstance(self.place, Place) else _speak_numbers(self.place)

    @property
    def tip(self) -> str:
        """The tool tip, with exact numbers."""
        from attnlab.training.answers import Place

        return _describe_place(self.place) if isinstance(self.place, Place) else _describe_numbers(self.place)


def show_sign(token: str) -> str:
    """Return a token with white space as a visible sign."""
    return _SIGNS.get(token, token)


def format_share(share: float) -> str:
    """Return a probability in whole percent: "54 %", "<1 %", "100 %"."""
    if not math.isfinite(share):
        return "NaN"
    return format_percent(share, 0)


def make_columns(places: "Sequence[Place]") -> tuple[Column, ...]:
    """Return a column for each place."""
    return tuple(map(_make_column, places))


def _make_column(place: "Place") -> Column:
    bars, right = [], place.right
    for rank, (token, share) in enumerate(place.likeliest):
        wrong = rank == 0 and right is False
        tone = "good" if token == place.wanted else "bad" if wrong else ""
        bars.append(Bar(show_sign(token), format_share(share), share if math.isfinite(share) else 0.0, tone))
    return Column(show_sign(place.read), show_sign(place.wanted), right, tuple(bars), bars[0].label, place)


def _speak_place(place: "Place") -> str:
    verdict = {True: "right", False: "wrong", None: "right answer unknown"}[place.right]
    wanted = f", expected {speak_token(place.wanted)}" if place.wanted else ""
    likeliest = ", ".join(f"{speak_token(token)} {format_share(share)}" for token, share in place.likeliest)
    return f"position {place.index}, reads {speak_token(place.read)}{wanted}, {verdict}: {likeliest}"


def _describe_place(place: "Place") -> str:
    lines = [f"reads {show_sign(place.read)}" + (f" → writes {show_sign(place.wanted)}" if place.wanted else "")]
    if place.wanted:
        lines.append(f"probability of {show_sign(place.wanted)}: {_write_exactly(place.probability)}")
    lines += [f"{show_sign(token)}: {_write_exactly(share)}" for token, share in place.likeliest]
    return "\n".join(lines)


def _write_exactly(share: float) -> str:
    return f"{share:.4f}" if math.isfinite(share) else "NaN"


def make_number_columns(numbers: "Sequence[NumberPlace]") -> tuple[Column, ...]:
    """Return a column for each place of a task on numbers; nothing is right or wrong there, but near or far."""
    return tuple(map(_make_number_column, numbers))


def _make_number_column(place: "NumberPlace") -> Column:
    explained = max(0.0, min(1.0, place.explained)) if math.isfinite(place.explained) else 0.0
    share = "NaN" if math.isnan(place.explained) else format_percent(place.explained, 0)
    bars = (
        Bar("expected", _write_number(place.wanted)),
        Bar("predicted", _write_number(place.output)),
        Bar("explained", share, explained),
    )
    return Column(f"position {place.index}", "", None, bars, f"position {place.index}: {share}", place)


def _speak_numbers(place: "NumberPlace") -> str:
    return (
        f"position {place.index}, expected {speak_number(place.wanted, 2)}, predicted {speak_number(place.output, 2)}, "
        f"explained {speak_number(100 * place.explained, 0)} percent"
    )


def _describe_numbers(place: "NumberPlace") -> str:
    return (
        f"position {place.index}, first column: expected {_write_number(place.wanted, 4)}, "
        f"predicted {_write_number(place.output, 4)}\n"
        "explained: 1 − squared error ÷ sum of the squared right numbers, over all columns;\n"
        f"{format_percent(0, 0)} for a model that always predicts 0"
    )


def _write_number(value: float, decimals: int = 2) -> str:
    return f"{value:.{decimals}f}".replace("-", "−") if math.isfinite(value) else "NaN"


def describe_answer(answer: "Answer", own: bool, step: int) -> str:
    """Return one sentence: how many places are right at a step, and which tokens the model reads before each."""
    at = f"at step {step:,}"
    if answer.numbers:
        return f"The first column; “explained” is over all columns, {at}"
    wanted = sum(bool(place.wanted) for place in answer.places)
    if not wanted:
        return f"No right answer is known; the likeliest tokens {at}"
    right, written = _count_right(answer.places), _count_right(answer.written)
    if own:
        joined = join_tokens([place.likeliest[0][0] for place in answer.written])
        return f"Writes {joined}: {written} of {wanted} right {at}"
    given = ", given the right tokens" if answer.reads_before else ""
    freely = f", {written} of {wanted} writing freely" if answer.written else ""
    return f"{right} of {wanted} right{given}{freely}, {at}"  # where there is no room the last parts are left out


def _count_right(places: "Sequence[Place]") -> int:
    return sum(place.right is True for place in places)


def join_tokens(tokens: Sequence[str]) -> str:
    """Return tokens as a text; words are separated by spaces."""
    words = any(len(token) > 1 for token in tokens) and not has_spaces(tokens)
    return (" " if words else "").join(map(show_sign, tokens))


def has_spaces(tokens: Sequence[str]) -> bool:
    """Return whether tokens have the spaces of their text in them, as characters and pieces do, but not words."""
    return any(token.startswith(" ") for token in tokens)
