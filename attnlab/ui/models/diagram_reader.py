"""Reads what the diagram of an open model is drawn from: its blocks, small maps of every layer, and its answers."""

from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError
from attnlab.ui.models.token_names import show_token

if TYPE_CHECKING:
    from collections.abc import Iterable

    from attnlab.figures.diagram.diagram_data import DiagramData, Maps
    from attnlab.pretrained.model_run import Run
    from attnlab.training.model_view import Guess
    from attnlab.ui.models.model_state import Off

NO_WEIGHTS = "A capture has no weights, so its model cannot be drawn; open the model itself."
FINEST = 30
"""The cells per side of a map in the diagram; larger maps keep the largest of each block."""
MOST_PLACES = 24
"""The tokens of a text up to which the answers of all places are drawn; more would have no room."""
CHOICES = 3


def read_diagram(run: "Run | None", off: "Iterable[Off]" = ()) -> "DiagramData":
    """Return the diagram of a model on a text, with what is off or edited in it; None stands for a capture.

    The maps of the heads among ``off`` are crossed out.

    Raises:
        AttnlabError: it is a capture; or the text cannot be run.
    """
    from attnlab.figures.diagram.diagram_data import DiagramData
    from attnlab.pretrained.model_blocks import describe_model
    from attnlab.training.model_view import Inside

    if run is None:
        raise AttnlabError(NO_WEIGHTS)
    tree = describe_model(run)
    source = tuple(map(show_token, run.tokens)) if tree.reading is not None else ()
    inputs = tuple(map(show_token, run.target_tokens or run.tokens))
    inside = Inside(tree, source, inputs, _list_guesses(run), (), 0, {}, reads_before=False)
    maps = _read_maps(run)
    return DiagramData(
        inside,
        maps,
        heading=run.model.name,
        limit=_find_limit(maps),
        off=frozenset((f"{each.part} {each.layer}", each.head) for each in off if each.is_head),
    )


def _read_maps(run: "Run") -> "Maps":
    from attnlab.figures.raster import reduce_cells, reduce_maps

    found = {}
    for part in run.model.parts:
        for layer, weights in enumerate(run.walk(part)):
            hidden = run.hidden_pairs(layer, part)
            small = reduce_maps(weights.numpy(), FINEST, FINEST)
            cells = None if hidden is None else reduce_cells(hidden.numpy(), *small.shape[1:])
            found[f"{part} {layer}"] = small, cells
            del weights  # before the next layer's are computed
    return found


def _find_limit(maps: "Maps") -> float:
    """Return the weight at which the colours of all maps end: the 99th percentile, or 1 if that is close.

    The first and the last column, which take much of the weight of a long text, are left out.
    """
    import numpy as np

    inner = [weights[..., 1:-1] if weights.shape[-1] > 3 else weights for weights, _ in maps.values()]
    limit = float(np.percentile(np.concatenate([each.ravel() for each in inner]), 99))
    return 1.0 if limit > 0.9 else max(limit, 0.01)


def _list_guesses(run: "Run") -> "tuple[Guess, ...]":
    """Return the likeliest tokens at each place; () for a model that predicts none, or a text of many tokens."""
    from attnlab.training.model_view import Guess

    count = len(run.target_tokens or run.tokens)
    if run.model.architecture.predict is None or count > MOST_PLACES:
        return ()
    found = [run.predictions(place, CHOICES) for place in range(count)]
    return tuple(Guess("", tuple((show_token(name), p) for name, p in each)) for each in found)
