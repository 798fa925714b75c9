"""The frames on a slide: the row and the cell in focus, and the parts of the sources that they are computed from."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention import edits
from attnlab.attention.stages import walk
from attnlab.attention.stages.explanation import Cell
from attnlab.attention.stages.links import Region
from attnlab.attention.stages.table import BY_NAME, Stage, name_stage
from attnlab.attention.stages.table import sources as sources_of
from attnlab.attention.stages.walk import Place
from attnlab.attention.stages.walk_sources import regions
from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.scales import find_scale
from attnlab.figures.slides.slide_content import SlideMap
from attnlab.ui.playground import input_tables as tables
from attnlab.ui.playground.stage_maps import look_at

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Unknown = Callable[[Stage, tuple[int | None, ...]], NDArray[np.bool_] | None]
MOST_SOURCES = 3
WEIGHTS = {"queries": "W_q", "keys": "W_k", "values": "W_v"}
WEIGHTS |= {stage: matrix for stage, (matrix, _) in tables.MULTIPLIED.items()}
"""The table of weights of a stage, shown beside its other factor."""
_COLOURS = {"query": "query", "token": "query", "key": "key"}


def has_cell(e: "Experiment", cell: Cell) -> bool:
    """Return whether a state, which may have been edited, has a cell."""
    if not BY_NAME[cell.stage].present(e) or (cell.head or 0) >= e.n_heads:
        return False
    rows, columns = walk.shape(e, cell.stage)
    return cell.row < rows and cell.column < columns


def find_subject(e: "Experiment", stage: Stage, own: Cell | None, head: int | str, place: Place | None) -> Cell | None:
    """Return the cell in focus: the current one of the walk, else the slide's own if it is revealed."""
    cell = own if own is not None and own.stage == stage.name and has_cell(e, own) else None
    if place is not None and place.stage == stage.name and place.row is not None:
        if place.row < 0:
            return None
        if place.column is not None and place.column >= 0:
            cell = Cell(stage.name, place.row, place.column)
        elif place.column is None:
            cell = cell if cell is not None and cell.row == place.row else None
        else:
            return None
    if cell is None or not stage.has_heads:
        return cell
    if head == "mean":
        return replace(cell, head=None)
    chosen = head if isinstance(head, int) else own.head if own is not None and own.head is not None else 0
    return replace(cell, head=min(chosen, e.n_heads - 1))


def find_emphasis(cell: Cell | None, place: Place | None) -> tuple[int | None, int | None]:
    """Return the emphasised row and column."""
    if cell is not None:
        return cell.row, cell.column
    if place is not None and place.row is not None:
        return (place.row, None) if place.row >= 0 else (None, None)
    return None, None


def make_outlines(
    stage: Stage, heads: tuple[int | None, ...], row: int | None, column: int | None, cell: Cell | None
) -> tuple[Outline, ...]:
    """Return the frames of the row in the colour of its axis, and of the cell in ink; colours are named by role."""
    if row is None:
        return ()
    index = heads.index(cell.head) if cell is not None and cell.head in heads else None
    framed = [Outline(index, row, None, _COLOURS.get(stage.axes[-2], "query"))]
    if column is not None:
        framed.append(Outline(index, row, column, "ink", 3.0))
    return tuple(framed)


def make_sources(
    trace: "Trace", stage: Stage, view: "View", place: Place | None, cell: Cell | None, unknown: Unknown
) -> tuple[SlideMap, ...]:
    """Return the stages, and the table, that a stage is computed from."""
    e = trace.experiment
    if place is None or place.stage != stage.name or place.row is None or place.row < 0:
        place = Place(stage.name, cell.row, cell.column) if cell is not None else None
    found = [_make_source(trace, each, view, _read(e, place, each), unknown) for each in sources_of(stage, e)]
    name = WEIGHTS.get(stage.name, "")
    if name and name in edits.tables(e):
        found.append(_make_table(e, name, cell))
    return tuple(found[:MOST_SOURCES])


def _read(e: "Experiment", place: Place | None, stage: Stage) -> tuple[Region, ...]:
    return regions(e, place, stage) if place is not None else ()


def _make_source(trace: "Trace", stage: Stage, view: "View", read: tuple[Region, ...], unknown: Unknown) -> SlideMap:
    look = look_at(trace, None, stage, view)
    assert look.data is not None
    data = look.data.cover(unknown(stage, look.heads))
    framed = tuple(
        Outline(index, each.row, each.column, each.role or stage.role)
        for each in read
        for index in each.find_maps(look.heads)
    )
    strong = (read[0].row, read[0].column) if read else (None, None)
    return SlideMap(
        data, f"{name_stage(stage, trace.experiment)}  {data.power}".rstrip(), stage.role, framed, strong, stage.is_map
    )


def _make_table(e: "Experiment", name: str, cell: Cell | None) -> SlideMap:
    values = np.asarray(edits.array(e, name), np.float64)
    rows, columns = tables.row_labels(e, name), [str(i) for i in range(values.shape[1])]
    role = tables.role(e, name)
    data = MapData(values[None], "signed", find_scale(values, "signed"), None, rows, columns)
    framed = []
    for colour, (_, which) in tables.find_origins(e, name, cell).items():
        framed += [Outline(None, None, column, colour) for column in which]
    return SlideMap(data, tables.title(name), role, tuple(framed), (None, None), square=False)
