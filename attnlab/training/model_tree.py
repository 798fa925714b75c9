"""The blocks of a model as a value: stacks of layers, their parts, and the shape and parameters of each."""

from collections.abc import Iterator
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of numbers that a block has of its own."""

    name: str
    shape: Shape
    trainable: bool = True

    @property
    def count(self) -> int:
        """The number of its parameters."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a model. ``name`` identifies it within the model, as "decoder 2 feed-forward" does.

    ``shape`` is that of its output for one probe. ``tables`` are the parameters that no other block has. ``note`` says
    in a few words what it computes, ``about`` in a sentence. ``inputs`` are the stages worth showing: name, origin and
    shape. ``layer`` names its layer of attention, "" without one, and ``mask`` that layer's mask.
    """

    name: str
    title: str
    shape: Shape = ()
    tables: tuple[Table, ...] = ()
    note: str = ""
    about: str = ""
    formula: str = ""
    inputs: tuple[tuple[str, str, Shape], ...] = ()
    layer: str = ""
    heads: int = 0
    mask: str = ""
    role: str = "neutral"

    @property
    def total(self) -> int:
        """The number of its parameters."""
        return sum(table.count for table in self.tables)

    @property
    def trainable(self) -> int:
        """The number of its trainable parameters."""
        return sum(table.count for table in self.tables if table.trainable)


@dataclass(frozen=True, slots=True)
class Part:
    """A block on a residual path, with its norm, if the model has norms."""

    block: Block
    norm: Block | None = None


@dataclass(frozen=True, slots=True)
class Stack:
    """Layers of the same parts, from the bottom to the top; ``residual``: what each part computes is added."""

    title: str
    layers: tuple[tuple[Part, ...], ...]
    residual: bool = True

    def count_layer(self, number: int) -> int:
        """Return the number of parameters of a layer, counted from 0."""
        return sum(block.total for block in _list_parts(self.layers[number]))

    @property
    def is_even(self) -> bool:
        """Whether all layers have equally many parameters."""
        return len({self.count_layer(number) for number in range(len(self.layers))}) == 1


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two halves of a model, or its only one: the embedding, the stack, and the norm at its end.

    A recurrent half has a ``cell`` instead of a stack.
    """

    embedding: Block
    stack: Stack | None = None
    last_norm: Block | None = None
    cell: Block | None = None

    def list_blocks(self) -> Iterator[Block]:
        """Yield all blocks from the bottom to the top."""
        yield self.embedding
        for layer in self.stack.layers if self.stack is not None else ():
            yield from _list_parts(layer)
        yield from (each for each in (self.cell, self.last_norm) if each is not None)


@dataclass(frozen=True, slots=True)
class ModelTree:
    """A model as drawn. ``norm`` is "before", "after" or "none". ``writing`` is the half that gives the ``output``;
    ``reading`` is the encoder beside it, whose output is the ``memory``.

    A recurrent model has as ``memory`` the one vector from which the decoder starts, and its ``attention`` if any.
    ``first`` is the number of the first layer: 1, or 0 for a model of the transformers library, which counts from 0.
    ``unused`` has tables that are in the model's files and in no other block; it is counted, but not drawn.
    """

    kind: str
    title: str
    norm: str
    writing: Side
    output: Block | None = None
    reading: Side | None = None
    memory: Block | None = None
    attention: Block | None = None
    first: int = 1
    unused: Block | None = None

    def list_blocks(self) -> Iterator[Block]:
        """Yield all blocks of the model."""
        if self.reading is not None:
            yield from self.reading.list_blocks()
        if self.memory is not None:
            yield self.memory
        yield from self.writing.list_blocks()
        yield from (each for each in (self.attention, self.output, self.unused) if each is not None)

    def find(self, name: str) -> Block | None:
        """Return the block with a name, None if there is none."""
        return next((block for block in self.list_blocks() if block.name == name), None)

    @property
    def total(self) -> int:
        """The number of parameters of the model."""
        return sum(block.total for block in self.list_blocks())

    @property
    def trainable(self) -> int:
        """The number of trainable parameters of the model."""
        return sum(block.trainable for block in self.list_blocks())

    @property
    def is_recurrent(self) -> bool:
        """Whether the model reads one token after the other."""
        return self.writing.cell is not None


def _list_parts(parts: tuple[Part, ...]) -> Iterator[Block]:
    for part in parts:
        yield part.block
        if part.norm is not None:
            yield part.norm
