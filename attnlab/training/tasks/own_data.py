"""What the tasks on the user's own data share: lines of a file, words or characters as tokens, the held-out part."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch

from attnlab.attention.registries.entries import Option
from attnlab.base.counted import PERCENT, format_count
from attnlab.base.errors import TrainingError
from attnlab.files.atomic import format_name
from attnlab.training.batch import SPECIAL
from attnlab.training.specs import RunSpec
from attnlab.training.tasks import pieces, texts
from attnlab.training.tasks.pieces import Pieces

Part = TypeVar("Part")

WORD, CHARACTER = "word", "character"
THINGS = {WORD: "words", CHARACTER: "characters", pieces.PIECE: "pieces"}
LEVEL = Option(
    "level",
    "Tokens",
    "Words and punctuation marks, single characters, or pieces of words",
    "choice",
    WORD,
    choices=(
        (WORD, "words", "Each word or punctuation mark is a token"),
        (CHARACTER, "characters", "Each character is"),
        pieces.CHOICE,
    ),
)
UNKNOWN = "UNK"
"""The token of every word that is not among the most frequent ones; typed, it is read as a word of its own."""
WORDS = Option(
    "words",
    "Words",
    f"With words as tokens: the largest vocabulary, including the special tokens. The most frequent words are kept; "
    f"every other becomes {UNKNOWN}",
    "whole",
    10_000,
    32,
    10_000,
    only_with=(LEVEL.name, WORD),
)
LONGEST = Option("longest", "Longest", "The most tokens of a line, or of one side of a pair", "whole", 64, 4, 256)
HELD_OUT = Option("held_out", "Held out, %", "The share of the examples that is never trained on", "whole", 10, 1, 50)
MOST_LINES, LEAST_EXAMPLES = 50_000, 10
MOST_CHARACTERS = 1000
"""The most different characters; a small model cannot learn more."""
MOST_HELD_OUT, SEED = 512, 24
"""The most held-out examples that are evaluated, and the seed of their choice, the same for every run."""
_ASCII_WORD = re.compile(r"\w+(?:'\w+)*|[^\w\s]")
_RESERVED = {ord(special): None for special in SPECIAL}


def get(spec: RunSpec, option: Option) -> int:
    """Return the value of a whole number of a run."""
    return int(spec.options.get(option.name, option.default))


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the tokens of a run are: its ``level``, and the most that there may be, 0 for characters."""

    level: str
    size: int = 0

    @property
    def things(self) -> str:
        """What messages call them: "words", "characters" or "pieces"."""
        return THINGS[self.level]


@dataclass(frozen=True, slots=True, eq=False)
class Cutter:
    """Cuts text into tokens, and joins them again; ``pieces`` are None unless the tokens are pieces.

    Words that are not among ``words`` become UNKNOWN; None knows all. They are ``unknown_share`` of the text.
    """

    tokens: Tokens
    pieces: Pieces | None = None
    words: frozenset[str] | None = None
    unknown_share: float = 0.0

    def split(self, text: str) -> tuple[str, ...]:
        """Return the tokens of a line, without the characters that stand for padding, begin and end."""
        if self.pieces is None:
            found = split(text, self.tokens.level)
            words = self.words
            return found if words is None else tuple(word if word in words else UNKNOWN for word in found)
        return self.pieces.split(text.translate(_RESERVED).strip())

    def join(self, tokens: Sequence[str]) -> str:
        """Return tokens as a text that :meth:`split` reads again."""
        return join(tokens, self.tokens.level)


def get_tokens(spec: RunSpec) -> Tokens:
    """Return what the tokens of a run are."""
    level = str(spec.options.get(LEVEL.name, LEVEL.default))
    sizes = {pieces.PIECE: pieces.VOCABULARY, WORD: WORDS}
    return Tokens(level, get(spec, sizes[level]) if level in sizes else 0)


def make_cutter(tokens: Tokens, lines: Iterable[str], name: str) -> Cutter:
    """Return what cuts the lines of a text, called ``name`` in messages, into tokens.

    Raises:
        TrainingError: the tokens are pieces, and the text cannot give as many.
    """
    if tokens.level == WORD:
        return _choose_words(tokens, lines)
    if tokens.level == CHARACTER:
        return Cutter(tokens)
    return Cutter(tokens, Pieces([line.translate(_RESERVED).strip() for line in lines], tokens.size, name))


