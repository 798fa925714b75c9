"""Cuts text into a model's tokens, from the files of its folder, with the tokenizers library."""

import json
import math
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from attnlab.base.errors import ArgumentError, FileError
from attnlab.base.special_tokens import UNKNOWN
from attnlab.files.atomic import format_name
from attnlab.files.bounded import read_bytes
from attnlab.files.weights.named_array import shorten_name

if TYPE_CHECKING:
    from attnlab.pretrained.folder import ModelFolder

WHOLE, CONFIG = "tokenizer.json", "tokenizer_config.json"
_WORDS, _PAIRS, _MERGES = "vocab.txt", "vocab.json", "merges.txt"
_PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")
"""The names that SentencePiece's own files have in folders of models."""
_LIMIT = 64 << 20
_MOST_GROWTH = 1000
_END_OF_TEXT = "<|endoftext|>"
"""GPT-2's token between two texts."""
_SPACES = {"Ġ": " ", "▁": " "}
"""How vocabularies write the space before a word: byte-level ones, and those of SentencePiece."""


class Tokenizer(Protocol):
    """Cuts texts into a model's tokens. ``mask`` is the token that stands for a hidden word, None without one."""

    @property
    def mask(self) -> str | None: ...

    def encode(self, text: str, special: bool = True) -> tuple[list[int], tuple[str, ...]]:
        """Return the numbers and the names of the tokens of a text, with those that the model puts around it.

        Raises:
            ArgumentError: the text has something that is no token of the model.
        """

    def name(self, number: int) -> str:
        """Return the name of a token; a number that has none is its name."""

    def number(self, name: str) -> int | None:
        """Return the number of a token, None if there is none of this name."""

    def specials(self) -> frozenset[str]:
        """Return the names of the tokens that are no text: separators, the start, the end, the mask."""

    def append(self, text: str, token: str) -> str:
        """Return a text with a token, by its name, written behind it."""


@dataclass(frozen=True, slots=True, eq=False)
class FileTokenizer:
    """A tokenizer of the tokenizers library, read from the files of a folder."""

    _inner: Any
    mask: str | None

    def encode(self, text: str, special: bool = True) -> tuple[list[int], tuple[str, ...]]:
        """Return the numbers and the names of the tokens of a text, with those that the model puts around it.

        Raises:
            ArgumentError: the library cannot cut it, because of the text or of a faulty tokenizer.
        """
        if (half := next((place for place, sign in enumerate(text) if "\ud800" <= sign <= "\udfff"), None)) is not None:
            raise ArgumentError(f"The text has half a character at place {half} (a lone surrogate); remove it.")
        try:
            found = self._inner.encode(text, add_special_tokens=special)
        except BaseException as error:  # noqa: BLE001  # the library raises Exception itself, and panics
            raise ArgumentError(f"The model’s tokenizer cannot cut this text: {_explain(error)}.") from None
        return list(found.ids), tuple(found.tokens)

    def name(self, number: int) -> str:
        """Return the name of a token; a number that has none is its name."""
        found: str | None = self._inner.id_to_token(number)
        return f"[{number}]" if found is None else found

    def number(self, name: str) -> int | None:
        """Return the number of a token, None if there is none of this name."""
        found: int | None = self._inner.token_to_id(name)
        return found

    def specials(self) -> frozenset[str]:
        """Return the names of the tokens that are no text: separators, the start, the end, the mask."""
        added = self._inner.get_added_tokens_decoder().values()
        return frozenset(str(t.content) for t in added if t.special).difference(UNKNOWN)

    def append(self, text: str, token: str) -> str:
        """Return a text with a token, by its name, written behind it; a part of a character adds nothing."""
        number = self.number(token)
        if number is None:
            return text + readable(token)
        ids = self.encode(text, special=False)[0]
        before, after = (self._inner.decode(each, skip_special_tokens=False) for each in (ids, [*ids, number]))
        added = after[len(before) :] if after.startswith(before) else readable(token)
        return text if "\ufffd" in added else text + added


def readable(token: str) -> str:
    """Return a token as people read it, with a space where the vocabulary has a sign for one: "Ġcat" is " cat"."""
    for sign, space in _SPACES.items():
        token = token.replace(sign, space)
    return token


