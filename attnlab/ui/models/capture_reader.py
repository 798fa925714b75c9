"""Reads the attention of a capture for the workspace of models."""

from typing import TYPE_CHECKING, cast

from attnlab.base.errors import AttnlabError
from attnlab.ui.models.model_values import Facts, LayerMaps, Overview

if TYPE_CHECKING:
    from attnlab.pretrained.captured import Capture
    from attnlab.pretrained.stack_pass import Part

NOT_OPENED = "A capture keeps queries, keys and values, but not what the layer reads, so the playground cannot open it."


def describe_capture(found: "Capture") -> Facts:
    """Return what is known of the model that was captured.

    Raises:
        AttnlabError: the maps of its layers have different sizes, as of images in windows.
    """
    for part in found.parts:
        if len({(*each.q.shape[:2], each.k.shape[1]) for each in found.layers if each.part == part}) > 1:
            raise AttnlabError(
                "The layers of this capture have maps of different sizes; read them one by one in Python."
            )
    first = found.layers[0]
    parts, size = cast("tuple[Part, ...]", found.parts), found.n_heads * first.q.shape[-1]
    limit = len(found.tokens)
    return Facts(found.name, "a capture", found.n_layers, found.n_heads, size, 0, parts, None, None, limit, fixed=True)


def read_captured(found: "Capture", overview: Overview, layer: int) -> LayerMaps:
    """Return one layer of a capture, with the difference that was measured when it was made."""
    from attnlab.pretrained.captured import FINE

    of = [each for each in found.layers if each.part == overview.part][layer]
    hidden = of.hidden_pairs()
    return LayerMaps(
        overview,
        layer,
        of.weights().numpy(),
        of.moved().numpy(),
        None if hidden is None else hidden.numpy(),
        of.difference,
        NOT_OPENED,
        None,
        FINE[of.q.dtype],
    )
