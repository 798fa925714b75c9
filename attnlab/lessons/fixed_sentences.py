"""Sentences of a lesson's text that hold for the lesson's own numbers only, written between {= and =}."""

from collections.abc import Iterator

from attnlab.lessons.placeholders import Wrong

OPEN, CLOSE = "{=", "=}"


def split_fixed(text: str) -> list[tuple[str, bool]]:
    """Return the parts of a text in order, without the marks, and whether each was marked; an open mark is text."""
    parts: list[tuple[str, bool]] = []
    at = 0
    while (start := text.find(OPEN, at)) >= 0 and (end := text.find(CLOSE, start + len(OPEN))) >= 0:
        parts += [(text[at:start], False), (text[start + len(OPEN) : end].strip(" "), True)]
        at = end + len(CLOSE)
    return [*((part, fixed) for part, fixed in parts if part), (text[at:], False)]


def find_open(text: str) -> Iterator[Wrong]:
    """Yield the mark that is not closed, or closed without being open, with its line in the text."""
    rest = "".join(OPEN * fixed + part + CLOSE * fixed for part, fixed in split_fixed(text)[:-1])
    last = split_fixed(text)[-1][0]
    for mark, reason in (
        (OPEN, "This {= is not closed; a sentence about the lesson’s own numbers is {= They add up to 3. =}."),
        (CLOSE, "This =} closes nothing; a sentence about the lesson’s own numbers begins with {=."),
    ):
        if mark in last:
            yield Wrong((rest + last[: last.index(mark)]).count("\n"), reason)
            return
