"""The meanings of the names of weights in common libraries: q_proj, W_Q, in_proj_weight, c_attn."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.files.weights.named_array import NamedArray

_WORDS = {
    "q": ("q", "query", "queries"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
    "o": ("o", "out", "output"),
    "qkv": ("qkv", "querykeyvalue"),
    "kv": ("kv", "keyvalue"),
}
_AROUND = ("{}", "{}proj", "{}projection", "{}lin", "{}linear", "proj{}", "linear{}", "lin{}", "to{}", "w{}", "fc{}")
_MORE = {
    "qkv": ("inproj", "cattn", "wpack", "qkvweight"),
    "o": ("dense", "proj", "cproj", "projection", "attentionoutput", "attnout"),
}
_WEIGHTS = {around.format(word): role for role, words in _WORDS.items() for word in words for around in _AROUND} | {
    name: role for role, names in _MORE.items() for name in names
}
_BIASES = {f"{bias}{word}": role for role, words in _WORDS.items() for word in words for bias in ("b", "bias")}
_LONGEST = max(map(len, (*_WEIGHTS, *_BIASES)))
_NUMBERED = {"0": "q", "1": "k", "2": "v", "3": "o"}
_WRAPPERS = ("base_layer", "linear")
_EMBEDDINGS = re.compile(r"emb|wte|wpe|token|^x$", re.IGNORECASE)
_OF_EMBEDDINGS = re.compile(r"(?<![a-z])emb", re.IGNORECASE)
"""The name of an output that belongs to embeddings, not to attention: embed_out, patch_embed.proj."""
_IN_LAYER = re.compile(r"(^|[./|_])\d+[./|]")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a name. ``role`` is q, k, v, o, or qkv and kv for a fused array; ``layer`` the path before it.

    ``transposed`` is the convention for the name: nn.Linear has [out, in]. ``loose`` names are used for both layouts.
    ``by_head`` means the fused array of GPT-NeoX and BLOOM, with q, k and v side by side for each head.
    """

    layer: str
    role: str
    bias: bool
    transposed: bool = False
    loose: bool = False
    by_head: bool = False


def list_embeddings(arrays: "Mapping[str, NamedArray]", most_rows: int, columns: int | None) -> "list[NamedArray]":
    """Return the arrays that can be embeddings: matrices of these columns that are no weights of a layer.

    If the names of some say that they are embeddings, only those.
    """
    found = [
        array
        for array in arrays.values()
        if not array.reason and len(array.shape) == 2 and array.shape[0] <= most_rows
        if columns is None or array.shape[1] == columns
        if meaning(array.name) is None and not _IN_LAYER.search(array.name)
    ]
    return [array for array in found if is_embedding(array.name)] or found


def is_embedding(name: str) -> bool:
    """Return whether a name says that an array holds embeddings."""
    return _EMBEDDINGS.search(name) is not None


def meaning(name: str) -> Meaning | None:
    """Return the meaning of an array's name; None if no known library uses it for a projection of attention."""
    parts = re.split(r"[./|]", re.sub(r":\d+$", "", name))
    kind, parts = _kind(parts)
    if len(parts) > 1 and parts[-1] in _WRAPPERS:
        parts = parts[:-1]
    if len(parts) > 1 and parts[-1] in _NUMBERED:
        numbered = _of_a_list(parts, kind)
        if numbered is not None:
            return numbered
        parts = parts[:-1] if parts[-2].lower() == "to_out" else parts
    found = _leaf(parts[-1], kind)
    if found is None:
        return None
    role, bias, before = found
    if role == "o" and _OF_EMBEDDINGS.search(".".join(parts[-2:])):
        return None
    leaf = parts[-1].lower()
    conv1d = leaf in ("c_attn", "c_proj")
    return Meaning(
        layer=_layer([*parts[:-1], *before], leaf),
        role=role,
        bias=bias,
        transposed=kind == "weight" and not conv1d,
        loose=kind == "" or conv1d,
        by_head=leaf == "query_key_value",
    )


def _kind(parts: list[str]) -> tuple[str, list[str]]:
    """Return "weight", "bias", "kernel" or "" from the end of a name, and the parts before it."""
    last = parts[-1].lower()
    if len(parts) > 1 and last in ("weight", "bias", "kernel"):
        return last, parts[:-1]
    for kind in ("weight", "bias", "kernel"):
        if last.endswith(f"_{kind}"):
            return kind, [*parts[:-1], parts[-1][: -len(kind) - 1]]
    return "", parts


def _of_a_list(parts: list[str], kind: str) -> Meaning | None:
    """Return the meaning of ``linears.0`` to ``linears.3``, the four of The Annotated Transformer."""
    if parts[-2] != "linears":
        return None
    return Meaning(".".join(parts[:-2]), _NUMBERED[parts[-1]], kind == "bias", kind == "weight")


def _leaf(leaf: str, kind: str) -> tuple[str, bool, list[str]] | None:
    """Return the role in the last part of a name, whether it is a bias, and the words before it."""
    words = [word for word in leaf.split("_") if word]
    for start in range(max(0, len(words) - _LONGEST), len(words)):  # no known name has more words
        joined = "".join(words[start:]).lower()
        before = ["_".join(words[:start])] if start else []
        if kind == "" and joined in _BIASES:
            return _BIASES[joined], True, before
        if joined in _WEIGHTS:
            return _WEIGHTS[joined], kind == "bias", before
    return None


def _layer(parts: list[str], leaf: str) -> str:
    """Return the path of a layer, the same for all its arrays, so without BERT's ``self`` and ``output``."""
    if len(parts) > 1 and parts[-1] == ("output" if leaf == "dense" else "self"):
        parts = parts[:-1]
    if len(parts) > 1 and parts[-1] == parts[-2] == "attention":
        parts = parts[:-1]
    return ".".join(parts)


def in_order(name: str) -> tuple[object, ...]:
    """Return a key that sorts layer 2 before layer 10."""
    parts = re.split(r"([0-9]{1,18})", name)  # text and numbers alternate
    return tuple((int(part), "") if i % 2 else (-1, part) for i, part in enumerate(parts))
