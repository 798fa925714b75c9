"""One array of a file: its name, shape and dtype, with numbers that are loaded on demand."""

import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import torch
from safetensors import SafetensorError
from torch import Tensor

from attnlab.attention.arrays import dtype_name
from attnlab.base.errors import FileError
from attnlab.base.printable import shorten
from attnlab.files.export.terminal_table import label

MOST_NUMBERS = 1 << 27
"""The maximum count of numbers in one array: 512 MiB in float32, more than a layer that can be shown needs."""

MOST_ARRAYS = 100_000
"""The maximum count of arrays in one file; the largest models have a few thousand."""

DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    MemoryError,
    RecursionError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    SafetensorError,
    NotImplementedError,
)
"""Errors that readers raise for truncated, corrupted or forged files."""

_NUMBERS = ("float64", "float32", "float16", "bfloat16", "float8", "float96", "float128", "int", "uint")
"""Beginnings of the names of supported dtypes; dtypes with fewer than 8 bits per number are not supported."""

_NAME_LIMIT = 80
_EXACT_WHOLE = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class NamedArray:
    """An array of a file. ``dtype`` is the file's name for it; ``reason`` says why it cannot be weights, "" if it can.

    Weights have one, two or three axes: a bias, a matrix, a matrix for each head.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    load: Callable[[], Tensor]
    reason: str = ""

    @property
    def size(self) -> str:
        """The shape as text, ``[2, 3]``."""
        return str(list(self.shape))

    def tensor(self) -> Tensor:
        """Return the numbers as a CPU tensor in their own floating dtype; whole numbers become float64.

        Raises:
            FileError: they cannot be read, cannot be weights, or are not finite (names the cell).
        """
        if self.reason:
            raise FileError(f"{shorten_name(self.name)} cannot be used: {self.reason}.")
        return check_numbers(self.name, self.load())


def make_array(
    name: str, shape: tuple[int, ...], dtype: str, load: Callable[[], Tensor], reason: str = ""
) -> NamedArray:
    """Return an array of a file, with the reason if its shape or dtype cannot be weights."""
    return NamedArray(name, shape, dtype, load, reason or find_reason(shape, dtype))


def raise_unreadable() -> Tensor:
    """Raise the error for an array without numbers; used as its ``load``."""
    raise FileError("This array contains nothing that can be read.")


def shorten_name(name: str) -> str:
    """Return a name from a file for a sentence: on one line, shortened."""
    return shorten(label(name), _NAME_LIMIT)


def find_reason(shape: tuple[int, ...], dtype: str) -> str:
    """Return why an array of this shape and dtype cannot be weights; "" if it can."""
    count = 1
    for length in shape:
        count *= length
    if not shape:
        return "it is a single number; weights have one, two or three axes"
    if len(shape) > 3:
        return f"it has {len(shape)} axes, shape {list(shape)}; weights have one, two or three"
    if count == 0:
        return f"it is empty, shape {list(shape)}"
    if count > MOST_NUMBERS:
        return f"it has {count} numbers, shape {list(shape)}; the maximum is {MOST_NUMBERS}"
    if not dtype.startswith(_NUMBERS):
        return f"it contains {label(dtype)} values; weights are real numbers"
    return ""


def check_numbers(name: str, tensor: Tensor) -> Tensor:
    """Return numbers in a dtype of experiments: dtypes of 8 bits become float32, whole numbers float64.

    Raises:
        FileError: a cell is not finite, or a whole number beyond 2⁵³, which float64 cannot represent exactly.
    """
    if not tensor.is_floating_point():
        _check_whole(name, tensor)
        return tensor.double()
    wide = tensor.float() if tensor.element_size() == 1 else tensor
    least, largest = wide.aminmax()  # NaN if there is one; twenty times as fast as testing each number
    if not bool(least.isfinite() & largest.isfinite()):
        cell = [int(i) for i in (~torch.isfinite(wide)).nonzero()[0]]
        raise FileError(
            f"{shorten_name(name)}{cell} is {float(wide[tuple(cell)])}; every weight needs to be a finite number."
        )
    return wide


def _check_whole(name: str, tensor: Tensor) -> None:
    signed = tensor.double() if tensor.dtype == torch.uint64 else tensor.long()
    bad = (signed > _EXACT_WHOLE) | (signed < -_EXACT_WHOLE)
    if bool(bad.any()):
        cell = [int(i) for i in bad.nonzero()[0]]
        raise FileError(
            f"{shorten_name(name)}{cell} is beyond 2⁵³, where float64 cannot represent every {dtype_name(tensor)};"
            " save it as floating-point numbers."
        )
