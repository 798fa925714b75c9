"""Pattern scores of a model in training: for each task, how much of each head's weight is where the task needs it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from attnlab.attention.measures.shares import find_after, find_share
from attnlab.training.tasks import calendar_spellings, sentences

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps, Look

Places = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One layer on a probe: its ``queries`` and ``keys``, the ``source`` of the task, and the token ``wanted`` of each
    row that answers. ``read`` is whether the keys begin with the whole source."""

    queries: tuple[str, ...]
    keys: tuple[str, ...]
    source: tuple[str, ...]
    wanted: Mapping[int, str]
    read: bool

    @property
    def continues(self) -> bool:
        """Whether the layer reads the source and the answers in one row, as that of a decoder does."""
        return self.queries == self.keys and len(self.keys) > len(self.source)

    def place(self, keys_of_row: Mapping[int, tuple[int, ...]]) -> Places:
        """Return the places of these rows and keys, bool [T_q, T_k]; keys that do not exist are left out."""
        places = np.zeros((len(self.queries), len(self.keys)), bool)
        for row, keys in keys_of_row.items():
            places[row, [key for key in keys if 0 <= key < len(self.keys)]] = True
        return places


@dataclass(frozen=True, slots=True)
class Pattern:
    """One pattern of a task: its ``name``, its formula in words, ``about``, the places that count in a layer, and
    whether a layer can have it, with whatever probe."""

    name: str
    about: str
    find: Callable[[Side], Places]
    suits: Callable[[Side], bool] = lambda side: True


def _find_answers(choose: Callable[[int, Side, str], tuple[int, ...]]) -> Callable[[Side], Places]:
    """Return the search for places of answers: ``choose`` returns the keys of answer k; the end has none."""

    def find(side: Side) -> Places:
        rows = list(side.wanted.items())[: len(side.source)] if side.read else []
        return side.place({row: choose(k, side, token) for k, (row, token) in enumerate(rows)})

    return find


def _find_date(side: Side) -> Places:
    found = calendar_spellings.read("".join(side.source)) if side.read else None
    if found is None:
        return side.place({})
    fields = dict(enumerate("yyyy-mm-dd"))
    rows = {row: fields.get(k, "-") for k, row in enumerate(side.wanted)}
    return side.place({row: tuple(range(*found[1][field])) for row, field in rows.items() if field != "-"})


def _is_self_attention(side: Side) -> bool:
    return side.queries == side.keys


def _find_previous(side: Side) -> Places:
    return side.place({row: (row - 1,) for row in range(1, len(side.queries))} if _is_self_attention(side) else {})


def _find_followers(side: Side) -> Places:
    if not _is_self_attention(side):
        return side.place({})
    numbers = {token: number for number, token in enumerate(dict.fromkeys(side.keys))}
    return np.asarray(find_after([numbers[token] for token in side.keys]).numpy(), bool)


def _find_word(asked: frozenset[str], sought: frozenset[str]) -> Callable[[Side], Places]:
    """Return the search for the first of the words ``sought``, from the rows of hidden words that are ``asked``."""

    def find(side: Side) -> Places:
        words = [side.wanted.get(place, word) for place, word in enumerate(side.queries)]
        first = next((place for place, word in enumerate(words) if word in sought), -1)
        return side.place({row: (first,) for row, word in side.wanted.items() if word in asked})

    return find


def _find_sum(side: Side) -> Places:
    return side.place({row: (row - 1, row - 2) for row in range(2, len(side.queries), 3)})


_NOUNS = frozenset(word for noun in sentences.PEOPLE for word in (noun.one, noun.several))
_THEMSELVES = frozenset({"themselves", *(noun.itself for noun in sentences.PEOPLE)})
_THINGS = frozenset(thing for things in sentences.THINGS.values() for thing in things)
_VERBS = frozenset(form for verb in sentences.THINGS for form in (verb, f"{verb}s"))

PREVIOUS = Pattern(
    "previous token",
    "The weight on the token before: the mean over rows i of A[i, i − 1].",
    _find_previous,
    _is_self_attention,
)
INDUCTION = Pattern(
    "induction",
    "The weight on tokens that followed the same token before: the mean over rows i whose token occurred before of "
    "Σ A[i, j] over all j ≤ i with x[j − 1] = x[i].",
    _find_followers,
    _is_self_attention,
)

