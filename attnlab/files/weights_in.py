"""Weights in: which arrays of a file are W_q, W_k, W_v, W_o and their biases, one proposal for each layer."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TypeAlias

from attnlab.attention.experiment import Experiment
from attnlab.attention.frozen import Frozen
from attnlab.files.layouts import UNKNOWN, Heads, Part, flat_shape, shape_of
from attnlab.files.named_array import NamedArray, shown
from attnlab.files.weight_names import Meaning, in_order, meaning

_CONFIG_LIMIT = 1 << 20
_QUERY_HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads")
_KEY_HEADS = ("num_key_value_heads", "n_kv_heads", "n_head_kv", "num_kv_heads")
_BY_ORDER = ("W_q", "W_k", "W_v", "W_o")
_Size: TypeAlias = tuple[int, int] | None


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """One layer of a file. ``parts`` says for each field of the weights where it is; ``heads`` what is known of them.

    ``name`` is the layer's path in the file, "" if it has none; ``notes`` are sentences on how each thing was decided;
    ``refused`` says why the layer cannot be taken, "" if it can. To correct a guess, replace parts.
    """

    name: str
    parts: Mapping[str, Part]
    heads: Heads = UNKNOWN
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def whole(self) -> bool:
        """Whether queries, keys and values are all there; what else is missing is then missing in the layer too."""
        return all(name in self.parts for name in ("W_q", "W_k", "W_v"))


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way in which the arrays may lie; the lower the cost, the more speaks for it."""

    cost: tuple[int, ...]
    inner: bool
    output: bool
    parts: dict[str, Part]


def guess(
    arrays: Mapping[str, NamedArray], e: Experiment | None = None, heads: Heads = UNKNOWN
) -> tuple[Proposal, ...]:
    """Return one proposal for each attention layer that the names tell of, in the layers' order.

    Where shapes leave two readings, the convention of the name decides, for names that are used both ways the columns
    of the experiment's embeddings before it. Three or four matrices that no name tells anything of are taken in their
    order. ``heads`` are those of a config beside the file (:func:`heads_beside`).
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


def part_for(field: str, array: NamedArray) -> Part:
    """Return how an array that a person chooses for a field is to be read, as far as its name tells."""
    found = meaning(array.name) or Meaning("", field[-1], field.startswith("b_"))
    fits = found.bias == field.startswith("b_") and field[-1] in found.role
    return _part(array, found) if fits else replace(_part(array, found), fused="", by_head=False)


def heads_beside(path: str | os.PathLike[str]) -> Heads:
    """Return the numbers of heads that a config.json in the same folder tells; UNKNOWN where there is none to read."""
    config = Path(path).with_name("config.json")
    try:
        text = config.read_bytes()[: _CONFIG_LIMIT + 1]
        found = json.loads(text) if len(text) <= _CONFIG_LIMIT else None
    except (OSError, ValueError, RecursionError):
        return UNKNOWN
    if not isinstance(found, dict):
        return UNKNOWN
    n_heads = _count(found, _QUERY_HEADS)
    if n_heads is None:
        return UNKNOWN
    shared = 1 if found.get("multi_query") is True else _count(found, _KEY_HEADS)
    return Heads(n_heads, shared or n_heads, config.name)


def fitting_heads(proposal: Proposal, arrays: Mapping[str, NamedArray]) -> tuple[int, ...]:
    """Return the numbers of heads that the shapes allow, () where there are no queries to tell them by."""
    sizes = shapes(proposal, arrays)
    q, k, v, o = (sizes.get(f"W_{letter}") for letter in "qkvo")
    if q is None:
        return ()
    return tuple(n for n in range(1, q[1] + 1) if q[1] % n == 0 and _allows(n, q[1] // n, k, v, o))


def key_heads(n_heads: int, query_columns: int, key_columns: int) -> int | None:
    """Return how many key heads of the queries' size there are in so many columns; None where that does not divide."""
    d_k, rest = divmod(query_columns, n_heads)
    if rest or not d_k or key_columns % d_k or n_heads % (key_columns // d_k or n_heads + 1):
        return None
    return key_columns // d_k


def _allows(n: int, d_k: int, k: _Size, v: _Size, o: _Size) -> bool:
    n_kv = n if k is None else key_heads(n, n * d_k, k[1])
    return n_kv is not None and (v is None or v[1] % n_kv == 0) and (o is None or o[0] % n == 0)


def shapes(proposal: Proposal, arrays: Mapping[str, NamedArray]) -> dict[str, tuple[int, int] | None]:
    """Return rows and columns of each field of a proposal as it would be taken, None for a fused one that cannot be."""
    rows = _rows(proposal.parts, arrays)
    return {
        field: shape_of(field, part, arrays[part.array].shape, rows, proposal.heads)
        for field, part in proposal.parts.items()
    }


def _count(config: Mapping[str, object], names: Sequence[str]) -> int | None:
    values = [config[name] for name in names if name in config]
    return next((v for v in values if isinstance(v, int) and not isinstance(v, bool) and 0 < v < 1 << 16), None)


def _rows(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray]) -> int:
    """Return the rows of the first of W_q, W_k and W_v that is there."""
    for field in ("W_q", "W_k", "W_v"):
        if field in parts:
            return flat_shape(field, parts[field], arrays[parts[field].array].shape)[0]
    return 0


