"""The maps on a stage's card: the current numbers, the pinned ones or their difference, with labels."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attnlab.attention.axes import labels
from attnlab.attention.edits.moved_tokens import reorder_maps, stage_places
from attnlab.attention.measures.statistics import describe_stage
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.links import is_concatenated
from attnlab.attention.stages.table import Stage, kind_of, sources
from attnlab.attention.stages.walk import fit_place, unknown_cells
from attnlab.figures.map_painter import MapData
from attnlab.figures.raster import find_limit
from attnlab.figures.text import Pen
from attnlab.ui.playground.head_titles import head_titles

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Maps = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The maps of a card and the head of each; without maps, the reason."""

    data: MapData | None
    heads: tuple[int | None, ...] = (None,)
    reason: str = ""


def is_same(stage: Stage, before: "Trace", after: "Trace") -> bool:
    """Whether a stage looks the same in two traces: an edit does not change the stages before it."""
    a, b, name = before.experiment, after.experiment, stage.name
    return (
        name in before
        and before.dtype == after.dtype
        and a.config is b.config
        and (a.tokens, a.memory_tokens) == (b.tokens, b.memory_tokens)
        and stage.formula(a) == stage.formula(b)
        and np.array_equal(before.array(name), after.array(name))
    )


def look_at(trace: "Trace", pinned: "Trace | None", stage: Stage, view: "View") -> Look:
    """Return a card's maps; current and pinned numbers share one colour scale while a state is pinned."""
    if pinned is None or view.look == "present":
        return _make_look(trace, stage, view, _find_limit(trace, pinned, stage))
    if stage.name not in pinned:
        return Look(None, reason=f"The pinned state has no stage “{stage.title}”.")
    if view.look == "pinned":
        if isinstance(view.head, int) and stage.has_heads and view.head >= pinned.experiment.n_heads:
            return Look(None, reason=f"The pinned state has no head {view.head}.")
        return _make_look(pinned, stage, view, _find_limit(trace, pinned, stage))
    return _make_difference(trace, pinned, stage, view)


def _find_limit(trace: "Trace", pinned: "Trace | None", stage: Stage) -> float:
    """Return the end of the colour scale that both states share."""
    states = [each for each in (trace, pinned) if each is not None and stage.name in each]
    return max(
        find_limit(each.array(stage.name), kind_of(stage, each.experiment), _find_filled(each, stage.name))
        for each in states
    )


def _find_filled(trace: "Trace", name: str) -> NDArray[np.bool_] | None:
    """Return the cells that hold −1e9 in place of −∞, which the colour scale ignores."""
    return (
        trace.find_shown_mask(name) if name == "masked" and trace.experiment.config.option("fill") == "-1e9" else None
    )


def _make_difference(trace: "Trace", pinned: "Trace", stage: Stage, view: "View") -> Look:
    now, then = trace.array(stage.name), pinned.array(stage.name)
    if now.shape != then.shape:
        sizes = " and ".join("×".join(map(str, array.shape)) for array in (now, then))
        return Look(None, reason=f"No difference: the sizes are {sizes}.")
    values, heads, titles = _choose_maps(trace, stage, view)
    moved = stage_places(trace.experiment, pinned.experiment, stage)
    before = reorder_maps(_choose_maps(pinned, stage, view)[0], moved)
    masks = [each.find_shown_mask(stage.name) for each in (trace, pinned)]
    masked = masks[0] & reorder_maps(masks[1], moved) if masks[0] is not None and masks[1] is not None else None
    with np.errstate(invalid="ignore", over="ignore"):
        change = np.where(values == before, 0, values - before)  # −∞ stays −∞: no change
    end = find_limit(change, "signed")
    return Look(
        _make_data(trace, stage, change, "signed", end, masked, titles, find_unknown(trace, stage, view)), heads
    )


def _make_look(trace: "Trace", stage: Stage, view: "View", limit: float) -> Look:
    values, heads, titles = _choose_maps(trace, stage, view)
    kind = kind_of(stage, trace.experiment)
    mask, hidden = trace.find_shown_mask(stage.name), find_unknown(trace, stage, view)
    return Look(_make_data(trace, stage, values, kind, limit, mask, titles, hidden), heads)


def with_source(data: MapData, trace: "Trace", stage: Stage, view: "View") -> MapData:
    """Return maps with the numbers of the stage's source in their masked cells."""
    source = sources(stage, trace.experiment)[0]
    return replace(data, under=_choose_maps(trace, source, view)[0])


def find_unknown(trace: "Trace", stage: Stage, view: "View") -> NDArray[np.bool_] | None:
    """Return which cells of a stage [rows, columns] a walk has not computed yet; None if all are."""
    return (
        None if view.at is None else unknown_cells(trace.experiment, fit_place(trace.experiment, view.at), stage.name)
    )


