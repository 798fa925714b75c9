"""The lenses of the playground: views beside the canvas, which a step of a lesson or a session may show.

A lens is a class ``NameLens`` in ``ui/playground/lenses/name_lens.py``. What is known of it here is read from the text
of that file, because lessons, sessions and commands work without Qt, which the class needs.
"""

import ast
import re
from dataclasses import dataclass
from importlib.resources import files

_HEAD = re.compile(r"^class \w+Lens\(Lens\):\n(?:(?!    def |    @).*\n)+", re.MULTILINE)
"""The class of a lens up to its first method."""


@dataclass(frozen=True, slots=True)
class LensEntry:
    """The tab of a lens, its tool tip and its place; the names of its pages, written "positions/order"."""

    title: str
    about: str
    tab_order: int = 1000
    pages: tuple[str, ...] = ()


def read_entry(source: str) -> LensEntry:
    """Return the constants of the class of a lens, from the text of its module."""
    head = _HEAD.search(source)
    body = ast.parse(head[0]).body[0] if head is not None else None
    assert isinstance(body, ast.ClassDef), "a lens is a class NameLens(Lens)"
    constants = {
        target.id: ast.literal_eval(statement.value)
        for statement in body.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in LensEntry.__slots__
    }
    return LensEntry(**constants)


def _read_entries() -> dict[str, LensEntry]:
    folder = files("attnlab").joinpath("ui", "playground", "lenses")
    entries = {
        file.name.removesuffix("_lens.py"): read_entry(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith("_lens.py")
    }
    return dict(sorted(entries.items(), key=lambda named: named[1].tab_order))


LENSES = _read_entries()
"""The lenses by name, in the order of their tabs."""
