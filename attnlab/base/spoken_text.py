"""Numbers, tokens and formulas as a screen reader should say them: no sign that speech leaves out."""

import math
import re

HIDDEN = "hidden by the mask"
NOT_YET = "not computed yet"
COVERED = "covered until the answer is shown"
_LONGEST = 80
_BLANKS = {
    "": "empty token",
    " ": "space",
    "\n": "line break",
    "\t": "tab",
    "␣": "space",
    "↵": "line break",
    "⇥": "tab",
}
_SAID = str.maketrans(
    {"−": "minus ", "∞": "infinity", "→": " to ", "←": " left ", "·": ",", "×": " times ", "÷": " over "}
)
_RAISED = re.compile(r"\^\{([^{}]*)\}")
_TWICE = re.compile(r"\s+")


def speak_number(value: float, decimals: int = 4) -> str:
    """Return a number in words that speech keeps: "minus 0.3791", "3.1 times 10 to the minus 6", "minus infinity"."""
    if math.isnan(value):
        return "not a number"
    sign, size = ("minus " if value < 0 else ""), abs(value)
    if math.isinf(size):
        return f"{sign}infinity"
    if size and not 0.5 * 10.0**-decimals <= size < 1e6:
        mantissa, exponent = f"{size:.1e}".split("e")
        return f"{sign}{mantissa} times 10 to the {speak_number(int(exponent), 0)}"
    text = f"{size:.{decimals}f}"
    return f"{sign}{text}" if text.strip("0.") else text


def speak_token(token: str) -> str:
    """Return a token as words: white space by its name, a long token shortened."""
    if token in _BLANKS:
        return _BLANKS[token]
    text = " ".join(token.split()) or "space"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def end_sentence(text: str) -> str:
    """Return a title as a sentence of its own: with a full stop, unless it has its mark, as a question has."""
    return text if text[-1:] in ("", "?", "!", ".", "…") else f"{text}."


def speak_text(text: str) -> str:
    """Return a text of the window for speech: one line, with words in place of exponents and signs such as − and →."""
    return _TWICE.sub(" ", _RAISED.sub(r" to the \1", text).translate(_SAID)).replace(" ,", ",").strip()
