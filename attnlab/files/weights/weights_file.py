"""One call for scripts: puts the weights of a layer, from a file of any supported format, into an experiment."""

import os
import reprlib
from collections.abc import Mapping
from typing import Literal

from attnlab.attention.experiment import Experiment
from attnlab.base.arguments import check_path, explain_calls
from attnlab.base.errors import ArgumentError, FileError
from attnlab.files.atomic import format_name
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.head_counts import heads_beside
from attnlab.files.weights.named_array import NamedArray
from attnlab.files.weights.named_array import shorten_name as shown_name
from attnlab.files.weights.weights_apply import apply
from attnlab.files.weights.weights_in import Proposal, guess

_NAMED = 8


@explain_calls
def read_weights(
    path: str | os.PathLike[str],
    e: Experiment,
    *,
    layer: str | int | None = None,
    n_heads: int | None = None,
    n_kv_heads: int | None = None,
    embeddings: Literal["keep", "drawn"] = "keep",
) -> Experiment:
    """Return the experiment with the weights of a file: CSV, TSV, JSON, NPY, NPZ, safetensors or a state dict.

    Names and shapes determine which arrays are W_q [d_model, h·d_k], W_k, W_v, W_o and their biases; matrices stored as
    [out, in] are transposed. ``layer`` is an index from 0 or a name, needed if the file has several layers; ``n_heads``
    and ``n_kv_heads`` are needed if neither the shapes nor a config.json beside the file determine them.
    ``embeddings`` are kept, or with ``"drawn"`` drawn again if their columns do not fit, a word's vector seeded by the
    word. No code in the file is run.

    Raises:
        FileError: the file cannot be read, has no such layer, or has several and ``layer`` is not given.
        ExperimentError: sizes that disagree, or a missing number of heads.
        ArgumentError: ``e`` is not an Experiment.
    """
    check_path(path)
    if not isinstance(e, Experiment):
        raise ArgumentError(f"read_weights was given {type(e).__name__}; it needs an attnlab.Experiment.")
    if layer is not None and not isinstance(layer, str | int):
        raise ArgumentError(f"layer is {reprlib.repr(layer)}; it needs the name of a layer, or its index from 0.")
    arrays = read_arrays(path)
    proposal = _choose(path, guess(arrays, e, heads_beside(path)), arrays, layer)
    return apply(proposal, arrays, e, n_heads=n_heads, n_kv_heads=n_kv_heads, embeddings=embeddings)


def _choose(
    path: str | os.PathLike[str],
    proposals: tuple[Proposal, ...],
    arrays: Mapping[str, NamedArray],
    layer: str | int | None,
) -> Proposal:
    if not proposals:
        raise FileError(
            f"{format_name(path)} contains no attention layer that can be recognised; its arrays are "
            f"{_format_list(list(arrays))}. Use names such as W_q, W_k and W_v, or three matrices in this order."
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
