"""Cuts text into the tokens of a training task: single characters, or words between spaces."""

from collections.abc import Iterable
from dataclasses import dataclass

from attnlab.base.errors import ArgumentError
from attnlab.base.printable import shorten
from attnlab.training.batch import SPECIAL

MASK = "▢"
"""The token of the task of hidden words."""
_SHOWN = 12


@dataclass(frozen=True, slots=True, eq=False)
class RunTokenizer:
    """The tokenizer of a run; implements :class:`attnlab.pretrained.tokenizer.Tokenizer`.

    Where all tokens are single characters, a text is cut into these, without spaces unless the space is one of them.
    """

    vocabulary: tuple[str, ...]

    @property
    def mask(self) -> str | None:
        """The token that stands for a hidden word, None if the task has none."""
        return MASK if MASK in self.vocabulary else None

    @property
    def _by_character(self) -> bool:
        return all(len(token) == 1 for token in self.vocabulary)

    @property
    def _joint(self) -> str:
        """What stands between two tokens of a text."""
        return "" if self._by_character and " " in self.vocabulary else " "

    def encode(self, text: str, special: bool = True) -> tuple[list[int], tuple[str, ...]]:
        """Return the numbers and the names of the tokens of a text; nothing is put around it.

        Raises:
            ArgumentError: a part of the text is no token of the task; the sentence names some that are.
        """
        whole = self._joint == ""
        tokens = tuple(text) if whole else tuple("".join(text.split()) if self._by_character else text.split())
        numbers = {token: number for number, token in enumerate(self.vocabulary)}
        strange = next((token for token in tokens if token not in numbers), None)
        if strange is not None:
            known = [token for token in self.vocabulary[len(SPECIAL) :] if token.strip()]
            shown = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else "")
            raise ArgumentError(f"{shorten(strange, 40)!r} is not a token of this model; its tokens are {shown}.")
        return [numbers[token] for token in tokens], tokens

    def name(self, number: int) -> str:
        """Return the name of a token."""
        return self.vocabulary[number]

    def number(self, name: str) -> int | None:
        """Return the number of a token, None if there is none of this name."""
        return self.vocabulary.index(name) if name in self.vocabulary else None

    def specials(self) -> frozenset[str]:
        """Return the tokens that are no text: padding, begin, end, and the hidden word."""
        return frozenset((*SPECIAL, MASK))

    def join(self, tokens: Iterable[str]) -> str:
        """Return tokens as a text."""
        return self._joint.join(tokens)

    def append(self, text: str, token: str) -> str:
        """Return a text with a token, by its name, written behind it."""
        if not self._joint:
            return text + token
        return f"{text.rstrip()} {token}".strip()
