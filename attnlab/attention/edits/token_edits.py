"""Edits of tokens: split a sentence into tokens with vectors; add, remove, rename and move tokens.

Each edits the queries' sequence or, with ``side="memory"``, the second one. The pads of a batch stay.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate, islice
from itertools import count as numbers_from

import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.edits import configure
from attnlab.attention.edits.batches import (
    Side,
    count_tokens,
    fields,
    list_unpadded_tokens,
    reorder,
    sequence,
    with_sequence,
)
from attnlab.attention.experiment import Experiment
from attnlab.base.errors import ExperimentError

MAX_TOKENS = 512
_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # written without spaces
_MARKS = r"\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"  # modify the character before them
_TOKEN = re.compile(rf"[{_CHARACTERS}][{_MARKS}]*|[^\s{_CHARACTERS}]+")


def tokenize(sentence: str) -> tuple[str, ...]:
    """Return the words between spaces; each Chinese or Japanese character is a token."""
    return tuple(_TOKEN.findall(sentence))


def sentence(tokens: Sequence[str]) -> str:
    """Return the tokens joined by spaces."""
    return " ".join(tokens)


def word_vector(word: str, d_model: int) -> Tensor:
    """Return the vector [d_model] of a new word: standard normal, seeded by the word itself (CRC-32)."""
    g = torch.Generator(device="cpu").manual_seed(zlib.crc32(word.encode("utf-8", "surrogatepass")))
    return torch.randn(d_model, generator=g, dtype=torch.float64, device="cpu")


def set_tokens(e: Experiment, tokens: Sequence[str], side: Side = "query") -> Experiment:
    """Return the experiment with these tokens: existing ones keep their vectors, new words get their own.

    Tokens are first matched in order; the others take an unmatched vector of the same word, and if none is left, the
    vector of the word's first occurrence. A mask drawn by hand moves with its tokens.

    Raises:
        ExperimentError: no token, or more than MAX_TOKENS.
    """
    return _replace_tokens(e, tuple(tokens), 0, 0, side)


def retype(e: Experiment, text: str, side: Side = "query") -> Experiment:
    """Return the experiment with its sentence changed to ``text``. Only the part that differs is tokenized again, so
    that a token with a space in it, or an empty one, stays when another word is edited.

    Raises:
        ExperimentError: no token, or more than MAX_TOKENS.
    """
    old = sentence(list_unpadded_tokens(e, side))
    same = _count_common(old, text)
    room = min(len(old), len(text)) - same
    end = _count_common(old[::-1], text[::-1])
    return _replace_text(e, text, same, min(end, room), side)


def _count_common(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _replace_text(e: Experiment, text: str, begin: int, end: int, side: Side) -> Experiment:
    """Return the experiment with the sentence ``text``, which keeps the tokens within its first ``begin`` and its last
    ``end`` characters.
    """
    were = list_unpadded_tokens(e, side)
    old = sentence(were)
    starts = list(accumulate((len(token) + 1 for token in were), initial=0))[:-1]
    shift = len(text) - len(old)
    head, front = 0, 0
    for start, token in zip(starts, were, strict=True):
        stop = start + len(token)
        if stop > begin or not (stop == len(text) or text[stop].isspace()):
            break
        if stop == begin and not token and stop < len(old):
            break  # an empty token needs the space after it
        head, front = head + 1, stop
    tail, back = 0, len(text)
    for start, token in reversed(list(zip(starts[head:], were[head:], strict=True))):
        at = start + shift
        if start < len(old) - end or at < front or not (at == 0 or text[at - 1].isspace()):
            break
        if start == len(old) - end and not token:
            break
        tail, back = tail + 1, at
    tokens = (*were[:head], *tokenize(text[front:back]), *were[len(were) - tail :])
    return _replace_tokens(e, tokens, head, tail, side)


def _replace_tokens(e: Experiment, tokens: tuple[str, ...], head: int, tail: int, side: Side) -> Experiment:
    """Return the experiment with these tokens; the first ``head`` and the last ``tail`` tokens stay."""
    if not tokens:
        raise ExperimentError("The sentence is empty; type at least one word.")
    _check_count(len(tokens))
    were = list_unpadded_tokens(e, side)
    n = len(were)
    sources: list[int | None] = [*range(head), *[None] * (len(tokens) - head - tail), *range(n - tail, n)]
    was, now = were[head : n - tail], tokens[head : len(tokens) - tail]
    for old, new, size in SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        sources[head + new : head + new + size] = range(head + old, head + old + size)
    left: dict[str, list[int]] = {}
    for i in sorted(set(range(n)).difference(source for source in sources if source is not None)):
        left.setdefault(were[i], []).append(i)
    for i, token in enumerate(tokens):
        if sources[i] is None and left.get(token):
            sources[i] = left[token].pop(0)
    return _arrange(e, tokens, sources, side)


def add_token(e: Experiment, token: str, index: int | None = None, side: Side = "query") -> Experiment:
    """Return the experiment with a token inserted at ``index``, at the end by default.

    Raises:
        ExperimentError: there are MAX_TOKENS already.
    """
    were = list_unpadded_tokens(e, side)
    index = len(were) if index is None else index
    sources = [*range(index), None, *range(index, len(were))]
    return _arrange(e, (*were[:index], token, *were[index:]), sources, side)


def remove_token(e: Experiment, index: int, side: Side = "query") -> Experiment:
    """Return the experiment without a token.

    Raises:
        ExperimentError: it is the last one.
    """
    n = count_tokens(e, side)
    if n == 1:
        raise ExperimentError("This is the only token; a sentence needs at least one.")
    return pick(e, [i for i in range(n) if i != index], side)


def duplicate_token(e: Experiment, index: int, side: Side = "query") -> Experiment:
    """Return the experiment with a token twice in a row.

    Raises:
        ExperimentError: there are MAX_TOKENS already.
    """
    return pick(e, [*range(index + 1), *range(index, count_tokens(e, side))], side)


def move_token(e: Experiment, source: int, target: int, side: Side = "query") -> Experiment:
    """Return the experiment with the token at ``source`` moved so that it ends at ``target``."""
    order = [i for i in range(count_tokens(e, side)) if i != source]
    order.insert(target, source)
    return pick(e, order, side)


def rename_token(e: Experiment, index: int, token: str, side: Side = "query") -> Experiment:
    """Return the experiment with a token renamed; its numbers stay."""
    tokens = sequence(e, side)[0]
    if token == tokens[index]:
        return e
    return replace(e, **fields(side, (*tokens[:index], token, *tokens[index + 1 :])))


def append_token(e: Experiment, side: Side = "query") -> Experiment:
    """Return the experiment with one more token at the end, named token7 or with the next free number.

    Raises:
        ExperimentError: there are MAX_TOKENS already.
    """
    return _append_tokens(e, count_tokens(e, side) + 1, side)


def resize_tokens(e: Experiment, size: int, side: Side = "query") -> Experiment:
    """Return the experiment with ``size`` tokens: cut at the end, or with new ones, token7, token8, … (free names).

    In a batch every sequence is cut, and the present one grows.

    Raises:
        ExperimentError: fewer than 1 or more than MAX_TOKENS.
    """
    if not 1 <= size <= MAX_TOKENS:
        name = "T" if side == "query" else "T_k"
        raise ExperimentError(f"{name} is {size}; it needs a whole number from 1 to {MAX_TOKENS}.")
    tokens, rows = sequence(e, side)
    if size == len(tokens):
        return e
    if size > len(tokens):
        return _append_tokens(e, size, side)
    n = min(size, count_tokens(e, side))
    return with_sequence(e, side, tokens[:n], rows[:n].clone(), range(n), most=size)


def _append_tokens(e: Experiment, size: int, side: Side) -> Experiment:
    """Return the experiment with new tokens appended up to ``size``."""
    were = list_unpadded_tokens(e, side)
    free = (name for i in numbers_from(len(were) + 1) if (name := f"token{i}") not in were)
    new = tuple(islice(free, size - len(were)))
    return _arrange(e, (*were, *new), [*range(len(were)), *(None for _ in new)], side)


def pick(e: Experiment, order: Sequence[int], side: Side = "query") -> Experiment:
    """Return the experiment with the tokens at these indices, in this order; an order of all tokens also moves pads."""
    tokens = sequence(e, side)[0]
    if sorted(order) == list(range(len(tokens))):
        return reorder(e, side, order)
    return _arrange(e, tuple(tokens[i] for i in order), order, side)


def find_masked_keys(e: Experiment) -> frozenset[int]:
    """Return the keys that the mask drawn by hand hides from every query."""
    mask = e.config.mask
    return frozenset() if mask is None else frozenset((~mask).all(0).nonzero().flatten().tolist())


def toggle_key(e: Experiment, index: int) -> Experiment:
    """Return the experiment with a key hidden from every query in the mask drawn by hand, or visible to all again.

    A mask that allows everything is removed.
    """
    allowed = index in find_masked_keys(e)
    mask = torch.ones(e.T_q, e.T_k, dtype=torch.bool, device="cpu") if e.config.mask is None else e.config.mask.clone()
    mask[:, index] = allowed
    return configure(e, mask=None if bool(mask.all()) else own(mask))


def _check_count(n: int) -> None:
    if n > MAX_TOKENS:
        raise ExperimentError(f"The sentence has {n} tokens; the maximum is {MAX_TOKENS}.")


def _arrange(e: Experiment, tokens: tuple[str, ...], sources: Sequence[int | None], side: Side) -> Experiment:
    """Return the experiment with these tokens; ``sources`` are their present indices, None for a new token."""
    _check_count(len(tokens))
    (were, numbers), n = sequence(e, side), count_tokens(e, side)
    if list(sources) == list(range(n)):
        return e if tokens == were[:n] else replace(e, **fields(side, (*tokens, *were[n:])))
    first = {token: i for i, token in reversed(list(enumerate(were[:n])))}
    rows = []
    for token, source in zip(tokens, sources, strict=True):
        known = first.get(token) if source is None else source
        rows.append(word_vector(token, numbers.shape[1]).to(numbers.dtype) if known is None else numbers[known])
    return with_sequence(e, side, tokens, torch.stack(rows), sources)
