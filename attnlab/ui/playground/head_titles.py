"""The titles of heads on cards, and their names in texts."""

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


def head_titles(e: "Experiment", axes: tuple[str, ...] = ("", ""), columns: int = 0) -> tuple[str, ...]:
    """Return the titles of all heads; for maps with d_k or d_v ``columns`` a head, with each head's range of columns.

    Heads that share their keys and values have the same columns.
    """
    shared = e.n_heads // (e.config.n_kv_heads or e.n_heads) if axes[-2] == "key" else 1
    return _titles(e.n_heads, shared, columns if axes[-1] in ("d_k", "d_v") else 0)


def name_head(head: int) -> str:
    """Return "head 0" for a text that wraps: its words stay in one line."""
    return f"head\u00a0{head}"


@lru_cache(maxsize=32)
def _titles(heads: int, shared: int, columns: int) -> tuple[str, ...]:
    firsts = [head // shared * columns for head in range(heads)]
    spans = [f" · column {first}" if columns == 1 else f" · columns {first}–{first + columns - 1}" for first in firsts]
    return tuple(f"head {head}{spans[head] if columns else ''}" for head in range(heads))
