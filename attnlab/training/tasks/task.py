"""What a task is: what it teaches, which models go with it, its options, and the settings it learns with."""

from collections.abc import Callable
from dataclasses import dataclass

from attnlab.attention.registries.entries import Option
from attnlab.training.specs import RunSpec
from attnlab.training.tasks.data import Data

SEQUENCES = ("decoder", "attention", "encoder-decoder", "encoder", "bahdanau", "luong", "recurrent")
"""Every kind of model: all of them can turn one row of tokens into another."""
WITH_SOURCE = ("encoder-decoder", "bahdanau", "luong", "recurrent")
"""Those that read a source and write a target beside it."""
RECURRENT = ("bahdanau", "luong", "recurrent")
"""Those that read one token after the other: they have neither heads nor positions."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Other settings of a task that show something; ``spec`` has them all."""

    name: str
    title: str
    about: str
    spec: RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. ``about`` says what it teaches, ``look_for`` what one sees in the maps when it is learned.

    ``row`` is its line of the systems that courses teach, such as "G1". ``kinds`` are the kinds of model that go with
    it, its default first; ``settings(kind)`` are what it is known to learn with. ``options`` are kept in
    ``RunSpec.options``; one of kind "file" is a path, "" for what ships. ``make(spec)`` needs a checked spec, and
    depends on nothing of it but the options and the kind. ``check(spec)`` is "" or one sentence about the options.
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
        """The settings of its first kind."""
        return self.settings(self.kinds[0])
