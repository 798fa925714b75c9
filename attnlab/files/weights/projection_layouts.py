"""Layouts of a projection in a file (transposed, fused, one matrix per head), and their conversion to Q = X @ W_q."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from attnlab.files.weights.named_array import NamedArray


@dataclass(frozen=True, slots=True)
class Part:
    """The array of a file that one field of the weights comes from, and its layout.

    ``transposed`` means [out, in], as in nn.Linear. ``fused`` is "qkv" or "kv" for an array that contains those, one
    after the other, or with ``by_head`` head after head (GPT-NeoX); ``letter`` is the one to take, "" for the field's
    own. Three axes are [heads, in, d] with ``heads_first`` (TransformerLens), otherwise [in, heads, d] (Flax, Keras);
    those of W_o are always [heads, d, out].
    """

    array: str
    transposed: bool = False
    fused: str = ""
    by_head: bool = False
    heads_first: bool = True
    letter: str = ""

    def find_letter(self, field: str) -> str:
        """Return the letter of the fused projection that a field is taken from."""
        return self.letter or field[-1]


@dataclass(frozen=True, slots=True)
class Heads:
    """The numbers of query heads and key heads, None if unknown, and their source in words."""

    n_heads: int | None = None
    n_kv_heads: int | None = None
    source: str = ""


UNKNOWN = Heads()


def flat_shape(field: str, part: Part, shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns of an array oriented for X @ W, including all fused parts; a bias is one row."""
    if field.startswith("b_"):
        count = 1
        for length in shape:
            count *= length
        return 1, count
    if len(shape) == 3:
        if field == "W_o":
            return shape[0] * shape[1], shape[2]
        return (shape[1], shape[0] * shape[2]) if part.heads_first else (shape[0], shape[1] * shape[2])
    rows, columns = shape if len(shape) == 2 else (1, shape[0])
    return (columns, rows) if part.transposed else (rows, columns)


def widths(fused: str, rows: int, columns: int, heads: Heads) -> dict[str, int] | None:
    """Return the columns of each projection in a fused array; None if they cannot be determined.

    Queries are assumed as wide as the embeddings unless all three are equally wide or ``heads`` determine otherwise.
    """
    if fused == "kv":
        return None if columns % 2 else {"k": columns // 2, "v": columns // 2}
    h, h_kv = heads.n_heads, heads.n_kv_heads
    if h and h_kv:
        d, rest = divmod(columns, h + 2 * h_kv)
        return None if rest else {"q": h * d, "k": h_kv * d, "v": h_kv * d}
    third, rest = divmod(columns, 3)
    shared = (columns - rows) // 2
    if third != rows and rows < columns < 3 * rows and (columns - rows) % 2 == 0 and rows % shared == 0:
        return {"q": rows, "k": shared, "v": shared}
    return None if rest else {"q": third, "k": third, "v": third}


def rows_of(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray]) -> int:
    """Return the rows of the first of W_q, W_k and W_v in ``parts``, 0 without any."""
    for field in ("W_q", "W_k", "W_v"):
        if field in parts:
            return flat_shape(field, parts[field], arrays[parts[field].array].shape)[0]
    return 0


def shape_of(field: str, part: Part, shape: tuple[int, ...], rows: int, heads: Heads) -> tuple[int, int] | None:
    """Return the rows and columns of one field; a fused bias needs ``rows``, those of its layer's weights."""
    flat = flat_shape(field, part, shape)
    if not part.fused:
        return flat
    split, letter = widths(part.fused, rows, flat[1], heads), part.find_letter(field)
    return None if split is None or letter not in split else (flat[0], split[letter])


def extract_field(field: str, part: Part, tensor: Tensor, rows: int, heads: Heads) -> Tensor | None:
    """Return one field as :class:`attnlab.Weights` needs it; None if a fused array cannot be split."""
    flat = _flat(field, part, tensor)
    if part.fused:
        split, letter = widths(part.fused, rows, flat.shape[1], heads), part.find_letter(field)
        if split is None or letter not in split:
            return None
        one = _by_head(field, part, flat, heads.n_heads or 1) if part.by_head else _one_of(letter, flat, split)
        if one is None:
            return None
        flat = one
    return flat[0].contiguous() if field.startswith("b_") else flat.contiguous()


def _flat(field: str, part: Part, tensor: Tensor) -> Tensor:
    shape = flat_shape(field, part, tuple(tensor.shape))
    if field.startswith("W_") and tensor.ndim == 3 and field != "W_o" and part.heads_first:
        tensor = tensor.permute(1, 0, 2)
    elif field.startswith("W_") and tensor.ndim == 2 and part.transposed:
        tensor = tensor.T
    return tensor.reshape(shape)


def _one_of(letter: str, flat: Tensor, split: Mapping[str, int]) -> Tensor:
    start = 0
    for other, width in split.items():
        if other == letter:
            break
        start += width
    return flat[:, start : start + split[letter]]


def _by_head(field: str, part: Part, flat: Tensor, n_heads: int) -> Tensor | None:
    """Return one projection of [rows, heads, q k v, d] with its heads concatenated."""
    rows, columns = flat.shape
    if columns % (n_heads * len(part.fused)):
        return None
    by_head = flat.reshape(rows, n_heads, len(part.fused), -1)
    return by_head[:, :, part.fused.index(part.find_letter(field))].flatten(1)
