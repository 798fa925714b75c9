"""Pattern scores: what each head of a model looks at, by published formulas.

A share is between 0 and 1, the mean over queries of the weight on the keys of a kind. Queries that have no such key do
not count; without any, the share is 0.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnlab.attention.measures.shares import find_share


class HeadPatterns(NamedTuple):
    """The scores of one head. ``entropy`` is in nats, ``distance`` in tokens, ``strongest`` is the index of a token."""

    layer: int
    head: int
    entropy: float
    """−Σ a ln a, mean over queries (Clark et al. 2019)."""
    distance: float
    """Σ a |i − j|, mean over queries (Vig and Belinkov 2019)."""
    previous: float
    """The share of the token before (Clark et al. 2019)."""
    itself: float
    """The share of the query's own token (Clark et al. 2019)."""
    next: float
    """The share of the token after (Clark et al. 2019)."""
    first: float
    """The share of the first token, a sink in many models (Xiao et al. 2024); the first query does not count."""
    separators: float
    """The share of special tokens and punctuation, the first token left out (Clark et al. 2019)."""
    duplicate: float
    """The share of other places with the query's token, in a decoder of earlier ones (Wang et al. 2023)."""
    induction: float
    """The share of tokens that followed the query's token before, on random tokens read twice (Olsson et al. 2022)."""
    column: float
    """The largest share that one key has of the average query."""
    strongest: int
    """The key with that share."""


class Repeated(NamedTuple):
    """Random tokens read twice: the weights of each layer [h, R, R], and the places that count [R, R]."""

    weights: tuple[Tensor, ...]
    after: Tensor


def find_patterns(
    weights: Tensor, kinds: Sequence[Tensor], layer: int, repeated: Tensor, after: Tensor
) -> list[HeadPatterns]:
    """Return the scores of the heads of one layer from its weights [h, T, T] on a text.

    ``kinds`` are the keys of each kind of the text, see :func:`find_kinds`. ``repeated`` [h, R, R] are the weights on
    random tokens read twice, and ``after`` [R, R] the places that count there, see
    :func:`attnlab.attention.measures.shares.find_after`.
    """
    count = weights.shape[-1]
    places = torch.arange(count)
    distance = (weights * (places[:, None] - places).abs()).sum(-1).mean(-1)
    entropy = torch.special.entr(weights).sum(-1).mean(-1)
    shares = torch.stack([find_share(weights, kind) for kind in kinds] + [find_share(repeated, after)], 1)
    column = weights.mean(1).max(-1)
    rows = torch.cat([entropy[:, None], distance[:, None], shares, column.values[:, None]], 1).tolist()
    return [HeadPatterns._make((layer, head, *row, int(column.indices[head]))) for head, row in enumerate(rows)]


def find_kinds(tokens: Sequence[str], specials: frozenset[str], causal: bool) -> list[Tensor]:
    """Return which keys are of which kind for each query of a text, bool [T, T]: previous, itself, next, first,
    separators, duplicate.
    """
    count = len(tokens)
    i, j = torch.arange(count)[:, None], torch.arange(count)[None]
    parting = torch.tensor([place > 0 and is_separator(token, specials) for place, token in enumerate(tokens)])
    numbers = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    kind = torch.tensor([numbers[token] for token in tokens])
    return [
        j == i - 1,
        j == i,
        (j == i + 1) & (not causal),
        (j == 0) & (i > 0),
        parting.expand(count, count) & ((j <= i) | (not causal)),
        (kind[:, None] == kind) & ((j < i) if causal else (j != i)),
    ]


def is_separator(token: str, specials: frozenset[str]) -> bool:
    """Return whether a token parts a text: a special one, or one of punctuation alone."""
    text = token.strip("Ġ▁ ")
    return token in specials or (bool(text) and all(unicodedata.category(letter)[0] == "P" for letter in text))