def _choose_maps(trace: "Trace", stage: Stage, view: "View") -> tuple[Maps, tuple[int | None, ...], tuple[str, ...]]:
    """Return a view's maps [n, rows, columns], the head of each, and their titles."""
    array = trace.array(stage.name)
    if not stage.has_heads:
        return array[None], (None,), ()
    if view.head == "mean":
        return trace.mean(stage.name)[None], (None,), ("mean",)
    if view.head == "all":
        return array, tuple(range(len(array))), head_titles(trace.experiment, stage.axes, array.shape[-1])
    assert isinstance(view.head, int)
    return array[view.head : view.head + 1], (view.head,), (f"head {view.head}",)


def _make_data(
    trace: "Trace",
    stage: Stage,
    values: Maps,
    kind: str,
    limit: float,
    masked: NDArray[np.bool_] | None,
    titles: tuple[str, ...],
    hidden: NDArray[np.bool_] | None = None,
) -> MapData:
    e = trace.experiment
    rows, columns = (labels(e, axis, n) for axis, n in zip(stage.axes[-2:], values.shape[1:], strict=True))
    if not is_concatenated(e, stage) or e.n_heads == 1:
        return MapData(values, kind, limit, masked, rows, columns, titles, unknown=hidden)
    return MapData(values, kind, limit, masked, rows, columns, titles, e.d_v, head_titles(e), unknown=hidden)


def find_new_cells(before: MapData | None, now: MapData | None) -> NDArray[np.bool_] | None:
    """Return which cells [n, rows, columns] have a number now but had none before; None if there are none.

    Also None if the sizes of the maps differ.
    """
    if now is None or (before is not None and before.values.shape != now.values.shape):
        return None
    known = np.ones(now.values.shape, bool) if now.unknown is None else np.broadcast_to(~now.unknown, now.values.shape)
    if before is not None:
        known = known & (before.unknown if before.unknown is not None else False)
    return known if known.any() else None


def write_figures(trace: "Trace", pinned: "Trace | None", stage: Stage, view: "View", shown: MapData) -> str:
    """Return the line of figures below a card's maps."""
    if view.look == "difference" and pinned is not None:
        change = shown.values[np.isfinite(shown.values)]
        return f"largest change {number(float(np.abs(change).max(initial=0)))}"
    looked = pinned if view.look == "pinned" and pinned is not None else trace
    return describe_stage(looked, stage.name, view.head if stage.has_heads else "all")


def shorten_figures(line: str, pen: Pen, room: float) -> str:
    """Return as many figures of a line as fit; the first one is abbreviated if needed."""
    pieces = line.split(" · ")
    brief = pieces[0].replace("row sums", "Σ").replace(" … ", "…")
    fitting = (*(" · ".join(pieces[:n]) for n in range(len(pieces), 0, -1)), brief)
    return next((text for text in fitting if pen.width(text) <= room), pen.elide(brief, room))


def cell_text(data: MapData, index: int, row: int, column: int) -> str:
    """Return the row and column of a cell of the map at ``index``, and its exact value."""
    value = data.values[index, row, column]
    names = f"{data.row_labels[row]} → {data.column_labels[column]}"
    if data.masked is not None and data.masked[row, column]:
        return f"{names}: masked"
    if data.unknown is not None and data.unknown[row, column]:
        return f"{names}: not computed yet"
    exact = repr(float(value)) if data.values.dtype == np.float64 else str(np.float32(value))
    return f"{names}: {exact.replace('-', '−')}" if np.isfinite(value) else f"{names}: {number(float(value))}"


def make_overview(trace: "Trace", pinned: "Trace | None", view: "View") -> tuple[MapData, MapData] | None:
    """Return the weights of every head and their mean, each on its own scale; None if there is nothing to compare."""
    stage, look = trace.stage("weights"), view.look
    shown = pinned if look == "pinned" and pinned is not None else trace
    hidden = find_unknown(shown, stage, view)
    e = shown.experiment
    values, mean = shown.array("weights"), shown.mean("weights")[None]
    kind, mask = kind_of(stage, e), shown.find_shown_mask("weights")
    if look == "difference" and pinned is not None:
        before = pinned.array("weights")
        if before.shape != values.shape:
            return None
        places = stage_places(trace.experiment, pinned.experiment, stage)
        values, mean = values - reorder_maps(before, places), mean - reorder_maps(pinned.mean("weights")[None], places)
        kind, mask = "signed", None

    def make(maps: Maps, titles: tuple[str, ...]) -> MapData:
        rows, columns = (labels(e, axis, n) for axis, n in zip(stage.axes[-2:], maps.shape[1:], strict=True))
        return MapData(maps, kind, find_limit(maps, kind, tight=True), mask, rows, columns, titles, unknown=hidden)

    return make(values, tuple(map(str, range(e.n_heads)))), make(mean, ("mean",))
