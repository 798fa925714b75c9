"""Edits of tokens: from a sentence to tokens and their vectors, and tokens added, removed, renamed, moved."""

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
from attnlab.attention.assemble import assemble
from attnlab.attention.edits import dtype
from attnlab.attention.experiment import Experiment
from attnlab.errors import ExperimentError

MAX_TOKENS = 512
_CHARACTERS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # written without spaces
_MARKS = r"\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"  # belong to the character before them
_TOKEN = re.compile(rf"[{_CHARACTERS}][{_MARKS}]*|[^\s{_CHARACTERS}]+")


def tokenize(sentence: str) -> tuple[str, ...]:
    """Return the words between spaces; Chinese and Japanese characters one by one."""
    return tuple(_TOKEN.findall(sentence))


def sentence(tokens: Sequence[str]) -> str:
    """Return the tokens with spaces between."""
    return " ".join(tokens)


def word_vector(word: str, d_model: int) -> Tensor:
    """Return the vector of a word that has none yet: standard normal, seeded by the word itself (CRC-32), [d_model]."""
    g = torch.Generator(device="cpu").manual_seed(zlib.crc32(word.encode("utf-8", "surrogatepass")))
    return torch.randn(d_model, generator=g, dtype=torch.float64, device="cpu")


def set_tokens(e: Experiment, tokens: Sequence[str]) -> Experiment:
    """Return the experiment with these tokens: those it had keep their vectors, new words get their own.

    Tokens that stay in order are the same tokens; others take what is left of their word, and a word that occurs more
    often than before the vector of its first occurrence. A mask drawn by hand follows its tokens.

    Raises:
        ExperimentError: no token, or more than MAX_TOKENS.
    """
    return _replaced(e, tuple(tokens), 0, 0)


def retype(e: Experiment, text: str) -> Experiment:
    """Return the experiment with its sentence changed to a text: only what lies between what both begin and end with
    is cut into tokens anew, so that a token with a space in it, or an empty one, stays when another word is typed.

    Raises:
        ExperimentError: no token, or more than MAX_TOKENS.
    """
    old = sentence(e.tokens)
    same = _in_common(old, text)
    room = min(len(old), len(text)) - same
    end = _in_common(old[::-1], text[::-1])
    return _retyped(e, old, text, same, min(end, room))


