"""The command ``attnlab bench``: compares attnlab's speed with the usual notebook code on this machine."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.bench.measure import Case

NAMES = ("live", "engine", "start", "lesson", "export", "train", "learning", "models", "why")
TIMED = tuple(name for name in NAMES if name != "learning")
"""The benchmarks that run if none is named; ``learning`` takes about an hour."""


def main(names: Sequence[str], as_json: bool, *, quick: bool = False, device: str = "cpu") -> int:
    """Run benchmarks by name and print their cases; ``quick`` runs each only a few times, as a test.

    Only ``engine`` takes a device other than the CPU.

    Raises:
        AttnlabError: a benchmark cannot run here; the message says what it needs.
    """
    from attnlab.base.console import OK, say
    from attnlab.bench import measure

    found: list[Case] = []
    for name in names:
        cases: Callable[..., Iterator[Case]] = import_module(f"attnlab.bench.{name}").run_cases
        found += cases(quick) if device == "cpu" else cases(quick, device)
    say(measure.to_json(found) if as_json else measure.to_table(found))
    return OK