def _choose_words(tokens: Tokens, lines: Iterable[str]) -> Cutter:
    """Return a cutter that knows the most frequent words, as many as fit with the special tokens and UNKNOWN."""
    counts = Counter(word for line in lines for word in split(line, WORD))
    most = tokens.size - len(SPECIAL)
    if len(counts) <= most:
        return Cutter(tokens)
    words = frozenset(sorted(counts, key=lambda word: (-counts[word], word))[: most - 1])
    return Cutter(tokens, words=words, unknown_share=1 - sum(counts[word] for word in words) / counts.total())


def name_file(path: str, shipped: str) -> str:
    """Return what messages call the data: the name of the file, or of what is included."""
    return format_name(Path(path).name) if path else shipped


def split(text: str, level: str) -> tuple[str, ...]:
    """Return the tokens of a line, without the characters that stand for padding, begin and end."""
    text = text.translate(_RESERVED).strip()
    if level == CHARACTER:
        return tuple(text)
    pattern = _ASCII_WORD if text.isascii() else _word_pattern()  # the first is seven times as fast
    return tuple(pattern.findall(text))


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of words and single signs; vowel signs, accents and parts of an emoji stay with the character
    that they belong to."""
    combining = [c for c in map(chr, range(0x300, 0x1F000)) if unicodedata.category(c).startswith("M")]
    marks = "".join(combining) + "\u200c\u200d"
    word, sign = rf"\w+(?:[{marks}]+\w*)*", rf"[^\w\s][{marks}\U0001f3fb-\U0001f3ff]*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    return re.compile(rf"{word}(?:['’]{word})*|{flag}|{sign}(?:(?<=\u200d){sign})*")


def join(tokens: Sequence[str], level: str) -> str:
    """Return tokens as a text that :func:`split` reads again."""
    return (" " if level == WORD else "").join(tokens)


def read_lines(path: str, text: str, name: str) -> list[tuple[int, str]]:
    """Return the lines that are not blank, each with its number from 1; ``path`` is "" for an included ``text``.

    Raises:
        TrainingError: the file cannot be read, is not UTF-8 text, or has too many lines.
    """
    lines = (texts.read(path) if path else text).split("\n")
    found = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if len(found) > MOST_LINES:
        raise TrainingError(f"{name} has {len(found):,} lines; the maximum is {MOST_LINES:,}. Keep a part of it.")
    return found


def number_tokens(rows: Iterable[Sequence[str]], cutter: Cutter, name: str) -> tuple[str, ...]:
    """Return the vocabulary of rows of tokens.

    Raises:
        TrainingError: there are too many different characters.
    """
    if cutter.pieces is not None:
        return cutter.pieces.vocabulary
    found = sorted({token for row in rows for token in row})
    if cutter.tokens.level == CHARACTER and len(found) > MOST_CHARACTERS:
        told = f"{name} has {len(found):,} different characters; the maximum is {MOST_CHARACTERS:,}"
        raise TrainingError(f"{told}. Use fewer lines.")
    return (*SPECIAL, *found)


def hold_out(examples: Sequence[Part], share: int, name: str, what: str) -> tuple[list[Part], list[Part]]:
    """Return the examples to learn from and the held-out ones, ``share`` percent, in a fixed random order; ``what``
    is the name of one of them in messages.

    Raises:
        TrainingError: there are too few.
    """
    if len(examples) < LEAST_EXAMPLES:
        told = f"{name} has {format_count(len(examples), f'different {what}')}; at least {LEAST_EXAMPLES} are needed"
        raise TrainingError(f"{told}, because {share}{PERCENT} of them are held out.")
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(SEED)).tolist()
    count = max(1, len(examples) * share // 100)
    return [examples[i] for i in order[count:]], [examples[i] for i in order[:count]]


def find_fault(read: Callable[[RunSpec], object], spec: RunSpec) -> str:
    """Return why the file of a run is unsuitable for a function that reads it, "" if it is suitable."""
    try:
        read(spec)
    except TrainingError as error:
        return str(error)
    return ""


def read_probe(text: str, cutter: Cutter, numbers: dict[str, int], longest: int, name: str) -> list[int]:
    """Return the token numbers of a text that the user typed.

    Raises:
        TrainingError: a token that the data do not have, no token at all, or too many.
    """
    tokens, things = cutter.split(text), cutter.tokens.things
    strange = next((token for token in tokens if token not in numbers), "")
    if strange:
        shown = strange if len(strange) <= 40 else f"{strange[:40]}…"
        raise TrainingError(f"{shown!r} does not occur in {name}; an input can use only its {things}.")
    if not 1 <= len(tokens) <= longest:
        raise TrainingError(f"The input has {len(tokens)} {things}; the model reads 1 to {longest} at once.")
    return [numbers[token] for token in tokens]
