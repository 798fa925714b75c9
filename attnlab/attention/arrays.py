"""Takes arrays of any kind in: copied, checked to be finite numbers, owned from then on."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attnlab.errors import ExperimentError

_OWNED = "_attnlab_owned"
_AXES = {1: "[n]", 2: "[rows, columns]"}


def own(tensor: Tensor) -> Tensor:
    """Mark a tensor that nobody else holds, so that experiments share it instead of copying it."""
    setattr(tensor, _OWNED, True)
    return tensor


def take(field: str, array: Any, ndim: int) -> Tensor:
    """Return ``array`` as an owned CPU tensor of ``ndim`` dimensions.

    Tensors, NumPy arrays and nested sequences of numbers are copied and keep their floating dtype; lists and integers
    become float64. A tensor that an experiment already owns is shared.

    Raises:
        ExperimentError: not numbers, ragged, wrong number of dimensions, empty, or not finite (names the cell).
    """
    if isinstance(array, Tensor) and hasattr(array, _OWNED) and array.ndim == ndim:
        return array
    tensor = _copy(field, array)
    if tensor.ndim != ndim:
        shape = list(tensor.shape)
        raise ExperimentError(f"{field} has {tensor.ndim} dimensions, shape {shape}; it needs {ndim}, {_AXES[ndim]}.")
    if 0 in tensor.shape:
        raise ExperimentError(f"{field} is empty, shape {list(tensor.shape)}; it needs at least one number.")
    finite = torch.isfinite(tensor)
    if not bool(finite.all()):
        cell = [int(i) for i in (~finite).nonzero()[0]]
        value = float(tensor[tuple(cell)])
        raise ExperimentError(f"{field}{cell} is {value}; every number given must be finite.")
    return own(tensor)


def take_mask(array: Any) -> Tensor:
    """Return ``array`` as an owned boolean CPU tensor [T_q, T_k], True where a query may attend."""
    if isinstance(array, Tensor) and hasattr(array, _OWNED):
        return array
    tensor = array.detach().cpu() if isinstance(array, Tensor) else torch.from_numpy(np.array(array))
    if tensor.dtype != torch.bool or tensor.ndim != 2:
        kind = str(tensor.dtype).removeprefix("torch.")
        raise ExperimentError(
            f"mask is {kind} of shape {list(tensor.shape)}; it needs booleans [T_q, T_k], True where a query may attend."
        )
    return own(tensor.clone())


def _copy(field: str, array: Any) -> Tensor:
    if isinstance(array, Tensor):
        tensor = array.detach().to("cpu", copy=True)
    else:
        tensor = _from_numbers(field, array)
    if tensor.dtype == torch.bool or tensor.is_complex():
        kind = str(tensor.dtype).removeprefix("torch.")
        raise ExperimentError(f"{field} holds {kind} values; it needs real numbers.")
    if not tensor.is_floating_point():
        tensor = tensor.double()
    return tensor.contiguous()


def _from_numbers(field: str, array: Any) -> Tensor:
    if not isinstance(array, np.ndarray | Sequence) or isinstance(array, str | bytes):
        raise ExperimentError(f"{field} is {type(array).__name__}; it needs a tensor, a NumPy array or nested lists.")
    try:
        numbers = np.array(array)
    except ValueError:
        raise ExperimentError(f"{field} is ragged: its rows differ in length; every row needs the same.") from None
    if numbers.dtype.kind not in "iufbc":
        raise ExperimentError(f"{field} holds {numbers.dtype} values; it needs numbers only.")
    if numbers.dtype.kind in "iu":
        numbers = numbers.astype(np.float64)
    if numbers.dtype.itemsize > 8 and numbers.dtype.kind == "f":
        numbers = numbers.astype(np.float64)
    return torch.from_numpy(np.ascontiguousarray(numbers).reshape(numbers.shape).copy())
