"""What ``attnlab.view`` and ``attnlab.figure`` accept instead of arrays: files of maps, and captures."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base.errors import AttnlabError
from attnlab.files.maps_file import is_maps_file, read_maps

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.pretrained.captured import Capture


def open_maps(x: object, tokens: object) -> tuple[object, object]:
    """Return the maps of a file or of a capture with their tokens, unless ``tokens`` are given; else x as it is.

    Of a capture they are those of its first part.

    Raises:
        AttnlabError: the file cannot be read, or the layers of the capture have different shapes.
    """
    if "attnlab.pretrained.captured" in sys.modules:  # x can only be a capture if the module is loaded
        from attnlab.pretrained.captured import Capture

        if isinstance(x, Capture):
            return _stack(x), _choose(tokens, x)
    if not is_maps_file(x):
        return x, tokens
    path = Path(x)  # type: ignore[arg-type]
    if path.suffix.lower() == ".safetensors":
        from attnlab.pretrained.capture_file import is_capture, read_capture

        if is_capture(path):
            capture = read_capture(path)
            return _stack(capture), _choose(tokens, capture)
    maps, words = read_maps(path)
    return maps, words if tokens is None else tokens


def _stack(capture: "Capture") -> "Tensor":
    import torch

    layers = [capture.attention(layer) for layer in range(capture.n_layers)]
    if len({layer.shape for layer in layers}) > 1:
        raise AttnlabError(
            f"The layers of the capture of {capture.name} have maps of different shapes; use its attention(layer)."
        )
    return torch.stack(layers)


def _choose(tokens: object, capture: "Capture") -> object:
    """Return the given tokens, or else those of the capture if they are those of its first part."""
    if tokens is not None:
        return tokens
    queries, keys = capture.attention(0).shape[-2:]
    return capture.tokens if queries == keys == len(capture.tokens) else None
