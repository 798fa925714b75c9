"""Edits of tokens: from a sentence to tokens and their vectors, and tokens added, removed, renamed, moved."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from attnlab.attention.arrays import own
from attnlab.attention.edits import dtype
from attnlab.attention.experiment import Experiment
from attnlab.errors import ExperimentError

MAX_TOKENS = 512
_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # written without spaces
_TOKEN = re.compile(rf"[{_CHARACTERS}]|[^\s{_CHARACTERS}]+")


def tokenize(sentence: str) -> tuple[str, ...]:
    """Return the words between spaces; Chinese and Japanese characters one by one."""
    return tuple(_TOKEN.findall(sentence))


def sentence(tokens: Sequence[str]) -> str:
    """Return the tokens with spaces between."""
    return " ".join(tokens)


def word_vector(word: str, d_model: int) -> Tensor:
    """Return the vector of a word that has none yet: standard normal, seeded by the word itself (CRC-32), [d_model]."""
    g = torch.Generator().manual_seed(zlib.crc32(word.encode("utf-8", "surrogatepass")))
    return torch.randn(d_model, generator=g, dtype=torch.float64)


def set_tokens(e: Experiment, tokens: Sequence[str]) -> Experiment:
    """Return the experiment with these tokens: those it had keep their vectors, new words get their own.

    A word that occurs again takes the vector of its occurrence. A mask drawn by hand is kept where it still fits.

    Raises:
        ExperimentError: no token, or more than MAX_TOKENS.
    """
    tokens = tuple(tokens)
    if not tokens:
        raise ExperimentError("The sentence is empty; type at least one word.")
    unused: dict[str, list[int]] = {}
    for i, token in enumerate(e.tokens):
        unused.setdefault(token, []).append(i)
    first = {token: places[0] for token, places in unused.items()}
    rows = []
    for token in tokens:
        places = unused.get(token)
        if token in first:
            rows.append(e.embeddings[places.pop(0) if places else first[token]])
        else:
            rows.append(word_vector(token, e.d_model).to(dtype(e)))
    return _with_rows(e, tokens, torch.stack(rows))


def add_token(e: Experiment, token: str, index: int | None = None) -> Experiment:
    """Return the experiment with a token inserted at ``index``, at the end by default."""
    index = e.T_q if index is None else index
    known = e.embeddings[e.tokens.index(token)] if token in e.tokens else word_vector(token, e.d_model).to(dtype(e))
    tokens = (*e.tokens[:index], token, *e.tokens[index:])
    return _with_rows(e, tokens, torch.cat([e.embeddings[:index], known[None], e.embeddings[index:]]))


def remove_token(e: Experiment, index: int) -> Experiment:
    """Return the experiment without a token.

    Raises:
        ExperimentError: it is the last one.
    """
    if e.T_q == 1:
        raise ExperimentError("This is the only token; a sentence needs at least one.")
    kept = [i for i in range(e.T_q) if i != index]
    return pick(e, kept)


def duplicate_token(e: Experiment, index: int) -> Experiment:
    """Return the experiment with a token twice in a row."""
    return pick(e, [*range(index + 1), *range(index, e.T_q)])


def move_token(e: Experiment, source: int, target: int) -> Experiment:
    """Return the experiment with the token at ``source`` moved so that it ends at ``target``."""
    order = [i for i in range(e.T_q) if i != source]
    order.insert(target, source)
    return pick(e, order)


def rename_token(e: Experiment, index: int, token: str) -> Experiment:
    """Return the experiment with a token renamed; its numbers stay."""
    return replace(e, tokens=(*e.tokens[:index], token, *e.tokens[index + 1 :]))


def resize_tokens(e: Experiment, count: int) -> Experiment:
    """Return the experiment with so many tokens: cut at the end, or new ones called token7, token8, …

    Raises:
        ExperimentError: fewer than 1 or more than MAX_TOKENS.
    """
    if not 1 <= count <= MAX_TOKENS:
        raise ExperimentError(f"T is {count}; it needs a whole number from 1 to {MAX_TOKENS}.")
    if count <= e.T_q:
        return pick(e, range(count))
    new = [f"token{i + 1}" for i in range(e.T_q, count)]
    rows = torch.stack([word_vector(token, e.d_model).to(dtype(e)) for token in new])
    return _with_rows(e, (*e.tokens, *new), torch.cat([e.embeddings, rows]))


def pick(e: Experiment, order: Sequence[int]) -> Experiment:
    """Return the experiment with the tokens at these indices, in this order."""
    index = list(order)
    return _with_rows(e, tuple(e.tokens[i] for i in index), e.embeddings[index], index)


def _with_rows(e: Experiment, tokens: tuple[str, ...], rows: Tensor, order: Sequence[int] | None = None) -> Experiment:
    """Return the experiment with other tokens; a mask follows ``order``, or goes when it no longer fits."""
    if len(tokens) > MAX_TOKENS:
        raise ExperimentError(f"The sentence has {len(tokens)} tokens; {MAX_TOKENS} is the most that fits.")
    mask = e.config.mask
    if mask is not None and (order is not None or len(tokens) != e.T_q):
        keep = list(order) if order is not None else None
        mask = None if keep is None else mask[keep] if e.memory_tokens is not None else mask[keep][:, keep]
        return replace(e, tokens=tokens, embeddings=own(rows.contiguous()), config=replace(e.config, mask=mask))
    return replace(e, tokens=tokens, embeddings=own(rows.contiguous()))
