"""pyqtgraph with its overrides of Qt methods guarded like our own. Import it from here; loading is slow."""

from collections.abc import Iterator

import pyqtgraph as pg
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QGraphicsItem

from attnlab.ui.base.guard import ANSWERS, guard_methods

NAMES = ("boundingRect", "paint", "shape", *(name for name in ANSWERS if name.endswith("Event")))
"""Methods of pyqtgraph classes that Qt calls."""


def classes() -> set[type]:
    """Return the loaded pyqtgraph classes that derive from a Qt class."""
    return {cls for base in (QObject, QGraphicsItem) for cls in _heirs(base) if cls.__module__.startswith("pyqtgraph.")}


def _heirs(base: type) -> Iterator[type]:
    heirs: list[type] = base.__subclasses__()
    for cls in heirs:
        yield cls
        yield from _heirs(cls)


for _each in classes():
    guard_methods(_each, NAMES)

__all__ = ["NAMES", "classes", "pg"]
