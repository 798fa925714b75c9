"""Makes names and texts from files safe to show: control characters are spelt out, long texts shortened."""

_HARMLESS = frozenset("\u200c\u200d\u200e\u200f")
"""Joiners inside words and emoji, and direction marks that affect one word at most."""


def printable(text: str, keep: str = "") -> str:
    """Return a text with control characters and direction overrides spelt out: ``\\x1b``, ``\\u202e``.

    Characters in ``keep``, such as a line feed, stay.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _HARMLESS or c in keep else ascii(c)[1:-1] for c in text)


def shortened(text: str, limit: int) -> str:
    """Return a text of at most ``limit`` characters: of a longer one, its start and its end around an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit // 2]}…{text[len(text) - (limit - limit // 2 - 1) :]}"
