"""Converts arrays from scripts into maps, or refuses them with one sentence; needs neither Qt nor torch."""

import reprlib
import sys
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from attnlab.base.counted import format_count
from attnlab.base.errors import AttnlabError

Floats = NDArray[np.floating]
NEEDED = (
    "[T_q, T_k], [h, T_q, T_k], [layers, h, T_q, T_k], or the tuple of a Hugging Face model, "
    "one tensor [batch, h, T_q, T_k] a layer"
)


@dataclass(frozen=True, slots=True, eq=False)
class ArrayMaps:
    """Maps ``values`` [layers, h, T_q, T_k], copied, in float32 or float64, and the labels of their rows and columns.

    ``shape`` is the original shape; ``kind`` is "probability" if every number lies in [0, 1], else "signed".
    """

    values: Floats
    shape: tuple[int, ...]
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    kind: str
    note: str = ""


def take_maps(x: object, tokens: object = None, who: str = "view") -> ArrayMaps:
    """Return the maps of an array, nested list, tensor or tuple of tensors.

    ``tokens`` labels rows and columns: one list for both, or a pair (query_tokens, key_tokens); None numbers them.
    ``who`` is the function that sentences name.

    Raises:
        AttnlabError: x is not numeric, is empty or has another number of axes, or the tokens do not match.
    """
    values, note = _take_layers(x, who) if _is_layered(x) else (_array(x, "x", who), "")
    shape = values.shape
    if 0 in shape:
        raise AttnlabError(f"x is empty, {_shape(shape)}; every axis needs at least 1.")
    if not 2 <= len(shape) <= 4:
        raise AttnlabError(f"x has {_axes(len(shape))}, {_shape(shape)}; {who} needs {NEEDED}.")
    queries, keys = _labels(tokens, shape)
    values = values.reshape((1,) * (4 - len(shape)) + shape)
    return ArrayMaps(values, shape, queries, keys, _kind(values), note)


def _kind(values: Floats) -> str:
    """Return "probability" or "signed"; NaN is ignored, and ∞ is not a probability."""
    known = ~np.isnan(values)
    inside = bool(known.any()) and float(np.nanmin(values)) >= 0 and float(np.nanmax(values)) <= 1
    return "probability" if inside else "signed"


def _is_layered(x: object) -> TypeGuard[tuple[Any, ...] | list[Any]]:
    """Return whether x has one array of four axes per layer; one without a layer counts too and is refused later."""
    return isinstance(x, tuple | list) and any(item is None or getattr(item, "ndim", 0) == 4 for item in x)


def _take_layers(layers: tuple[Any, ...] | list[Any], who: str) -> tuple[Floats, str]:
    """Return batch item 0 of each layer [layers, h, T_q, T_k], and a note when there are more items."""
    for i, layer in enumerate(layers):
        if layer is None:
            raise AttnlabError(
                f"x[{i}] is None: the model gave no attention there; call it with output_attentions=True, loaded with "
                'attn_implementation="eager".'
            )
        shape = tuple(getattr(layer, "shape", ()))
        if len(shape) != 4 or shape[0] < 1:
            got = f"has the shape {_shape(shape)}" if shape else f"is {reprlib.repr(layer)}"
            raise AttnlabError(f"x[{i}] {got}; every layer needs [batch, h, T_q, T_k], at least one batch item.")
    arrays = [_array(layer[0], f"x[{i}]", who) for i, layer in enumerate(layers)]
    for i, array in enumerate(arrays):
        if array.shape != arrays[0].shape:
            raise AttnlabError(
                f"x[{i}] has {_shape(array.shape)} per batch item, but x[0] {_shape(arrays[0].shape)}; layers shown "
                f"together need one shape, so use {who}(x[0][0]) to show one of them."
            )
    count = layers[0].shape[0]
    return np.stack(arrays), f"batch item 0 of {count}" if count > 1 else ""


