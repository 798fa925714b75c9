"""Byte-pair encoding of a text: its most frequent pieces, found by the tokenizers library, and text cut into them."""

from collections.abc import Iterable, Sequence
from typing import Any

from attnlab.attention.registries.entries import Option
from attnlab.base.errors import TrainingError
from attnlab.training.batch import SPECIAL

PIECE = "piece"
CHOICE = (PIECE, "pieces (BPE)", "Frequent parts of words, found by byte-pair encoding, as in large models")
VOCABULARY = Option(
    "vocabulary",
    "Vocabulary",
    "How many tokens byte-pair encoding makes, the three special ones included; only for pieces",
    "whole",
    1000,
    32,
    10_000,
    only_with=("level", PIECE),
)
_WORDS = r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s"
"""What is never joined: a word with the space before it, a number, a mark, a line break."""
_LEAST = 2
"""How often two pieces must stand together to become one."""


class Pieces:
    """The pieces of a text. ``vocabulary`` has exactly the wanted size, with the special tokens before them."""

    def __init__(self, parts: Iterable[str], size: int, name: str) -> None:
        """Find the pieces of the parts of a text, which is called ``name`` in messages.

        Raises:
            TrainingError: the text gives fewer pieces, or has more different characters, or the library is missing.
        """
        parts = list(parts)
        self._alphabet = frozenset("".join(parts))
        least = len(self._alphabet) + len(SPECIAL)
        if size < least:
            told = f"{name} has {len(self._alphabet):,} different characters"
            raise TrainingError(f"{told}, so its vocabulary needs {least:,} or more tokens; it is {size:,}.")
        self._tokenizer = _train(parts, size - len(SPECIAL))
        found = {number: piece for piece, number in self._tokenizer.get_vocab().items()}
        self.vocabulary: tuple[str, ...] = (*SPECIAL, *(found[number] for number in range(len(found))))
        if len(self.vocabulary) < size:
            told = f"{name} gives {len(self.vocabulary):,} tokens, because no other pieces occur twice together"
            raise TrainingError(f"{told}; the vocabulary is {size:,}. Make it smaller, or use more text.")

    def split(self, text: str) -> tuple[str, ...]:
        """Return the pieces of a text. A character that the text does not have is a piece of its own."""
        known = "".join(character if character in self._alphabet else "\0" for character in text)
        found: list[str] = []
        rest = iter(character for character in text if character not in self._alphabet)
        for at, stretch in enumerate(known.split("\0")):
            found += [next(rest)] if at else []
            found += self._tokenizer.encode(stretch).tokens if stretch else []
        return tuple(found)


def join(pieces: Sequence[str]) -> str:
    """Return the text of pieces."""
    return "".join(pieces)


def _train(parts: list[str], size: int) -> Any:
    """Return a tokenizer of the library."""
    try:
        from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers
    except ImportError:
        told = "Pieces need the tokenizers library: pip install attnlab[models]; or choose other tokens"
        raise TrainingError(f"{told}.") from None
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_WORDS), "isolated")
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=_LEAST, show_progress=False)
    tokenizer.train_from_iterator(parts, trainer)
    return tokenizer