def _in_common(one: str, other: str) -> int:
    """Return with how many characters both texts begin."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _retyped(e: Experiment, old: str, text: str, begin: int, end: int) -> Experiment:
    """Keep the tokens within the first ``begin`` and the last ``end`` characters that both texts have in common."""
    starts = list(accumulate((len(token) + 1 for token in e.tokens), initial=0))[:-1]
    shift = len(text) - len(old)
    head, front = 0, 0
    for start, token in zip(starts, e.tokens, strict=True):
        stop = start + len(token)
        if stop > begin or not (stop == len(text) or text[stop].isspace()):
            break
        if stop == begin and not token and stop < len(old):
            break  # the space after an empty token is what makes it one
        head, front = head + 1, stop
    tail, back = 0, len(text)
    for start, token in reversed(list(zip(starts[head:], e.tokens[head:], strict=True))):
        at = start + shift
        if start < len(old) - end or at < front or not (at == 0 or text[at - 1].isspace()):
            break
        if start == len(old) - end and not token:
            break
        tail, back = tail + 1, at
    tokens = (*e.tokens[:head], *tokenize(text[front:back]), *e.tokens[e.T_q - tail :])
    return _replaced(e, tokens, head, tail)


def _replaced(e: Experiment, tokens: tuple[str, ...], head: int, tail: int) -> Experiment:
    """Return the experiment with these tokens, the first ``head`` and last ``tail`` of which are known to stay."""
    if not tokens:
        raise ExperimentError("The sentence is empty; type at least one word.")
    _check_count(len(tokens))
    sources: list[int | None] = [*range(head), *[None] * (len(tokens) - head - tail), *range(e.T_q - tail, e.T_q)]
    was, now = e.tokens[head : e.T_q - tail], tokens[head : len(tokens) - tail]
    for old, new, size in SequenceMatcher(None, was, now, autojunk=False).get_matching_blocks():
        sources[head + new : head + new + size] = range(head + old, head + old + size)
    left: dict[str, list[int]] = {}
    for i in sorted(set(range(e.T_q)).difference(source for source in sources if source is not None)):
        left.setdefault(e.tokens[i], []).append(i)
    for i, token in enumerate(tokens):
        if sources[i] is None and left.get(token):
            sources[i] = left[token].pop(0)
    return _arranged(e, tokens, sources)


def add_token(e: Experiment, token: str, index: int | None = None) -> Experiment:
    """Return the experiment with a token inserted at ``index``, at the end by default.

    Raises:
        ExperimentError: there are MAX_TOKENS already.
    """
    index = e.T_q if index is None else index
    sources = [*range(index), None, *range(index, e.T_q)]
    return _arranged(e, (*e.tokens[:index], token, *e.tokens[index:]), sources)


def remove_token(e: Experiment, index: int) -> Experiment:
    """Return the experiment without a token.

    Raises:
        ExperimentError: it is the last one.
    """
    if e.T_q == 1:
        raise ExperimentError("This is the only token; a sentence needs at least one.")
    return pick(e, [i for i in range(e.T_q) if i != index])


def duplicate_token(e: Experiment, index: int) -> Experiment:
    """Return the experiment with a token twice in a row.

    Raises:
        ExperimentError: there are MAX_TOKENS already.
    """
    return pick(e, [*range(index + 1), *range(index, e.T_q)])


def move_token(e: Experiment, source: int, target: int) -> Experiment:
    """Return the experiment with the token at ``source`` moved so that it ends at ``target``."""
    order = [i for i in range(e.T_q) if i != source]
    order.insert(target, source)
    return pick(e, order)


def rename_token(e: Experiment, index: int, token: str) -> Experiment:
    """Return the experiment with a token renamed; its numbers stay."""
    if token == e.tokens[index]:
        return e
    return replace(e, tokens=(*e.tokens[:index], token, *e.tokens[index + 1 :]))


def resize_tokens(e: Experiment, count: int) -> Experiment:
    """Return the experiment with so many tokens: cut at the end, or new ones called token7, token8, … (free names)

    Raises:
        ExperimentError: fewer than 1 or more than MAX_TOKENS.
    """
    if not 1 <= count <= MAX_TOKENS:
        raise ExperimentError(f"T is {count}; it needs a whole number from 1 to {MAX_TOKENS}.")
    if count <= e.T_q:
        return pick(e, range(count))
    free = (name for i in numbers_from(e.T_q + 1) if (name := f"token{i}") not in e.tokens)
    new = tuple(islice(free, count - e.T_q))
    return _arranged(e, (*e.tokens, *new), [*range(e.T_q), *(None for _ in new)])


def pick(e: Experiment, order: Sequence[int]) -> Experiment:
    """Return the experiment with the tokens at these indices, in this order."""
    return _arranged(e, tuple(e.tokens[i] for i in order), order)


def _check_count(count: int) -> None:
    if count > MAX_TOKENS:
        raise ExperimentError(f"The sentence has {count} tokens; {MAX_TOKENS} is the most that fits.")


def _arranged(e: Experiment, tokens: tuple[str, ...], sources: Sequence[int | None]) -> Experiment:
    """Return the experiment with these tokens; each is the one at its source, None being new."""
    _check_count(len(tokens))
    if list(sources) == list(range(e.T_q)):
        return e if tokens == e.tokens else replace(e, tokens=tokens)
    first = {token: i for i, token in reversed(list(enumerate(e.tokens)))}
    rows = []
    for token, source in zip(tokens, sources, strict=True):
        known = first.get(token) if source is None else source
        rows.append(word_vector(token, e.d_model).to(dtype(e)) if known is None else e.embeddings[known])
    mask = None if e.config.mask is None else _mask_arranged(e, e.config.mask, sources)
    config = e.config if mask is None else replace(e.config, mask=mask)
    return assemble(e, tokens=tokens, embeddings=own(torch.stack(rows)), config=config)


def _mask_arranged(e: Experiment, mask: Tensor, sources: Sequence[int | None]) -> Tensor:
    """Return the mask for tokens that come from these sources; new ones attend to all and are attended to by all."""
    known = [0 if source is None else source for source in sources]
    new = [i for i, source in enumerate(sources) if source is None]
    arranged = mask[known]
    if e.memory_embeddings is None:
        arranged = arranged[:, known]
        arranged[:, new] = True
    arranged[new] = True
    return arranged
