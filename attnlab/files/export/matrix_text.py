"""Matrices as text for papers, code and notes: LaTeX, NumPy, Markdown and CSV, with a chosen number of digits."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.edits import array, tables
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import AttnlabError
from attnlab.files.export.stage_tables import Table
from attnlab.files.export.terminal_table import label

MOST_DIGITS = 20
MOST_NUMBERS = 1 << 20
"""The maximum count for the clipboard: as text some 10 MB, which takes a second; larger arrays should go to a file."""
_PLAIN_BELOW = 1e6
"""Larger numbers are written with an exponent, because their decimals are meaningless."""
_SMALL = 1e-3
"""If all numbers of a table are below this, they are written with an exponent, because their decimals are zeros."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{c: f"\\{c}" for c in "{}$&#_%"},
}
_MARKDOWN = str.maketrans({character: rf"\{character}" for character in r"\`*_[]<>|#$~&"})


def make_input_table(e: Experiment, name: str) -> Table:
    """Return an input table of the layer, ``embeddings``, ``W_q``, ``b_q`` or one of an entry, as a Table.

    Raises:
        AttnlabError: there is no such table; the sentence names the existing ones.
    """
    if name not in tables(e):
        raise AttnlabError(f"There is no table {name!r} in this layer; there are {', '.join(tables(e))}.")
    values = np.asarray(array(e, name))
    rows = {"embeddings": e.tokens, "memory_embeddings": e.key_tokens}.get(name, tuple(map(str, range(len(values)))))
    columns = tuple(map(str, range(values.shape[1])))
    return Table(name, "", ("row", "column"), values, None, rows, columns, e.tokens, e.key_tokens)


def as_latex(t: Table, digits: int | None = 4, labels: bool = False) -> str:
    r"""Return LaTeX arrays for a formula, one for each head; any width works without a package.

    A masked score is ``-\infty``, NaN ``\mathrm{NaN}``. With ``labels`` lines separate the labels from the numbers,
    otherwise the numbers are in brackets.
    """
    lines = []
    for head, rows in _maps(t, digits, r"\infty", r"\mathrm{NaN}"):
        lines += [f"% head {head}"] if head is not None else []
        lines += _latex_table(t, rows) if labels else _latex_matrix(rows)
    return "\n".join(lines) + "\n"


def as_numpy(t: Table, digits: int | None = None, labels: bool = False) -> str:
    """Return a NumPy expression for the array, exact if ``digits`` is None; ``labels`` adds them as comments.

    A masked score is ``-np.inf``, NaN ``np.nan``.
    """
    indent = "    " * (t.values.ndim - 1)
    blocks = []
    for _, rows in _maps(t, digits, "np.inf", "np.nan"):
        ends = [f"  # {label(name)}" if labels else "" for name in t.row_labels]
        blocks.append("\n".join(f"{indent}[{', '.join(row)}],{end}" for row, end in zip(rows, ends, strict=True)))
    body = blocks[0] if t.values.ndim == 2 else "\n".join(f"    [\n{block}\n    ]," for block in blocks)
    columns = f"    # columns: {', '.join(map(label, t.column_labels))}\n" if labels else ""
    kind = "" if t.values.dtype == np.float64 else f", dtype=np.{t.values.dtype}"
    return f"np.array([\n{columns}{body}\n]{kind})\n"


def as_markdown(t: Table, digits: int | None = 4, labels: bool = True) -> str:
    """Return a table in GitHub's Markdown for each head; without ``labels`` the cells of its first line are empty.

    A masked score is ``-∞``.
    """
    lines: list[str] = []
    for head, rows in _maps(t, digits, "∞", "NaN"):
        lines += [] if not lines else [""]
        lines += [f"**head {head}**", ""] if head is not None else []
        names = [markdown_text(name) if labels else "" for name in t.column_labels]
        sides = [[markdown_text(name)] if labels else [] for name in t.row_labels]
        lines.append(_markdown_row([""] * labels + names))
        lines.append(_markdown_row([":---"] * labels + ["---:"] * len(names)))
        lines += [_markdown_row([*side, *row]) for side, row in zip(sides, rows, strict=True)]
    return "\n".join(lines) + "\n"


