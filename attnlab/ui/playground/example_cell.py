"""The weight that is shown while no cell is held, by Explain and by the lenses of one pair of tokens."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages.explain import Cell

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

MOST_TOKENS = 32
"""Longer sequences have no example in Explain, as explaining their weights takes longer than drawing them."""


def find_example_pair(trace: "Trace", view: "View") -> tuple[int, int]:
    """Return the query and the key of the open example, if the layer has them, else those of the largest weight
    between two different tokens that no mask sets to 0."""
    e, place = trace.experiment, view.example
    if place is not None and place[0] < e.T_q and place[1] < e.T_k:
        return place
    head, stage = _find_head(view), "zeroed" if "zeroed" in trace else "weights"  # what a late mask leaves of them
    weights = trace.array(stage)[min(head, e.n_heads - 1)] if head is not None else trace.mean(stage)
    apart = np.where(np.isfinite(weights), weights, -np.inf)
    if min(weights.shape) > 1 and e.memory_tokens is None:
        apart = np.where(np.eye(*weights.shape, dtype=np.bool_), -np.inf, apart)
    query, key = divmod(int(apart.argmax()), e.T_k)
    return query, key


def find_example_cell(trace: "Trace", view: "View") -> Cell | None:
    """Return the weight of the example pair, in the shown head; None while not all is computed, and for long
    sequences."""
    e = trace.experiment
    if view.at is not None or max(e.T_q, e.T_k) > MOST_TOKENS:
        return None
    return Cell("weights", *find_example_pair(trace, view), _find_head(view))


def _find_head(view: "View") -> int | None:
    return view.head if isinstance(view.head, int) else 0 if view.head == "all" else None
