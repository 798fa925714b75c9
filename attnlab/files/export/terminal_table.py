"""A stage as text for a terminal: aligned columns for tokens in any script, cut to the width of the terminal."""

import unicodedata
from collections.abc import Sequence

from attnlab.base.number_text import four_decimals
from attnlab.base.printable import escape
from attnlab.files.export.stage_tables import Table

MASKED = "·"
LABEL_LIMIT = 20
"""The maximum width of a token in columns; longer ones are shortened."""


def as_text(t: Table, width: int | None = None) -> str:
    """Return a readable table: four decimals, ``·`` for masked cells, one block for each head.

    ``width`` is the terminal's, in columns; columns that do not fit are omitted with a note. None omits nothing.
    """
    shape = " × ".join(map(str, t.values.shape))
    layer = "" if t.layer is None else f"layer {t.layer}, "
    lines = [f"{layer}{t.stage}  [{shape}]  {t.about}", *t.conventions]
    heads = t.values.ndim == 3 and len(t.values) > 1
    left_out = 0
    for head, values in enumerate(t.maps().tolist()):
        lines += ["", f"head {head}"] if heads else []
        rows = [[_number(x) for x in row] for row in values]
        if t.masked is not None:
            rows = [
                [MASKED if m else x for x, m in zip(*pair, strict=True)] for pair in zip(rows, t.masked, strict=True)
            ]
        block, left_out = _block(rows, t, width)
        lines += block
    if t.masked is not None and t.masked.any():
        lines.append(f"{MASKED} masked")
    if left_out:
        lines.append(f"… and {left_out} more columns: use a wider terminal, --json or attnlab export")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def label(token: str) -> str:
    """Return a token for one line: control characters escaped, an empty token as ∅, spaces as ␣."""
    if not token.strip(" "):
        return "␣" * len(token) or "∅"
    return escape(token)


def columns(text: str) -> int:
    """Return the width of a text in a terminal, in columns."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _number(value: float) -> str:
    if value != value:
        return "NaN"
    if abs(value) == float("inf"):
        return f"{value}"
    return four_decimals(value).replace("−", "-")  # which programs read as numbers


def _block(rows: list[list[str]], t: Table, width: int | None) -> tuple[list[str], int]:
    """Return the lines of one map with its labels, and the number of omitted columns."""
    sides = [_shorten(label(x)) for x in ("", *t.row_labels)]
    sides[0] = ""
    heads = [_shorten(label(x)) for x in t.column_labels]
    side_width = max(map(columns, sides))
    widths = [max(columns(head), *(len(row[i]) for row in rows)) for i, head in enumerate(heads)]
    shown = _count_fitting(widths, width, side_width)
    lines = []
    for side, row in zip(sides, [heads, *rows], strict=True):
        cells = (" " * (w - columns(x)) + x for x, w in zip(row[:shown], widths[:shown], strict=True))
        lines.append("  ".join([side + " " * (side_width - columns(side)), *cells]))
    return lines, len(heads) - shown


def _count_fitting(widths: Sequence[int], width: int | None, side_width: int) -> int:
    """Return the number of columns that fit, at least one."""
    if width is None:
        return len(widths)
    used, count = side_width, 0
    for each in widths:
        used += each + 2
        if used > width:
            break
        count += 1
    return max(count, 1)


def _shorten(text: str) -> str:
    if columns(text) <= LABEL_LIMIT:
        return text
    kept, used = "", 0
    for character in text:
        used += _columns(character)
        if used >= LABEL_LIMIT:
            break
        kept += character
    return f"{kept}…"
