"""Puts a layer of a file into an experiment: converts arrays, checks sizes, keeps or replaces the embeddings."""

import re
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.edits.assemble import assemble
from attnlab.attention.edits.token_edits import MAX_TOKENS, word_vector
from attnlab.attention.experiment import PROJECTIONS, Experiment, Weights
from attnlab.attention.validation import MOST_HEADS, take_count
from attnlab.base.errors import ExperimentError
from attnlab.files.weights.head_counts import key_heads
from attnlab.files.weights.named_array import NamedArray, shorten_name
from attnlab.files.weights.projection_layouts import Heads, Part, extract_field, rows_of
from attnlab.files.weights.weights_in import Proposal, fitting_heads

Embeddings = NamedArray | Literal["keep", "drawn"]
"""The embeddings: kept; drawn by word if their columns do not fit; or taken from an array."""


def apply(
    proposal: Proposal,
    arrays: Mapping[str, NamedArray],
    e: Experiment,
    n_heads: int | None = None,
    n_kv_heads: int | None = None,
    embeddings: Embeddings = "keep",
) -> Experiment:
    """Return the experiment with the weights of a proposal and the numbers of heads given, or else those in the file.

    A whole layer replaces all weights, so a bias or W_o that it lacks is absent. A partial layer replaces only what it
    has. Score, masks, positions and other settings stay; heads that were switched off are on again.

    Raises:
        ExperimentError: sizes that disagree; the sentence names the array, its shape and what is needed.
        FileError: an array cannot be read, or contains a number that is not finite.
    """
    if proposal.refused:
        raise ExperimentError(f"{proposal.refused}.")
    _check_embeddings(embeddings)
    n_heads = None if n_heads is None else take_count("n_heads", n_heads, MOST_HEADS)
    n_kv_heads = None if n_kv_heads is None else take_count("n_kv_heads", n_kv_heads, MOST_HEADS)
    heads = _choose_heads(proposal, arrays, e, n_heads, n_kv_heads)
    weights = _weights(proposal, arrays, e, heads)
    sequence = _sequence(weights, e, embeddings, proposal, arrays)
    count = heads.n_heads or 1
    counts: dict[str, Any] = {
        "n_heads": count,
        "n_kv_heads": _choose_key_heads(weights, e, count, n_kv_heads, proposal),
    }
    mask = None if "tokens" in sequence else e.config.mask
    try:
        config = replace(e.config, **counts, mask=mask, ablated=())
        return assemble(e, weights=weights, config=config, **sequence)
    except ExperimentError as error:
        raise ExperimentError(_append_arrays(str(error), proposal.parts, arrays)) from None


def _check_embeddings(embeddings: object) -> None:
    """Raise ExperimentError if the choice of embeddings is unknown."""
    if isinstance(embeddings, NamedArray) or (isinstance(embeddings, str) and embeddings in ("keep", "drawn")):
        return
    raise ExperimentError(f"embeddings is {reprlib.repr(embeddings)}; it needs one of keep, drawn.")


def _choose_heads(
    proposal: Proposal, arrays: Mapping[str, NamedArray], e: Experiment, n_heads: int | None, n_kv: int | None
) -> Heads:
    """Return the numbers of heads: those given, those in the file, or the experiment's if the file has no queries."""
    count = n_heads or proposal.heads.n_heads or (None if "W_q" in proposal.parts else e.n_heads)
    fitting = fitting_heads(replace(proposal, heads=Heads(n_heads, n_kv)), arrays)
    if count is None and fitting:
        raise ExperimentError(
            "The file does not give the number of heads; choose "
            f"{'1' if len(fitting) < 2 else f'one of {_format_numbers(fitting)}'}."
        )
    count = count or 1  # if none fits, keys and queries contradict each other, which the next check reports
    if n_kv is None:
        n_kv = proposal.heads.n_kv_heads if count == proposal.heads.n_heads else None
    return Heads(count, n_kv)


def _format_numbers(numbers: Sequence[int]) -> str:
    shown_numbers = numbers if len(numbers) < 16 else [*numbers[:8], "…", *numbers[-4:]]
    return ", ".join(map(str, shown_numbers))


def _weights(proposal: Proposal, arrays: Mapping[str, NamedArray], e: Experiment, heads: Heads) -> Weights:
    loaded = {name: arrays[name].tensor() for name in dict.fromkeys(part.array for part in proposal.parts.values())}
    rows = rows_of(proposal.parts, arrays)
    given: dict[str, Any] = {}
    for field, part in proposal.parts.items():
        made = extract_field(field, part, loaded[part.array], rows, heads)
        if made is None:
            raise ExperimentError(_describe_split_error(field, part, arrays[part.array], heads))
        given[field] = own(_copy_if_shared(made, loaded[part.array]))
    if proposal.whole:
        given = {**dict.fromkeys(PROJECTIONS), **given}
    return replace(e.weights, **given)


def _copy_if_shared(made: Tensor, loaded: Tensor) -> Tensor:
    """Return ``made`` without memory shared with ``loaded``: a copy, unless it is one already."""
    shared = made.untyped_storage().data_ptr() == loaded.untyped_storage().data_ptr()
    return made.clone() if shared else made


