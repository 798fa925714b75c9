"""Names and texts from files as they may stand in a sentence: what would act on a screen is spelt out instead."""

_HARMLESS = frozenset("\u200c\u200d\u200e\u200f")
"""Joiners inside words and emoji, and marks of direction that reach no further than a word."""


def printable(text: str, keep: str = "") -> str:
    """Return a text with its control characters and overrides of direction spelt out: ``\\x1b``, ``\\u202e``.

    Those of ``keep``, such as a line feed, stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _HARMLESS or c in keep else ascii(c)[1:-1] for c in text)
