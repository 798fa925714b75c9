"""What the arrows lens shows on a slide: the plane for the stage of the step, with the sentences of the window."""

from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.measures.planes import describe_shown, measure_shown
from attnlab.attention.stages.table import STAGES
from attnlab.base.errors import ExperimentError
from attnlab.document.document import View
from attnlab.figures.slides.lens_content import Plane
from attnlab.ui.playground.lenses import arrows_content as content
from attnlab.ui.playground.lenses.arrows_words import describe_context, describe_score

if TYPE_CHECKING:
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace

_EARLIER = {stage.name for stage in takewhile(lambda stage: stage.name != "weights", STAGES)}
UP_TO_SCORES = _EARLIER - {"inputs", "memory", "values"}
"""The stages that queries and keys are drawn for."""
_CHOICES = content.Choices("query")
_TWO_COLUMNS = "Column 0 of a token points to the right, column 1 up."


def make_arrows(trace: "Trace", stage: str, cell: "Cell | None", head: int | str) -> Plane:
    """Return the tokens for the inputs and the memory, queries and keys up to the scores, and for the weights and what
    comes after them the values with the context. The pair is that of the cell. Runs on any thread.

    Raises:
        ExperimentError: the vectors contain NaN or ∞.
    """
    held = content.find_held(trace, View(cell=cell, pinned=cell is not None, head=head))
    bad = content.find_unusable(trace, held)
    if bad:
        raise ExperimentError(bad)
    make = _make_tokens if stage in ("inputs", "memory") else _make_pairs if stage in UP_TO_SCORES else _make_values
    return make(trace, held)


def _make_tokens(trace: "Trace", held: content.Held) -> Plane:
    vectors = content.stack_tokens(trace)
    plane = content.choose_plane(_CHOICES, vectors)
    shown = measure_shown(vectors, plane)
    said = _TWO_COLUMNS if vectors.shape[1] == 2 and shown == 1 else describe_shown(shown)
    return Plane("Tokens", content.make_tokens_data(trace, held, plane), said)


def _make_pairs(trace: "Trace", held: content.Held) -> Plane:
    stages = content.find_stages(trace, _CHOICES)
    queries, keys = (trace.array(name)[held.head].astype(np.float64) for name in stages)
    best = content.find_best_keys(trace.array("scores")[held.head, held.query], content.find_hidden(trace, held.query))
    plane = content.choose_plane(_CHOICES, np.concatenate([queries, keys]), queries[held.query], keys[best])
    data = content.make_pairs_data(trace, held, stages, plane, movable=False)
    said = describe_score(trace, held, stages, projected=data.projection is not None)
    return Plane("Queries and keys", data, said)


def _make_values(trace: "Trace", held: content.Held) -> Plane:
    plane = content.choose_plane(_CHOICES, trace.array("values")[held.head].astype(np.float64))
    return Plane("Values and context", content.make_values_data(trace, held, plane), describe_context(trace, held))
