"""The cells of its sources from which a number of the backward pass is computed; the axes of both tell which."""

from typing import TYPE_CHECKING

from attnlab.attention.registries.losses import CLASS, OUTPUT, find_class, find_pair
from attnlab.attention.stages.links import Region
from attnlab.attention.stages.presence import find_consumer, source
from attnlab.attention.stages.table import Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

_ALL = Region(None, None, None, "")
_SAME = (
    {"d_memory", "d_model"},
    {"d_out", "d_model"},
    {"position", "token"},
    {"query", "token"},
    {"key", "token"},
)
"""Pairs of axes that count the same things."""
_ALL_HEADS = ("query_columns", "key_columns", "value_columns", "merged")
"""Axes that count the columns of all heads."""


def find_gradient_region(
    e: "Experiment", own: Stage, stage: Stage, row: int | None, column: int | None
) -> Region | None:
    """Return the region of a source that a gradient, the loss or the Jacobian at a place is computed from.

    ``column`` is None for a whole row. The region is the smallest row, column or cell that holds all that is read; None
    if nothing of this source is.
    """
    if stage.axes == ("one", "one"):
        return Region(0, 0, None, "")
    if own.name == "loss":
        return _of_loss(e)
    if own.name == "jacobian":
        return Region(find_pair(e)[1], None, None, "")
    if own.axes[-1] == "head":  # one number for each head
        return Region(None, None, column, "")
    of = own.name.removeprefix("d_")
    if own.is_map and find_consumer(e, of) == "weights":  # the normaliser mixes a row
        if stage.name != "jacobian":
            return Region(row, None, None, "")
        return Region(None, column, None, "") if row == find_pair(e)[1] else None
    if e.config.score != "dot" and stage.name in (source(e, "scores"), source(e, "scores", 1)):
        return _ALL
    if own.axes[-2] == "one" and not stage.is_backward:  # the factor of a norm, which reads the mean of each row
        return _ALL
    return _by_axes(e, own, stage, row, column)


def _of_loss(e: "Experiment") -> Region:
    head, query, key = find_pair(e)
    match e.config.option("loss"):
        case kind if kind == CLASS:
            return Region(query, find_class(e), None, "")
        case kind if kind == OUTPUT:
            return _ALL
    return Region(query, key, head, "")


def _by_axes(e: "Experiment", own: Stage, stage: Stage, row: int | None, column: int | None) -> Region:
    """Return the place in a factor of a product, or in a term of a sum."""
    places = {own.axes[-2]: row, own.axes[-1]: column}
    for axis in places.keys() & set(_ALL_HEADS):
        if axis not in stage.axes and stage.axes[-1] in ("d_k", "d_v"):
            return _split(e, axis, stage, places[axis])
    at_row, at_column = (_find(places, axis) for axis in stage.axes[-2:])
    if at_row is not None and stage.name.startswith(("d_normed", "d_rotated")):
        at_column = None  # norms and rotations mix the columns of a row
    return Region(at_row, at_column, None, "")


def _find(places: dict[str, int | None], axis: str) -> int | None:
    if axis in places:
        return places[axis]
    return next((at for each, at in places.items() if {each, axis} in _SAME), None)


def _split(e: "Experiment", axis: str, stage: Stage, column: int | None) -> Region:
    """Return the column of a head's stage that is a column of all heads together, in each head that shares it."""
    if column is None:
        return _ALL
    head, column = divmod(column, e.d_v if stage.axes[-1] == "d_v" else e.d_k)
    shared = axis in ("key_columns", "value_columns") and e.n_kv_heads < e.n_heads
    return Region(None, column, None if shared else head, "")
