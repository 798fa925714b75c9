"""One call for scripts: puts the weights of a layer, from a file of any supported format, into an experiment."""

import os
import reprlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from attnlab.attention.experiment import Experiment
from attnlab.base.arguments import check_path, explain_calls
from attnlab.base.errors import ArgumentError, ExperimentError, FileError
from attnlab.files.atomic import format_name
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.weights_apply import apply
from attnlab.files.weights.weights_file import read_layer
from attnlab.files.weights.weights_in import Proposal
from attnlab.pretrained.folder import CONFIG, read_json
from attnlab.pretrained.imported_layer import KnownLayer, find_known_model


@explain_calls
def read_weights(
    path: str | os.PathLike[str],
    e: Experiment,
    *,
    layer: str | int | None = None,
    n_heads: int | None = None,
    n_kv_heads: int | None = None,
    embeddings: Literal["keep", "drawn"] = "keep",
    settings: Literal["keep", "model"] | None = None,
) -> Experiment:
    """Return the experiment with the weights of a file: CSV, TSV, JSON, NPY, NPZ, safetensors or a state dict.

    Names and shapes determine which arrays are W_q [d_model, h·d_k], W_k, W_v, W_o and their biases; matrices stored as
    [out, in] are transposed. ``layer`` is an index from 0 or a name, needed if the file has several layers; ``n_heads``
    and ``n_kv_heads`` are needed if neither the shapes nor a config.json beside the file determine them.
    ``embeddings`` are kept, or with ``"drawn"`` drawn again if their columns do not fit, a word's vector seeded by the
    word. No code in the file is run.

    Mask, scale, positions and norms of the experiment are kept, which is not the attention of a model that has others.
    With ``settings="model"`` they are those of the config.json beside the file. If there is one of a model, that or
    ``"keep"`` has to be given: nothing else tells whether the model's own attention is wanted. A named layer without a
    config.json is imported with a warning. The model's hidden states are in no file: :func:`attnlab.read_model`
    computes them.

    Raises:
        FileError: the file cannot be read, has no such layer, or has several and ``layer`` is not given.
        ExperimentError: sizes that disagree, a missing number of heads, settings of a model that is not known, or a
            layer of a model without ``settings``.
        ArgumentError: ``e`` is not an Experiment.
    """
    check_path(path)
    if not isinstance(e, Experiment):
        raise ArgumentError(f"read_weights was given {type(e).__name__}; it needs an attnlab.Experiment.")
    asked: object = settings  # an array would compare element by element
    if asked is not None and not (isinstance(asked, str) and asked in ("keep", "model")):
        raise ArgumentError(f"settings is {reprlib.repr(settings)}; it needs one of keep, model.")
    arrays, proposal = read_layer(path, e, layer)
    if settings == "model":
        known = _find_layer(Path(path), arrays, proposal)
        made = apply(proposal, arrays, known.clear(e), n_heads=n_heads, n_kv_heads=n_kv_heads, embeddings=embeddings)
        return known.set_up(made)
    if settings is None:
        _check_chosen(Path(path), arrays, proposal)
    return apply(proposal, arrays, e, n_heads=n_heads, n_kv_heads=n_kv_heads, embeddings=embeddings)


def _find_layer(path: Path, arrays: Mapping[str, NamedArray], proposal: Proposal) -> KnownLayer:
    """Return the layer of the model beside a file; an AttnlabError if it is none that is known."""
    if not proposal.whole or "W_q" not in proposal.parts:
        raise ExperimentError(f"{format_name(path)} has no whole layer, so no {CONFIG} tells its settings.")
    layer = find_known_model(path.parent, arrays).find(proposal.parts["W_q"].array)
    if layer is None:
        raise ExperimentError(f"{format_name(path)} has no layer that its {CONFIG} knows.")
    return layer


def _check_chosen(path: Path, arrays: Mapping[str, NamedArray], proposal: Proposal) -> None:
    """Refuse a layer of a model without a choice of its settings; warn of one whose settings are missing.

    Raises:
        ExperimentError: the config.json beside the file is that of a model; the sentence says what each choice gives.
    """
    config = path.parent / CONFIG
    if proposal.name and not config.is_file():
        warnings.warn(
            f"No {CONFIG} is beside {format_name(path)}: mask, scale and positions stay those of the experiment, and "
            f'may not be those of {shorten_name(proposal.name)}; settings="keep" says that this is wanted.',
            stacklevel=4,
        )
    if not (config.is_file() and proposal.whole and _names_family(config)):
        return
    try:
        title = _find_layer(path, arrays, proposal).title
    except (FileError, ExperimentError) as error:
        raise ExperimentError(
            f'{error} settings="keep" imports the weights alone, and their attention will not be the model\'s.'
        ) from None
    raise ExperimentError(
        f'The weights of {title} alone do not give its attention: settings="model" sets its mask, scale and positions '
        f'from {CONFIG}, and settings="keep" keeps those of the experiment, which are not the model\'s.'
    )


def _names_family(config: Path) -> bool:
    try:
        return isinstance(read_json(config).get("model_type"), str)
    except FileError:
        return False
