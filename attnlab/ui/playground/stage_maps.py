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
from attnlab.base.spoken_text import NOT_YET
from attnlab.figures.map_data import MapData, find_power
from attnlab.figures.map_pairs import pair_maps
from attnlab.figures.scales import Scale, find_scale, join_scales
from attnlab.figures.stage_data import find_muted, find_stage_scale, make_stage_data
from attnlab.figures.text import Pen
from attnlab.ui.playground.head_titles import head_titles

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Maps = NDArray[np.floating]
BLANK = 0.5
"""A mean that reaches less far on the scale of the heads would be nearly blank there."""


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
        return _make_look(trace, stage, view, _find_scale(trace, pinned, stage, view))
    if stage.name not in pinned and view.look == "both":
        return _make_look(trace, stage, view, _find_scale(trace, None, stage, view))
    if stage.name not in pinned:
        return Look(None, reason=f"The pinned state has no stage “{stage.title}”.")
    if view.look == "difference":
        return _make_difference(trace, pinned, stage, view)
    if isinstance(view.head, int) and stage.has_heads and view.head >= pinned.experiment.n_heads:
        return Look(None, reason=f"The pinned state has no head {view.head}.")
    scale = _find_scale(trace, pinned, stage, view)
    if view.look == "both":
        return _stand_together(trace, pinned, stage, view, scale)
    return _make_look(pinned, stage, view, scale)


def _stand_together(trace: "Trace", pinned: "Trace", stage: Stage, view: "View", scale: Scale) -> Look:
    """Return the maps of the pinned state and the present one, each pinned map before its present one."""
    then, now = (_make_look(each, stage, view, scale) for each in (pinned, trace))
    assert then.data is not None
    assert now.data is not None
    if then.data.values.shape != now.data.values.shape:
        sizes = [" × ".join(map(str, each.data.values.shape[1:])) for each in (now, then) if each.data is not None]
        if then.heads != now.heads:
            sizes = [f"{len(each.heads)} heads" for each in (now, then)]
        return Look(None, reason=f"These sizes cannot stand side by side: {sizes[0]} now, {sizes[1]} pinned.")
    return Look(pair_maps(then.data, now.data), tuple(head for head in now.heads for _ in range(2)))


def _find_scale(trace: "Trace", pinned: "Trace | None", stage: Stage, view: "View") -> Scale:
    """Return the colour scale that both states share."""
    states = [each for each in (trace, pinned) if each is not None and stage.name in each]
    return join_scales([find_stage_scale(each, stage, view.head, view.colouring(stage.name)) for each in states])


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
    data = _make_bare(trace, stage, view, change, "signed", masked, titles)
    return Look(_group_columns(replace(data, exponent=find_power(data)), trace, stage), heads)


def _make_bare(
    trace: "Trace",
    stage: Stage,
    view: "View",
    values: Maps,
    kind: str,
    masked: NDArray[np.bool_] | None,
    titles: tuple[str, ...],
    *,
    tight: bool = False,
) -> MapData:
    """Return maps without marks, on a scale of their own: differences, and the overview of the heads."""
    colouring = view.colouring(stage.name)
    muted = find_muted(trace, stage, colouring)
    scale = find_scale(values, kind, masked, colouring, tight=tight, muted=muted)
    e = trace.experiment
    rows, columns = (labels(e, axis, n) for axis, n in zip(stage.axes[-2:], values.shape[1:], strict=True))
    unknown = find_unknown(trace, stage, view)
    return MapData(values, kind, scale, masked, rows, columns, titles, unknown=unknown, muted=muted)


def _make_look(trace: "Trace", stage: Stage, view: "View", scale: Scale) -> Look:
    values, heads, titles = _choose_maps(trace, stage, view)
    colouring, unknown = view.colouring(stage.name), find_unknown(trace, stage, view)
    data = make_stage_data(trace, stage, values, scale, view.head, titles, colouring, unknown)
    return Look(_group_columns(replace(data, exponent=find_power(data)), trace, stage), heads)


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


def _group_columns(data: MapData, trace: "Trace", stage: Stage) -> MapData:
    """Return maps whose columns are grouped by head, if the stage holds the heads side by side."""
    e = trace.experiment
    if not is_concatenated(e, stage) or e.n_heads == 1:
        return data
    return replace(data, column_group=e.d_v, group_labels=head_titles(e))


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
        if not shown.values.any():  # NaN counts as a change
            return "nothing changed"
        change = shown.values[np.isfinite(shown.values)]
        return f"largest change {number(float(np.abs(change).max(initial=0)))}"
    looked = pinned if view.look == "pinned" and pinned is not None else trace
    return describe_stage(looked, stage.name, view.head if stage.has_heads else "all")


def shorten_figures(line: str, pen: Pen, room: float) -> str:
    """Return as many figures of a line as fit; the first one is abbreviated if needed."""
    pieces = line.split(" · ")
    brief = pieces[0].replace("row sums", "Σ").replace("largest change", "max Δ").replace(" … ", "…")
    fitting = (*(" · ".join(pieces[:n]) for n in range(len(pieces), 0, -1)), brief)
    return next((text for text in fitting if pen.width(text) <= room), pen.elide(brief, room))


def cell_text(data: MapData, index: int, row: int, column: int) -> str:
    """Return the row and column of a cell of the map at ``index``, and its exact value."""
    value = data.values[index, row, column]
    names = f"{data.row_labels[row]} → {data.column_labels[column]}"
    for marked, words in ((data.masked, "masked"), (data.unknown, NOT_YET), (data.dropped, "dropped out")):
        if marked is not None and np.broadcast_to(marked, data.values.shape)[index, row, column]:
            return f"{names}: {words}"
    exact = repr(float(value)) if data.values.dtype == np.float64 else str(np.float32(value))
    return f"{names}: {exact.replace('-', '−')}" if np.isfinite(value) else f"{names}: {number(float(value))}"


def make_overview(trace: "Trace", pinned: "Trace | None", view: "View") -> tuple[MapData, MapData] | None:
    """Return the weights of every head and their mean; None if there is nothing to compare.

    They have one scale, unless each head has its own or the mean would be nearly blank on that of the heads.
    """
    stage, look = trace.stage("weights"), view.look
    shown = pinned if look == "pinned" and pinned is not None else trace
    e = shown.experiment
    values, mean = shown.array("weights"), shown.mean("weights")[None]
    kind, mask, filled = kind_of(stage, e), shown.find_shown_mask("weights"), shown.find_filled("weights")
    if look == "difference" and pinned is not None:
        before = pinned.array("weights")
        if before.shape != values.shape:
            return None
        places = stage_places(trace.experiment, pinned.experiment, stage)
        values, mean = values - reorder_maps(before, places), mean - reorder_maps(pinned.mean("weights")[None], places)
        kind, mask, filled = "signed", None, None

    maps = (values, tuple(map(str, range(e.n_heads)))), (mean, ("mean",))
    heads, average = (_make_bare(shown, stage, view, each, kind, mask, titles, tight=True) for each, titles in maps)
    if not view.colouring("weights").each_head and average.limit >= BLANK * heads.limit:
        average = replace(average, scale=heads.scale)
    return replace(heads, filled=filled), replace(average, filled=filled)
