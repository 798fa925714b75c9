"""The places of the lines of steps: which line stands where, and the columns of the numbers and bars."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from attnlab.attention.stages.arithmetic import Line
from attnlab.attention.stages.steps import Step, Term
from attnlab.ui.base.theme import px
from attnlab.ui.playground.span_text import Pen

INDENT = 22
"""How far lines stand in from the number of their step, in pixels at 100 %."""
LEAST_BAR = 20
"""The width in pixels at 100 % type below which a bar is left out."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The right ends of a step's columns, in pixels, and the range of its bars; ``bar`` is empty without room.

    ``label`` ends the labels; ``expression`` and ``result`` are right-aligned at theirs. ``stacked`` puts results
    below their expressions, and ``above`` puts labels above them. ``after`` puts results at the right of the bars.
    ``parts`` ends the column of the row's parts, in which their sum stands. ``width`` is that of the view.
    """

    left: float
    label: float
    expression: float
    result: float
    bar: tuple[float, float]
    least: float
    most: float
    stacked: bool = False
    above: bool = False
    after: bool = False
    parts: float = 0.0
    width: float = math.inf


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a view of steps: the head of a step, one of its terms, or words; with its place in pixels."""

    kind: str
    step: Step
    columns: Columns
    top: float = 0.0
    height: float = 0.0
    number: int = 0
    term: Term | None = None
    words: Line = ()
    lines: int = 1

    def place_at(self, top: float, height: float) -> "Item":
        """Return the item at a place; ``dataclasses.replace`` takes five times as long, 30 times for each edit."""
        return Item(self.kind, self.step, self.columns, top, height, self.number, self.term, self.words, self.lines)


def lay_out_columns(steps: Sequence[Step], pen: Pen, left: float, width: float) -> Columns:
    """Return the columns that some steps share, for a view of a width in pixels.

    Where the bars or the results have no room, the lines begin at the left edge.
    """
    columns = replace(_lay_out(steps, pen, left, width), width=width)
    if not columns.stacked and (columns.bar[1] or columns.least == columns.most):
        return columns
    outdented = replace(_lay_out(steps, pen, 0.0, width), width=width)
    return outdented if outdented.bar[1] or columns.stacked else columns


def _lay_out(steps: Sequence[Step], pen: Pen, left: float, width: float) -> Columns:
    terms = [term for step in steps for term in step.terms]
    gap, edge = px(6), px(1)
    label = max((pen.measure_text(term.label, True) for term in terms), default=0.0)
    label = min(label, max(px(64), 0.26 * width)) + (gap if label else 0)
    expression = max((pen.measure(term.expression) for term in terms if not stands_left(term)), default=0.0)
    result = max((pen.measure_text(write_result(term), True) for term in terms), default=0.0)
    least, most = _find_range(terms)
    if least == most:  # no bars, so that the results stand at the right
        return Columns(left, left + label - gap, width - gap - result, width - edge, (0.0, 0.0), 0.0, 0.0)
    after = expression == 0 and any(not term.expression for term in terms if term.label)
    if after:
        ends = left + label, width - result - 2 * gap
        bar = ends if ends[1] - ends[0] >= px(LEAST_BAR) else (0.0, 0.0)
        return Columns(left, left + label - gap, left + label, width - edge, bar, least, most, after=True)
    stacked = left + label + expression + gap + result > width
    if above := bool(label) and left + label + expression > width:
        label = 0.0
    wide = max(expression, result) if stacked else expression + gap + result
    first = left + label + (max(expression, result) if stacked else expression)
    end = min(left + label + wide, width)
    bar = (end + 2 * gap, width) if width - end - 2 * gap >= px(LEAST_BAR) else (0.0, 0.0)
    label_end = width if above else left + label - gap
    return Columns(left, label_end, min(first, width), end, bar, least, most, stacked=stacked, above=above)


def stands_left(term: Term) -> bool:
    """Return whether the expression of a line begins at the left, as it is longer than the products of a sum."""
    return bool(term.expression) and (term.is_total or term.is_rest or term.is_muted)


def is_above(term: Term, columns: Columns) -> bool:
    """Return whether the label of a term stands in a line of its own, above the expression."""
    return columns.above and bool(term.label and term.expression)


def count_lines(term: Term, columns: Columns, pen: Pen) -> int:
    """Return how many lines a term takes: one, unless the view is too narrow for its parts beside each other."""
    return len(break_expression(term, columns, pen)) + is_above(term, columns) + _is_result_below(term, columns, pen)


def break_expression(term: Term, columns: Columns, pen: Pen) -> list[Line]:
    """Return the lines of an expression: one, unless it is wider than the view."""
    return pen.wrap(term.expression, columns.width - columns.left)


def _is_result_below(term: Term, columns: Columns, pen: Pen) -> bool:
    if not term.expression or not term.result:
        return False
    if not stands_left(term):
        return columns.stacked
    beside = term.label and not columns.above
    label = max(columns.parts - pen.measure(term.expression), columns.label + px(6)) if beside else columns.left
    return label + pen.measure(term.expression) + px(6) > columns.result - pen.measure_text(write_result(term), True)


def write_result(term: Term) -> str:
    """Return the result of a line as it stands there, with its equals sign."""
    is_equal = term.result and not term.is_muted and (term.expression or not term.label)
    return f"= {term.result}" if is_equal else term.result


def _find_range(terms: Iterable[Term]) -> tuple[float, float]:
    """Return the range of the bars, which contains 0."""
    numbers = [each for term in terms for each in (term.amount, term.whole) if math.isfinite(each)]
    return min([0.0, *numbers]), max([0.0, *numbers])


def is_one_line(step: Step) -> bool:
    """Return whether a step is only its result, which then stands in the line of its title."""
    return len(step.terms) == 1 and not step.terms[0].expression and not step.before


def place_items(items: Iterable[Item], measure_words: Callable[[Item], float]) -> tuple[Item, ...]:
    """Return the items below each other, with their heights in pixels."""
    placed: list[Item] = []
    top = 0.0
    for item in items:
        height = float(px(20)) * item.lines
        if item.kind == "head":
            top += px(10) if placed else 0
            height = float(px(24))
        elif item.kind == "words":
            height = measure_words(item)
        placed.append(item.place_at(top, height))
        top += height
    return tuple(placed)
