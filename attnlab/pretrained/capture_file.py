"""Captures as safetensors files: the tensors of each layer, and a table of the rest as JSON; safe to read."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name, write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.pretrained.captured import Capture, CapturedLayer

ABOUT = "attnlab-capture"
"""The name of the tensor that holds the table, as the bytes of its JSON."""
LIMIT = 4 << 30
_TENSORS = ("q", "k", "v", "mask", "sinks", "bias")
_MOST_TOKENS, _MOST_LAYERS = 1 << 20, 1024


def save_capture(capture: Capture, path: Path) -> None:
    """Write a capture; if that fails, an earlier file stays as it was.

    Raises:
        FileError: it cannot be written.
    """
    tensors: dict[str, Tensor] = {}
    layers = []
    for place, layer in enumerate(capture.layers):
        for name in _TENSORS:
            tensor = getattr(layer, name)
            if tensor is not None:
                tensors[f"{place}.{name}"] = tensor.contiguous()
        rest = ("name", "part", "scaling", "softcap", "difference")
        layers.append({name: getattr(layer, name) for name in rest})
    about = {"version": 1, "name": capture.name, "tokens": capture.tokens, "target": capture.target_tokens}
    said = json.dumps({**about, "layers": layers}).encode()
    tensors[ABOUT] = torch.frombuffer(bytearray(said), dtype=torch.uint8)
    write_bytes(path, save(tensors))


def is_capture(path: Path) -> bool:
    """Return whether a file is one of a capture, by its table."""
    if path.suffix.lower() != ".safetensors" or not os.path.isfile(path):
        return False
    try:
        return ABOUT in read_arrays(path)
    except FileError:
        return False


def read_capture(path: Path) -> Capture:
    """Return the capture in a file.

    Raises:
        FileError: it is none, damaged, too large, or its tensors do not fit together.
    """
    try:
        tensors = load(read_bytes(path, LIMIT, "a capture"))
        about = session_json.parse(bytes(tensors[ABOUT].numpy()))
        layers = tuple(_read_layer(place, said, tensors) for place, said in enumerate(_list(about["layers"])))
        tokens, target = (tuple(map(_text, _list(about[key]))) for key in ("tokens", "target"))
        if not 0 < len(layers) <= _MOST_LAYERS or len(tokens) != layers[0].q.shape[1]:
            raise ValueError("its tokens and layers disagree")
        return Capture(_text(about["name"]), layers, tokens, target)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError, RuntimeError) as error:
        raise FileError(f"{format_name(path)} cannot be read as a capture: {error}.") from None


def _read_layer(place: int, said: Any, tensors: dict[str, Tensor]) -> CapturedLayer:
    found = {name: tensors.get(f"{place}.{name}") for name in _TENSORS}
    q, k, v = (found[name] for name in "qkv")
    if q is None or k is None or v is None:
        raise ValueError(f"layer {place} has no queries, keys or values")
    fits = q.ndim == k.ndim == v.ndim == 3 and k.shape[:2] == v.shape[:2] and q.shape[2] == k.shape[2]
    if not fits or not all(q.shape) or not all(k.shape) or len(q) % len(k):
        raise ValueError(f"the shapes of layer {place} disagree")
    for name in ("mask", "bias"):
        added = found[name]
        if added is not None and (added.ndim != 3 or added.shape[0] not in (1, len(q)) or added.shape[1] != q.shape[1]):
            raise ValueError(f"the {name} of layer {place} has another shape")
        if added is not None and added.shape[2] < k.shape[1]:
            raise ValueError(f"the {name} of layer {place} is too narrow")
    if any(x is not None and not x.is_floating_point() for x in found.values()):
        raise ValueError(f"layer {place} has tensors that are no numbers with a point")
    sinks = found["sinks"]
    if sinks is not None and sinks.shape != (len(q),):
        raise ValueError(f"layer {place} needs a sink for each head")
    softcap = said["softcap"]
    return CapturedLayer(
        name=_text(said["name"]),
        part=_text(said["part"]),
        q=q,
        k=k,
        v=v,
        mask=found["mask"],
        scaling=_number(said["scaling"]),
        softcap=None if softcap is None else _number(softcap),
        sinks=sinks,
        bias=found["bias"],
        difference=_number(said["difference"]),
    )


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > _MOST_TOKENS:
        raise ValueError("a list is missing or too long")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 10_000:
        raise ValueError("a text is missing or too long")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError("a number is missing")
    return float(value)
