"""Tries a mapping: the resulting experiment, its matrices and weights as maps, or a sentence that says why not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.figures.map_data import MapData
from attnlab.figures.raster import reduce_maps
from attnlab.figures.scales import Scale, find_scale
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.projection_layouts import Heads, Part, extract_field, rows_of
from attnlab.files.weights.weights_apply import Embeddings, apply
from attnlab.files.weights.weights_in import Proposal
from attnlab.ui.base.jobs import Progress

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment
    from attnlab.document.scene import Scene
    from attnlab.pretrained.imported_layer import KnownLayer, KnownModel

FINEST = 256
"""The cells per side of a small picture of a matrix; larger matrices are shrunk in the thread that reads them."""


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """The user's choices: a proposal, the numbers of heads if chosen, and the source of the embeddings.

    ``block`` is whether the norms and the feed-forward of a model's layer come too.
    """

    proposal: Proposal
    n_heads: int | None = None
    n_kv_heads: int | None = None
    embeddings: Embeddings = "keep"
    block: bool = False

    @property
    def heads(self) -> Heads:
        """The numbers of heads if known: those chosen, else those of the file that agree with them."""
        told = self.proposal.heads
        shared = told.n_kv_heads if self.n_heads in (None, told.n_heads) else None
        return Heads(self.n_heads or told.n_heads, self.n_kv_heads or shared, told.source)


@dataclass(frozen=True, slots=True, eq=False)
class Small:
    """A matrix for a small picture: its name, its true shape, and its values reduced to about [FINEST, FINEST]."""

    name: str
    shape: tuple[int, ...]
    values: NDArray[np.floating]
    scale: Scale


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The result of a wish for a scene: an ``experiment``, or a ``sentence`` that says what does not fit.

    ``drawable`` is the number of columns of new embeddings that would fit; 0 if new ones would not help. ``layer`` is
    the layer of a model whose settings the experiment has; if these are not known, ``unknown`` says why.
    """

    scene: "Scene"
    experiment: "Experiment | None"
    sentence: str = ""
    drawable: int = 0
    matrices: tuple[Small, ...] = ()
    maps: MapData | None = None
    layer: "KnownLayer | None" = None
    unknown: str = ""


def run_trial(
    wish: Wish,
    arrays: Mapping[str, NamedArray],
    scene: "Scene",
    progress: Progress,
    model: "KnownModel | str | None" = None,
) -> Trial:
    """Return the trial of a wish, from any thread; if something does not fit, the trial has a sentence.

    ``model`` is the one that the files belong to, or a sentence why it is not known; None if they belong to none.
    """
    layer, base, unknown = None, scene.experiment, ""
    if model is not None:
        try:
            layer = _find_layer(wish, model)
            base = layer.clear(base)
        except AttnlabError as error:
            layer, unknown = None, str(error)
    found = _run(wish, arrays, scene, base, layer, progress)
    return replace(found, unknown=unknown) if unknown else found


def _find_layer(wish: Wish, model: "KnownModel | str") -> "KnownLayer":
    """Return the layer of a model that is wished for; ExperimentError if it is none."""
    if isinstance(model, str):
        raise ExperimentError(model)
    parts = wish.proposal.parts
    if not wish.proposal.whole:
        raise ExperimentError(f"W_q, W_k and W_v are not all chosen, so this is not a layer of {model.name}.")
    layer = model.find(parts["W_q"].array)
    if layer is not None and wish.block and layer.has_block:
        layer = model.find(parts["W_q"].array, block=True)
    if layer is None:
        raise ExperimentError(f"{shorten_name(parts['W_q'].array)} is not a W_q that attnlab knows in {model.name}.")
    return layer


