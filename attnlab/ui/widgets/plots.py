"""pyqtgraph, made safe: its methods that Qt calls are guarded like our own. Import it from here; it takes a while."""

from collections.abc import Iterator

import pyqtgraph as pg
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QGraphicsItem

from attnlab.ui.base.guard import ANSWERS, guard_methods

NAMES = ("boundingRect", "paint", "shape", *(name for name in ANSWERS if name.endswith("Event")))
"""Methods that Qt calls on classes of pyqtgraph."""


def classes() -> set[type]:
    """Return the classes of pyqtgraph, as far as they are loaded, that derive from one of Qt's."""
    return {cls for base in (QObject, QGraphicsItem) for cls in _heirs(base) if cls.__module__.startswith("pyqtgraph.")}


def _heirs(base: type) -> Iterator[type]:
    heirs: list[type] = base.__subclasses__()
    for cls in heirs:
        yield cls
        yield from _heirs(cls)


for _each in classes():
    guard_methods(_each, NAMES)

__all__ = ["NAMES", "classes", "pg"]
