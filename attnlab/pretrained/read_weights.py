"""One call for scripts: puts the weights of a layer, from a file of any supported format, into an experiment."""

import os
import reprlib
from collections.abc import Mapping
from functools import partial
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
from attnlab.pretrained.layer_edits import list_edits
from attnlab.pretrained.layer_in import read_definition


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

    A layer of a model gets the mask, scale, positions and norms of the config.json beside the file; those of ``e`` are
    replaced. With ``settings="model"`` anything else is refused. With ``settings="keep"`` the settings of ``e`` stay,
    and a layer whose config.json says otherwise is refused: its attention would not be the model's. Change settings of
    the result instead. Where nothing tells the settings of a named layer, because there is no config.json or its family
    is unknown, ``"keep"`` has to be given. The model's hidden states are in no file: :func:`attnlab.read_model`
    computes them.

    Raises:
        FileError: the file cannot be read, has no such layer, or has several and ``layer`` is not given.
        ExperimentError: sizes that disagree, a missing number of heads, or settings that are not those of the model, or
            not known and not confirmed by ``settings="keep"``.
        ArgumentError: ``e`` is not an Experiment.
    """
    check_path(path)
    if not isinstance(e, Experiment):
        raise ArgumentError(f"read_weights was given {type(e).__name__}; it needs an attnlab.Experiment.")
    asked: object = settings  # an array would compare element by element
    if asked is not None and not (isinstance(asked, str) and asked in ("keep", "model")):
        raise ArgumentError(f"settings is {reprlib.repr(settings)}; it needs one of keep, model.")
    arrays, proposal = read_layer(path, e, layer)
    put = partial(apply, proposal, arrays, n_heads=n_heads, n_kv_heads=n_kv_heads, embeddings=embeddings)
    try:
        known = _find_layer(Path(path), arrays, proposal)
    except (FileError, ExperimentError) as error:
        if settings == "model":
            raise
        if settings is None:
            _refuse_model(Path(path), proposal, str(error))
        return put(e)
    if settings == "keep":
        made = put(e)
        _check_kept(known, made)
        return made
    return known.set_up(put(known.clear(e)))


def _find_layer(path: Path, arrays: Mapping[str, NamedArray], proposal: Proposal) -> KnownLayer:
    """Return the layer of the model beside a file; an AttnlabError if it is none that is known."""
    if not proposal.whole or "W_q" not in proposal.parts:
        raise ExperimentError(f"{format_name(path)} has no whole layer, so no {CONFIG} tells its settings.")
    layer = find_known_model(path.parent, arrays).find(proposal.parts["W_q"].array)
    if layer is None:
        raise ExperimentError(f"{format_name(path)} has no layer that its {CONFIG} knows.")
    return layer


def _check_kept(known: KnownLayer, made: Experiment) -> None:
    """Refuse an experiment whose settings are not those of the layer of a model.

    Raises:
        ExperimentError: it has others; the sentence names them.
    """
    own = read_definition(known.attention, made.T_q, made.T_k)
    if made.n_heads != own[1].n_heads:
        differences = [f"{own[1].n_heads} heads → {made.n_heads}"]
    else:
        differences = [each.words for each in list_edits(own, made)]
    if differences:
        raise ExperimentError(
            f'With settings="keep", {known.title} would not have its own attention: {", ".join(differences)}. Leave '
            f"settings out, and change those of the result."
        )


def _refuse_model(path: Path, proposal: Proposal, why: str) -> None:
    """Refuse a layer of a model whose settings are not known; other arrays are no model's.

    Raises:
        ExperimentError: nothing tells its settings; the sentence says why.
    """
    config = path.parent / CONFIG
    alone = 'settings="keep" imports the weights alone, and their attention may not be the model’s.'
    if config.is_file():
        if proposal.whole and _names_family(config):
            raise ExperimentError(f"{why} {alone}")
    elif proposal.name:
        raise ExperimentError(
            f"No {CONFIG} beside {format_name(path)} tells the mask, scale and positions of "
            f"{shorten_name(proposal.name)}; put that of the model there. {alone}"
        )


def _names_family(config: Path) -> bool:
    try:
        return isinstance(read_json(config).get("model_type"), str)
    except FileError:
        return False
