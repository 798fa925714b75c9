"""Proposes which arrays of a file are W_q, W_k, W_v, W_o and their biases, once for each layer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from attnlab.attention.experiment import Experiment
from attnlab.attention.frozen import Frozen
from attnlab.files.weights.head_counts import fitting_counts
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.orientation import orient
from attnlab.files.weights.projection_layouts import UNKNOWN, Heads, Part, flat_shape, rows_of, shape_of
from attnlab.files.weights.weight_names import Meaning, in_order, is_embedding, meaning

_BY_ORDER = ("W_q", "W_k", "W_v", "W_o")


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """One layer of a file. ``parts`` gives the location of each field of the weights, ``heads`` the numbers of heads.

    ``name`` is the layer's path in the file, "" if it has none; ``notes`` are sentences on how each part was decided;
    ``refused`` says why the layer cannot be used, "" if it can. To correct a guess, replace parts.
    """

    name: str
    parts: Mapping[str, Part]
    heads: Heads = UNKNOWN
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Whether queries, keys and values are all present; then the layer has no weights besides ``parts``."""
        return all(name in self.parts for name in ("W_q", "W_k", "W_v"))


def guess(
    arrays: Mapping[str, NamedArray], e: Experiment | None = None, heads: Heads = UNKNOWN
) -> tuple[Proposal, ...]:
    """Return one proposal for each attention layer that the names indicate, in the order of the layers.

    If shapes are ambiguous, the convention of the name decides; for names that are used for both layouts, first the
    columns of the experiment's embeddings. Three or four matrices without known names, besides embeddings, are taken in
    their order.
    ``heads`` are those of a config beside the file (:func:`attnlab.files.weights.head_counts.heads_beside`).
    """
    layers: dict[str, dict[str, tuple[NamedArray, Meaning]]] = {}
    odd: dict[str, str] = {}
    for array in arrays.values():
        found = meaning(array.name)
        if found is None or not _fits(array, found, odd):
            continue
        fields = layers.setdefault(found.layer, {})
        for letter in found.role:
            fields.setdefault(f"{'b' if found.bias else 'W'}_{letter}", (array, found))
    kept = {name: fields for name, fields in layers.items() if "W_q" in fields}
    kept = kept or {name: fields for name, fields in layers.items() if fields.keys() & {"W_k", "W_v", "W_o"}}
    if kept:
        return tuple(_proposal(name, kept[name], e, heads, odd.get(name, "")) for name in sorted(kept, key=in_order))
    return _by_order([array for array in arrays.values() if not array.reason and len(array.shape) == 2], heads)


NO_NAMES = "No name is known"
"""How the reason for a guess by the order of arrays begins."""


def part_for(field: str, array: NamedArray) -> Part:
    """Return the layout of an array that the user chose for a field, as far as its name tells."""
    found = meaning(array.name) or Meaning("", field[-1], field.startswith("b_"))
    fits = found.bias == field.startswith("b_") and field[-1] in found.role
    return _part(array, found) if fits else replace(_part(array, found), fused="", by_head=False)


def fitting_heads(proposal: Proposal, arrays: Mapping[str, NamedArray]) -> tuple[int, ...]:
    """Return the numbers of heads that the shapes allow, () without queries."""
    return fitting_counts(shapes(proposal, arrays))


def shapes(proposal: Proposal, arrays: Mapping[str, NamedArray]) -> dict[str, tuple[int, int] | None]:
    """Return the rows and columns of each field of a proposal, None for a fused one that cannot be split."""
    rows = rows_of(proposal.parts, arrays)
    return {
        field: shape_of(field, part, arrays[part.array].shape, rows, proposal.heads)
        for field, part in proposal.parts.items()
    }


def _fits(array: NamedArray, found: Meaning, odd: dict[str, str]) -> bool:
    """Return whether an array can be what its name says; note in ``odd`` one that makes the layer unusable."""
    if found.bias and found.role in ("k", "v") and len(array.shape) == 3:  # of nn.MultiheadAttention(add_bias_kv=True)
        what = "is a key or value that the layer adds to every sequence (add_bias_kv), which attnlab does not support"
        odd.setdefault(found.layer, f"{shorten_name(array.name)} {array.size} {what}")
        return False
    if array.reason:
        return False
    return len(array.shape) <= 2 if found.bias else len(array.shape) >= 2


def _by_order(matrices: Sequence[NamedArray], heads: Heads) -> tuple[Proposal, ...]:
    others = [array for array in matrices if not is_embedding(array.name)]
    matrices = others if len(others) >= len(_BY_ORDER) - 1 else matrices
    if len(matrices) not in (3, 4):
        return ()
    parts = {field: Part(array.name) for field, array in zip(_BY_ORDER, matrices, strict=False)}
    return (Proposal("", Frozen(parts), heads, (describe_order(parts),)),)


