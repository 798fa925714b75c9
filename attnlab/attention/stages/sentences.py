"""One plain sentence on what a weight means: how much of another token a token takes."""

import math
from typing import TYPE_CHECKING

from attnlab.attention.registries import masks
from attnlab.attention.registries.normalizers import NORMALIZERS
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explanation import Cell, find_shown_value
from attnlab.attention.stages.presence import source
from attnlab.base.counted import PERCENT, format_percent

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

_LONGEST = 40


def write_sentence(trace: "Trace", cell: Cell) -> str:
    """Return what a weight means for the token of its query; "" if it is no number, or is changed afterwards."""
    e = trace.experiment
    value = find_shown_value(trace, cell)
    if not math.isfinite(value) or source(e, "context") != cell.stage:
        return ""
    taker, giver = _quote(e.tokens[cell.row]), _quote(e.key_tokens[cell.column])
    where = ""
    if e.n_heads > 1:
        where = "On average over the heads, " if cell.head is None else f"In head {cell.head}, "
        if cell.head in e.config.ablated:
            return f"Head {cell.head} is switched off: {taker} takes nothing from {giver} through it."
    reason = masks.reasons(e, cell.row, cell.column)
    if value == 0:
        why = ", because of the mask" if reason else ""
        return f"{where}{taker} takes nothing from {giver}{why}."
    if cell.stage == "weights" and NORMALIZERS[e.config.normalizer].competes and not e.config.option("sink"):
        return f"{where}{taker} takes {write_percent(value)} of its new value from {giver}."
    return f"{where}{taker} takes {number(value)} times the value of {giver}."


def write_percent(share: float) -> str:
    """Return a share as whole per cent, which never says none or all of what is only nearly so."""
    if share < 0.005:
        return f"less than 1{PERCENT}"
    return "nearly all" if 0.995 <= share < 1 else format_percent(share, 0)


def _quote(token: str) -> str:
    text = " ".join(token.split()) or "the empty token"
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"“{text}”" if token.strip() else text
