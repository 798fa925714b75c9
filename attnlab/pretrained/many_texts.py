"""Several texts in one model: the strongest target of every token in every layer, and the mean pattern scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.base.errors import ArgumentError
from attnlab.pretrained.patterns import HeadPatterns
from attnlab.pretrained.tokenizer import readable

if TYPE_CHECKING:
    from attnlab.pretrained.model_run import Run
    from attnlab.pretrained.stack_pass import Part

SENTENCES = (
    "The quick brown fox jumps over the lazy dog",
    "Mary had a little lamb whose fleece was white as snow",
    "To be or not to be, that is the question",
)
"""Sentences to begin with."""
MOST_TEXTS = 1000
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
NO_TOKEN = -1
"""The ``strongest`` token of mean scores: a column of one text is none of another."""


def number_repeated(tokens: Sequence[str], place: int) -> str:
    """Return the number of a token as a subscript, "" if it is the only one of its name."""
    return str(place).translate(SUBSCRIPTS) if tokens.count(tokens[place]) > 1 else ""


@dataclass(frozen=True, slots=True, eq=False)
class TextTargets:
    """The strongest targets in one text. ``keys`` and ``weights`` are [layers, h + 1, T_q]: for each head, then for the
    mean of the heads, the key with the largest weight, and that weight. ``plain_keys`` and ``plain_weights`` leave the
    first token and the special tokens out, unless there are no others.
    """

    text: str
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    keys: Tensor
    weights: Tensor
    plain_keys: Tensor
    plain_weights: Tensor

    def find(self, layer: int, head: int, token: int, *, plain: bool) -> tuple[str, float]:
        """Return the target of a token and its weight; "" if no key has any. ``head`` −1 is the mean of the heads.

        A token that is not the only one of its name has its number as a subscript.
        """
        keys, weights = (self.plain_keys, self.plain_weights) if plain else (self.keys, self.weights)
        key, weight = int(keys[layer, head, token]), float(weights[layer, head, token])
        return (self.name(key), weight) if weight > 0 else ("", 0.0)

    def name(self, key: int) -> str:
        """Return a key's token as people read it, with its number if there are others of this name."""
        return readable(self.key_tokens[key]) + number_repeated(self.key_tokens, key)


@dataclass(frozen=True, slots=True, eq=False)
class ManyTexts:
    """What a model makes of several texts.

    ``patterns`` are means over the texts that were read, each text counting the same, () for cross-attention.
    ``refused`` are the texts that the model cannot read, each with the sentence that says why.
    """

    texts: tuple[TextTargets, ...]
    patterns: tuple[HeadPatterns, ...]
    refused: tuple[tuple[str, str], ...]


def read_texts(runs: "Iterable[tuple[str, Run | str]]", part: "Part | None" = None) -> ManyTexts:
    """Return the targets and scores of runs of one model, each with its text; a string is why there is no run.

    Raises:
        ArgumentError: there is no such part, more than 1,000 texts, or none that could be read.
    """
    texts, rows, refused = [], [], []
    repeated = None
    for count, (text, run) in enumerate(runs):
        if count >= MOST_TEXTS:
            raise ArgumentError(f"There are more than {MOST_TEXTS:,} texts; choose fewer.")
        if isinstance(run, str):
            refused.append((text, run))
            continue
        texts.append(find_targets(run, text, part))
        if part != "cross":
            repeated = repeated or run.read_repeated(part)
            rows.append(run.measure(repeated, part))
    if not texts:
        raise ArgumentError(refused[0][1] if refused else "There is no text; write one on each line.")
    return ManyTexts(tuple(texts), tuple(map(_average, zip(*rows, strict=True))), tuple(refused))


def find_targets(run: "Run", text: str, part: "Part | None" = None) -> TextTargets:
    """Return the strongest target of every token, in every layer of a part."""
    queries, names = run.label_pairs(part)
    signs = run.model.tokenizer.specials()
    sinks = [place for place, name in enumerate(names) if place == 0 or name in signs]
    sinks = sinks if len(sinks) < len(names) else []
    found: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
    for weights in run.walk(part):
        each = torch.cat([weights, weights.mean(0, keepdim=True)])
        plain = each.clone()
        plain[..., sinks] = -1.0
        best, rest = each.max(-1), plain.max(-1)
        found.append((best.indices, best.values, rest.indices, rest.values.clamp_min(0.0)))
    keys, top, plain_keys, plain_top = (torch.stack(each) for each in zip(*found, strict=True))
    return TextTargets(text, queries, names, keys, top, plain_keys, plain_top)


def _average(rows: Sequence[HeadPatterns]) -> HeadPatterns:
    """Return the mean scores of one head over texts."""
    means = torch.tensor([row[2:-1] for row in rows], dtype=torch.float64).mean(0).tolist()
    return HeadPatterns._make((rows[0].layer, rows[0].head, *means, NO_TOKEN))