def _run(
    wish: Wish,
    arrays: Mapping[str, NamedArray],
    scene: "Scene",
    base: "Experiment",
    layer: "KnownLayer | None",
    progress: Progress,
) -> Trial:
    """Return the trial of a wish for a base experiment, as a layer of a model if it turns out to be one."""
    matrices: list[Small] = []
    try:
        matrices = list(_list_matrices(wish, arrays, progress))
        made = _apply_wish(wish, arrays, base)
        if layer is not None:
            try:
                made = layer.set_up(made)
            except AttnlabError as error:
                return replace(_run(wish, arrays, scene, scene.experiment, None, progress), unknown=str(error))
        if wish.embeddings != "keep" and made.embeddings is not base.embeddings:
            matrices.append(_make_small("Embeddings", made.embeddings))
        maps = _compute_maps(made, scene, progress)
        return Trial(scene, made, matrices=tuple(matrices), maps=maps, layer=layer)
    except AttnlabError as error:
        progress.step()  # ends here if cancelled
        columns, sentence = _find_mend(wish, arrays, base, str(error))
        return Trial(scene, None, sentence, columns, tuple(matrices), layer=layer)
    except (RuntimeError, MemoryError) as error:  # torch's errors when memory is short
        sentence = str(error).splitlines()[0] if str(error) else "there is not enough memory"
        return Trial(scene, None, f"This cannot be computed: {sentence}.", 0, tuple(matrices))


def _apply_wish(wish: Wish, arrays: Mapping[str, NamedArray], e: "Experiment") -> "Experiment":
    if not wish.proposal.parts and not isinstance(wish.embeddings, NamedArray):
        _check_any_usable(arrays)
        raise ExperimentError("Nothing is chosen yet: choose an array for W_q, W_k, W_v, W_o or a bias.")
    return apply(wish.proposal, arrays, e, wish.n_heads, wish.n_kv_heads, wish.embeddings)


def _check_any_usable(arrays: Mapping[str, NamedArray]) -> None:
    """Raise an ExperimentError that says why, if none of the arrays can be used."""
    if arrays and all(array.reason for array in arrays.values()):
        name, array = next(iter(arrays.items()))
        n = len(arrays) - 1
        others = (f"Nor can the other {n:,} arrays." if n > 1 else "Nor can the other array.") if n else ""
        raise ExperimentError(f"{shorten_name(name)} cannot be used: {array.reason}. {others}".rstrip())


def _find_mend(wish: Wish, arrays: Mapping[str, NamedArray], e: "Experiment", sentence: str) -> tuple[int, str]:
    """Return the number of columns of new embeddings that would make a wish fit, 0 if none would, and the sentence to
    show: an error that new ones would have too comes before the error of the present ones."""
    if wish.embeddings != "keep" or not wish.proposal.parts:
        return 0, sentence
    try:
        return apply(wish.proposal, arrays, e, wish.n_heads, wish.n_kv_heads, "drawn").d_model, sentence
    except AttnlabError as error:
        return 0, str(error)
    except (RuntimeError, MemoryError):
        return 0, sentence


def _list_matrices(wish: Wish, arrays: Mapping[str, NamedArray], progress: Progress) -> "list[Small]":
    """Return each field as it would be imported; invalid ones are left out, and reported by later steps."""
    parts, found = wish.proposal.parts, []
    rows = rows_of(parts, arrays)
    for field, part in parts.items():
        progress.step()
        tensor = _lay_out(field, part, arrays, rows, wish.heads)
        if tensor is not None:
            found.append(_make_small(field, tensor))
    return found


def _lay_out(field: str, part: Part, arrays: Mapping[str, NamedArray], rows: int, heads: Heads) -> "Tensor | None":
    try:
        return extract_field(field, part, arrays[part.array].tensor(), rows, heads)
    except AttnlabError:
        return None


def _make_small(name: str, tensor: "Tensor") -> Small:
    values = tensor.detach().float().numpy()
    flat = values.reshape(1, -1) if values.ndim == 1 else values
    small = reduce_maps(flat[None], FINEST, FINEST)[0]
    return Small(shorten_name(name), tuple(tensor.shape), small, find_scale(small, "signed"))


def _compute_maps(e: "Experiment", scene: "Scene", progress: Progress) -> MapData:
    """Return the attention weights of the open sentence, computed as in the window."""
    from attnlab.attention.stages.table import BY_NAME, kind_of
    from attnlab.compute.engine import check_size, compute

    progress.step()
    check_size(e, scene.dtype)
    trace = compute(e, "cpu", scene.dtype)
    values, masked = trace.array("weights"), trace.find_shown_mask("weights")
    kind = kind_of(BY_NAME["weights"], e)
    titles = tuple(f"head {head}" for head in range(e.n_heads)) if e.n_heads > 1 else ()
    return MapData(values, kind, find_scale(values, kind, masked), masked, e.tokens, e.key_tokens, titles)
