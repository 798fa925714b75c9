"""Makes names and texts from files safe to show: spells out control characters and shortens long texts."""

_HARMLESS = frozenset("\u200c\u200d\u200e\u200f")
"""Joiners inside words and emoji, and direction marks, which affect at most one word."""


def escape(text: str, keep: str = "") -> str:
    """Return a text with control characters and direction overrides spelt out: ``\\x1b``, ``\\u202e``.

    Characters in ``keep``, such as a line feed, stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _HARMLESS or c in keep else ascii(c)[1:-1] for c in text)


def shorten(text: str, limit: int) -> str:
    """Return a text cut to at most ``limit`` characters by replacing the middle with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[len(text) - (limit - limit // 2 - 1) :]}"
