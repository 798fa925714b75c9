"""A running text above what was predicted at each place, so that tokens to be compared stand in one column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attnlab.ui.widgets.tokens.token_chips import visible

HEAD = "text, with predictions below"


@dataclass(frozen=True, slots=True)
class Pair:
    """A token of the text and the prediction below it, "" where none was asked for; ``x`` is their left edge."""

    x: float
    above: str
    below: str
    wrong: bool = False


def pair_tokens(
    asked: Sequence[str], pairs: Sequence[tuple[str, str]], width: float, measure: Callable[[str], float]
) -> Iterator[Pair]:
    """Yield the asked tokens, then those expected, each with its prediction, from the first on until ``width`` is full.

    An arrow leads from one text to another; a single asked token is the one that the same text begins with. ``measure``
    returns the width of a text. If not all fit, … stands at the end of both lines.
    """
    columns = [(visible(token), "", False) for token in asked]
    if len(asked) > 1 and pairs:
        columns.append((" → ", "", False))
    columns += [(_show(e), visible(p) if e != p else _show(p), e != p) for e, p in pairs]
    x, dots = 0.0, measure("…")
    for place, (above, below, wrong) in enumerate(columns):
        wide = max(measure(above), measure(below))
        if x + wide + (dots if place < len(columns) - 1 else 0.0) > width:
            yield Pair(x, "…", "…" if pairs else "")
            return
        yield Pair(x, above, below, wrong)
        x += wide


def _show(token: str) -> str:
    """Return a token of a text, whose spaces stay blank; line breaks and the like have marks."""
    return token if set(token) == {" "} else visible(token)
