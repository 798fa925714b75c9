"""One array of a file: its name, shape and format at once, its numbers when they are asked for."""

import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import torch
from safetensors import SafetensorError
from torch import Tensor

from attnlab.attention.arrays import dtype_name
from attnlab.base.errors import FileError
from attnlab.base.printable import shortened
from attnlab.files.export.terminal_table import label

MOST_NUMBERS = 1 << 27
"""Numbers that one array may hold: 512 MiB in float32, and more than any one layer's table that is looked at."""

MOST_ARRAYS = 100_000
"""Arrays that one file may hold; the largest models have some thousands."""

DAMAGE = (
    OSError, EOFError, ValueError, LookupError, OverflowError, MemoryError, RecursionError, RuntimeError, SyntaxError,
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, SafetensorError, NotImplementedError,
)  # fmt: skip
"""What readers raise on files that are cut off, changed or made up."""

_NUMBERS = ("float64", "float32", "float16", "bfloat16", "float8", "float96", "float128", "int", "uint")
"""How the formats are called that numbers are read from; what has no 8 bits to itself is none of them."""

_NAME_LIMIT = 80
_EXACT_WHOLE = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class NamedArray:
    """An array of a file. ``dtype`` is what the file calls it; ``reason`` says why it is of no use here, "" if it is.

    One, two or three axes are of use: a bias, a matrix, a matrix for each head.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    load: Callable[[], Tensor]
    reason: str = ""

    @property
    def size(self) -> str:
        """The shape as sentences say it, ``[2, 3]``."""
        return str(list(self.shape))

    def tensor(self) -> Tensor:
        """Return the numbers as a CPU tensor in their own floating format; whole numbers become float64.

        Raises:
            FileError: they cannot be read, are not numbers that weights can be, or not finite (names the cell).
        """
        if self.reason:
            raise FileError(f"{shown(self.name)} cannot be taken: {self.reason}.")
        return checked(self.name, self.load())


def named(name: str, shape: tuple[int, ...], dtype: str, load: Callable[[], Tensor], reason: str = "") -> NamedArray:
    """Return an array of a file, with the reason why its shape or format is of no use here."""
    return NamedArray(name, shape, dtype, load, reason or why_not(shape, dtype))


def nothing() -> Tensor:
    """Stand for the numbers of what has none."""
    raise FileError("This array holds nothing that can be read.")


def shown(name: str) -> str:
    """Return a name from a file as it can stand in a sentence: on one line, not too long."""
    return shortened(label(name), _NAME_LIMIT)


def why_not(shape: tuple[int, ...], dtype: str) -> str:
    """Return why an array of that shape and format cannot be weights; "" if it can."""
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
        return f"it has {count} numbers, shape {list(shape)}; at most {MOST_NUMBERS} are taken"
    if not dtype.startswith(_NUMBERS):
        return f"it holds {label(dtype)} values; weights are real numbers"
    return ""


def checked(name: str, tensor: Tensor) -> Tensor:
    """Return numbers in a format that experiments keep: formats of 8 bits become float32, whole numbers float64.

    Raises:
        FileError: a cell is not finite, or a whole number beyond 2⁵³, above which float64 skips some.
    """
    if not tensor.is_floating_point():
        _check_whole(name, tensor)
        return tensor.double()
    wide = tensor.float() if tensor.element_size() == 1 else tensor
    least, largest = wide.aminmax()  # NaN where there is one; twenty times as fast as asking each number
    if not bool(least.isfinite() & largest.isfinite()):
        cell = [int(i) for i in (~torch.isfinite(wide)).nonzero()[0]]
        raise FileError(f"{shown(name)}{cell} is {float(wide[tuple(cell)])}; every weight needs to be a finite number.")
    return wide


def _check_whole(name: str, tensor: Tensor) -> None:
    signed = tensor.double() if tensor.dtype == torch.uint64 else tensor.long()
    bad = (signed > _EXACT_WHOLE) | (signed < -_EXACT_WHOLE)
    if bool(bad.any()):
        cell = [int(i) for i in bad.nonzero()[0]]
        raise FileError(
            f"{shown(name)}{cell} is beyond 2⁵³, where {dtype_name(tensor)} has whole numbers that float64 skips;"
            " save it as floating numbers."
        )
