"""What the backward lens asks for and says: a number found by trying, steps down the gradient, and their sentences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.attention.axes import TOKENS
from attnlab.attention.edits.descent import Descent, descend, find_better_rate, find_gradient_stage, list_movable
from attnlab.attention.measures.loss_trials import Trial, try_cell
from attnlab.attention.registries.losses import OUTPUT, WEIGHT, find_class, find_pair
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import Cell, labels
from attnlab.attention.stages.table import BY_NAME
from attnlab.ui.playground.head_titles import name_head
from attnlab.ui.playground.input_tables import title

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

_LISTED = 4
"""The most tables that a sentence names; of more it names all but the last ones, and counts these."""
_AGREES = 1e-4
"""How far a difference quotient may be from the gradient, relative to it: it is exact only for a straight line."""


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A number of a gradient, by trying."""

    cell: Cell
    trial: Trial


@dataclass(frozen=True, slots=True, eq=False)
class Stepped:
    """Steps down from ``given``, and those of a larger rate that gets lower, if there is one."""

    given: "Experiment"
    rate: float
    names: tuple[str, ...]
    descent: Descent
    better: tuple[float, Descent] | None


def find_trial(e: "Experiment", cell: Cell) -> Tried:
    """Return a number of a gradient by trying. Runs on any thread."""
    return Tried(cell, try_cell(e, cell))


def find_steps_down(
    e: "Experiment", rate: float, names: Sequence[str], steps: int, go_on: Callable[[float], bool]
) -> Stepped:
    """Return some steps down the gradient, and for more than one a better rate. Runs on any thread.

    Raises:
        ExperimentError: there is nothing to step down, or the loss has no gradient.
    """
    found = descend(e, rate, names, steps, go_on)
    better = find_better_rate(e, rate, names, steps) if steps > 1 and go_on(found.losses[-1]) else None
    return Stepped(e, rate, tuple(names), found, better)


def describe_loss(trace: "Trace") -> str:
    """Return what the loss is about, its value, and what does not reach it."""
    return " ".join(filter(None, (_describe_wanted(trace), _describe_unreached(trace))))


def _describe_wanted(trace: "Trace") -> str:
    e = trace.experiment
    (head, query, key), kind = find_pair(e), e.config.option("loss")
    loss = number(float(trace.array("loss")[0, 0]))
    token = f"“{e.tokens[query] or '∅'}”"
    if kind == WEIGHT:
        where = f" in {name_head(head)}" if e.n_heads > 1 else ""
        now = number(float(trace.array("weights")[head, query, key]))
        return f"The weight {token} → “{e.key_tokens[key] or '∅'}”{where} is {now}; the loss is {loss}."
    if kind == OUTPUT:
        what = "The output" if e.config.block == "none" else "What leaves the block"
        return (
            f"{what} differs from the wanted Y, which you edit under Numbers, by √{loss} (root mean square); "
            f"the loss is {loss}."
        )
    now = number(float(trace.array("readout")[query, find_class(e)]))
    return (
        f"Class {find_class(e)} has the probability {now} for {token}; the loss is {loss}. Edit W_read under Numbers."
    )


def _describe_unreached(trace: "Trace") -> str:
    e = trace.experiment
    names = [title(name) for name in list_movable(e) if find_gradient_stage(name) not in trace]
    if not names:
        return ""
    what = "a weight" if e.config.option("loss") == WEIGHT else "the loss"
    named = names if len(names) <= _LISTED else [*names[: _LISTED - 1], f"{len(names) - _LISTED + 1} other tables"]
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"{listed} {'does' if len(names) == 1 else 'do'} not affect {what}."


def describe_steps(found: Stepped) -> str:
    """Return one sentence on steps down: the loss before and after, with the same number of decimals."""
    before, after = found.descent.losses[0], found.descent.losses[-1]
    count = len(found.descent.losses) - 1
    steps = "One step" if count == 1 else f"{count} steps"
    text = f"{steps} at rate {found.rate:g}: the loss went from {_write(before)} to {_write(after)}."
    return text if after <= before else f"{text} It rose: the steps are too long; undo and lower the rate."


def describe_better(found: Stepped) -> str:
    """Return one sentence on a better rate; "" without one."""
    if found.better is None:
        return ""
    rate, other = found.better
    return f"At rate {rate:.3g} the same number of steps would reach {_write(other.losses[-1])} (dashed)."


def _write(loss: float) -> str:
    """Return a loss with more decimals than elsewhere: a short step changes only the last ones."""
    return number(loss, 6)


def write_trial(found: Tried, e: "Experiment") -> tuple[str, tuple[tuple[str, str], ...], str]:
    """Return the title of a number tried, its lines as name and number, and a sentence that compares."""
    trial = found.trial
    lines = (
        (f"{trial.measured} at {number(trial.value + trial.by)}", f"{trial.above:.10f}"),
        (f"{trial.measured} at {number(trial.value - trial.by)}", f"{trial.below:.10f}"),
        (f"difference ÷ {2 * trial.by:g}", f"{trial.slope:.8f}"),
        ("computed backwards", f"{trial.computed:.8f}"),
    )
    agrees = abs(trial.slope - trial.computed) <= max(_AGREES * abs(trial.computed), 1e-7)
    told = "They agree." if agrees else "They differ: the loss bends, or has a corner, within this distance."
    minus = tuple((name, text.replace("-", "−")) for name, text in lines)
    return name_number(e, found.cell), minus, told


def name_number(e: "Experiment", cell: Cell) -> str:
    """Return the name of a number of a gradient: "dW_q, row 2, column 0", "dScores, sat → cat"."""
    stage = BY_NAME[cell.stage]
    row, column = labels(e, stage.axes, cell.row, cell.column)
    named = [axis in TOKENS for axis in stage.axes[-2:]]
    if stage.axes[-2] == "one":
        return f"{stage.title}, {'head' if stage.axes[-1] == 'head' else 'column'} {column}"
    place = f"{row or '∅'} → {column or '∅'}" if all(named) else f"{row if named[0] else f'row {row}'}, column {column}"
    head = f", head {cell.head or 0}" if stage.has_heads and e.n_heads > 1 else ""
    return f"{stage.title}, {place}{head}"
