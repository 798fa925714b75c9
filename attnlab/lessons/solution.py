"""The worked solution: a computation with every product written out, as Markdown or LaTeX."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.attention import edits
from attnlab.attention.axes import label, size
from attnlab.attention.stages.arithmetic import Line, Span, number, plain, short
from attnlab.attention.stages.explain import explain
from attnlab.attention.stages.explanation import Cell, Explanation, dtype_name
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.table import Stage, about
from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError
from attnlab.files.atomic import write_text
from attnlab.lessons.solution_text import escape_latex, escape_markdown, write_latex_line, write_markdown_line

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

LIMIT = 20_000
"""The maximum number of written terms; only the first rows of a larger computation are written."""
WIDEST = 24
"""The maximum rows and columns of a written table; of a larger one only the size is written."""
_COPIED = re.compile(r"[QKV] = [XM]|Z")
"""The formula of a stage that has the numbers of an earlier one, such as Q = X."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a solution: the number of rows of each stage and of heads; None means all."""

    rows: int | None = None
    heads: int | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """The functions that write a solution in one language: text, formulas, lines, tables and headings."""

    text: Callable[[str], str]
    line: Callable[[Line], str]
    begin: str
    end: str
    heading: Callable[[int, str], str]
    formula: Callable[[str], str]
    table: Callable[[Sequence[str], Sequence[str], Sequence[Sequence[str]]], str]
    cell: Callable[[str, Sequence[str]], str]


def write_markdown(trace: "Trace") -> str:
    """Return the worked solution as Markdown; a too large one has only the first rows, and says so.

    Raises:
        AttnlabError: not even one row of one head is short enough to be written out.
    """
    return _write(trace, MARKDOWN)


def write_latex(trace: "Trace") -> str:
    """Return the worked solution as a LaTeX document that needs only amsmath; otherwise as :func:`write_markdown`.

    Raises:
        AttnlabError: not even one row of one head is short enough to be written out.
    """
    return _write(trace, LATEX)


def save(text: str, path: str | os.PathLike[str]) -> None:
    """Write a solution to a file atomically.

    Raises:
        FileError: the file cannot be written.
    """
    write_text(path, text)


def find_extent(trace: "Trace") -> Extent:
    """Return the largest extent of a solution within :data:`LIMIT` terms.

    Raises:
        AttnlabError: one row of one head has more terms.
    """
    known: set[str] = set()
    costs = [_count_cost(trace, trace.stage(name), known) for name in trace.all_stages]
    most = max(rows for rows, *_ in costs)
    for rows, heads in [(None, None), *((n, None) for n in range(most - 1, 0, -1)), (1, 1)]:
        if sum(_count_terms(cost, rows, heads) for cost in costs) <= LIMIT:
            return Extent(rows, heads)
    e = trace.experiment
    raise AttnlabError(
        f"One row of this layer alone has more than {LIMIT} terms (d_model {e.d_model}, {e.T_k} keys); "
        "use fewer columns or tokens."
    )


def _count_cost(trace: "Trace", stage: Stage, known: set[str]) -> tuple[int, int, int, int]:
    """Return the rows, columns and heads of a stage, and the terms of one cell, counted in its explanation."""
    rows, columns = (size(trace.experiment, axis) for axis in stage.axes[-2:])
    heads = trace.experiment.n_heads if stage.has_heads else 1
    explained = explain(trace, Cell(stage.name, rows - 1, 0, 0 if stage.has_heads else None), None)
    lines = _find_new_lines(explained, known if stage.is_map else set())
    return rows, columns, heads, sum(plain(line).count(" + ") + 1 for line in lines)


def _count_terms(cost: tuple[int, int, int, int], rows: int | None, heads: int | None) -> int:
    of_rows, columns, of_heads, terms = cost
    return min(of_rows, rows or of_rows) * columns * min(of_heads, heads or of_heads) * terms


