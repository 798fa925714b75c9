"""Sheets of paper from an exercise: the given tables, the boxes to fill in, and the arithmetic."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError
from attnlab.figures.exercise_sheet import Blanked, Sheet, SheetTable
from attnlab.figures.handout import Formulas, HandoutWriter
from attnlab.figures.palette import LIGHT
from attnlab.files.atomic import write_bytes
from attnlab.ui.base.formula import draw_formula, formula_size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.arithmetic import Line
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.table import Stage
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.exercise import Exercise

FORMULAS = Formulas(formula_size, draw_formula)
AS_THEY_ARE = ("rotated_queries", "rotated_keys", "dropped")
"""Stages that are given rather than computed: rotations and random draws cannot be done on paper."""
MOST = 64
"""The greatest number of tokens that fit on paper; larger states are refused before any computation."""
_TABLES = {"queries": ("W_q", "b_q"), "keys": ("W_k", "b_k"), "values": ("W_v", "b_v"), "output": ("W_o", "b_o")}
_ROLES = {"q": "query", "k": "key", "v": "value"}


def make_sheet(exercise: "Exercise", student: str) -> Sheet:
    """Return the sheet of one student, with the student's own numbers; for "", a sheet with a line for the name.

    Raises:
        AttnlabError: there are too many tokens for any paper.
    """
    from attnlab.lessons.exercise import make_variant, trace_exactly

    count = max(exercise.experiment.T_q, exercise.experiment.T_k)
    if count > MOST:
        raise AttnlabError(f"{count} tokens are too many for the paper; use at most 12.")
    trace = trace_exactly(make_variant(exercise, student))
    return Sheet(
        exercise.title,
        student,
        _write_task(exercise, trace),
        _list_formulas(exercise, trace),
        _make_given_tables(exercise, trace),
        _make_answer_tables(exercise, trace),
        _list_blanks(exercise, trace),
    )


def _write_task(exercise: "Exercise", trace: "Trace") -> tuple[str, ...]:
    from attnlab.attention.stages.arithmetic import short

    e, count = trace.experiment, len(exercise.blanks)
    stages = dict.fromkeys(trace.stage(cell.stage).noun for cell in exercise.blanks)
    what = "the number in the box" if count == 1 else f"the {count} numbers in the boxes"
    masked = " A masked score is −∞, a masked weight 0." if e.masked and e.config.option("fill") == "-inf" else ""
    hand_in = "To hand in as a file (CSV), write a line for each answer: student, letter, value, such as Ada, a, 0.35."
    within = f"Answers within {short(exercise.tolerance)} are accepted.{masked}"
    sizes = f"d_model = {e.d_model}, d_k = {e.d_k}" + (f", {e.n_heads} heads" if e.n_heads > 1 else "")
    if e.n_heads > 1 and exercise.given == "inputs":
        columns = "column i" if e.d_k == 1 else f"the columns from {e.d_k}·i to {e.d_k}·i + {e.d_k - 1}"
        sizes += f"; head i owns {columns} of queries"
    loss = _describe_loss(exercise, e)
    return f"Compute {what}: {', '.join(stages)}. {within} ({sizes}.)", *loss, hand_in, *trace.warnings


def _describe_loss(exercise: "Exercise", e: "Experiment") -> tuple[str, ...]:
    """Return a sentence on what the loss is about, which no formula says, if a blank cell depends on it."""
    from attnlab.attention.registries import losses

    if not any(cell.stage == "loss" or cell.stage.startswith("d_") for cell in exercise.blanks):
        return ()
    head, query, key = losses.find_pair(e)
    match e.config.option("loss"):
        case losses.WEIGHT:
            which = f" in head {head}" if e.n_heads > 1 else ""
            return (f"In the loss, w is the weight that “{e.tokens[query]}” gives to “{e.key_tokens[key]}”{which}.",)
        case losses.CLASS:
            return (f"The loss is about “{e.tokens[query]}”, which should be of class {losses.find_class(e)}.",)
    return ()


def _list_needed(exercise: "Exercise", trace: "Trace") -> list[str]:
    """Return the stages needed to compute the blank cells, in order."""
    from attnlab.attention.stages.presence import sources

    e = trace.experiment
    asked = {cell.stage for cell in exercise.blanks}
    if exercise.given == "before":
        return [name for name in trace.all_stages if name in asked]
    found, open_ = set(asked), list(asked)
    while open_:
        name = open_.pop()
        for source in () if name in AS_THEY_ARE and name not in asked else sources(e, name):
            if source not in found:
                found.add(source)
                open_.append(source)
    return [name for name in trace.all_stages if name in found]


def _list_formulas(exercise: "Exercise", trace: "Trace") -> tuple[tuple[str, str], ...]:
    e = trace.experiment
    stages = [trace.stage(name) for name in _list_needed(exercise, trace) if name not in ("inputs", "memory")]
    asked = {cell.stage for cell in exercise.blanks}
    return tuple((s.title, _write_formula(s, e)) for s in stages if s.name not in AS_THEY_ARE or s.name in asked)


def _write_formula(stage: "Stage", e: "Experiment") -> str:
    """Return the formula of a stage; softmax is written out, because it is to be computed on paper."""
    formula = stage.formula(e)
    if stage.name == "weights" and formula == r"\mathrm{softmax}":
        return r"a_{ij} = \frac{e^{s_{ij}}}{\sum_{k} e^{s_{ik}}}"
    return formula


def _make_given_tables(exercise: "Exercise", trace: "Trace") -> tuple[SheetTable, ...]:
    if exercise.given == "before":
        return _make_source_tables(exercise, trace)
    from attnlab.attention.registries import registry
    from attnlab.attention.stages.explain_block import list_unused_tables
    from attnlab.attention.stages.presence import source

    e, asked = trace.experiment, {cell.stage for cell in exercise.blanks}
    tables: list[SheetTable] = []
    for name in _list_needed(exercise, trace):
        if (name in ("inputs", "memory") and name not in asked) or (name in AS_THEY_ARE and name not in asked):
            tables += _make_stage_tables(exercise, trace, name)
        if name in ("inputs", "memory") and name in asked:
            tables += _make_embeddings_table(trace, name)
        if name == "biased" and name not in asked:
            added = trace.array(name) - trace.array(source(e, name))
            tables += _make_head_tables(exercise, trace, name, added, "What positions add")
        for table in _TABLES.get(name, ()):
            if getattr(e.weights, table) is not None:
                tables.append(_make_weights_table(e, table))
    left_out = list_unused_tables(e, _list_needed(exercise, trace))
    return (*tables, *(_make_weights_table(e, name) for name in registry.tables(e.config) if name not in left_out))


def _make_embeddings_table(trace: "Trace", name: str) -> tuple[SheetTable, ...]:
    """Return the embeddings from which blank inputs are computed, if positions are added to them."""
    import numpy as np

    from attnlab.attention import edits

    e, table = trace.experiment, "embeddings" if name == "inputs" else "memory_embeddings"
    embeddings, columns = edits.array(e, table), edits.shape(e, table)[1]
    if np.array_equal(trace.array(name), embeddings):
        return ()  # they would be the answers
    tokens = e.tokens if name == "inputs" else e.key_tokens
    return (_make_table("embeddings", tokens, range(columns), embeddings, None),)


def _make_weights_table(e: "Experiment", name: str) -> SheetTable:
    from attnlab.attention import edits

    rows, columns = edits.shape(e, name)
    role = _ROLES.get(name[-1]) if name[:2] in ("W_", "b_") else None
    return _make_table(name, range(rows), range(columns), edits.array(e, name), role)


def _make_source_tables(exercise: "Exercise", trace: "Trace") -> tuple[SheetTable, ...]:
    """Return the stages directly before the blank ones, except those that have blanks themselves."""
    from attnlab.attention.stages.presence import sources

    asked = dict.fromkeys(cell.stage for cell in exercise.blanks)
    names = dict.fromkeys(source for name in asked for source in sources(trace.experiment, name))
    tables: list[SheetTable] = []
    for name in names:
        if name not in asked:
            tables += _make_stage_tables(exercise, trace, name)
    return tuple(tables)


def _make_stage_tables(exercise: "Exercise", trace: "Trace", name: str) -> list[SheetTable]:
    stage = trace.stage(name)
    return _make_head_tables(exercise, trace, name, trace.array(name), f"{stage.title} {stage.symbol}")


def _make_head_tables(
    exercise: "Exercise", trace: "Trace", name: str, array: "NDArray[np.floating]", title: str
) -> list[SheetTable]:
    """Return a stage as a table for each head with a blank; for all heads if a blank is in their mean."""
    e, stage = trace.experiment, trace.stage(name)
    if not stage.has_heads:
        return [_make_table(title, *_list_labels(trace, name), array, stage.role)]
    asked = {cell.head for cell in exercise.blanks}
    heads = range(e.n_heads) if None in asked else sorted(head for head in asked if head is not None)
    more = e.n_heads > 1
    return [
        _make_table(f"{title}, head {i}" if more else title, *_list_labels(trace, name), array[i], stage.role)
        for i in heads
    ]


def _list_labels(trace: "Trace", name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    from attnlab.attention.axes import labels, size

    rows, columns = ((axis, size(trace.experiment, axis)) for axis in trace.stage(name).axes[-2:])
    return labels(trace.experiment, *rows), labels(trace.experiment, *columns)


def _make_table(
    title: str,
    rows: "range | tuple[str, ...]",
    columns: "range | tuple[str, ...]",
    values: "NDArray[np.floating]",
    role: str | None,
) -> SheetTable:
    texts = _format_all(values.tolist())
    names = [tuple(str(text) or "∅" for text in each) for each in (rows, columns)]
    return SheetTable(title, names[0], names[1], texts, role=role or "neutral")


def _format_number(value: float) -> str:
    """Return a number with up to four decimals, without trailing zeros."""
    from attnlab.attention.stages.arithmetic import number

    text = number(value)
    return text if "e" in text or "." not in text else text.rstrip("0").rstrip(".")


def _format_all(rows: list[list[float]]) -> tuple[tuple[str, ...], ...]:
    """Return the numbers of a table, all with the decimals of the longest."""
    texts = [[_format_number(value) for value in row] for row in rows]
    most = max((_count_decimals(text) for row in texts for text in row), default=0)
    return tuple(tuple(_pad_decimals(text, most) for text in row) for row in texts)


def _count_decimals(text: str) -> int:
    return 0 if "e" in text else len(text.partition(".")[2])


def _pad_decimals(text: str, most: int) -> str:
    if not most or not text.lstrip("−").replace(".", "", 1).isdecimal():  # NaN, ∞, 2.5e−7
        return text
    whole, _, places = text.partition(".")
    return f"{whole}.{places:0<{most}}"


def _make_answer_tables(exercise: "Exercise", trace: "Trace") -> tuple[SheetTable, ...]:
    from attnlab.lessons.exercise import to_letter

    places = dict.fromkeys((cell.stage, cell.head) for cell in exercise.blanks)
    letters = {cell: to_letter(i) for i, cell in enumerate(exercise.blanks)}
    return tuple(_make_answer_table(exercise, trace, name, head, letters) for name, head in places)


def _make_answer_table(
    exercise: "Exercise", trace: "Trace", name: str, head: int | None, letters: "dict[Cell, str]"
) -> SheetTable:
    """Return a stage with its boxes; cells that would reveal a solution stay empty."""
    from attnlab.attention.measures.symmetry import add_mirrored
    from attnlab.lessons.exercise import has_rows_of_sum_1

    e, stage = trace.experiment, trace.stage(name)
    array = trace.array(name) if not stage.has_heads else trace.mean(name) if head is None else trace.array(name)[head]
    which = "" if not stage.has_heads or e.n_heads == 1 else ", mean of the heads" if head is None else f", head {head}"
    table = _make_table(f"{stage.title}{which}", *_list_labels(trace, name), array, stage.role)
    boxes = {(c.row, c.column): text for c, text in letters.items() if (c.stage, c.head) == (name, head)}
    mask = trace.find_shown_mask(name)
    masked = frozenset() if mask is None else frozenset((int(i), int(j)) for i, j in zip(*mask.nonzero(), strict=True))
    asked = [c for c in exercise.blanks if trace.stage(c.stage).is_map == stage.is_map]
    rows = {c.row for c in asked} if has_rows_of_sum_1(trace, name) else set()
    pairs = set(add_mirrored(e, name, ((c.row, c.column) for c in asked)))
    places = {(i, j) for i in range(len(table.rows)) for j in range(len(table.columns))}
    secret = frozenset(at for at in places - set(boxes) - masked if at in pairs or at[0] in rows)
    return replace(table, boxes=boxes, masked=masked, secret=secret)


def _list_blanks(exercise: "Exercise", trace: "Trace") -> tuple[Blanked, ...]:
    from attnlab.attention.stages.explain import explain
    from attnlab.lessons.exercise import describe_cell, read_answers_of

    made = []
    for answer in read_answers_of(trace, exercise.blanks):
        lines = explain(trace, answer.cell, None).lines
        noun, place = trace.stage(answer.cell.stage).noun, describe_cell(trace.experiment, answer.cell)
        html = "<br>".join(map(_format_html, lines))
        made.append(Blanked(answer.label, place, _format_number(answer.value), html, noun))
    return tuple(made)


def _format_html(line: "Line") -> str:
    marks = {"sup": "<sup>{}</sup>", "sub": "<sub>{}</sub>", "strong": "<b>{}</b>"}
    parts = []
    for span in line:
        text = marks.get(span.style, "{}").format(escape(span.text))
        colour = LIGHT.muted if span.style == "muted" else LIGHT.role_ink(span.role) if span.role else ""
        parts.append(f'<span style="color:{colour}">{text}</span>' if colour else text)
    return "".join(parts)


def print_sheets(exercise: "Exercise", paper: str, solved: bool, path: Path) -> Iterator[None]:
    """Write the sheets of all students to one file, one student per step; if closed early, it leaves no file."""
    writer = HandoutWriter(paper, exercise.title, FORMULAS)
    try:
        for student in exercise.students or ("",):
            writer.add(make_sheet(exercise, student), solved)
            yield
        write_bytes(path, writer.finish())
    finally:
        writer.finish()


def check_sizes(e: "Experiment") -> str:
    """Return "" if the sizes suit paper, else a sentence that says which would."""
    if max(e.d_model, e.memory.shape[1]) > 8 or e.T_q > 12 or e.T_k > 12:
        return "These sizes take long to compute by hand; use at most 8 columns and 12 tokens."
    return ""


def describe_place(exercise: "Exercise") -> str:
    """Return the stage and the first blank of an exercise, and how many more there are."""
    from attnlab.attention.stages.table import BY_NAME
    from attnlab.lessons.exercise import describe_cell

    first, count = exercise.blanks[0], len(exercise.blanks)
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{BY_NAME[first.stage].title}: {describe_cell(exercise.experiment, first)}{more}"
