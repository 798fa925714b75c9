"""The lenses: views that replace the canvas."""

from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from attnlab.ui.playground.lenses.lens import Lens, Runner


def make_lens(name: str, run: "Runner", parent: QWidget | None = None) -> "Lens":
    """Return a new lens of :data:`attnlab.lessons.lenses.LENSES`.

    Raises:
    ImportError: a library that it needs is not installed.
    """
    module = import_module(f"{__name__}.{name}_lens")
    words = (word.capitalize() for word in name.split("_"))
    lens: Lens = getattr(module, f"{''.join(words)}Lens")(run, parent)
    return lens
