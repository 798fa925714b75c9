"""Convert arrays of any kind to owned tensors: copied once, and checked to be finite numbers."""

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from attnlab.base.errors import ExperimentError

ArrayLike: TypeAlias = Tensor | NDArray[Any] | Sequence[Any]
"""Types accepted for a field: a tensor, a NumPy array or nested sequences of numbers."""

_OWNED = "_attnlab_owned"
_ALIGNMENT = 64  # bytes, as in torch's own allocations
_AXES = {1: "[n]", 2: "[rows, columns]"}
_KEPT = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
_DEEPEST = 4  # levels of nested sequences that are searched for tensors; an array has two


def own(tensor: Tensor) -> Tensor:
    """Mark a tensor without other references as owned, so that experiments share it instead of copying it; return it.

    The mark is valid for this tensor object in its present state: copies do not have it, and a write invalidates it.
    A tensor that is not contiguous, or not aligned to 64 bytes, is copied first: the bits of a product depend on both.
    """
    if tensor.data_ptr() % _ALIGNMENT or not tensor.is_contiguous():
        with torch.inference_mode(False):
            tensor = tensor.clone(memory_format=torch.contiguous_format)
    if not tensor.is_inference():  # inference tensors do not count writes
        setattr(tensor, _OWNED, (id(tensor), tensor._version))
    return tensor


def is_owned(array: Any) -> TypeGuard[Tensor]:
    """Return whether ``array`` was already checked and has not been written to since."""
    mark = getattr(array, _OWNED, None) if isinstance(array, Tensor) else None
    return mark is not None and mark == (id(array), array._version)


def is_written(tensor: Tensor) -> bool:
    """Return whether an owned tensor was written to; torch does not count writes through ``tensor.numpy()``."""
    mark = getattr(tensor, _OWNED, None)
    return mark is not None and mark[1] != tensor._version and mark[0] == id(tensor)


def make_write_error(field: str) -> ExperimentError:
    """Return the error for an array of an experiment that was changed in place."""
    return ExperimentError(
        f"{field} was changed in place, but the arrays of an experiment are read-only; "
        f"change a copy, {field}.clone(), and make a new experiment with dataclasses.replace."
    )


def dtype_name(tensor: Tensor | torch.dtype) -> str:
    """Return float32 for ``torch.float32``, and so on."""
    return str(tensor.dtype if isinstance(tensor, Tensor) else tensor).removeprefix("torch.")


def widen(x: Tensor) -> Tensor:
    """Return numbers in float32 or better, because the square of 256 or more overflows in float16."""
    return x.float() if x.element_size() < 4 else x


def take(field: str, array: Any, ndim: int) -> Tensor:
    """Return ``array`` as an owned CPU tensor of ``ndim`` dimensions.

    Tensors, NumPy arrays and nested sequences of numbers are copied and keep their floating dtype; lists, integers and
    long doubles become float64, formats of 8 bits and fewer float32. A tensor that an experiment owns is shared.

    Raises:
        ExperimentError: not numbers, ragged, wrong number of dimensions, empty, or not finite (names the cell).
    """
    if is_owned(array) and array.ndim == ndim and array.is_floating_point():
        return array
    tensor = _convert_dtype(field, _copy_dense(field, array))
    if tensor.ndim != ndim:
        shape = list(tensor.shape)
        raise ExperimentError(f"{field} has {tensor.ndim} dimensions, shape {shape}; it needs {ndim}, {_AXES[ndim]}.")
    if 0 in tensor.shape:
        raise ExperimentError(f"{field} is empty, shape {list(tensor.shape)}; it needs at least one number.")
    least, largest = tensor.aminmax()  # NaN where there is one; many times as fast as asking each number
    if not bool(least.isfinite() & largest.isfinite()):
        cell = [int(i) for i in (~torch.isfinite(tensor)).nonzero()[0]]
        value = float(tensor[tuple(cell)])
        raise ExperimentError(f"{field}{cell} is {value}; every number given must be finite.")
    return own(tensor)


