"""Explain cells of the backward pass as arithmetic with their numbers, as text and as steps with bars."""

from dataclasses import replace

from attnlab.attention.stages.arithmetic import (
    DECIMALS,
    Line,
    Products,
    Span,
    bracket,
    decimals_for,
    join_terms,
    line,
    number,
    products,
    select_terms,
)
from attnlab.attention.stages.backward_parts import find_parts, write_words
from attnlab.attention.stages.computed import Computed
from attnlab.attention.stages.explanation import Cell, Explanation, make_explanation, result_line, value_of
from attnlab.attention.stages.part import Part
from attnlab.attention.stages.score_steps import end_step
from attnlab.attention.stages.steps import Step, Steps, Term, write_products, write_sum


def explain(trace: Computed, cell: Cell, limit: int | None) -> Explanation:
    """Explain a number of the backward pass: each of its parts as a sum of products."""
    parts = find_parts(trace, cell)
    if not parts:
        words = write_words(trace, cell)
        end = () if cell.stage == "readout" else (line("= ", Span(number(value_of(trace, cell)), style="strong")),)
        return make_explanation(trace, cell, *words, *end)
    added = [part for part in parts if part.is_added]
    result = result_line(trace, cell, sum(part.total for part in added))
    if len(added) == 1:
        lines = [*_write_part(added[0], limit), result]
    else:
        names = " + ".join(part.title[:1].lower() + part.title[1:] for part in added)
        lines = [line(names), line("= ", " + ".join(bracket(part.total) for part in added)), result]
    for part in parts:
        if len(added) > 1 or not part.is_added:
            lines += [*_write_part(part, limit), line(f"= {number(part.total)}")]
    return make_explanation(trace, cell, *lines)


def _write_part(part: Part, limit: int | None) -> list[Line]:
    written = _write_sum(part, limit) if part.is_plain else products(part.left, part.right, part.roles, limit)
    return [line(f"{part.title}: ", part.note), line("= ", written)]


def _write_sum(part: Part, limit: int | None) -> Line:
    """Return ``a + b + …`` with as many decimals as give the sum if all numbers are written."""
    which = select_terms(len(part.left), limit)
    is_whole = len(which) == len(part.left)
    decimals = decimals_for(part.left, lambda x: float(x.sum())) if is_whole else DECIMALS
    terms = [(Span(bracket(each, decimals), part.roles[0]),) for each in part.left.tolist()]
    return join_terms(terms, which)


def find_backward_steps(trace: Computed, cell: Cell, limit: int | None) -> Steps | None:
    """Return the steps that lead to a number of the backward pass, None if they are better said in words."""
    parts = find_parts(trace, cell)
    if not parts:
        return None
    role, added = trace.stage(cell.stage).role, [part for part in parts if part.is_added]
    exact, value = sum(part.total for part in added), value_of(trace, cell)
    steps = [_make_step(part, role, limit) for part in parts]
    if len(added) == 1:
        total, rounded = end_step(trace, value, exact)
        steps[-1] = replace(steps[-1], terms=(*steps[-1].terms[:-1], total), words=rounded)
    else:
        terms = tuple(Term((), number(part.total), part.total, _shorten_title(part)) for part in added)
        total, rounded = end_step(trace, value, exact)
        steps.append(Step("Sum", (), (*terms, total), rounded, role))
    return Steps(before=tuple(replace(step, is_numbered=len(steps) > 1) for step in steps))


def _shorten_title(part: Part) -> str:
    """Return the title of a part as a label in a sum: of "Through the norm" the norm."""
    return part.title.removeprefix("Through the ").removeprefix("Through ")


def _make_step(part: Part, role: str, limit: int | None) -> Step:
    pairs = Products(part.left, part.right, part.roles)
    if part.is_plain:
        terms, omitted = write_sum(part.left, part.total, part.labels, limit)
    else:
        terms, omitted = write_products(pairs, part.total, part.labels, limit)
    total = Term((), number(part.total), part.total, is_total=True)
    return Step(part.title, part.note, (*terms, total), (), role, omitted)
