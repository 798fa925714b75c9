"""Times this machine against the notebook way of doing the same: ``attnlab bench``."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.bench.measure import Case

NAMES = ("live", "engine", "start", "lesson", "export", "train", "learning")


def main(names: Sequence[str], as_json: bool, *, quick: bool = False) -> int:
    """Run benches by name and print their cases; ``quick`` runs each but a few times, to see that it runs at all.

    Raises:
        AttnlabError: a bench cannot run here; the sentence says what it needs.
    """
    from attnlab.bench import measure
    from attnlab.cli.console import OK, say

    found: list[Case] = []
    for name in names:
        cases: Callable[[bool], Iterator[Case]] = import_module(f"attnlab.bench.{name}").cases
        found += cases(quick)
    say(measure.as_json(found) if as_json else measure.as_table(found))
    return OK