def _write(trace: "Trace", form: Form) -> str:
    whole = find_extent(trace)
    parts = [form.begin, form.heading(1, "Worked solution"), *_write_opening(trace, form, whole)]
    seen: dict[tuple[int | None, int, int], set[str]] = {}
    for name in trace.all_stages:
        parts += _write_stage(trace, trace.stage(name), form, whole, seen)
    return "\n\n".join(part for part in (*parts, form.end) if part) + "\n"


def _write_opening(trace: "Trace", form: Form, whole: Extent) -> Iterator[str]:
    """Yield the introduction: the computation, the extent of the solution, and the given numbers."""
    e = trace.experiment
    dtype = str(trace.dtype).removeprefix("torch.")
    heads = f"{e.n_heads} heads, " if e.n_heads > 1 else ""
    tokens = f"{format_count(e.T_q, 'query', 'queries')}, {format_count(e.T_k, 'key')}"
    yield form.text(f"{tokens}, {heads}d_model {e.d_model}, d_k {e.d_k}; computed in {dtype}.")
    if e.n_items > 1:
        yield form.text(f"Sequence {e.item + 1} of a batch of {e.n_items}.")
    if whole.rows is not None:
        of = f" of head 0 of {e.n_heads}" if whole.heads is not None and e.n_heads > 1 else ""
        rows = "the first row{} is" if whole.rows == 1 else f"the first {whole.rows} rows{{}} are"
        yield form.text(
            f"The whole solution would have more than {LIMIT} terms, so {rows.format(of)} written out for each stage."
        )
    for warning in trace.warnings:
        yield form.text(warning)
    for name in edits.tables(e):
        given = name in ("embeddings", "memory_embeddings")
        if not given and name not in e.weights.extra and getattr(e.weights, name) is None:
            continue
        yield form.heading(3, _TITLES.get(name, name))
        yield _write_table(form, *_find_labels(e, name), edits.table(e, name).tolist())


_TITLES = {"embeddings": "Embeddings", "memory_embeddings": "Embeddings of the second sequence"}


def _find_labels(e: "Experiment", name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    rows, columns = edits.shape(e, name)
    tokens = {"embeddings": e.tokens, "memory_embeddings": e.key_tokens}.get(name)
    return tokens or tuple(map(str, range(rows))), tuple(map(str, range(columns)))


def _write_table(form: Form, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]) -> str:
    if max(len(rows), len(columns)) > WIDEST:
        return form.text(f"{len(rows)} × {len(columns)} numbers.")
    few = all(short(value) == number(value, 2) for row in values for value in row)
    texts = [[number(value, 2) if few else number(value) for value in row] for row in values]
    return form.table([form.text(r or "∅") for r in rows], [form.text(c or "∅") for c in columns], texts)


def _write_stage(
    trace: "Trace", stage: Stage, form: Form, whole: Extent, seen: dict[tuple[int | None, int, int], set[str]]
) -> Iterator[str]:
    e = trace.experiment
    yield form.heading(2, stage.title)
    yield form.text(about(stage, e))
    for remark in find_stage_remarks(e, stage.name, dtype_name(trace)):
        yield form.text(remark)
    yield form.formula(stage.formula(e))
    rows, columns = (size(e, axis) for axis in stage.axes[-2:])
    names = [[label(e, axis, i) for i in range(n)] for axis, n in zip(stage.axes[-2:], (rows, columns), strict=True)]
    array, copied = trace.array(stage.name), _COPIED.fullmatch(stage.formula(e)) is not None
    for head in range(min(e.n_heads, whole.heads or e.n_heads)) if stage.has_heads else (None,):
        if head is not None and e.n_heads > 1:
            yield form.heading(3, f"{stage.title}, head {head}")
        yield _write_table(form, names[0], names[1], (array if head is None else array[head]).tolist())
        for row in range(min(rows, whole.rows or rows)):
            for column in range(columns):
                explained = explain(trace, Cell(stage.name, row, column, head), None)
                given = all(plain(line).startswith("given: ") for line in explained.lines)
                if (given or copied) and max(rows, columns) <= WIDEST:
                    continue  # the table above says as much
                known = seen.setdefault((head, row, column), set()) if stage.is_map else set()
                yield _write_cell(explained, stage, form, known)


