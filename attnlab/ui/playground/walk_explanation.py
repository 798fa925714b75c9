"""The explanation of a cell during a walk: not computed yet, partly summed, or complete."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from attnlab.attention.stages.arithmetic import Span, line, plain
from attnlab.attention.stages.explain import Cell, Explanation, explain
from attnlab.attention.stages.explain_steps import describe_cell, find_steps
from attnlab.attention.stages.explanation import dtype_name, find_shown_value, make_explanation
from attnlab.attention.stages.remarks import find_stage_remarks
from attnlab.attention.stages.walk import fit_place, unknown_cells
from attnlab.attention.stages.walk_sources import explain_begun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from attnlab.attention.stages.arithmetic import Line
    from attnlab.attention.stages.steps import Steps
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

NOT_YET = line(Span("not computed yet", style="muted"))
UNKNOWN = "?"


def has_cell(trace: "Trace", cell: Cell) -> bool:
    """Return whether a computation has a cell."""
    if cell.stage not in trace:
        return False
    shape = trace.array(cell.stage).shape
    return cell.row < shape[-2] and cell.column < shape[-1] and (cell.head or 0) < (shape[0] if len(shape) == 3 else 1)


@dataclass(frozen=True, slots=True)
class ShownExplanation:
    """What is said of a cell: its explanation, a text in place of its number while that is not known, its steps.

    Without ``steps`` the lines of the explanation say everything. ``remarks`` are on the configuration.
    """

    explanation: Explanation
    value: str = ""
    steps: "Steps | None" = None
    sentence: str = ""
    remarks: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is more to say than that the cell is not computed yet."""
        return self.explanation.lines != (NOT_YET,)


def explain_in_view(trace: "Trace", view: "View", cell: Cell, limit: int | None, in_words: bool) -> ShownExplanation:
    """Return what to show of a cell; the explanation of one with steps has lines only if ``in_words``."""
    at = view.at
    mean = cell.head is None and trace.stage(cell.stage).has_heads and trace.experiment.n_heads > 1
    here = (cell.stage, cell.row, cell.column)
    if at is not None and at.term is not None and not mean and (at.stage, at.row, at.column) == here:
        return ShownExplanation(explain_begun(trace, cell, at.term), UNKNOWN)
    hidden = _find_hidden(trace, view, cell.stage)
    if hidden is not None and hidden[cell.row, cell.column]:
        return ShownExplanation(replace(explain(trace, cell, 1), lines=(NOT_YET,)), UNKNOWN)
    context = _find_hidden(trace, view, "context")
    is_context_known = context is None or (cell.row < len(context) and not bool(context[cell.row].any()))
    steps = find_steps(trace, cell, limit, is_context_known)
    if steps is None or in_words:
        whole = explain(trace, cell, limit)
    else:
        whole = replace(make_explanation(trace, cell), value=find_shown_value(trace, cell))
    remarks = " ".join(find_stage_remarks(trace.experiment, cell.stage, dtype_name(trace)))
    sentences = [
        describe_cell(trace, cell),
        *(_write_out(words) for words in (steps.said if steps is not None else ())),
    ]
    return ShownExplanation(whole, "", steps, " ".join(filter(None, sentences)), remarks)


def _write_out(words: "Line") -> str:
    """Return a line as a sentence with a capital and a full stop."""
    text = plain(words)
    return f"{text[:1].upper()}{text[1:]}."


def find_unknown_in_row(trace: "Trace", view: "View | None", stage: str, row: int) -> list[bool]:
    """Return which cells of a row of a map of query by key are not computed yet."""
    hidden = _find_hidden(trace, view, stage) if view is not None else None
    return [False] * trace.experiment.T_k if hidden is None else [bool(each) for each in hidden[row]]


def _find_hidden(trace: "Trace", view: "View", stage: str) -> "NDArray[np.bool_] | None":
    return None if view.at is None else unknown_cells(trace.experiment, fit_place(trace.experiment, view.at), stage)
