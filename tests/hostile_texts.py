"""Texts that make patterns backtrack, and a measure of a parser's CPU time for growing texts."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from attnlab.base.errors import AttnlabError

SHORT, TIMES = 500, 8
"""Characters of the shorter text, and the factor of the longer one."""
ENOUGH_S, RATIO = 0.03, 24.0
"""Of CPU: what the longer text may always take, and how many times as long as the shorter one else.

A parser in proportion takes 8 times as long for 8 times the text, a quadratic one 64 times.
"""

FAMILIES: dict[str, str] = {
    "digits": "1",
    "unicode digits": "٣",
    "letters": "a",
    "commas": ",",
    "points": ".",
    "digits and commas": "1,",
    "digits and points": "1.",
    "signs": "-",
    "exponents": "1e",
    "open brackets": "[",
    "closed brackets": "]",
    "brackets": "[]",
    "rows": "[1,",
    "open round": "(",
    "round": "()",
    "calls": "np.a(",
    "arrays": "array(",
    "open braces": "{",
    "closed braces": "}",
    "braces": "{{}}",
    "broken braces": "{{ } ",
    "double quotes": '"',
    "single quotes": "'",
    "curly quotes": "“",
    "closing quotes": "”",
    "quoted": '"a",',
    "backslashes": "\\",
    "escaped ticks": "\\`",
    "ticks": "`",
    "ticks apart": "` ",
    "underscores": "_",
    "words with underscores": "a_",
    "stars": "*",
    "stars and letters": "*a ",
    "two stars": "**a ",
    "slants": " _a",
    "hashes": "#",
    "dashes": "- ",
    "spaces": " ",
    "tabs": "\t",
    "new lines": "\n",
    "returns": "\r",
    "lines of one": "1\n",
    "colons": "a:\n",
    "semicolons": "1;",
    "equals": "a=",
    "keywords": ",a=",
    "slashes": "/",
    "percent": "%",
    "tags": "<a ",
    "angles": "<>",
    "links": "[a](b)",
    "open links": "[a](",
    "images": "![a](b)",
    "ampersands": "&",
    "pipes": "|",
    "combining": "\u0301",
    "wide": "漢",
    "halves": "½",
    "masks": "•",
}
BEGINS = ("", ")", "1,", "a[", "{{")
"""Texts at which a pattern may begin to match."""
ENDS = ("", "x,", "]", "\n!,")
"""Texts at which a pattern that matched the rest may fail."""

THOROUGH = bool(os.environ.get("CI"))
"""Whether every beginning is combined with the first two endings; otherwise the beginnings take turns."""

Parser = Callable[[str], object]


def texts(length: int, thorough: bool) -> Iterator[tuple[str, str]]:
    """Yield each family with each ending, and with beginnings in turn; see ``THOROUGH``."""
    for i, (name, piece) in enumerate(FAMILIES.items()):
        body = piece * (length // len(piece))  # whole ones: a cut one may be refused at once, in one length only
        for j, end in enumerate(ENDS):
            for begin in BEGINS if thorough and j < 2 else (BEGINS[(i + j) % len(BEGINS) if j != 1 else 0],):
                yield f"{begin!r}, {name}, {end!r}", begin + body + end


def cpu_s(parser: Parser, text: str) -> float:
    """Return the CPU time of this thread, regardless of the load of the machine."""
    begun = time.thread_time()
    with suppress(AttnlabError, ValueError, RecursionError):
        parser(text)
    return time.thread_time() - begun


def out_of_proportion(parser: Parser, thorough: bool = THOROUGH) -> list[str]:
    """Return the texts for which a parser takes far more than linear time; suspected ones are measured again."""
    slow = []
    for (name, short), (_, long) in zip(texts(SHORT, thorough), texts(SHORT * TIMES, thorough), strict=True):
        if cpu_s(parser, long) > ENOUGH_S:
            least = min(cpu_s(parser, short) for _ in range(3))
            most = min(cpu_s(parser, long) for _ in range(3))
            if most > ENOUGH_S and most > RATIO * least:
                slow.append(f"{name}: {least:.3f} s for {SHORT:,} characters, {most:.3f} s for {SHORT * TIMES:,}")
                if len(slow) == 3:  # enough to know what it is; each takes seconds
                    break
    return slow
