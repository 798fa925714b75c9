"""Batches: sequences with shared weights and configuration, padded to one length; one of them is the present one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.edits import resize_matrix
from attnlab.attention.edits.assemble import assemble
from attnlab.attention.edits.stack_edits import in_every_layer
from attnlab.attention.experiment import AttentionConfig, Experiment, Sample, Weights
from attnlab.attention.registries.losses import find_pair, is_on
from attnlab.base.counted import format_bounds
from attnlab.base.errors import ExperimentError

PAD = "[pad]"
Side: TypeAlias = Literal["query", "memory"]
FIELDS: dict[Side, tuple[str, str]] = {
    "query": ("tokens", "embeddings"),
    "memory": ("memory_tokens", "memory_embeddings"),
}
"""The fields of each sequence; keys and values come from the memory if there is one, otherwise from the query side."""


def key_side(e: Experiment | Sample) -> Side:
    """Return the side that keys come from, which is the side that the valid length applies to."""
    return "query" if e.memory_tokens is None else "memory"


def sequence(e: Experiment | Sample, side: Side) -> tuple[tuple[str, ...], Tensor]:
    """Return the tokens and the embeddings [T, columns] of one side; KeyError for a missing memory."""
    tokens, rows = (getattr(e, field) for field in FIELDS[side])
    if tokens is None:
        raise KeyError(side)
    return tokens, rows


def fields(side: Side, tokens: Sequence[str], rows: Tensor | None = None) -> dict[str, Any]:
    """Return the fields of one side as keywords for ``replace``; ``rows`` become owned and must have no other user."""
    named, array = FIELDS[side]
    return {named: tuple(tokens)} | ({} if rows is None else {array: own(rows)})


def items(e: Experiment) -> tuple[Sample, ...]:
    """Return all sequences of the batch in order, including the present one."""
    length = e.config.masks.get("padding")
    present = Sample(e.tokens, e.embeddings, e.memory_tokens, e.memory_embeddings, length)
    return (*e.others[: e.item], present, *e.others[e.item :])


def count_tokens(e: Experiment, side: Side = "query") -> int:
    """Return the number of tokens of the present sequence without its pads ("[pad]" beyond the valid length)."""
    tokens = sequence(e, side)[0]
    return _count_unpadded(items(e)[e.item], side, e.n_items > 1) if tokens[-1] == PAD else len(tokens)


def list_unpadded_tokens(e: Experiment, side: Side = "query") -> tuple[str, ...]:
    """Return the tokens of the present sequence without its pads."""
    return sequence(e, side)[0][: count_tokens(e, side)]


def _count_unpadded(s: Sample, side: Side, batch: bool) -> int:
    tokens, _ = sequence(s, side)
    least = n = len(tokens)
    if side == key_side(s) and s.length is not None:
        least = s.length
    elif side != key_side(s) and batch:
        least = 1  # queries have no valid length: in a batch only the name marks a pad
    while n > least and tokens[n - 1] == PAD:
        n -= 1
    return n


def select(e: Experiment, item: int) -> Experiment:
    """Return the experiment with the sequence at index ``item`` as the present one.

    Raises:
        ExperimentError: there is no such sequence.
    """
    _check_place(e, item)
    return e if item == e.item else _join(e, items(e), item, e.config)


def _check_place(e: Experiment, place: int) -> None:
    if not 0 <= place < e.n_items:
        there = f"they are numbered from 0 to {e.n_items - 1}" if e.others else "there is one, number 0"
        raise ExperimentError(f"There is no sequence {place}; {there}.")


def make_batch(
    samples: Sequence[Sample], weights: Weights | None = None, config: AttentionConfig | None = None
) -> Experiment:
    """Return a batch of sequences, the first one present; shorter ones are padded with "[pad]" and zeros, and masked.

    The valid length applies to the tokens, or to the memory's tokens if the sequences have a memory.

    Raises:
        ExperimentError: no sequence, different numbers of columns, or some sequences with and some without a memory.
    """
    if not samples:
        raise ExperimentError("The batch is empty; it needs at least one sequence.")
    if len({sample.memory_tokens is None for sample in samples}) > 1:
        raise ExperimentError("Some sequences of the batch have a memory and some have none; all need one, or none.")
    first, *others = equalize_lengths(samples)
    config = with_length(config or AttentionConfig(), first.length, len(sequence(first, key_side(first))[0]))
    memory = first.memory_tokens, first.memory_embeddings
    return Experiment(first.tokens, first.embeddings, weights or Weights(), config, *memory, others)


def add_item(e: Experiment) -> Experiment:
    """Return the experiment with a copy of the present sequence inserted after it; the copy is then present."""
    present = items(e)[e.item]
    return replace(e, others=(*e.others[: e.item], present, *e.others[e.item :]), item=e.item + 1)


def remove_item(e: Experiment, place: int) -> Experiment:
    """Return the experiment without a sequence; if it was the present one, the next (or else the last) is then present.

    Raises:
        ExperimentError: it is the only one, or there is no such sequence.
    """
    if e.n_items == 1:
        raise ExperimentError("This is the only sequence; a batch needs at least one.")
    _check_place(e, place)
    left = [sample for i, sample in enumerate(items(e)) if i != place]
    item = e.item - 1 if place < e.item or e.item == len(left) else e.item
    samples = equalize_lengths(left)
    config = e.config
    for side in _sides(samples[item]):
        tokens, size = sequence(e, side)[0], len(sequence(samples[item], side)[0])
        config = _move_mask(e, config, side, [i if i < len(tokens) else None for i in range(size)])
    return _join(e, samples, item, config)


@in_every_layer
def set_length(e: Experiment, length: int) -> Experiment:
    """Return the experiment with another valid length of the present sequence's keys; T_k means all of them.

    Raises:
        ExperimentError: fewer than 1 or more than T_k.
    """
    if not 1 <= length <= e.T_k:
        raise ExperimentError(f"The valid length is {length}; it needs {format_bounds(1, e.T_k, 'a whole number')}.")
    config = with_length(e.config, length, e.T_k)
    return e if config is e.config else assemble(e, config=config)


def with_length(config: AttentionConfig, length: int | None, size: int) -> AttentionConfig:
    """Return the configuration with the first ``length`` of ``size`` keys valid, None for all; itself if unchanged."""
    length = None if length is None or length >= size else length
    if config.masks.get("padding") == length:
        return config
    masks = {name: number for name, number in config.masks.items() if name != "padding"}
    return replace(config, masks=masks if length is None else {**masks, "padding": length})


@in_every_layer
def with_sequence(
    e: Experiment,
    side: Side,
    tokens: Sequence[str],
    rows: Tensor,
    sources: Sequence[int | None],
    most: int | None = None,
) -> Experiment:
    """Return the experiment with other tokens (without pads) and their rows [n, columns] on one side.

    All sequences get the length of the longest without its pads; a single sequence keeps its padded length.
    ``sources`` are the former indices of the tokens, None for new ones: a mask drawn by hand and a loss move with their
    tokens, except in a batch, whose sequences share them. ``most`` limits the length of every sequence of the batch.
    """
    samples, batch = list(items(e)), e.n_items > 1
    old, (was, _) = samples[e.item], sequence(e, side)
    length = old.length
    if side == key_side(e) and length is not None:
        length = None if length >= _count_unpadded(old, side, batch) else min(length, len(tokens))
    samples[e.item] = replace(old, **fields(side, tokens, rows), length=length)
    if most is not None:
        samples = [_cut(sample, side, most) for sample in samples]
    padded = not batch and _count_unpadded(old, side, batch) < len(was)
    level = equalize_lengths(samples, batch, min(len(was), most or len(was)) if padded else 0)
    size = len(sequence(level[e.item], side)[0])
    followed = () if batch else sources
    places = [*followed, *(i if i < len(was) else None for i in range(len(followed), size))]
    config = _move_loss(e, _move_mask(e, e.config, side, places), side, followed)
    return _join(e, level, e.item, config, _move_wanted(e, side, followed, size))


@in_every_layer
def reorder(e: Experiment, side: Side, order: Sequence[int]) -> Experiment:
    """Return the experiment with all tokens of a side in another order; a mask drawn by hand and a loss move with their
    tokens, except in a batch, whose sequences share them.
    """
    if list(order) == list(range(len(order))):
        return e
    tokens, rows = sequence(e, side)
    moved = fields(side, [tokens[i] for i in order], rows[list(order)])
    if e.n_items > 1:
        return replace(e, **moved)
    config = _move_loss(e, _move_mask(e, e.config, side, order), side, order)
    return replace(e, **moved, config=config, weights=_move_wanted(e, side, order, len(order)))


def equalize_lengths(samples: Sequence[Sample], batch: bool = True, least: int = 0) -> tuple[Sample, ...]:
    """Return the sequences cut or padded to the length of the longest without its pads.

    The key side has at least ``least`` tokens.
    """
    level = tuple(samples)
    for side in _sides(level[0]):
        counts = [_count_unpadded(sample, side, batch) for sample in level]
        longest = max(*counts, least if side == key_side(level[0]) else 0)
        level = tuple(_resize(sample, side, n, longest) for sample, n in zip(level, counts, strict=True))
    return level


def _sides(s: Sample) -> tuple[Side, ...]:
    return ("query",) if s.memory_tokens is None else ("query", "memory")


def _resize(s: Sample, side: Side, n: int, size: int) -> Sample:
    """Return a sequence with its first ``n`` tokens and pads up to ``size``."""
    tokens, rows = sequence(s, side)
    length = s.length
    if side == key_side(s):
        length = n if length is None else length
        length = None if length >= size else length
    if len(tokens) == size and length == s.length:
        return s
    padded = fields(side, (*tokens[:n], *[PAD] * (size - n)), resize_matrix(rows, size, rows.shape[1]))
    return replace(s, **padded, length=length)


def _cut(s: Sample, side: Side, most: int) -> Sample:
    tokens, rows = sequence(s, side)
    if len(tokens) <= most:
        return s
    length = s.length
    if side == key_side(s) and length is not None and length >= most:
        length = None
    return replace(s, **fields(side, tokens[:most], rows[:most].clone()), length=length)


def _join(
    e: Experiment, samples: Sequence[Sample], item: int, config: AttentionConfig, weights: Weights | None = None
) -> Experiment:
    """Return the experiment with these sequences; the one at index ``item`` is the present one."""
    present = samples[item]
    keys = sequence(present, key_side(present))[0]
    return assemble(
        e,
        tokens=present.tokens,
        embeddings=present.embeddings,
        memory_tokens=present.memory_tokens,
        memory_embeddings=present.memory_embeddings,
        config=with_length(config, present.length, len(keys)),
        others=(*samples[:item], *samples[item + 1 :]),
        item=item,
        weights=e.weights if weights is None else weights,
    )


def _move_mask(e: Experiment, config: AttentionConfig, side: Side, sources: Sequence[int | None]) -> AttentionConfig:
    """Return the configuration with the mask drawn by hand rearranged for tokens from these indices of a side."""
    mask = config.mask
    if mask is None or list(sources) == list(range(len(sequence(e, side)[0]))):
        return config
    if side == "query":
        mask = rearrange_mask(mask, sources)
    if side == key_side(e):
        mask = rearrange_mask(mask.T, sources).T
    return replace(config, mask=mask)


def _move_loss(e: Experiment, config: AttentionConfig, side: Side, sources: Sequence[int | None]) -> AttentionConfig:
    """Return the configuration with the loss about the same tokens of a side; one that is gone leaves its place."""
    if not is_on(config):
        return config
    _, query, key = find_pair(e)
    at = {"loss_query": query} if side == "query" else {}
    at |= {"loss_key": key} if side == key_side(e) else {}
    moved: dict[str, Any] = {name: sources.index(place) for name, place in at.items() if place in sources}
    return replace(config, **moved) if any(moved[name] != at[name] for name in moved) else config


def _move_wanted(e: Experiment, side: Side, sources: Sequence[int | None], size: int) -> Weights:
    """Return the weights in which the wanted output has moved with its tokens; that of new ones is 0."""
    wanted = e.weights.extra.get("Y")
    if wanted is None or side != "query" or not sources or list(sources) == list(range(len(wanted))):
        return e.weights
    moved = wanted.new_zeros(size, wanted.shape[1])
    for place, source in enumerate(sources):
        if source is not None and source < len(wanted):
            moved[place] = wanted[source]
    return replace(e.weights, extra={**e.weights.extra, "Y": own(moved)})


def rearrange_mask(mask: Tensor, sources: Sequence[int | None]) -> Tensor:
    """Return the rows of a mask at these indices; a new row, None, allows everything."""
    moved: Tensor = mask[[0 if source is None else source for source in sources]]
    new = [i for i, source in enumerate(sources) if source is None]
    moved[new] = True
    return moved
