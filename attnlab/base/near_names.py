"""Finds the name that a mistyped one may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def find_near(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the known name most like another one, "" if none is; ``cutoff`` is the least likeness, of 1.

    Names of a very different length cannot be alike, and are not compared: of a long text this would take a while.
    """
    size = len(name)
    near = [each for each in known if 2 * min(size, len(each)) / (size + len(each) or 1) >= cutoff]
    return next(iter(get_close_matches(name, near, n=1, cutoff=cutoff)), "") if near else ""
