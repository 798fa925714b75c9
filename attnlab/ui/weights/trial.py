"""What a mapping would give: the experiment, its matrices and weights as maps, or the sentence that says why not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.base.errors import AttnlabError, ExperimentError
from attnlab.figures.map_painter import MapData
from attnlab.figures.raster import limit_of, reduced
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.projection_layouts import Heads, Part, extract_field, rows_of
from attnlab.files.weights.weights_apply import Embeddings, apply
from attnlab.files.weights.weights_in import Proposal
from attnlab.ui.base.jobs import Progress

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment
    from attnlab.document.scene import Scene

FINEST = 256
"""Cells a side that a small picture of a matrix has; larger ones are shrunk in the thread that reads them."""


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """What a person has chosen: a proposal, numbers of heads as far as chosen, and where the embeddings are from."""

    proposal: Proposal
    n_heads: int | None = None
    n_kv_heads: int | None = None
    embeddings: Embeddings = "keep"

    @property
    def heads(self) -> Heads:
        """The numbers of heads as far as they are known: those chosen, else those of the file that go with them."""
        told = self.proposal.heads
        shared = told.n_kv_heads if self.n_heads in (None, told.n_heads) else None
        return Heads(self.n_heads or told.n_heads, self.n_kv_heads or shared, told.source)


@dataclass(frozen=True, slots=True, eq=False)
class Small:
    """A matrix as a small picture shows it: its name, its true shape and about [FINEST, FINEST] of it."""

    name: str
    shape: tuple[int, ...]
    values: NDArray[np.floating]
    limit: float


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What came of a wish for a scene: an ``experiment``, or the ``sentence`` that says what does not fit.

    ``drawable`` says that embeddings drawn anew would mend it, and how many columns those would have.
    """

    scene: "Scene"
    experiment: "Experiment | None"
    sentence: str = ""
    drawable: int = 0
    matrices: tuple[Small, ...] = ()
    maps: MapData | None = None


def tried(wish: Wish, arrays: Mapping[str, NamedArray], scene: "Scene", progress: Progress) -> Trial:
    """Return what a wish gives; runs in any thread, and what does not fit is a sentence in what it returns."""
    matrices: list[Small] = []
    try:
        matrices = list(_matrices(wish, arrays, progress))
        made = _applied(wish, arrays, scene.experiment)
        if wish.embeddings != "keep" and made.embeddings is not scene.experiment.embeddings:
            matrices.append(_small("Embeddings", made.embeddings))
        return Trial(scene, made, matrices=tuple(matrices), maps=_maps(made, scene, progress))
    except AttnlabError as error:
        progress.step()  # given up: then nobody is told
        columns, sentence = _mended(wish, arrays, scene.experiment, str(error))
        return Trial(scene, None, sentence, columns, tuple(matrices))
    except (RuntimeError, MemoryError) as error:  # what torch says where memory is short
        sentence = str(error).splitlines()[0] if str(error) else "there is not enough memory"
        return Trial(scene, None, f"This cannot be computed: {sentence}.", 0, tuple(matrices))


def _applied(wish: Wish, arrays: Mapping[str, NamedArray], e: "Experiment") -> "Experiment":
    if not wish.proposal.parts and not isinstance(wish.embeddings, NamedArray):
        raise ExperimentError("Nothing is chosen yet: choose an array for W_q, W_k, W_v, W_o or a bias.")
    return apply(wish.proposal, arrays, e, wish.n_heads, wish.n_kv_heads, wish.embeddings)


def _mended(wish: Wish, arrays: Mapping[str, NamedArray], e: "Experiment", sentence: str) -> tuple[int, str]:
    """Return how many columns new embeddings have that would make a wish fit, 0 where there are none, and the sentence
    to say then: what would be wrong with new ones too comes before what is wrong with those there are."""
    if wish.embeddings != "keep" or not wish.proposal.parts:
        return 0, sentence
    try:
        return apply(wish.proposal, arrays, e, wish.n_heads, wish.n_kv_heads, "drawn").d_model, sentence
    except AttnlabError as error:
        return 0, str(error)
    except (RuntimeError, MemoryError):
        return 0, sentence


def _matrices(wish: Wish, arrays: Mapping[str, NamedArray], progress: Progress) -> "list[Small]":
    """Return each field as it would be taken; what cannot be is left out, and said by what follows."""
    parts, found = wish.proposal.parts, []
    rows = rows_of(parts, arrays)
    for field, part in parts.items():
        progress.step()
        tensor = _laid_out(field, part, arrays, rows, wish.heads)
        if tensor is not None:
            found.append(_small(field, tensor))
    return found


def _laid_out(field: str, part: Part, arrays: Mapping[str, NamedArray], rows: int, heads: Heads) -> "Tensor | None":
    try:
        return extract_field(field, part, arrays[part.array].tensor(), rows, heads)
    except AttnlabError:
        return None


def _small(name: str, tensor: "Tensor") -> Small:
    values = tensor.detach().float().numpy()
    flat = values.reshape(1, -1) if values.ndim == 1 else values
    small = reduced(flat[None], FINEST, FINEST)[0]
    return Small(shorten_name(name), tuple(tensor.shape), small, limit_of(small, "signed"))


def _maps(e: "Experiment", scene: "Scene", progress: Progress) -> MapData:
    """Return the weights of the sentence that is open, computed as the window would."""
    from attnlab.attention.stages.table import BY_NAME, kind_of
    from attnlab.compute.engine import check_size, compute

    progress.step()
    check_size(e, scene.dtype)
    trace = compute(e, "cpu", scene.dtype)
    values, masked = trace.array("weights"), trace.shown_mask("weights")
    kind = kind_of(BY_NAME["weights"], e)
    titles = tuple(f"head {head}" for head in range(e.n_heads)) if e.n_heads > 1 else ()
    return MapData(values, kind, limit_of(values, kind, masked), masked, e.tokens, e.key_tokens, titles)