def _array(x: object, name: str, who: str) -> Floats:
    """Return a copy of numbers: float64 if they are float64 or integers, else float32."""
    torch = sys.modules.get("torch")  # x can only be a tensor if torch is loaded
    if torch is not None and isinstance(x, torch.Tensor):
        return _of_tensor(x, name, who)
    if isinstance(x, tuple | list) and torch is not None and any(isinstance(item, torch.Tensor) for item in x):
        return _stack([_array(item, f"{name}[{i}]", who) for i, item in enumerate(x)], name, who)
    if isinstance(x, str | bytes | Mapping | Set) or x is None:
        raise _no_numbers(x, name, who)
    try:
        array = np.ma.asanyarray(x) if isinstance(x, np.ma.MaskedArray) else np.asarray(x)
    except (ValueError, TypeError, RuntimeError) as error:  # lists of unequal lengths, an array on a GPU
        raise AttnlabError(
            f"{name} cannot be read as one array ({_first_sentence(error)}); {who} needs {NEEDED}."
        ) from None
    if array.dtype.kind not in "biuf":
        raise _no_numbers(x, name, who)
    dtype = np.float32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else np.float64
    copy: Floats = array.astype(dtype)
    if isinstance(copy, np.ma.MaskedArray):
        copy = copy.filled(np.nan)
    return copy


def _of_tensor(tensor: Any, name: str, who: str) -> Floats:
    import torch

    if tensor.is_complex() or tensor.device.type == "meta":
        what = "complex numbers" if tensor.is_complex() else "no numbers, as it is on the device meta"
        raise AttnlabError(f"{name} holds {what}; {who} needs real numbers.")
    tensor = tensor.detach()
    tensor = tensor.dequantize() if tensor.is_quantized else tensor
    tensor = (tensor.to_dense() if tensor.layout != torch.strided else tensor).cpu()
    small = tensor.is_floating_point() and tensor.dtype != torch.float64
    array: Floats = tensor.to(torch.float32 if small else torch.float64, copy=True).numpy()
    return array


def _stack(arrays: list[Floats], name: str, who: str) -> Floats:
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise AttnlabError(
            f"{name} holds arrays of different shapes, such as {_shape(shapes[0])} and {_shape(shapes[1])}; "
            f"{who} needs {NEEDED}."
        )
    return np.stack(arrays)


def _no_numbers(x: object, name: str, who: str) -> AttnlabError:
    if getattr(x, "attentions", None) is not None:
        return AttnlabError(f"{name} is the whole output of a model; {who} needs its attention, {name}.attentions.")
    return AttnlabError(
        f"{name} is {reprlib.repr(x)}; {who} needs an Experiment, a Trace, or an array of real numbers, {NEEDED}; or a "
        ".npz, .safetensors or .npy file with one."
    )


def _labels(tokens: object, shape: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of rows and columns."""
    n_queries, n_keys = shape[-2:]
    if tokens is None:
        return tuple(map(str, range(n_queries))), tuple(map(str, range(n_keys)))
    if isinstance(tokens, tuple | list) and len(tokens) == 2 and not any(_is_word(item) for item in tokens):
        queries, keys = _words(tokens[0], "tokens[0]"), _words(tokens[1], "tokens[1]")
        _match("tokens[0]", queries, n_queries, "query", shape)
        _match("tokens[1]", keys, n_keys, "key", shape)
        return queries, keys
    words = _words(tokens, "tokens")
    if n_queries != n_keys:
        raise AttnlabError(
            f"tokens is one list of {len(words)}, but x {_shape(shape)} has T_q {n_queries} and T_k {n_keys}; it needs "
            "a pair (query_tokens, key_tokens)."
        )
    _match("tokens", words, n_keys, "query and key", shape)
    return words, words


def _match(name: str, words: tuple[str, ...], count: int, what: str, shape: tuple[int, ...]) -> None:
    if len(words) != count:
        raise AttnlabError(
            f"{name} has {format_count(len(words), 'label')}; x {_shape(shape)} needs {count}, one for each {what}."
        )


def _is_word(item: object) -> bool:
    """Return whether an item is a label, which may be a number such as a token's id, and not a list of labels."""
    return isinstance(item, str) or not hasattr(item, "__len__") or getattr(item, "ndim", 1) == 0


def _words(tokens: Any, name: str) -> tuple[str, ...]:
    if isinstance(tokens, str | bytes | Mapping | Set) or not hasattr(tokens, "__iter__"):
        raise AttnlabError(f"{name} is {reprlib.repr(tokens)}; it needs a list of labels, or a pair of lists.")
    listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    return tuple(map(str, listed if isinstance(listed, list | tuple) else tuple(listed)))


def _shape(shape: tuple[int, ...]) -> str:
    return str(list(shape))


def _axes(count: int) -> str:
    return {0: "no axes", 1: "1 axis"}.get(count, f"{count} axes")


def _first_sentence(error: Exception) -> str:
    if "inhomogeneous" in str(error):
        return "its rows have different lengths"
    return str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
