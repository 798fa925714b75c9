"""Figures on the clipboard: as pixels for letters, as SVG for drawings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from attnlab.base.errors import AttnlabError
from attnlab.figures.panels.figure_file import described, page_image, page_of, png, svg
from attnlab.figures.panels.figure_source import Source
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.ui.base.clipboard import copy_data
from attnlab.ui.export.remembered import recalled

if TYPE_CHECKING:
    from attnlab.ui.playground.workspace import Playground


def copy_figure(source: Source, spec: FigureSpec) -> QImage:
    """Put a figure on the clipboard, and return it in pixels; what was there stays where it cannot be drawn.

    Raises:
        AttnlabError: it cannot be drawn.
    """
    image, vectors = page_image(page_of(source, spec, ".png")), page_of(source, spec, ".svg")
    data = QMimeData()
    data.setImageData(image)
    data.setData("image/png", png(image))
    data.setData("image/svg+xml", svg(vectors, *described(vectors)))
    copy_data(data)
    return image


def copy_canvas(playground: "Playground", choices: Sequence[str]) -> None:
    """Copy the whole canvas as a figure, drawn as ``choices`` of the settings say; show what was copied."""
    if playground.reply is None or playground.reply.trace is None:
        return
    spec = replace(recalled(choices)[0], stages=(), canvas=True, head=playground.document.view.head)
    pinned = playground.pinned if playground.document.view.look == "pinned" else None
    try:
        image = copy_figure(pinned or playground.reply.trace, spec)
    except AttnlabError as error:
        playground.step_bar.show_message(str(error))
        return
    playground.step_bar.show_note(f"Copied the canvas as a picture, {image.width()} × {image.height()} pixels")
