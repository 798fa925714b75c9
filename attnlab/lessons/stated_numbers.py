"""Finds numbers of a lesson that its text states by hand: a drag on the slide would make the sentence false."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention import edits
from attnlab.base.errors import AttnlabError
from attnlab.lessons.fixed_sentences import CLOSE, OPEN
from attnlab.lessons.placeholders import Wrong

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from attnlab.attention.stages.trace import Trace

_LEFT_OUT = re.compile(r"\{\{[^{}]*\}\}|`[^`]*`|https?://\S+|\]\([^()\s]*\)")
"""Placeholders, code and addresses."""
_STATED = re.compile(r"(?<![\w.,])([−-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)(\s?%)?(?![\w.,]*[\d])(?!\s?·\s?10)")


def find_stated(text: str, *traces: "Trace") -> Iterator[Wrong]:
    """Yield the numbers in a text that are numbers of one of the traces, with the line of the text.

    Only numbers with decimals and percentages count: whole ones are mostly positions and sizes, which no drag changes.
    Sentences between {= and =} are marked already.
    """
    for number, digits, percent, line in _list_stated(text):
        value, decimals = float(digits.replace("−", "-")), len(digits.partition(".")[2])
        if percent:
            value, decimals = value / 100, decimals + 2
        if any(_holds(trace, value, decimals) for trace in traces):
            yield Wrong(
                line,
                f"{number} is a number of this step, and a drag on the slide would make the sentence false; write a "
                "placeholder such as {{weights[2, 1]}}, or mark the sentence: {= … =}.",
            )


def _list_stated(text: str) -> Iterator[tuple[str, str, bool, int]]:
    """Yield each number as written, its digits, whether it is a percentage, and its line."""
    if OPEN in text and CLOSE in text:
        text = re.sub(r"\{=.*?=\}", lambda found: _blank(found[0]), text, flags=re.DOTALL)
    plain = _LEFT_OUT.sub(lambda found: _blank(found[0]), text)
    for found in _STATED.finditer(plain):
        if "." in found[1] or found[2]:
            yield found[0], found[1], bool(found[2]), plain.count("\n", 0, found.start())


def _blank(part: str) -> str:
    """Return a part of a text as spaces, with its line ends."""
    return re.sub(r"[^\n]", " ", part)


def _holds(trace: "Trace", value: float, decimals: int) -> bool:
    """Return whether a stage or a table has a number that is written like this."""
    e = trace.experiment
    return any(_has(array, value, decimals) for array in _list_arrays(trace)) or any(
        _has(edits.array(e, name), value, decimals) for name in edits.tables(e)
    )


def _list_arrays(trace: "Trace") -> "Iterator[NDArray[np.floating]]":
    for name in trace.all_stages:
        try:
            yield trace.array(name)
        except AttnlabError:
            continue


def _has(array: "NDArray[np.floating]", value: float, decimals: int) -> bool:
    return bool((np.round(array.astype(np.float64), decimals) == value).any())