def _fits(array: NamedArray, found: Meaning, odd: dict[str, str]) -> bool:
    """Return whether an array can be what its name says; one that cannot be left out is noted as odd."""
    if found.bias and found.role in ("k", "v") and len(array.shape) == 3:  # of nn.MultiheadAttention(add_bias_kv=True)
        what = "is a key or value that the layer adds to every sequence (add_bias_kv), which attnlab does not have"
        odd.setdefault(found.layer, f"{shown(array.name)} {array.size} {what}")
        return False
    if array.reason:
        return False
    return len(array.shape) <= 2 if found.bias else len(array.shape) >= 2


def _by_order(matrices: Sequence[NamedArray], heads: Heads) -> tuple[Proposal, ...]:
    if len(matrices) not in (3, 4):
        return ()
    parts = {field: Part(array.name) for field, array in zip(_BY_ORDER, matrices, strict=False)}
    order = ", ".join(f"{field} is {shown(part.array)}" for field, part in parts.items())
    return (Proposal("", Frozen(parts), heads, (f"No name tells what is what; taken in the file's order: {order}.",)),)


def _proposal(
    name: str, fields: Mapping[str, tuple[NamedArray, Meaning]], e: Experiment | None, heads: Heads, refused: str
) -> Proposal:
    arrays = {array.name: array for array, _ in fields.values()}
    plain = {field: _part(array, found) for field, (array, found) in sorted(fields.items(), key=_position)}
    parts, decided = _oriented(plain, fields, arrays, e, heads)
    heads, told = _heads(parts, arrays, heads)
    missing = [field for field in ("W_q", "W_k", "W_v") if field not in parts]
    notes = [*_layout_notes(parts, arrays, decided), *told]
    notes += [f"There is no {' and no '.join(missing)} here; the experiment's own is kept."] if missing else []
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


def _oriented(
    parts: dict[str, Part],
    fields: Mapping[str, tuple[NamedArray, Meaning]],
    arrays: Mapping[str, NamedArray],
    e: Experiment | None,
    heads: Heads,
) -> tuple[dict[str, Part], dict[str, str]]:
    """Turn projections and output so that the shapes agree, with as few turned as can be; say what decided for each."""
    meanings = {field: found for field, (_, found) in fields.items()}
    loose = all(meanings[field].loose for field in ("W_q", "W_k", "W_v") if field in meanings)
    readings: list[_Reading] = []
    for inner, output in product((False, True), (False, True) if "W_o" in parts else (False,)):
        turned = {f: _turned(p) if f[0] == "W" and (output if f == "W_o" else inner) else p for f, p in parts.items()}
        wide = loose and e is not None and _rows(turned, arrays) != e.d_model
        odd = _mixed(turned) if "W_o" in meanings and meanings["W_o"].loose else output
        hard, soft = _disagreements(turned, arrays, heads)
        cost = (hard, soft * loose, wide, inner + odd)
        readings.append(_Reading(cost, inner, output, turned))
    best = min(readings, key=lambda reading: reading.cost)
    best = best if best.cost[0] == 0 else readings[0]  # one that is wrong in itself tells nothing of the others
    inner_why = _why(best, min((r.cost for r in readings if r.inner != best.inner), default=best.cost))
    output_why = _why(best, min((r.cost for r in readings if r.output != best.output), default=best.cost))
    if output_why == "names" and best.output:
        output_why = "others"
    return best.parts, {field: output_why if field == "W_o" else inner_why for field in parts}


def _why(best: _Reading, other: tuple[int, ...]) -> str:
    if best.cost[:2] != other[:2]:
        return "shapes"
    return "embeddings" if best.cost[2] != other[2] else "names"


def _mixed(parts: Mapping[str, Part]) -> bool:
    """Return whether the output lies another way round than what comes before it."""
    return any(parts["W_o"].transposed != p.transposed for f, p in parts.items() if f in ("W_q", "W_k", "W_v"))


def _turned(part: Part) -> Part:
    return replace(part, transposed=not part.transposed, heads_first=not part.heads_first)