def _describe_split_error(field: str, part: Part, array: NamedArray, heads: Heads) -> str:
    kept = f"{' '.join(part.fused)} head by head" if part.by_head else " and ".join(part.fused)
    key = f" and {heads.n_kv_heads} key heads" if heads.n_kv_heads else ""
    return (
        f"{shorten_name(array.name)} {array.size} contains {kept} and cannot be split for {heads.n_heads} heads{key}; "
        f"{field} needs a number of heads that divides its columns."
    )


def _choose_key_heads(
    weights: Weights, e: Experiment, n_heads: int, n_kv: int | None, proposal: Proposal
) -> int | None:
    """Return the number of key heads, as given or from the columns; None if it equals the number of query heads."""
    if n_kv is not None:
        return None if n_kv == n_heads else n_kv
    if "W_k" not in proposal.parts and "W_q" not in proposal.parts:
        return e.config.n_kv_heads
    if weights.W_q is None or weights.W_k is None:
        return None
    found = key_heads(n_heads, weights.W_q.shape[1], weights.W_k.shape[1])
    return None if found == n_heads else found


def _sequence(
    weights: Weights, e: Experiment, embeddings: Embeddings, proposal: Proposal, arrays: Mapping[str, NamedArray]
) -> dict[str, Any]:
    """Return the changed fields of tokens and embeddings, of a second sequence and of a batch."""
    rows = {f"W_{x}": len(w) for x in "qkv" if (w := getattr(weights, f"W_{x}")) is not None}
    if "W_k" in rows and rows["W_k"] != rows.get("W_v", rows["W_k"]):
        text = (
            f"W_k has {rows['W_k']} rows and W_v {rows['W_v']}; they must be equal, "
            "because keys and values come from one sequence."
        )
        raise ExperimentError(_append_arrays(text, proposal.parts, arrays))
    if isinstance(embeddings, NamedArray):
        return _from_array(embeddings, e)
    d_model = rows.get("W_q", e.d_model)
    d_memory = rows.get("W_k", rows.get("W_v", e.memory.shape[1]))
    fits = d_model == e.d_model and d_memory == e.memory.shape[1]
    if fits:
        return {}
    if embeddings == "keep":
        raise ExperimentError(_describe_misfit(d_model, d_memory, e, proposal.parts, arrays))
    return _draw_embeddings(e, d_model, d_memory, (weights.W_q if weights.W_q is not None else e.embeddings).dtype)


def _describe_misfit(
    d_model: int, d_memory: int, e: Experiment, parts: Mapping[str, Part], arrays: Mapping[str, NamedArray]
) -> str:
    queries = d_model != e.d_model
    field, need, have = ("W_q", d_model, e.d_model) if queries else ("W_k", d_memory, e.memory.shape[1])
    whose = "embeddings" if queries or e.memory_embeddings is None else "memory_embeddings"
    text = f"{field} has {need} rows, but the {whose} have {have} columns; draw new ones, or take them from an array."
    return _append_arrays(text, parts, arrays)


def _from_array(array: NamedArray, e: Experiment) -> dict[str, Any]:
    values = array.tensor()
    if values.ndim != 2 or len(values) > MAX_TOKENS:
        raise ExperimentError(
            f"{shorten_name(array.name)} {array.size} cannot be embeddings; "
            f"they need [tokens, d_model], at most {MAX_TOKENS} tokens."
        )
    if len(values) == e.T_q:
        return {"embeddings": values, "others": (), "item": 0}
    tokens = tuple(str(place + 1) for place in range(len(values)))
    return {"tokens": tokens, "embeddings": values, "others": (), "item": 0}


def _draw_embeddings(e: Experiment, d_model: int, d_memory: int, dtype: torch.dtype) -> dict[str, Any]:
    """Return embeddings with the given columns for the present tokens; a word's vector is seeded by the word."""
    second = e.memory_tokens is not None or d_memory != d_model

    def draw(tokens: Sequence[str], columns: int) -> Tensor:
        return own(torch.stack([word_vector(token, columns) for token in tokens]).to(dtype))

    def fields(tokens: Sequence[str], memory: Sequence[str] | None) -> dict[str, Any]:
        memory = tokens if memory is None else memory
        more = {"memory_tokens": tuple(memory), "memory_embeddings": draw(memory, d_memory)} if second else {}
        return {"embeddings": draw(tokens, d_model), **more}

    others = tuple(replace(other, **fields(other.tokens, other.memory_tokens)) for other in e.others)
    return {**fields(e.tokens, e.memory_tokens), "others": others}


def _append_arrays(text: str, parts: Mapping[str, Part], arrays: Mapping[str, NamedArray]) -> str:
    """Return a sentence followed by the arrays that its fields come from, by name and shape."""
    told = []
    for field in dict.fromkeys(re.findall(r"\b[Wb]_[qkvo]\b", text)):
        if field in parts:
            part, array = parts[field], arrays[parts[field].array]
            how = ", transposed" if part.transposed else ""
            how += ", a part of it" if part.fused else ""
            told.append(f"{field} is {shorten_name(part.array)} {array.size}{how}")
    return f"{text.rstrip('.')} ({'; '.join(told)})." if told else text
