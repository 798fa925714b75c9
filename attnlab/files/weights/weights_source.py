"""The arrays of one or several files or of a pasted text, each read once on demand."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor

from attnlab.base.errors import FileError
from attnlab.files.weights.arrays_in import read_arrays
from attnlab.files.weights.head_counts import heads_beside
from attnlab.files.weights.named_array import MOST_ARRAYS, NamedArray, shorten_name
from attnlab.files.weights.projection_layouts import UNKNOWN, Heads
from attnlab.files.weights.several_files import list_parts
from attnlab.files.weights.text_in import read_text

CLIPBOARD = "the clipboard"


@dataclass(frozen=True, slots=True, eq=False)
class WeightsSource:
    """Arrays by name, their origin in words, and the numbers of heads from a config beside them.

    Numbers that were read stay in memory until ``keep`` drops them.
    """

    name: str
    arrays: Mapping[str, NamedArray]
    heads: Heads
    _held: dict[str, Tensor]

    def keep(self, names: Collection[str]) -> None:
        """Drop the numbers of all other arrays from memory."""
        for name in [held for held in self._held if held not in names]:
            del self._held[name]

    @property
    def held(self) -> tuple[str, ...]:
        """The names of the arrays whose numbers are in memory."""
        return tuple(self._held)


def files_source(paths: Sequence[Path], step: Callable[[], None] = lambda: None) -> WeightsSource:
    """Return the arrays of several files as one source; ``step`` is called before each file, and may raise to stop.

    A folder stands for its files, and the index of a model for the parts beside it.

    Raises:
        FileError: one of them cannot be read; the sentence names the file.
    """
    arrays: dict[str, NamedArray] = {}
    heads = UNKNOWN
    for path in (part for each in paths for part in list_parts(each)):
        step()
        for array in read_arrays(path).values():
            name = _make_unique(array.name, path, arrays)
            arrays[name] = replace(array, name=name)
        if len(arrays) > MOST_ARRAYS:
            raise FileError(f"These files contain more than {MOST_ARRAYS} arrays; choose only the file with the layer.")
        heads = heads if heads.n_heads else heads_beside(path)
    name = shorten_name(paths[0].name) if len(paths) == 1 else f"{len(paths)} files"
    return _source(name, arrays, heads)


def text_source(text: str) -> WeightsSource:
    """Return the arrays of a pasted text.

    Raises:
        FileError: it contains no table, or a cell is not a number; the sentence names the row and column.
    """
    return _source(CLIPBOARD, read_text(text), UNKNOWN)


def _make_unique(name: str, path: Path, taken: Collection[str]) -> str:
    """Return a name that is not taken yet: with the name of its file in front if another file has the same array."""
    found, count = name, 1
    while found in taken:
        found = f"{path.stem}/{name}" if count == 1 else f"{path.stem}-{count}/{name}"
        count += 1
    return found


def _source(name: str, arrays: Mapping[str, NamedArray], heads: Heads) -> WeightsSource:
    held: dict[str, Tensor] = {}

    def once(array: NamedArray) -> Callable[[], Tensor]:
        def load() -> Tensor:
            if array.name not in held:
                held[array.name] = array.load()
            return held[array.name]

        return load

    return WeightsSource(name, {key: replace(array, load=once(array)) for key, array in arrays.items()}, heads, held)
