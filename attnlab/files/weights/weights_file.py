"""Finds a layer in a file of any supported format, for scripts."""

import os
import reprlib
from collections.abc import Mapping

from attnlab.attention.experiment import Experiment
from attnlab.base.errors import ArgumentError, FileError
from attnlab.files.atomic import format_name
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.head_counts import heads_beside
from attnlab.files.weights.named_array import NamedArray
from attnlab.files.weights.named_array import shorten_name as shown_name
from attnlab.files.weights.weights_in import Proposal, guess

_NAMED = 8


def read_layer(
    path: str | os.PathLike[str], e: Experiment, layer: str | int | None
) -> tuple[Mapping[str, NamedArray], Proposal]:
    """Return the arrays of a file, and the layer of them that is asked for, by name or by index from 0.

    Raises:
        FileError: the file cannot be read, has no such layer, or has several and ``layer`` is not given.
        ArgumentError: ``layer`` is neither a name nor an index.
    """
    if layer is not None and not isinstance(layer, str | int):
        raise ArgumentError(f"layer is {reprlib.repr(layer)}; it needs the name of a layer, or its index from 0.")
    arrays = read_arrays(path)
    return arrays, _choose(path, guess(arrays, e, heads_beside(path)), arrays, layer)


def _choose(
    path: str | os.PathLike[str],
    proposals: tuple[Proposal, ...],
    arrays: Mapping[str, NamedArray],
    layer: str | int | None,
) -> Proposal:
    if not proposals:
        unusable = next((array for array in arrays.values() if array.reason), None)
        advice = "Use names such as W_q, W_k and W_v, or three matrices in this order."
        if unusable is not None:
            advice = f"{shown_name(unusable.name)} cannot be used: {unusable.reason}."
        raise FileError(
            f"{format_name(path)} contains no attention layer that can be recognised; its arrays are "
            f"{_format_list(list(arrays))}. {advice}"
        )
    if layer is None:
        if len(proposals) == 1:
            return proposals[0]
        raise FileError(
            f"{format_name(path)} contains {len(proposals)} layers; choose one with layer: {_names(proposals)}."
        )
    for place, proposal in enumerate(proposals):
        if layer in (place, proposal.name):
            return proposal
    raise FileError(f"{format_name(path)} contains no layer {reprlib.repr(layer)}; there are {_names(proposals)}.")


def _names(proposals: tuple[Proposal, ...]) -> str:
    return _format_list([f"{place} ({each.name})" if each.name else str(place) for place, each in enumerate(proposals)])


def _format_list(names: list[str]) -> str:
    return ", ".join(map(shown_name, names if len(names) <= _NAMED else [*names[: _NAMED - 1], "…", names[-1]]))
