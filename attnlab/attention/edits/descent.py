"""Edits by the backward pass: choose a loss, and move the numbers of tables one or more steps down its gradient."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attnlab.attention.edits.layer_edits import configure
from attnlab.attention.edits.layer_tables import table, tables, with_table
from attnlab.attention.experiment import Experiment
from attnlab.attention.registries.losses import NONE, WEIGHT, find_pair, find_reason_against_wanted
from attnlab.attention.stages.explain_block import list_unused_tables
from attnlab.attention.stages.presence import PARAMETERS, has_stage
from attnlab.attention.stages.table import plan
from attnlab.attention.stages.trace import Trace
from attnlab.base.errors import ExperimentError

MOVABLE = ("W_q", "W_k", "W_v", "W_o", *PARAMETERS, "embeddings", "memory_embeddings")
"""The tables that a step may move, where the layer has them."""
_PROJECTIONS = ("W_q", "W_k", "W_v")
_STAGES = {"embeddings": "d_inputs", "memory_embeddings": "d_memory"}
_TITLES = {"embeddings": "X", "memory_embeddings": "M"}
_RATES = tuple(10 ** (place / 2) for place in range(1, 9))
"""How many times a rate the others are that :func:`find_better_rate` tries."""


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """The layer after some steps, and the loss before each step and at the end, [steps + 1]."""

    experiment: Experiment
    losses: tuple[float, ...]


def choose_loss(e: Experiment, kind: str, **options: Any) -> Experiment:
    """Return the experiment with a loss of a kind, and options such as ``loss_wanted``.

    Raises:
        ExperimentError: an option is invalid, the wanted weight is masked, so that no number moves it, or
            ``loss_wanted`` is given and no weight of the normaliser is as large or small.
    """
    chosen = configure(e, loss=kind, **options)
    reason = find_reason_against_wanted(chosen) if "loss_wanted" in options else ""
    if reason:
        raise ExperimentError(reason)
    _, query, key = find_pair(chosen)
    hidden = chosen.hidden()
    if kind == WEIGHT and hidden is not None and bool(hidden[query, key]) and chosen.config.option("fill") != "0":
        pair = f"“{e.tokens[query] or '∅'}” → “{e.key_tokens[key] or '∅'}”"
        raise ExperimentError(f"{pair} is masked, so its weight has no gradient; choose a pair that the mask allows.")
    return chosen


def list_movable(e: Experiment) -> tuple[str, ...]:
    """Return the tables of a layer that have numbers; a projection that is the identity has none.

    In a stack, the tokens of a layer are the embeddings only in the first. Tables that the layer is not computed with,
    such as those of a norm that is off, are not among them.
    """
    used = set(tables(e)) - list_unused_tables(e, plan(e).stages)
    return tuple(name for name in MOVABLE if name in used and _has_numbers(e, name))


def _has_numbers(e: Experiment, name: str) -> bool:
    if name == "embeddings":
        return e.layer == 0
    return name not in _PROJECTIONS or getattr(e.weights, name) is not None


def find_gradient_stage(name: str) -> str:
    """Return the stage that holds the gradient of a table."""
    return _STAGES.get(name, f"d_{name}")


def descend(
    e: Experiment,
    rate: float,
    names: Sequence[str],
    steps: int = 1,
    go_on: Callable[[float], bool] = lambda loss: True,
) -> Descent:
    """Return the layer after steps of gradient descent: each number of the named tables minus rate · gradient.

    Gradients and losses are computed in float64. ``go_on`` is called with each loss; the steps end when it returns
    False.

    Raises:
        ExperimentError: no loss, no table, a rate that is not positive or leads beyond all numbers, or a loss without a
            gradient.
    """
    if e.config.option("loss") == NONE:
        raise ExperimentError("There is no loss to step down; choose a wanted weight, output or class.")
    if not (math.isfinite(rate) and rate > 0):
        raise ExperimentError(f"The rate is {rate:g}; it needs a number above 0, such as 0.5.".replace("-", "−"))
    names = tuple(name for name in names if name in list_movable(e))
    if not names:
        raise ExperimentError(f"Nothing may move: choose {_name_movable(e)}.")
    given, losses = e, list[float]()
    for _ in range(steps):
        trace = Trace(e, torch.device("cpu"), torch.float64)
        losses.append(float(trace["loss"]))
        if not go_on(losses[-1]):
            break
        found = _find_gradients(trace, names)
        if not all(bool(torch.isfinite(each).all()) for each in (trace["loss"], *found.values())):
            raise ExperimentError(
                "The loss or its gradient is ∞ or NaN; use smaller numbers. Nothing was changed."
                if e is given
                else _say_too_long(rate)
            )
        if e is given and not any(bool(d.any()) for d in found.values()):  # later steps stay where they arrived
            raise ExperimentError(_explain_no_gradient(e, trace, bool(found)))
        e = _step(e, found, rate)
    last = float(Trace(e, torch.device("cpu"), torch.float64)["loss"])
    if e is not given and not math.isfinite(last):
        raise ExperimentError(_say_too_long(rate))
    return Descent(e, (*losses, last))


def _say_too_long(rate: float) -> str:
    return f"At rate {rate:g} the steps are so long that numbers become ∞ or NaN; lower the rate. Nothing was changed."


def _find_gradients(trace: Trace, names: Sequence[str]) -> dict[str, torch.Tensor]:
    """Return the gradients of those tables that the loss reaches."""
    return {name: trace[find_gradient_stage(name)] for name in names if find_gradient_stage(name) in trace}


def _name_movable(e: Experiment) -> str:
    """Return the tables that the loss reaches, by the names that the window shows; of many only the first two."""
    reached = (name for name in list_movable(e) if has_stage(e, find_gradient_stage(name)))
    names = [_TITLES.get(name, name).replace("gamma", "γ").replace("beta", "β") for name in reached]
    return " or ".join(names) if len(names) < 3 else f"{names[0]}, {names[1]} or another table"


def _step(e: Experiment, gradients: Mapping[str, torch.Tensor], rate: float) -> Experiment:
    for name, d in gradients.items():
        given = table(e, name)
        moved = given.double().clone()
        moved[: len(d)] -= rate * d  # a table of positions may have more rows than there are tokens
        moved = moved.to(given.dtype)
        if not bool(torch.isfinite(moved).all()):
            raise ExperimentError(_say_too_long(rate))
        e = with_table(e, name, moved)
    return e


def _explain_no_gradient(e: Experiment, trace: Trace, reached: bool) -> str:
    if not reached:
        may = "W_q, W_k or X" if e.config.option("loss") == WEIGHT else "W_v or X"
        return f"What may move does not reach the loss, so nothing was changed; let {may} move too."
    if float(trace["loss"]) == 0:
        return "The loss is already 0, so nothing was changed."
    if bool(trace["d_scores"].any()) or not bool(trace["d_weights"].any()):
        return (
            "What may move has no effect here, as it is multiplied by numbers that are 0, so nothing was changed; let "
            "another table move, or begin with other numbers."
        )
    return (
        "The loss has no gradient here: the row is saturated, so a small change moves no weight, and nothing was "
        "changed; begin with smaller scores."
    )


def find_better_rate(e: Experiment, rate: float, names: Sequence[str], steps: int) -> tuple[float, Descent] | None:
    """Return the larger rate, of a few, that gets lowest in as many steps, if it gets lower than ``rate``."""
    best = rate, descend(e, rate, names, steps)
    for factor in _RATES:
        try:
            tried = descend(e, rate * factor, names, steps)
        except ExperimentError:  # its steps are too long
            continue
        if math.isfinite(tried.losses[-1]) and tried.losses[-1] < 0.9 * best[1].losses[-1]:
            best = rate * factor, tried
    return best if best[0] != rate else None
