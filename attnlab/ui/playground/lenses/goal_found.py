"""What the goal lens asks for and shows: what may change, the search, and the sentences on its result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.contributions import Contributions, measure_contributions
from attnlab.attention.measures.goal_seek import Goal, Reached, find_reason_against_goals, seek_goals
from attnlab.attention.measures.sensitivity import list_largest, list_tables
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.trace import Trace
from attnlab.base.counted import format_percent
from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.lessons.cell_references import split_at_commas, split_indices
from attnlab.lessons.lookup import ALIASES
from attnlab.lessons.table_edit import find_place
from attnlab.ui.playground.input_tables import title
from attnlab.ui.playground.lenses.sensitivity_found import write_place

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.measures.sensitivity import Number

QUERY_TOKEN, KEY_TOKEN = "query token", "key token"
MOST = 6
"""How many numbers the list of those that moved most has."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A search: the goals, of which the first is that of the held weight, what may change, and whether to hold.

    ``numbers`` are further numbers that may change, as they are typed: ``W_q[0, 1], X["cat", :]``.
    """

    goals: tuple[Goal, ...]
    may_change: tuple[str, ...]
    hold_others: bool
    numbers: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The result of a search from ``given``, with the contributions to the score of the first goal's weight before and
    after it; ``scores`` is None if the scores of the layer are no sums of contributions."""

    given: "Experiment"
    ask: Ask
    reached: Reached
    scores: tuple[Contributions, Contributions] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """Another choice of what may change, and what it needs; a sentence if it does not reach the goals."""

    name: str
    result: Reached | str


def list_choices(e: "Experiment") -> tuple[tuple[str, str], ...]:
    """Return what may change in a layer, as names and titles: tables that move weights, and the two tokens."""
    tables = [(name, title(name)) for name in list_tables(e) if name != "W_v"]
    return (*tables, (QUERY_TOKEN, "the query’s token"), (KEY_TOKEN, "the key’s token"))


def make_masks(e: "Experiment", goals: Sequence[Goal], names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return which numbers of each table may change."""
    masks: dict[str, NDArray[np.bool_]] = {}
    keys = "embeddings" if e.memory_tokens is None else "memory_embeddings"
    for name in names:
        held = {QUERY_TOKEN: "embeddings", KEY_TOKEN: keys}.get(name, name)
        if held not in list_tables(e):
            continue
        mask = masks.setdefault(held, np.zeros(tuple(table(e, held).shape), bool))
        if name in (QUERY_TOKEN, KEY_TOKEN):
            mask[[goal.query if name == QUERY_TOKEN else goal.key for goal in goals]] = True
        else:
            mask[:] = True
    return masks


def add_numbers(e: "Experiment", text: str, masks: dict[str, NDArray[np.bool_]]) -> None:
    """Let the numbers that a text names change as well.

    Raises:
        AttnlabError: the text names no numbers of a table that moves weights; the sentence shows some.
    """
    names = [name for name in list_tables(e) if name != "W_v"]
    for part in filter(None, map(str.strip, split_at_commas(text, outside_brackets=True))):
        found = split_indices(part)
        name = ALIASES.get(found[0], found[0]) if found is not None else ""
        if found is None or name not in names:
            there = ", ".join(map(title, names))
            raise ExperimentError(f"“{part[:40]}” does not name numbers of {there}; write W_q[0, 1] or X[2, :].")
        row, column = (None, None) if found[1] is None else find_place(e, name, found[1])
        mask = masks.setdefault(name, np.zeros(tuple(table(e, name).shape), bool))
        mask[slice(None) if row is None else row, slice(None) if column is None else column] = True


def find_goal(e: "Experiment", ask: Ask, progress: Callable[[float], bool]) -> Found:
    """Return what a search found. Runs on any thread.

    Raises:
        ExperimentError: the goals cannot be reached whatever changes, or nothing may change.
    """
    masks = make_masks(e, ask.goals, ask.may_change)
    add_numbers(e, ask.numbers, masks)
    reached = seek_goals(e, ask.goals, masks, hold_others=ask.hold_others, progress=progress)
    goal = ask.goals[0]
    try:
        before, after = (
            measure_contributions(Trace(each, torch.device("cpu"), torch.float64), goal.head, goal.query, goal.key)
            for each in (e, reached.experiment)
        )
    except AttnlabError:
        return Found(e, ask, reached)
    return Found(e, ask, reached, (before, after))


def find_ways(e: "Experiment", ask: Ask, progress: Callable[[float], bool]) -> list[Way]:
    """Return what each table and token alone, and all matrices together with and without the hold, would need."""
    names = [name for name, _ in list_choices(e)]
    matrices = tuple(name for name in names if name.startswith("W_"))
    wanted = [("all matrices, other rows held", matrices, True)] if matrices else []
    wanted += [("all matrices", matrices, False)] if len(matrices) > 1 else []
    wanted += [(text, (name,), False) for name, text in list_choices(e)]
    return [Way(text, _try(e, Ask(ask.goals, names, hold), progress)) for text, names, hold in wanted]


def _try(e: "Experiment", ask: Ask, progress: Callable[[float], bool]) -> Reached | str:
    try:
        return find_goal(e, ask, progress).reached
    except AttnlabError as error:
        return str(error)


def find_refusal(e: "Experiment", ask: Ask) -> str:
    """Return why a search cannot begin; "" if it can."""
    if not ask.may_change and not ask.numbers:
        return "Nothing may change: choose W_q, W_k, X or a token, or type some numbers."
    try:
        add_numbers(e, ask.numbers, {})
    except AttnlabError as error:
        return str(error)
    return find_reason_against_goals(e, ask.goals)


def describe_result(found: Found) -> str:
    """Return one sentence on a result: what was wanted and reached, and what it took; or how near it came."""
    r, goal = found.reached, found.ask.goals[0]
    weight = float(r.weights[goal.head, goal.query, goal.key])
    if not r.is_reached:
        return (
            f"Not reached: the search came to {number(weight)}, off by {number(r.missed)}. Nothing was changed. "
            f"{_say_what_would_help(found)}"
        )
    count = f"{len(found.ask.goals)} goals, the first" if len(found.ask.goals) > 1 else "Goal"
    parts = "; ".join(
        f"{title(name)} by {number(float(np.linalg.norm(change)))} ({_write_share(found, name)} of its length)"
        for name, change in r.changes.items()
    )
    kind = "a small change" if found.ask.hold_others else "the smallest change found"
    return (
        f"{count} {goal.wanted:g}, reached {number(weight)} by {kind}: {parts}. "
        f"Weights of other rows move by at most {number(r.others_moved)}."
    )


def _write_share(found: Found, name: str) -> str:
    whole = float(np.linalg.norm(table(found.given, name).double().numpy()))
    return format_percent(float(np.linalg.norm(found.reached.changes[name])) / whole, 0) if whole else "all"


def _say_what_would_help(found: Found) -> str:
    may = set(found.ask.may_change)
    more = [text for name, text in list_choices(found.given) if name not in may and name.startswith(("W_", "emb"))]
    if more:
        return f"Let {' or '.join(more)} change too."
    return "Switch off “Hold all other rows”." if found.ask.hold_others else "Ask for less, or for fewer goals."


def list_moved(reached: Reached) -> list[tuple["Number", float]]:
    """Return the numbers that changed most, with their changes, largest first."""
    return list_largest(dict(reached.changes), MOST)


def write_move(e: "Experiment", at: "Number", change: float) -> tuple[str, float, float, float]:
    """Return the name of a number, its value before and after, and the change."""
    before = float(table(e, at.table)[at.row, at.column])
    return write_place(at), before, before + change, change