def _disagreements(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], heads: Heads) -> tuple[int, int]:
    """Return how many shapes contradict each other, and how many are unusual."""
    rows = _rows(parts, arrays)
    sizes = {f: shape_of(f, part, arrays[part.array].shape, rows, heads) for f, part in parts.items()}
    given = {field: size for field, size in sizes.items() if size is not None}
    hard, soft = len(sizes) - len(given), 0
    q, k, v, o = (given.get(f"W_{letter}") for letter in "qkvo")
    for letter in "qkvo":
        weight, bias = given.get(f"W_{letter}"), given.get(f"b_{letter}")
        hard += bool(weight and bias and weight[1] != bias[1])
    hard += bool(k and v and k[0] != v[0])
    hard += bool(q and k and q[1] % k[1])
    hard += bool(o and v and o[0] % v[1])
    hard += bool(q and o and k and v and k[1] == v[1] and o[0] != q[1])
    soft += bool(q and k and q[0] != k[0]) + bool(q and k and q[1] != k[1])
    soft += bool(q and o and q[0] != o[1]) + _uneven_heads(parts, arrays)
    fused = next((part for field, part in parts.items() if field == "W_q" and part.fused), None)
    if fused is not None and q is not None:
        soft += flat_shape("W_q", fused, arrays[fused.array].shape)[1] != 3 * q[0]
    return hard, soft


def _uneven_heads(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray]) -> int:
    """Return how many arrays of three axes say another number of heads, or size of one, than W_o and biases do."""
    known: set[tuple[int, int]] = set()
    told = {f: arrays[p.array].shape for f, p in parts.items()}
    for field in ("W_q", "b_q"):
        shape = told.get(field, ())
        if len(shape) == 3 and field == "W_q":
            known.add((shape[0], shape[2]) if parts[field].heads_first else (shape[1], shape[2]))
        elif field == "b_q" and len(shape) == 2:
            known.add((shape[0], shape[1]))
    output = told.get("W_o", ())
    if len(output) == 3:
        known.add((output[0], output[1]))
    return max(0, len(known) - 1)


def _heads(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], heads: Heads) -> tuple[Heads, list[str]]:
    """Return the numbers of heads, from arrays with an axis of heads or as they are given, and sentences on them."""
    axes = {field: _head_axis(part, arrays[part.array].shape) for field, part in parts.items() if field != "W_o"}
    if axes.get("W_q"):
        found = Heads(axes["W_q"], axes.get("W_k") or axes["W_q"], "the shapes")
        return found, [f"{found.n_heads} heads, as the first array has an axis of them."]
    if heads.n_heads is None:
        return heads, ["The number of heads is not in the file: it needs to be chosen."]
    q = (
        shape_of("W_q", parts["W_q"], arrays[parts["W_q"].array].shape, _rows(parts, arrays), heads)
        if "W_q" in parts
        else None
    )
    if q is not None and q[1] % heads.n_heads:
        return UNKNOWN, [
            f"{heads.source} says {heads.n_heads} heads, which do not divide the {q[1]} columns of W_q: "
            "the number needs to be chosen."
        ]
    return heads, [f"{heads.n_heads} heads, as {heads.source} says."]


def _head_axis(part: Part, shape: tuple[int, ...]) -> int | None:
    return None if len(shape) != 3 else shape[0] if part.heads_first else shape[1]


def _layout_notes(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], decided: Mapping[str, str]) -> list[str]:
    """Return sentences on how the arrays are read: which way round, fused or not, keys shared or not."""
    notes = []
    for field, part in parts.items():
        array = arrays[part.array]
        if field[0] == "b" or (part.fused and field[-1] != part.fused[0]):
            continue
        notes.append(f"{shown(array.name)} {array.size} is {_reading(field, part, array, decided[field])}.")
    q, k = (parts.get(field) for field in ("W_q", "W_k"))
    if q and k and not q.fused and not k.fused:
        wide, narrow = (flat_shape("W_q", part, arrays[part.array].shape)[1] for part in (q, k))
        if narrow < wide and wide % narrow == 0:
            notes.append(
                f"Keys have {narrow} columns where queries have {wide}: {wide // narrow} query heads share one."
            )
    return notes


def _reading(field: str, part: Part, array: NamedArray, decided: str) -> str:
    names = part.fused or field[-1]
    what = " and ".join(f"W_{letter}" for letter in names).replace(" and ", ", ", len(names) - 2)
    if part.by_head:
        what += " head by head, as GPT-NeoX and BLOOM keep them"
    if len(array.shape) == 3:
        return f"{what} with an axis of heads"
    way = "transposed, [out, in] as nn.Linear keeps it" if part.transposed else "as it is, [in, out]"
    because = {
        "shapes": "as the shapes fit only so",
        "embeddings": "as the embeddings' columns fit only so",
        "others": "as the rest of its layer lies so",
        "names": "as is usual for its name; the shapes would fit both ways",
    }[decided]
    return f"{what}, {way}, {because}"