def _find_new_lines(explained: Explanation, known: set[str]) -> list[Line]:
    """Return the lines of a cell without the last ones that an earlier stage has already written for the same pair."""
    lines = list(explained.lines)
    while len(lines) > 1 and plain(lines[-1]).removeprefix("score ") in known:
        lines.pop()
    known.update(plain(line).removeprefix("score ") for line in explained.lines)
    return lines


def _write_cell(explained: Explanation, stage: Stage, form: Form, known: set[str]) -> str:
    lines = _find_new_lines(explained, known)
    row, column = (name or "∅" for name in explained.labels)
    if stage.axes[-1] not in ("token", "query", "key"):
        column = f"column {column}"
    place = column if stage.axes[-2] == "one" else f"{row} → {column}"
    return form.cell(form.text(f"{place}: {number(explained.value)}"), [form.line(line) for line in lines])


def _write_markdown_table(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[str]]) -> str:
    head = f"| | {' | '.join(columns)} |"
    rule = f"|---|{'---:|' * len(columns)}"
    return "\n".join([head, rule, *(f"| {r} | {' | '.join(v)} |" for r, v in zip(rows, values, strict=True))])


def _write_latex_table(rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[str]]) -> str:
    lines = [" & ".join(["", *(rf"\text{{{c}}}" for c in columns)]) + r" \\ \hline \rule{0pt}{11pt}"]
    for name, row in zip(rows, values, strict=True):
        numbers = (_write_latex_number(value) for value in row)
        lines.append(" & ".join([rf"\text{{{name}}}", *numbers]) + r" \\")
    body = "\n".join(lines)
    return f"\\[\n\\begin{{array}}{{l|{'r' * len(columns)}}}\n{body}\n\\end{{array}}\n\\]"


def _write_latex_number(text: str) -> str:
    written = write_latex_line((Span(text),))
    return written[1:-1] if written.startswith("$") else rf"\text{{{written}}}"


def _shrink(table: str, columns: int) -> str:
    """Return a table in smaller type if it would be wider than the page."""
    size_ = r"\tiny" if columns > 16 else r"\scriptsize" if columns > 9 else ""
    return f"{{{size_}\n{table}\n}}" if size_ else table


MARKDOWN = Form(
    text=escape_markdown,
    line=write_markdown_line,
    begin="",
    end="",
    heading=lambda level, title: f"{'#' * level} {escape_markdown(title)}",
    formula=lambda latex: f"$${latex}$$",
    table=_write_markdown_table,
    cell=lambda title, lines: "  \n".join([f"**{title}**", *lines]),
)

_PREAMBLE = r"""\documentclass[10pt]{article}
\usepackage{amsmath}
\setlength{\oddsidemargin}{0pt}
\setlength{\textwidth}{460pt}
\setlength{\topmargin}{-20pt}
\setlength{\textheight}{630pt}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\raggedright
\begin{document}"""
_HEADINGS = {1: "section", 2: "subsection", 3: "subsubsection"}

LATEX = Form(
    text=escape_latex,
    line=write_latex_line,
    begin=_PREAMBLE,
    end=r"\end{document}",
    heading=lambda level, title: rf"\{_HEADINGS[level]}*{{{escape_latex(title)}}}",
    formula=lambda latex: f"\\[ {latex} \\]",
    table=lambda rows, columns, values: _shrink(_write_latex_table(rows, columns, values), len(columns)),
    cell=lambda title, lines: "\\\\\n".join([rf"\textbf{{{title}}}", *lines]),
)
