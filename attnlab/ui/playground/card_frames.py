"""Frames around the cells of a card: those of the selection, or those that a walk's step computes."""

from typing import TYPE_CHECKING

from attnlab.attention.stages.links import Region, find_linked_regions
from attnlab.attention.stages.table import Stage
from attnlab.attention.stages.walk_sources import regions
from attnlab.figures.map_data import Outline

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View
    from attnlab.figures.palette import Palette

Strong = tuple[int | None, int | None]
"""The row and the column whose labels are emphasised."""


def frames(
    trace: "Trace",
    view: "View",
    stage: Stage,
    heads: tuple[int | None, ...],
    shape: tuple[int, ...],
    palette: "Palette",
) -> tuple[list[Outline], Strong]:
    """Return the frames on maps [n, rows, columns] of a stage, one for each of ``heads``, and the emphasised labels.

    They belong to the selected cell; on a walk without a pointed cell, to the cells that its step computes.
    """
    outlines: list[Outline] = []
    row, column = None, None
    for region, colour in _colour_regions(trace, view, stage, palette):
        if (region.row or 0) >= shape[1] or (region.column or 0) >= shape[2]:
            continue  # the maps of a pinned state may have another size
        width = 1.0 if region.row is None and region.column is None else 2.0
        maps = region.find_maps(heads)
        if not maps:
            continue
        outlines += [Outline(index, region.row, region.column, colour, width) for index in maps]
        row = region.row if region.row is not None else row
        column = region.column if region.column is not None else column
    return outlines, (row, column)


def _colour_regions(trace: "Trace", view: "View", stage: Stage, palette: "Palette") -> list[tuple[Region, str]]:
    cell, at, e = view.cell, view.at, trace.experiment
    if at is not None and at.stage in trace and (cell is None or view.pinned):
        found = regions(e, at, stage)
        return [(r, palette.ink if r.role == "neutral" and r.row is not None else palette.role(r.role)) for r in found]
    if cell is None or cell.stage not in trace:
        return []
    return [
        (r, palette.ink if cell.stage == stage.name or None not in (r.row, r.column) else palette.role(r.role))
        for r in find_linked_regions(e, cell, stage)
    ]