def open_tokenizer(folder: "ModelFolder") -> Tokenizer:
    """Return the tokenizer of a model's folder.

    Raises:
        FileError: the folder has none, it is damaged, or the tokenizers library is not installed.
    """
    try:
        import tokenizers
    except ImportError:
        raise FileError(
            'Reading text for a model needs the package tokenizers: pip install "attnlab[models]" brings it.'
        ) from None
    path = folder.path
    settings = _read_settings(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            if os.path.isfile(path / WHOLE):
                inner: Any = tokenizers.Tokenizer.from_str(_read_text(path / WHOLE))
            elif os.path.isfile(path / _WORDS):
                inner = _make_wordpiece(path, settings)
            elif os.path.isfile(path / _PAIRS) and os.path.isfile(path / _MERGES):
                inner = _make_byte_level(path, folder.config.get("model_type"))
            else:
                raise FileError(_explain_missing(folder))
    except FileError:
        raise
    except BaseException as error:  # noqa: BLE001  # the library raises Exception itself, and panics
        raise FileError(f"The tokenizer of {folder.name} cannot be read: {_explain(error)}.") from None
    if max(map(_find_growth, (inner.normalizer, inner.decoder))) > _MOST_GROWTH:
        raise FileError(
            f"The tokenizer of {folder.name} makes texts more than {_MOST_GROWTH:,} times longer before it cuts them; "
            "choose one that does not."
        )
    inner.no_truncation()
    inner.no_padding()
    return FileTokenizer(inner, _find_mask(inner, settings))


def _explain_missing(folder: "ModelFolder") -> str:
    """Return why no tokenizer of a folder can be read, and what to do about it."""
    for name in _PIECES:
        if os.path.isfile(folder.path / name):
            return (
                f"The only tokenizer of {folder.name} is {name}, a SentencePiece model, which attnlab does not read; "
                f"write {WHOLE} beside it with AutoTokenizer.from_pretrained(folder).save_pretrained(folder) of the "
                "transformers library."
            )
    return f"{folder.name} has no tokenizer; a model has {WHOLE}, {_WORDS}, or {_PAIRS} with {_MERGES}."


def _explain(error: BaseException) -> str:
    """Return what the library says; anything but its own errors and its panics is raised again."""
    if isinstance(error, Exception) or type(error).__name__ == "PanicException":
        return shorten_name(str(error))
    raise error


def _find_growth(part: Any) -> int:
    """Return by how much the replacements of a normaliser or a decoder can multiply a text's length."""

    def multiply(value: Any) -> int:
        if isinstance(value, list | tuple):
            return math.prod(map(multiply, value))
        if not isinstance(value, dict):
            return 1
        if value.get("type") == "Replace":
            return max(1, len(value["content"]))
        return math.prod(map(multiply, value.values()))

    return 1 if part is None else multiply(json.loads(part.__getstate__()))


def _read_text(file: Path) -> str:
    return read_bytes(file, _LIMIT, "a tokenizer").decode("utf-8")


def _read_settings(path: Path) -> dict[str, Any]:
    from attnlab.pretrained.folder import read_json

    return read_json(path / CONFIG) if os.path.isfile(path / CONFIG) else {}


def _make_wordpiece(path: Path, settings: dict[str, Any]) -> Any:
    """Return BERT's tokenizer, from a vocabulary with one token a line."""
    from tokenizers import BertWordPieceTokenizer

    lines = _read_text(path / _WORDS).replace("\r\n", "\n").removesuffix("\n").split("\n")  # U+2028 may be a token
    strips = settings.get("strip_accents")
    return BertWordPieceTokenizer(
        {word: number for number, word in enumerate(lines)},
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True) is not False,
        strip_accents=strips if isinstance(strips, bool) else None,
        lowercase=settings.get("do_lower_case", True) is not False,
    )


def _make_byte_level(path: Path, family: object) -> Any:
    """Return GPT-2's tokenizer, from a vocabulary and its merges; RoBERTa's puts <s> and </s> around the text."""
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import RobertaProcessing

    from attnlab.pretrained.folder import read_json

    vocabulary = read_json(path / _PAIRS)
    lines = _read_text(path / _MERGES).splitlines()
    merges = [line.partition(" ")[::2] for line in lines if line and not line.startswith("#version")]
    if not all(type(number) is int for number in vocabulary.values()) or not all(second for _, second in merges):
        raise FileError(f"{format_name(path / _PAIRS)} and {_MERGES} are not those of a byte-level tokenizer.")
    inner: Any = ByteLevelBPETokenizer(vocabulary, merges)
    if family != "roberta":
        inner.add_special_tokens([sign for sign in (_END_OF_TEXT,) if sign in vocabulary])
    else:
        inner.add_special_tokens([sign for sign in ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if sign in vocabulary])
        if "<s>" in vocabulary and "</s>" in vocabulary:
            first, last = ("<s>", vocabulary["<s>"]), ("</s>", vocabulary["</s>"])
            inner.post_processor = RobertaProcessing(last, first, trim_offsets=False, add_prefix_space=False)
    return inner


def _find_mask(inner: Any, settings: dict[str, Any]) -> str | None:
    given = settings.get("mask_token")
    given = given.get("content") if isinstance(given, dict) else given
    for name in (given, "[MASK]", "<mask>"):
        if isinstance(name, str) and inner.token_to_id(name) is not None:
            return name
    return None
