"""A real model: reads it from a folder or the local Hugging Face cache, and runs it on texts."""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, SupportsIndex

import torch

from attnlab.base.arguments import check_path, explain_calls
from attnlab.base.errors import ArgumentError, FileError
from attnlab.base.special_tokens import UNKNOWN
from attnlab.files.atomic import format_name
from attnlab.files.source import run_folder
from attnlab.pretrained.architecture import Architecture, Stack
from attnlab.pretrained.capture_file import is_capture, read_capture
from attnlab.pretrained.captured import Capture
from attnlab.pretrained.changes import Changes, take_changes
from attnlab.pretrained.families.families import build
from attnlab.pretrained.families.trained_run import read_run
from attnlab.pretrained.find_model import find_folder
from attnlab.pretrained.folder import ModelFolder, open_folder
from attnlab.pretrained.free_memory import available_bytes, format_gib
from attnlab.pretrained.layers import AttentionLayer
from attnlab.pretrained.many_texts import ManyTexts, read_texts
from attnlab.pretrained.model_run import Run
from attnlab.pretrained.stack_pass import Part
from attnlab.pretrained.tokenizer import Tokenizer, open_tokenizer

MOST_TOKENS = 4096
"""The maximum number of tokens for models without a limit of their own."""

_COPIES = 6
"""How many copies of the maps of one layer are in memory while the window computes it, measured at 4,000 tokens."""
_LITTLE = 4 << 20
"""Memory that is not worth asking the system about."""

REPEATED = 25
"""How many random tokens are read twice to measure induction."""


