"""What the sensitivity lens shows for one number and one weight, computed in the background, and its sentences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.edits.layer_tables import table
from attnlab.attention.measures.sensitivity import (
    Floats,
    Number,
    list_largest,
    list_tables,
    measure_by_trying,
    measure_causes,
    measure_effects,
)
from attnlab.attention.stages.arithmetic import number
from attnlab.ui.playground.head_titles import name_head
from attnlab.ui.playground.input_tables import head_width, title
from attnlab.ui.playground.lenses.arrows_content import Held

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace

MOST = 10
"""How many numbers the list of the largest has."""
STEP = 0.01
"""The step that the sentence on a number names."""
TRIED = 0.001
"""The step of the check by trying."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The derivatives for one number and one weight.

    ``effects`` [h, T_q, T_k] are those of every weight with respect to ``number``, ``tried`` the same by trying both
    ways; ``causes`` are those of the ``held`` weight with respect to every number of each table.
    """

    experiment: "Experiment"
    held: Held
    number: Number
    effects: Floats
    tried: Floats
    causes: dict[str, Floats]
    weight: float

    @property
    def effect(self) -> float:
        """The derivative of the held weight with respect to the number."""
        return float(self.effects[self.held.head, self.held.query, self.held.key])

    @property
    def shown_head(self) -> int:
        """The head of the held weight, or the one that the number moves most if it does not move that one."""
        sizes = np.abs(np.nan_to_num(self.effects)).max((1, 2))
        return self.held.head if sizes[self.held.head] else int(sizes.argmax()) if sizes.any() else self.held.head

    def list_columns(self, name: str) -> range:
        """Return the columns of a table that are shown: those of the held head, or all."""
        e, width = self.experiment, head_width(self.experiment, name)
        heads = e.n_heads if name == "W_q" else e.n_kv_heads
        if not width or heads == 1:
            return range(self.causes[name].shape[1])
        first = self.held.head * heads // e.n_heads * width
        return range(first, first + width)

    @property
    def largest(self) -> list[tuple[Number, float]]:
        """The numbers that move the held weight most, with the derivatives."""
        return list_largest(self.causes, MOST)


def find_sensitivity(trace: "Trace", held: Held, chosen: Number | None) -> Found:
    """Return what the lens shows. Without a ``chosen`` number it takes the one that moves the weight most."""
    e = trace.experiment
    causes = measure_causes(e, held.head, held.query, held.key)
    largest = list_largest(causes, 1)
    at = chosen or (largest[0][0] if largest else Number("embeddings", min(held.query, e.T_q - 1), 0))
    weight = float(trace.array("weights")[held.head, held.query, held.key])
    return Found(e, held, at, measure_effects(e, at), measure_by_trying(e, at, TRIED), causes, weight)


def fits(e: "Experiment", at: Number) -> bool:
    """Return whether a layer has a number."""
    return at.table in list_tables(e) and at.row < len(table(e, at.table)) and at.column < table(e, at.table).shape[1]


def name_number(e: "Experiment", at: Number) -> str:
    """Return the name of a number: "W_q[2, 1]", or "X of “cat”, column 1"."""
    tokens = {"embeddings": e.tokens, "memory_embeddings": e.key_tokens}.get(at.table)
    if tokens is None:
        return f"{at.table}[{at.row}, {at.column}]"
    return f"{title(at.table)} of “{tokens[at.row] or '∅'}”, column {at.column}"


def write_place(at: Number) -> str:
    """Return the short name of a number: "X[1, 0]"."""
    return f"{title(at.table)}[{at.row}, {at.column}]"


def name_weight(e: "Experiment", held: Held) -> str:
    """Return the name of a weight: "“it” → “cat” of head 2"."""
    head = f" of {name_head(held.head)}" if e.n_heads > 1 else ""
    return f"“{e.tokens[held.query] or '∅'}” → “{e.key_tokens[held.key] or '∅'}”{head}"


def describe_effects(found: Found) -> str:
    """Return the sentence on the number: what it is, and what a small step does to the weights."""
    e, at = found.experiment, found.number
    value = float(table(e, at.table)[at.row, at.column])
    name = name_number(e, at)
    if not np.isfinite(found.effects).all():
        return f"{name} is {number(value)}. Some derivatives are undefined here: a length or a score is exactly 0."
    if not found.effects.any():
        why = (
            "the values are mixed by the weights, and do not change them"
            if at.table == "W_v"
            else "none depends on it, it is multiplied by 0, or each weight is 0 or 1 to the last digit"
        )
        return f"{name} is {number(value)}. It moves no weight: {why}."
    head, row, column = np.unravel_index(np.abs(found.effects).argmax(), found.effects.shape)
    most = float(found.effects[head, row, column])
    where = f"“{e.tokens[row] or '∅'}” → “{e.key_tokens[column] or '∅'}”"
    of_head = f" of {name_head(int(head))}" if e.n_heads > 1 else ""
    verb = "rises" if most > 0 else "falls"
    return (
        f"{name} is {number(value)}. Raised by {STEP}, it moves {where}{of_head} most: the weight {verb} by about "
        f"{number(abs(most) * STEP, 6)}."
    )


def describe_causes(found: Found) -> str:
    """Return the sentence on the held weight: the number that moves it most, or why none does."""
    said = f"The weight {name_weight(found.experiment, found.held)} is {number(found.weight)}."
    if not all(np.isfinite(each).all() for each in found.causes.values()):
        return f"{said} Some of its derivatives are undefined: a length or a score is exactly 0."
    if not found.largest:
        return f"{said} No number moves it: {_say_why(found)}."
    at, most = found.largest[0]
    by = f"{STEP} more {'raises' if most > 0 else 'lowers'} it by about {number(abs(most) * STEP, 6)}"
    return f"{said} {name_number(found.experiment, at)} moves it most: {by}."


def describe_check(found: Found) -> str:
    """Return the derivative of the held weight beside the number that trying gives."""
    e, held = found.experiment, found.held
    tried = float(found.tried[held.head, held.query, held.key])
    return (
        f"d weight({name_weight(e, held)}) ÷ d {name_number(e, found.number)} = {number(found.effect, 8)}; "
        f"trying ± {TRIED} gives {number(tried, 8)}."
    )


def _say_why(found: Found) -> str:
    e, held = found.experiment, found.held
    hidden = e.hidden()
    if hidden is not None and bool(hidden[held.query, held.key]):
        return "it is masked"
    if hidden is not None and int((~hidden[held.query]).sum()) == 1:
        return "it is the only visible key of its row, so it is always 1"
    if e.T_k == 1:
        return "it is the only key, so it is always 1"
    return "the row is saturated, or its numbers have no slope here"