PATTERNS: Mapping[str, tuple[Pattern, ...]] = {
    "copy": (
        Pattern(
            "diagonal",
            "The weight on the same position: the mean over answers k of A[k, k], where answer k is the row that "
            "writes letter k, and the column is letter k of the input.",
            _find_answers(lambda k, side, token: (k,)),
        ),
        PREVIOUS,
    ),
    "reverse": (
        Pattern(
            "anti-diagonal",
            "The weight on the mirrored position: the mean over answers k of A[k, n − 1 − k], where answer k is the "
            "row that writes letter k, and the column is letter n − 1 − k of the n letters of the input.",
            _find_answers(lambda k, side, token: (len(side.source) - 1 - k,)),
        ),
        Pattern(
            "anti-diagonal + 1",
            "The weight on the position after the mirrored one: the mean over answers k of A[k, n − k]. A decoder "
            "finds the answer there if an earlier layer told each letter its predecessor.",
            _find_answers(lambda k, side, token: (len(side.source) - k,) if side.continues else ()),
            lambda side: side.continues,
        ),
        PREVIOUS,
    ),
    "sort": (
        Pattern(
            "next letter",
            "The weight on the letter to be written: the mean over answers k of Σ A[k, j] over all j where the input "
            "has that letter.",
            _find_answers(lambda k, side, token: tuple(j for j, each in enumerate(side.source) if each == token)),
        ),
    ),
    "induction": (INDUCTION, PREVIOUS),
    "dates": (
        Pattern(
            "alignment",
            "The weight on the right part of the date: the mean over answers k of Σ A[k, j] over all characters j of "
            "the year, the month or the day to which digit k belongs. Hyphens do not count.",
            _find_date,
        ),
    ),
    "pairs": (
        Pattern(
            "diagonal",
            "The weight on the position of the source that is written: the mean over answers k of A[k, k].",
            _find_answers(lambda k, side, token: (k,)),
        ),
    ),
    "lines": (PREVIOUS, INDUCTION),
    "questions": (
        Pattern(
            "diagonal",
            "The weight on the word to be translated: the mean over answers k of A[k, k].",
            _find_answers(lambda k, side, token: (k,)),
        ),
        Pattern(
            "noun",
            "The weight on the noun, on which the article depends: A[2, 3], where row 2 writes the article, such as "
            "ta or ton, and column 3 is the noun.",
            _find_answers(lambda k, side, token: (3,) if k == 2 else ()),
        ),
    ),
    "masked": (
        Pattern(
            "subject",
            "The weight of a hidden himself, herself, itself or themselves on its subject, the first noun of the "
            "sentence.",
            _find_word(_THEMSELVES, _NOUNS),
        ),
        Pattern("verb", "The weight of a hidden object, such as bread, on its verb.", _find_word(_THINGS, _VERBS)),
    ),
    "characters": (PREVIOUS, INDUCTION),
    "sum": (
        Pattern(
            "previous two",
            "The weight on the two positions before: the mean over rows i = 2, 5, 8, … of A[i, i − 1] + A[i, i − 2].",
            _find_sum,
        ),
    ),
}
"""The patterns of each task by its name, the most telling first."""


def list_patterns(task: str, look: "Look") -> tuple[Pattern, ...]:
    """Return the patterns of a task that a layer of this model can have; none without attention."""
    sides = [_make_side(layer, look) for layer in look.maps]
    return tuple(pattern for pattern in PATTERNS.get(task, ()) if any(map(pattern.suits, sides)))


def name_heads(layers: Sequence["LayerMaps"]) -> tuple[str, ...]:
    """Return short names of the heads of all layers: "head 2.1" is head 1 of layer 2, "cross head 2.1" that of the
    second cross-attention, if the model has layers of several kinds.
    """
    kinds = {layer.layer.split(" ")[0] for layer in layers}
    found = []
    for layer in layers:
        kind, _, number = layer.layer.partition(" ")
        of_kind = f"{kind} " if len(kinds) > 1 else ""
        numbers = [f"{of_kind}head {number}.{head}" for head in range(len(layer.weights))]
        found += numbers if number else [kind] * len(layer.weights)
    return tuple(found)


def measure_patterns(task: str, look: "Look") -> NDArray[np.float64]:
    """Return the score of each pattern of :func:`list_patterns` and each head of all layers [patterns, heads].

    A score, between 0 and 1, is the mean weight on the places of the pattern, over the rows that have one. It is
    NaN in layers where no row of the probe has one, such as an encoder's, which does not answer.
    """
    sides = [_make_side(layer, look) for layer in look.maps]
    rows = [
        np.concatenate(
            [_measure_layer(layer, pattern.find(side)) for layer, side in zip(look.maps, sides, strict=True)]
            or [np.zeros(0)]
        )
        for pattern in list_patterns(task, look)
    ]
    return np.array(rows, np.float64).reshape(len(rows), sum(len(layer.weights) for layer in look.maps))


def _make_side(layer: "LayerMaps", look: "Look") -> Side:
    answers = np.flatnonzero(layer.answers).tolist() if layer.answers is not None else []
    wanted = dict(zip(answers, look.expected, strict=True)) if len(answers) == len(look.expected) else {}
    read = bool(wanted) and layer.key_tokens[: len(look.source)] == look.source
    return Side(layer.query_tokens, layer.key_tokens, look.source, wanted, read)


def _measure_layer(layer: "LayerMaps", places: Places) -> NDArray[np.float64]:
    if not places.any():
        return np.full(len(layer.weights), np.nan)
    return np.asarray(find_share(torch.from_numpy(layer.weights), torch.from_numpy(places)).numpy(), np.float64)