def take_mask(array: Any) -> Tensor:
    """Return ``array`` as an owned boolean CPU tensor [T_q, T_k], True where a query may attend.

    Raises:
        ExperimentError: not booleans, ragged, or not of two dimensions.
    """
    if is_owned(array) and array.ndim == 2 and array.dtype == torch.bool:
        return array
    tensor = _copy_dense("mask", array)
    if tensor.dtype != torch.bool or tensor.ndim != 2:
        raise ExperimentError(
            f"mask is {dtype_name(tensor)} of shape {list(tensor.shape)}; "
            "it needs booleans [T_q, T_k], True where a query may attend."
        )
    return own(tensor)


def _copy_dense(field: str, array: Any) -> Tensor:
    """Return a dense, contiguous copy on the CPU, in the same dtype, without references from outside."""
    with torch.inference_mode(False):  # a copy made in that mode could not be marked as owned
        if not isinstance(array, Tensor):
            return _convert_numbers(field, array)
        if array.is_meta:
            raise ExperimentError(f"{field} is a tensor on the meta device, which has no numbers; it needs numbers.")
        try:
            dense = array.dequantize() if array.is_quantized else array.to_dense()
            return dense.detach().as_subclass(Tensor).to("cpu").clone(memory_format=torch.contiguous_format)
        except RuntimeError:  # nested and packed formats, which have no dense form
            raise ExperimentError(f"{field} is a tensor of an unusual kind; it needs a dense one.") from None


def _convert_dtype(field: str, tensor: Tensor) -> Tensor:
    """Return the tensor in a dtype that attention can be computed in."""
    if tensor.dtype in _KEPT:
        return tensor
    if tensor.dtype == torch.bool or tensor.is_complex():
        raise ExperimentError(f"{field} holds {dtype_name(tensor)} values; it needs real numbers.")
    try:
        return tensor.float() if tensor.is_floating_point() else tensor.double()
    except RuntimeError:  # formats that torch treats as bits, not as numbers
        raise ExperimentError(f"{field} holds {dtype_name(tensor)} values; it needs real numbers.") from None


def _convert_numbers(field: str, array: Any) -> Tensor:
    if not isinstance(array, np.ndarray | Sequence) or isinstance(array, str | bytes):
        raise ExperimentError(f"{field} is {type(array).__name__}; it needs a tensor, a NumPy array or nested lists.")
    if np.ma.is_masked(array):
        raise ExperimentError(f"{field} has cells that are masked out; every cell needs a number.")
    try:
        numbers = np.array(array if isinstance(array, np.ndarray) else _convert_tensors(array, _DEEPEST))
    except ValueError:
        raise ExperimentError(f"{field} is ragged: its rows differ in length; every row needs the same.") from None
    except (TypeError, RuntimeError):
        raise ExperimentError(f"{field} holds something that is not a number; it needs numbers only.") from None
    kind, is_list = numbers.dtype.kind, not isinstance(array, np.ndarray)
    if kind not in "iufbc":
        held = "something that is not a number, or beyond 1.8e308" if kind == "O" else f"{numbers.dtype} values"
        raise ExperimentError(f"{field} holds {held}; it needs numbers only.")
    if kind in "iu" or (kind == "f" and (is_list or numbers.dtype.itemsize > 8)):
        with np.errstate(over="ignore"):  # a number that is too large becomes ∞, which take() rejects, naming its cell
            numbers = numbers.astype(np.float64)
    native = numbers.astype(numbers.dtype.newbyteorder("="), order="C", copy=False)
    return torch.from_numpy(native)


def _convert_tensors(array: Any, depth: int) -> Any:
    """Return nested sequences with the tensors in them converted to lists, which NumPy reads faster."""
    if isinstance(array, Tensor):
        return array.tolist()
    if depth and isinstance(array, list | tuple):
        return [_convert_tensors(item, depth - 1) for item in array]
    return array
