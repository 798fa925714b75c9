"""How many words of a step are read from the last row of a lecture hall."""

import re

MOST_WORDS = 60
"""The most words of a text, and of the text after the reveal, which the class reads later."""
_WORD = re.compile(r"\S*\w\S*")


def count_words(text: str) -> int:
    """Return the number of words and numbers of a text, without signs that stand alone, such as · and =."""
    return len(_WORD.findall(text))


def warn_of_words(name: str, text: str) -> str:
    """Return the sentence about a text, called by its ``name``, with too many words; "" if it is short enough."""
    words = count_words(text)
    if words <= MOST_WORDS:
        return ""
    return f"{name} has {words} words, which are hard to read from the back row; about {MOST_WORDS} are enough."
