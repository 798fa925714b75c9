"""A training task: its texts, its kinds of model, its options and its settings."""

from collections.abc import Callable
from dataclasses import dataclass

from attnlab.attention.registries.entries import Option
from attnlab.training.specs import RunSpec
from attnlab.training.tasks.data import Data

SEQUENCES = ("decoder", "attention", "encoder-decoder", "encoder", "bahdanau", "luong", "recurrent")
"""Every kind of model: each can map one row of tokens to another."""
WITH_SOURCE = ("encoder-decoder", "bahdanau", "luong", "recurrent")
"""The kinds that read the source separately from the target."""
RECURRENT = ("bahdanau", "luong", "recurrent")
"""The kinds that read one token after the other; they have neither heads nor positions."""


@dataclass(frozen=True, slots=True)
class Variant:
    """An instructive variation of a task's settings; ``spec`` holds all of them."""

    name: str
    title: str
    about: str
    spec: RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. ``about`` explains it, ``look_for`` describes the maps of a model that has learned it.

    ``row`` is its entry in the list of systems that courses teach, such as "G1". ``kinds`` are the kinds of model that
    it supports, the default first; ``settings(kind)`` returns settings that are known to learn it. The values of
    ``options`` are in ``RunSpec.options``; one of kind "file" is a path, "" for the shipped text. ``make(spec)`` needs
    a checked spec, and depends only on its options and kind. ``check(spec)`` returns "" or one sentence about the
    options.
    """

    name: str
    title: str
    about: str
    look_for: str
    row: str = ""
    kinds: tuple[str, ...]
    options: tuple[Option, ...] = ()
    settings: Callable[[str], RunSpec]
    make: Callable[[RunSpec], Data]
    check: Callable[[RunSpec], str] = lambda spec: ""
    variants: tuple[Variant, ...] = ()

    @property
    def defaults(self) -> RunSpec:
        """The settings of the default kind."""
        return self.settings(self.kinds[0])
