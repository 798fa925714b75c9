"""Marks within a lesson's filled text: numbers that a reveal uncovers, and sentences about the lesson's own numbers.

They are characters of a private area of Unicode, so they survive a Markdown reader.
"""

from dataclasses import dataclass

SHOWN, COVERED, END, ASIDE, END_ASIDE = "\ue010", "\ue011", "\ue012", "\ue013", "\ue014"
COVER = "?"
"""What is read in place of a covered number."""
_ROLES = ("", "query", "key", "value", "attention", "neutral")
_FIRST_ROLE = 0xE020
_UNMARKED = dict.fromkeys((*map(ord, (SHOWN, COVERED, END, ASIDE, END_ASIDE)), *range(_FIRST_ROLE, _FIRST_ROLE + 6)))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a marked text.

    ``text`` is what is read, ``held`` the number whose width it takes ("" for ordinary text), ``role`` that of the
    number's stage. ``aside`` is part of a sentence about other numbers than the present ones.
    """

    text: str
    held: str = ""
    role: str = ""
    aside: bool = False


def mark_number(text: str, role: str, *, covered: bool) -> str:
    """Return a number marked as one that a reveal uncovers."""
    at = _ROLES.index(role) if role in _ROLES else 0
    return f"{COVERED if covered else SHOWN}{chr(_FIRST_ROLE + at)}{text}{END}"


def mark_aside(text: str) -> str:
    """Return a text marked as being about other numbers than the present ones."""
    return f"{ASIDE}{text}{END_ASIDE}"


def drop_marks(text: str) -> str:
    """Return a text without the characters that are used as marks."""
    return text if text.isascii() else text.translate(_UNMARKED)


def split_marks(text: str, *, aside: bool = False) -> tuple[list[Piece], bool]:
    """Return the pieces of a text, and whether it ends within an aside; ``aside``: it begins in one."""
    pieces: list[Piece] = []
    plain: list[str] = []
    held: list[str] | None = None
    covered, role = False, ""

    def finish() -> None:
        if held:
            value = "".join(held)
            pieces.append(Piece(COVER if covered else value, value, role, aside))
        if plain:
            pieces.append(Piece("".join(plain), aside=aside))
            plain.clear()

    for character in text:
        if character in (SHOWN, COVERED):
            finish()
            held, covered, role = [], character == COVERED, ""
        elif character == END:
            finish()
            held = None
        elif character in (ASIDE, END_ASIDE):
            finish()
            held, aside = None, character == ASIDE
        elif _FIRST_ROLE <= ord(character) < _FIRST_ROLE + len(_ROLES):
            role = _ROLES[ord(character) - _FIRST_ROLE]
        elif held is not None:
            held.append(character)
        else:
            plain.append(character)
    finish()
    return pieces, aside


def read_aloud(text: str) -> str:
    """Return a marked text as it is read: covered numbers are "?"."""
    return "".join(piece.text for piece in split_marks(text)[0])