def describe_order(parts: Mapping[str, Part]) -> str:
    """Return the sentence on parts that were taken from arrays in the order of the file."""
    order = ", ".join(f"{field} is {shorten_name(part.array)}" for field, part in parts.items())
    return f"{NO_NAMES}; taken in the file’s order: {order}."


def _proposal(
    name: str, fields: Mapping[str, tuple[NamedArray, Meaning]], e: Experiment | None, heads: Heads, refused: str
) -> Proposal:
    arrays = {array.name: array for array, _ in fields.values()}
    plain = {field: _part(array, found) for field, (array, found) in sorted(fields.items(), key=_position)}
    parts, decided = orient(plain, fields, arrays, e, heads)
    heads, told = _heads(parts, arrays, heads)
    missing = [field for field in ("W_q", "W_k", "W_v") if field not in parts]
    notes = [*_layout_notes(parts, arrays, decided), *told]
    notes += [f"The file has no {' and no '.join(missing)}; the experiment’s own is kept."] if missing else []
    return Proposal(name, Frozen(parts), heads, tuple(notes), refused)


def _position(item: tuple[str, object]) -> tuple[bool, int]:
    return item[0].startswith("b"), "qkvo".index(item[0][-1])


def _part(array: NamedArray, found: Meaning) -> Part:
    fused = found.role if len(found.role) > 1 else ""
    return Part(
        array.name,
        transposed=found.transposed and not found.bias and len(array.shape) == 2,
        fused=fused,
        by_head=found.by_head,
        heads_first=not array.name.split(":")[0].endswith("kernel"),
    )


def _heads(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], heads: Heads) -> tuple[Heads, list[str]]:
    """Return the numbers of heads, from arrays with an axis of heads or as given, and sentences on them."""
    axes = {field: _head_axis(part, arrays[part.array].shape) for field, part in parts.items() if field != "W_o"}
    if axes.get("W_q"):
        found = Heads(axes["W_q"], axes.get("W_k") or axes["W_q"], "the shapes")
        return found, [f"{found.n_heads} heads, from an axis of the first array."]
    if heads.n_heads is None:
        return heads, ["The file does not give the number of heads: choose it."]
    q = (
        shape_of("W_q", parts["W_q"], arrays[parts["W_q"].array].shape, rows_of(parts, arrays), heads)
        if "W_q" in parts
        else None
    )
    if q is not None and q[1] % heads.n_heads:
        return UNKNOWN, [
            f"{heads.source} says {heads.n_heads} heads, which do not divide the {q[1]} columns of W_q: "
            "choose the number."
        ]
    return heads, [f"{heads.n_heads} heads, as {heads.source} says."]


def _head_axis(part: Part, shape: tuple[int, ...]) -> int | None:
    return None if len(shape) != 3 else shape[0] if part.heads_first else shape[1]


def _layout_notes(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], decided: Mapping[str, str]) -> list[str]:
    """Return sentences on how the arrays are read: transposed or not, fused or not, keys shared or not."""
    notes = []
    for field, part in parts.items():
        array = arrays[part.array]
        if field[0] == "b" or (part.fused and field[-1] != part.fused[0]):
            continue
        notes.append(f"{shorten_name(array.name)} {array.size} is {_reading(field, part, array, decided[field])}.")
    q, k = (parts.get(field) for field in ("W_q", "W_k"))
    if q and k and not q.fused and not k.fused:
        wide, narrow = (flat_shape("W_q", part, arrays[part.array].shape)[1] for part in (q, k))
        if narrow < wide and wide % narrow == 0:
            notes.append(
                f"Keys have {narrow} columns and queries {wide}: {wide // narrow} query heads share one key head."
            )
    return notes


def _reading(field: str, part: Part, array: NamedArray, decided: str) -> str:
    names = part.fused or field[-1]
    what = " and ".join(f"W_{letter}" for letter in names).replace(" and ", ", ", len(names) - 2)
    if part.by_head:
        what += " head by head, as in GPT-NeoX and BLOOM"
    if len(array.shape) == 3:
        return f"{what} with an axis of heads"
    way = "transposed, [out, in] as in nn.Linear" if part.transposed else "not transposed, [in, out]"
    because = {
        "shapes": "the only way the shapes fit",
        "sizes": "which gives the usual sizes",
        "nothing": "as is usual for its name; the shapes contradict each other",
        "embeddings": "the only way the embeddings’ columns fit",
        "others": "like the rest of its layer",
        "names": "as is usual for its name; the shapes would fit both ways",
    }[decided]
    return f"{what}, {way}, {because}"
