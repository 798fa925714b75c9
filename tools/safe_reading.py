"""The rule for reading corrupted files: it succeeds, or raises an AttnlabError with a sentence that is safe to show."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Kind:
    """``spoil`` writes the corrupted files of one case into a folder, ``read`` reads them as the program does.

    ``read`` may raise AttnlabError and nothing else.
    """

    spoil: Callable[[random.Random, Path], None]
    read: Callable[[Path], None]


def check_sentence(error: BaseException) -> None:
    """Raise AssertionError if an error message is unsafe for a terminal: control characters, or far too long."""
    text = str(error)
    assert text.strip(), "an error has no message"
    assert all(letter.isprintable() for letter in text), f"an error contains control characters: {text[:300]!a}"
    assert len(text) < 6000, f"a sentence has {len(text)} letters: {text[:200]!a}"