class Model:
    """A model that was read by :func:`read_model`. Layers and heads count from 0, as in the transformers library.

    Raises:
        FileError: when it runs a text, a tensor or the tokenizer is missing, damaged or of another model.
        ArgumentError: a text is empty or too long, or there is no such layer, head or token.
    """

    def __init__(self, folder: ModelFolder, architecture: Architecture) -> None:
        self.folder = folder
        self.architecture = architecture

    def __repr__(self) -> str:
        """Return one line with the sizes."""
        return (
            f"<Model {self.name}: {self.architecture.about}, {self.n_layers} layers × {self.n_heads} heads, "
            f"d_model {self.d_model}>"
        )

    @property
    def name(self) -> str:
        """The name of the model's folder, or its name in the Hugging Face cache."""
        return self.folder.name

    @property
    def family(self) -> str:
        """The family, as config.json names it: "bert", "gpt2", "llama"."""
        return str(self.folder.config["model_type"])

    @property
    def n_layers(self) -> int:
        """Number of layers, in an encoder–decoder those of the encoder."""
        return self.architecture.stacks[0].n_layers

    @property
    def n_heads(self) -> int:
        """Number of heads of each layer."""
        return self.architecture.n_heads

    @property
    def d_model(self) -> int:
        """Columns of the hidden states."""
        return self.architecture.d_model

    @property
    def n_parameters(self) -> int:
        """Number of parameters, counted once where two parts share a tensor in the files."""
        folder = self.folder
        tensors = folder.arrays.values() if folder.arrays else folder.held.values()  # a run's are read at once
        return sum(prod(tensor.shape) for tensor in tensors)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The kinds of attention that the model has: "encoder", "decoder", "cross"."""
        names: tuple[Part, ...] = tuple(stack.name for stack in self.architecture.stacks)
        return (*names, "cross") if len(names) > 1 else names

    @property
    def limit(self) -> int:
        """The maximum number of tokens."""
        return self.architecture.limit or MOST_TOKENS

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, read on first use."""
        return self.folder.tokenizer or open_tokenizer(self.folder)

    def stack(self, part: Part) -> Stack:
        """Return the layers that hold a kind of attention."""
        return self.architecture.stacks[0 if part == self.parts[0] else -1]

    def count_layers(self, part: Part) -> int:
        """Return the number of layers that hold a kind of attention."""
        return self.stack(part).n_layers

    def find_attention(self, layer: int, part: Part) -> AttentionLayer:
        """Return the attention of a layer of a part."""
        found = self.stack(part).layer(layer)
        if part != "cross":
            return found.attention
        assert found.cross is not None
        return found.cross

    @explain_calls
    def run(
        self,
        text: str,
        target: str | None = None,
        heads_off: "Iterable[tuple[SupportsIndex, ...]] | Mapping[Part, Any]" = (),
        pairs_off: "Iterable[tuple[SupportsIndex, ...]] | Mapping[Part, Any]" = (),
        layers: "Mapping[Any, Any] | None" = None,
    ) -> Run:
        """Return what the model makes of a text; each layer is computed when it is asked for.

        ``heads_off`` are pairs (layer, head) whose context is set to 0, ``pairs_off`` are (layer, head, query, key)
        whose scores are set to −∞. Those of an encoder–decoder are of its encoder; a mapping tells the others,
        {"cross": [(0, 3)]}. ``layers`` are experiments that compute the attention of layers in place of the model's
        own weights, {5: e}, such as an edited one of :meth:`attnlab.Run.experiment`. ``target`` is the text that a
        decoder behind an encoder has written so far.

        Raises:
            FileError: the folder has no tokenizer, or its files do not fit together.
            ArgumentError: the text is empty or too long, or there is no such layer, head or token.
        """
        for given in (text, *([] if target is None else [target])):
            if not isinstance(given, str):
                raise ArgumentError(f"run was given {type(given).__name__}; it needs a text.")
        ids, tokens = self._encode(text)
        second: tuple[list[int], tuple[str, ...]] | None = None
        if "cross" in self.parts:
            second = self._encode_target(target)
        elif target is not None:
            raise ArgumentError(f"{self.name} has no decoder behind an encoder, so it takes no target.")
        made = Run(self, text, ids, tokens, second)
        return made.change(heads_off, pairs_off, layers)

    @explain_calls
    def read_texts(
        self,
        texts: Iterable[str],
        part: Part | None = None,
        heads_off: "Iterable[tuple[SupportsIndex, ...]] | Mapping[Part, Any]" = (),
        layers: "Mapping[Any, Any] | None" = None,
    ) -> ManyTexts:
        """Return what the model looks at in several texts: the strongest target of every token in every layer, and
        the mean pattern scores. A text that the model cannot read is listed with the reason. ``heads_off`` and
        ``layers`` are those of :meth:`run`.

        Raises:
            ArgumentError: none of them can be read, there are more than 1,000, or there is no such part or head.
        """
        if isinstance(texts, str):
            raise ArgumentError("read_texts was given one text; it needs a list of texts.")
        return read_texts(((text, self._try(text, heads_off, layers)) for text in texts), part)

    def _try(self, text: str, heads_off: Any, layers: Any) -> Run | str:
        """Return the run of a text, or the sentence why there is none."""
        try:
            self._encode(text)
        except ArgumentError as error:
            return str(error)
        return self.run(text, heads_off=heads_off, layers=layers)

    def take_changes(
        self, heads_off: Any, pairs_off: Any, sizes: Mapping[Part, tuple[int, int]], edited: Any = ()
    ) -> Changes:
        """Return what is to be changed, checked; ``sizes`` are the numbers of queries and keys of each part."""
        layers = {part: self.stack(part).n_layers for part in self.parts}
        return take_changes(heads_off, pairs_off, layers, self.n_heads, sizes, edited, self.d_model)

    def draw_repeated(self) -> list[int]:
        """Return the numbers of random tokens followed by the same once more: at most 2 × 25, no special ones."""
        specials = {self.tokenizer.number(name) for name in (*self.tokenizer.specials(), *UNKNOWN)}
        usual = [number for number in range(self.architecture.words) if number not in specials] or [0]
        count = max(1, min(REPEATED, self.limit // 2))
        drawn = torch.randint(len(usual), (count,), generator=torch.Generator().manual_seed(0))
        return [usual[int(place)] for place in drawn] * 2

    def _encode(self, text: str) -> tuple[list[int], tuple[str, ...]]:
        if not text.strip():
            raise ArgumentError("The text is empty; write at least one word.")
        ids, tokens = self.tokenizer.encode(text)
        return self._check(ids, tokens, "The text")

    def _encode_target(self, target: str | None) -> tuple[list[int], tuple[str, ...]]:
        """Return the token with which the decoder begins, then those of the target, without one that ends it."""
        start = self.architecture.start
        assert start is not None
        ids, tokens = ([], ()) if not target else self.tokenizer.encode(target, special=False)
        return self._check([start, *ids], (self.tokenizer.name(start), *tokens), "The target")

    def _check(self, ids: list[int], tokens: tuple[str, ...], what: str) -> tuple[list[int], tuple[str, ...]]:
        if not ids:
            raise ArgumentError(f"{what} has no token that {self.name} knows.")
        if len(ids) > self.limit:
            raise ArgumentError(
                f"{what} has {len(ids):,} tokens, but {self.name} has {self.limit:,} positions; shorten it."
            )
        if max(ids) >= self.architecture.words:
            raise FileError(
                f"The tokenizer of {self.name} gives token {max(ids)}, but the model has only "
                f"{self.architecture.words}; the files do not fit together."
            )
        needed = _COPIES * 4 * self.n_heads * len(ids) ** 2
        free = available_bytes() if needed > _LITTLE else None
        if free is not None and needed > free:
            raise ArgumentError(
                f"{what} has {len(ids):,} tokens, whose attention takes {format_gib(needed)} for one layer of "
                f"{self.name}, and {format_gib(free)} of memory are free; shorten it."
            )
        return ids, tokens


@explain_calls
def read_model(path: str | os.PathLike[str]) -> Model | Capture:
    """Return the model in a folder, or by name one of the local Hugging Face cache or one that comes with attnlab.

    The folder is as the transformers library saves it: config.json, safetensors or pytorch_model.bin, whole or in
    parts, and a tokenizer; or it is a run of ``attnlab train``, of which the last moment is read. Tensors are read when
    they are needed. No code of the folder is run, and nothing is fetched from the network. "openai-community/gpt2" is a
    name of the cache, "induction" one of the models of :func:`attnlab.pretrained.shipped.list_shipped`. The file of a
    capture, see :func:`attnlab.capture`, gives the capture.

    Raises:
        FileError: there is no such model, its family is unknown, it is damaged or contains code, or it is larger than
            the memory; the sentence says which, and for a model that is not there, how to fetch it.
    """
    check_path(path)
    return read_capture(Path(path)) if is_capture(Path(path)) else open_model(path)


def open_model(path: str | os.PathLike[str]) -> Model:
    """Return a model as :func:`read_model` does; a capture is refused.

    Raises:
        FileError: as :func:`read_model`, or it is the file of a capture.
    """
    if is_capture(Path(path)):
        raise FileError(
            f"{format_name(Path(path))} is a capture, which has no model to run; read it with read_model, or open it "
            "in the workspace Models."
        )
    where, name = find_folder(Path(path))
    if run_folder(where) is not None:
        return Model(*read_run(where, name))
    folder = open_folder(where, name)
    return Model(folder, build(folder))
