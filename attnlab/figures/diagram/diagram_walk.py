"""The walk through diagrams: blocks in the order of a text, those of two models in pairs, and what is said of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from attnlab.figures.diagram.block_shapes import name_shape
from attnlab.figures.diagram.diagram_data import Diagram, Opened
from attnlab.training.model_tree import Block, ModelTree, Side

Step = tuple[Block | None, ...]
"""A block of each diagram; None for a diagram that has no such block, and for all in the first step, the whole."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a block: the model that it belongs to, a title, a sentence, a formula, and lines of sizes."""

    model: str
    title: str
    about: str
    formula: str = ""
    sizes: tuple[str, ...] = ()


def list_shown(tree: ModelTree, opened: Opened) -> Iterator[Block]:
    """Yield the blocks in the order in which a text passes them; of a stack those of the layer that is open."""
    if tree.reading is not None:
        yield from _list_side(tree.reading, opened)
    if tree.memory is not None:
        yield tree.memory
    yield from _list_side(tree.writing, opened)
    yield from (each for each in (tree.attention, tree.output) if each is not None)


def _list_side(side: Side, opened: Opened) -> Iterator[Block]:
    yield side.embedding
    if side.stack is not None:
        layer = side.stack.layers[opened.layer_of(side.stack.title, len(side.stack.layers))]
        yield from (part.block for part in layer)
    yield from (each for each in (side.cell, side.last_norm) if each is not None)


def list_steps(diagrams: Sequence[Diagram]) -> list[Step]:
    """Return the steps through one diagram, or through two with the blocks that do the same in one step."""
    shown = [list(list_shown(each.data.inside.tree, each.opened)) for each in diagrams]
    whole: Step = (None,) * len(diagrams)
    return [whole, *(pair_blocks(*shown) if len(shown) == 2 else [(block,) for block in shown[0]])]


def pair_blocks(first: Sequence[Block], second: Sequence[Block]) -> Iterator[Step]:
    """Yield pairs of blocks of one kind in the order of both lists, and None beside a block that the other lacks."""
    mine, others = ([block.name.split(" ")[-1] for block in blocks] for blocks in (first, second))
    for way, i, i_end, j, j_end in SequenceMatcher(None, mine, others, autojunk=False).get_opcodes():
        if way == "equal":
            yield from zip(first[i:i_end], second[j:j_end], strict=True)
        else:
            yield from ((block, None) for block in first[i:i_end])
            yield from ((None, block) for block in second[j:j_end])


def describe_step(diagrams: Sequence[Diagram], step: Step) -> list[Words]:
    """Return what is said of each block of a step, or of the whole models; once, if two blocks differ in size only."""
    if not any(step):
        return [_describe_model(each, len(diagrams) > 1) for each in diagrams]
    blocks = [(each, block) for each, block in zip(diagrams, step, strict=True) if block is not None]
    told = {(block.title, block.about, block.formula) for _, block in blocks}
    if len(blocks) > len(told):
        sizes = [line for each, block in blocks for line in ("", each.title, *_list_sizes(block))]
        return [Words("Both models", *told.pop(), tuple(sizes[1:]))]
    named = len(diagrams) > 1
    return [
        Words(each.title if named else "", block.title, block.about, block.formula, tuple(_list_sizes(block)))
        for each, block in blocks
    ]


def _describe_model(diagram: Diagram, beside: bool) -> Words:
    tree = diagram.data.inside.tree
    about = f"{tree.total:,} parameters in {len(list(tree.list_blocks()))} blocks."
    heading = diagram.data.heading
    return Words("", diagram.title if beside else tree.title, about, "", () if beside or not heading else (heading,))


def _list_sizes(block: Block) -> list[str]:
    """Return the shapes and the number of parameters of a block, a line each."""
    lines = [f"{name}  {name_shape(shape)}  {said}" for name, said, shape in block.inputs]
    lines = lines or ([name_shape(block.shape)] if block.shape else [])
    return [*lines, f"{block.total:,} parameters" if block.total else "nothing to learn"]
