"""Decides which matrices of a file are transposed: from shapes, then from the embeddings, then from names."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

from attnlab.attention.experiment import Experiment
from attnlab.files.weights.named_array import NamedArray
from attnlab.files.weights.projection_layouts import Heads, Part, flat_shape, rows_of, shape_of
from attnlab.files.weights.weight_names import Meaning


@dataclass(frozen=True, slots=True)
class _Reading:
    """One interpretation of the arrays' orientation; the lowest cost is the most likely."""

    cost: tuple[int, ...]
    inner: bool
    output: bool
    parts: dict[str, Part]


def orient(
    parts: dict[str, Part],
    fields: Mapping[str, tuple[NamedArray, Meaning]],
    arrays: Mapping[str, NamedArray],
    e: Experiment | None,
    heads: Heads,
) -> tuple[dict[str, Part], dict[str, str]]:
    """Return the parts with the most likely orientation, with few unusual ones, and what decided it for each field."""
    meanings = {field: found for field, (_, found) in fields.items()}
    loose = all(meanings[field].loose for field in ("W_q", "W_k", "W_v") if field in meanings)
    readings: list[_Reading] = []
    for inner, output in product((False, True), (False, True) if "W_o" in parts else (False,)):
        turned = {f: _flip(p) if f[0] == "W" and (output if f == "W_o" else inner) else p for f, p in parts.items()}
        wide = loose and e is not None and rows_of(turned, arrays) != e.d_model
        odd = _is_mixed(turned) if "W_o" in meanings and meanings["W_o"].loose else output
        hard, soft = _count_disagreements(turned, arrays, heads)
        cost = (hard, soft * loose, wide, inner + odd)
        readings.append(_Reading(cost, inner, output, turned))
    best = min(readings, key=lambda reading: reading.cost)
    if best.cost[0]:  # shapes that contradict each other decide nothing
        return parts, dict.fromkeys(parts, "nothing")
    inner_why = _find_reason(best, min((r.cost for r in readings if r.inner != best.inner), default=best.cost))
    output_why = _find_reason(best, min((r.cost for r in readings if r.output != best.output), default=best.cost))
    if output_why == "names" and best.output:
        output_why = "others"
    return best.parts, {field: output_why if field == "W_o" else inner_why for field in parts}


def _find_reason(best: _Reading, other: tuple[int, ...]) -> str:
    if best.cost[0] != other[0]:
        return "shapes"
    if best.cost[1] != other[1]:
        return "sizes"
    return "embeddings" if best.cost[2] != other[2] else "names"


def _is_mixed(parts: Mapping[str, Part]) -> bool:
    """Return whether the output's orientation differs from that of the other projections."""
    return any(parts["W_o"].transposed != p.transposed for f, p in parts.items() if f in ("W_q", "W_k", "W_v"))


def _flip(part: Part) -> Part:
    return replace(part, transposed=not part.transposed, heads_first=not part.heads_first)


def _count_disagreements(parts: Mapping[str, Part], arrays: Mapping[str, NamedArray], heads: Heads) -> tuple[int, int]:
    """Return the numbers of contradictory shapes and of unusual ones."""
    rows = rows_of(parts, arrays)
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
    """Return the number of disagreements on the number and size of heads among arrays with an axis of heads."""
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
