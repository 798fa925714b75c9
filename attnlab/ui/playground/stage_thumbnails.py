"""Thumbnails of the stages for the step bar: the colours of a stage's cells, as far as they are computed."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QImage

from attnlab.attention.stages.table import Stage, kind_of
from attnlab.attention.stages.walk import stages_of, unknown_cells
from attnlab.figures.palette import Palette
from attnlab.figures.raster import colour_cells, reduce_cells, reduce_maps
from attnlab.figures.scales import find_scale

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

MOST_CELLS = 16
"""The most rows and columns of a thumbnail; in a larger map a block shows its value of largest magnitude."""


def draw_thumbnails(trace: "Trace", view: "View", palette: Palette) -> tuple[QImage, ...]:
    """Return a picture of each stage with one pixel per cell: of the shown head, the mean, or head 0 of all.

    Each has a scale of its own, up to its largest number, so that none is blank. Cells that are masked or not computed
    yet at the view's step are transparent.
    """
    return tuple(_draw(trace, stage, view, palette) for stage in stages_of(trace.experiment))


def _draw(trace: "Trace", stage: Stage, view: "View", palette: Palette) -> QImage:
    e = trace.experiment
    if stage.has_heads:
        values = trace.mean(stage.name) if view.head == "mean" else trace.array(stage.name)[_choose_head(view)]
    else:
        values = trace.array(stage.name)
    hidden = [
        each for each in (trace.find_shown_mask(stage.name), unknown_cells(e, view.at, stage.name)) if each is not None
    ]
    masked = None
    if hidden:
        cells = np.logical_or.reduce(hidden)
        values = np.where(cells, 0, values)  # otherwise a block with one masked score would be −∞
        masked = reduce_cells(cells, MOST_CELLS, MOST_CELLS)
    small, kind = reduce_maps(values[None], MOST_CELLS, MOST_CELLS), kind_of(stage, e)
    scale = find_scale(small, kind, masked, tight=True)
    argb = np.ascontiguousarray(colour_cells(small, kind, scale, palette, masked)[0])
    rows, columns = argb.shape
    return QImage(argb.data, columns, rows, columns * 4, QImage.Format.Format_ARGB32).copy()


def _choose_head(view: "View") -> int:
    return view.head if isinstance(view.head, int) else 0
