"""Which placeholders of a step name cells that are covered: asked for, or not reached by the walk yet."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnlab.attention.measures.symmetry import add_mirrored
from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.table import BY_NAME
from attnlab.attention.stages.walk import Place
from attnlab.base.errors import AttnlabError
from attnlab.lessons.cell_references import choose_head, find_position

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

_TELLS_NOTHING = "sum"
"""A sum over a row, which is mostly 1, tells none of its cells; so it stays readable while one of them is covered."""

Index = int | str | None


@dataclass(frozen=True, slots=True)
class Covering:
    """The covered cells of a step now, and when it is entered.

    ``blanks`` are the cells still asked for, ``place`` how far the walk has come; ``all_blanks`` and ``start`` are the
    same when the step is entered. ``head`` is the step's head.
    """

    e: "Experiment"
    head: int | str
    blanks: tuple[Cell, ...] = ()
    place: Place | None = None
    all_blanks: tuple[Cell, ...] = ()
    start: Place | None = None

    def find_role(self, tree: ast.expr) -> str | None:
        """Return the role of the stage of a number that is covered when the step is entered; None for any other."""
        for name, indices in _list_cells(tree):
            if self._hides(name, indices, self.all_blanks, self.start):
                return BY_NAME[name].role
        return None

    def covers(self, tree: ast.expr) -> bool:
        """Return whether an expression names a cell that is covered now."""
        return any(self._hides(name, indices, self.blanks, self.place) for name, indices in _list_cells(tree))

    def _hides(self, name: str, indices: list[Index], blanks: tuple[Cell, ...], place: Place | None) -> bool:
        stage = BY_NAME[name]
        head = choose_head(stage, self.head)
        if len(indices) == 3:
            first = indices[0]
            head = first if isinstance(first, int) else None
        if len(indices) not in (2, 3) or not stage.present(self.e):
            return False
        try:
            row, column = (
                None if at is None else find_position(self.e, axis, at, "the index")
                for axis, at in zip(stage.axes[-2:], indices[-2:], strict=True)
            )
        except AttnlabError:
            return False
        if any(
            blank.stage == name and blank.head == head and row in (None, at[0]) and column in (None, at[1])
            for blank in blanks
            for at in add_mirrored(self.e, name, [(blank.row, blank.column)])
        ):
            return True
        unknown = walk.unknown_cells(self.e, walk.fit_place(self.e, place), name)
        if unknown is None:
            return False
        return bool(unknown[slice(None) if row is None else row, slice(None) if column is None else column].any())


def _list_cells(tree: ast.expr) -> Iterator[tuple[str, list[Index]]]:
    """Yield the stages with their indices that an expression names, except within a sum and of the step before."""
    match tree:
        case ast.Call(func=ast.Name(id=name)) if name == _TELLS_NOTHING:
            return
        case ast.Subscript(value=ast.Name(id=name)) if name in BY_NAME:
            parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            yield name, [_read_index(part) for part in parts]
        case _:
            for child in ast.iter_child_nodes(tree):
                if isinstance(child, ast.expr):
                    yield from _list_cells(child)


def _read_index(part: ast.expr) -> Index:
    """Return a written index; a computed one counts as all."""
    value = part.value if isinstance(part, ast.Constant) else None
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None