def as_csv_text(t: Table, digits: int | None = None, labels: bool = True) -> str:
    """Return comma-separated rows with a row and a column of labels, or without ``labels`` only the numbers.

    A masked score is an empty field. Several heads get a column for the head, or without labels an empty line between.
    """
    hidden = t.masked if t.stage == "masked" else None
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if labels:
        writer.writerow([*t.axes[:-1], *t.column_labels])
    for head, rows in _maps(t, digits, "inf", "nan"):
        if not labels and head:
            text.write("\n")
        for place, row in enumerate(rows):
            kept = row if hidden is None else ["" if h else x for x, h in zip(row, hidden[place], strict=True)]
            lead = ([] if t.values.ndim == 2 else [head or 0]) + [t.row_labels[place]] if labels else []
            writer.writerow([*lead, *kept])
    return text.getvalue()


class AsText(Protocol):
    """Writes a table with ``digits`` decimals (None: all) and with or without ``labels``; defaults differ by format."""

    def __call__(self, t: Table, digits: int | None = ..., labels: bool = ...) -> str: ...


FORMATS: dict[str, AsText] = {
    "latex": as_latex,
    "numpy": as_numpy,
    "markdown": as_markdown,
    "csv": as_csv_text,
}
"""The text formats of a table: ``FORMATS["latex"](table, digits, labels)``."""


def markdown_text(name: str) -> str:
    """Return a text on one line with Markdown's special characters escaped."""
    return label(name).translate(_MARKDOWN)


def _maps(t: Table, digits: int | None, infinite: str, nan: str) -> Iterator[tuple[int | None, list[list[str]]]]:
    """Yield each map as text, with the number of its head if there are several."""
    if digits is not None and not 0 <= digits <= MOST_DIGITS:
        raise AttnlabError(f"digits is {digits}; it needs a number from 0 to {MOST_DIGITS}.")
    maps = t.maps()
    small = float(np.abs(maps).max(initial=0.0, where=np.isfinite(maps))) < _SMALL
    for head, values in enumerate(maps):
        rows = [
            _format_row(row, digits, small) or [_format_number(value, digits, infinite, nan, small) for value in row]
            for row in values
        ]
        if infinite.startswith("\\"):
            rows = [[_latex_number(text) if "e" in text else text for text in row] for row in rows]
        yield head if len(maps) > 1 else None, rows


def _format_row(row: NDArray[np.floating], digits: int | None, small: bool) -> list[str]:
    """Return a row as :func:`_number` does, but much faster; empty if it contains other than plain numbers."""
    if digits is None:
        return [str(value) for value in row] if np.isfinite(row).all() else []
    if (small and row.any()) or not (np.abs(row) < _PLAIN_BELOW).all():
        return []
    return [
        text.removeprefix("-") if text.startswith("-0") and not text.strip("-0.") else text
        for text in map(f"%.{digits}f".__mod__, row.tolist())
    ]


def _format_number(value: np.floating, digits: int | None, infinite: str, nan: str, small: bool) -> str:
    """Return a number with ``digits`` decimals, or with the fewest digits that represent it exactly.

    ``small`` ones have an exponent, except for 0.
    """
    if np.isnan(value):
        return nan
    if np.isinf(value):
        return f"-{infinite}" if value < 0 else infinite
    if digits is None:
        return str(value)
    plain = abs(float(value)) < _PLAIN_BELOW and not (small and value)
    text = f"{float(value):.{digits}f}" if plain else f"{float(value):.{digits}e}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def _latex_number(text: str) -> str:
    found = re.fullmatch(r"(.*\d)e([+-])0*(\d+)", text)
    return text if found is None else rf"{found[1]} \times 10^{{{found[2].replace('+', '')}{found[3]}}}"


def _latex_matrix(rows: Sequence[Sequence[str]]) -> list[str]:
    body = [" & ".join(row) + r" \\" for row in rows]
    return [rf"\left[\begin{{array}}{{{'r' * len(rows[0])}}}", *body, r"\end{array}\right]"]


def _latex_table(t: Table, rows: Sequence[Sequence[str]]) -> list[str]:
    head = " & ".join(["", *map(_latex_label, t.column_labels)])
    pairs = zip(t.row_labels, rows, strict=True)
    body = [" & ".join([_latex_label(name), *row]) + r" \\" for name, row in pairs]
    return [rf"\begin{{array}}{{l|{'r' * len(rows[0])}}}", rf"{head} \\ \hline", *body, r"\end{array}"]


def _latex_label(name: str) -> str:
    return rf"\mbox{{{''.join(_LATEX.get(c, c) for c in label(name))}}}"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
