"""What a figure format is: its ending, its title, and the function that draws it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnlab.figures.diagram.scene import Scene
    from attnlab.figures.palette import Palette
    from attnlab.figures.panels.figure_page import Page


@dataclass(frozen=True, slots=True)
class FigureFormat:
    """A format of drawn pages, listed by its ``title`` at the place ``order``.

    ``encode`` returns the bytes of a file; it imports Qt itself, because the command line lists formats without Qt.
    Formats ``in_pixels`` have the resolution asked for; the others contain maps at the resolution of printers.
    """

    ending: str
    title: str
    encode: "Callable[[Page], bytes]"
    order: int
    in_pixels: bool = False
    encode_scene: "Callable[[Scene, Palette, str], bytes] | None" = None
    """Returns the bytes of a scene (a diagram, curves) with a title; None if the format has pages only."""
