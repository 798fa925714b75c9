"""Computes what a lens shows on a slide, as plain values. Lenses that are missing here are shown as in the window."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.axes import labels
from attnlab.attention.registries.losses import is_on
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.table import BY_NAME
from attnlab.base.errors import AttnlabError
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.figures.slides.lens_content import (
    Arrow,
    Bar,
    Chart,
    ChartLine,
    Charts,
    Circle,
    Circles,
    Dial,
    LensPicture,
    MapRow,
    MapRows,
)
from attnlab.figures.slides.slide_content import SlideMap
from attnlab.ui.present.lens_arrows import make_arrows
from attnlab.ui.present.lens_tables import make_precision, make_statistics

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.explanation import Cell
    from attnlab.attention.stages.trace import Trace
    from attnlab.lessons.slides import Slide

SEED = 123
"""The seed of random scores and of the shuffle: those with which the lenses of the window begin."""
OFFSET, STARTS = 10, (5, 15)
"""The distance of the two positions on each circle, and the first ones."""
ROPE_AHEAD, ROPE_QUERIES = 2, (3, 6)
"""How many words a key stands before its query, and the queries of the two circles."""
ARROWS, BACKWARD = "arrows", "backward"
ROTATION = "positions/rotation"
"""The lens with labels, which a key hides and shows."""
MOST_DIALS = 8
MASKS_IN_A_ROW = 3
WAVES = (0, 4, 16, 32)
"""Pairs of columns whose waves are drawn beside the table of an encoding."""
_POSITIONS = "none"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a slide shows beside its lens: the stage, the cell and the head of the step."""

    stage: str = "weights"
    cell: "Cell | None" = None
    head: int | str = "all"


ANYTHING = Shown()


def find_shown(slide: "Slide") -> Shown:
    """Return what a slide shows; most lenses draw the same whatever it is, so for them it is the same."""
    return Shown(slide.stage, slide.cell, slide.head) if slide.step.lens == ARROWS else ANYTHING


def make_picture(lens: str, trace: "Trace", shown: Shown = ANYTHING) -> LensPicture | None:
    """Return the picture of a lens, written "positions/order"; None for a lens without one. Runs on any thread.

    Where a picture cannot be drawn, there is none either: the lens is then shown as in the window, and says why.
    """
    try:
        if lens == ARROWS:
            return make_arrows(trace, shown.stage, shown.cell, shown.head)
        make = _PICTURES.get(lens)
        return None if make is None else make(trace)
    except AttnlabError:
        return None


def count_words(lens: str, e: "Experiment") -> int:
    """Return how many words the second circle of a lens walks, one for each press; 0 for all other lenses."""
    rotates = POSITIONS[e.config.positions].frequencies is not None
    walks = lens == ROTATION and rotates and e.T_q > max(ROPE_QUERIES)
    return ROPE_QUERIES[1] - ROPE_QUERIES[0] if walks else 0


def begins_before_answer(lens: str, e: "Experiment") -> bool:
    """Return whether a lens is shown while its step asks: arrows, which cover what is asked for, and a walk of words.

    Every other lens would tell the answer, and is shown with it, in the window and on slides.
    """
    return lens == ARROWS or count_words(lens, e) > 0


def describe_missing(lens: str, e: "Experiment") -> str:
    """Return in one sentence what a layer lacks for a lens, which is then nearly empty; "" if nothing."""
    if lens == BACKWARD and not is_on(e.config):
        return "There are no gradients yet: the layer has no loss."
    return ""


def has_picture(lens: str) -> bool:
    """Return whether a lens is drawn for slides."""
    return lens == ARROWS or lens in _PICTURES


def _make_saturation(trace: "Trace") -> LensPicture:
    from attnlab.attention.measures.saturation import SIZES, measure_random, measure_trace

    own, random = measure_trace(trace), measure_random(trace.experiment.T_k, SEED)
    charts = []
    for what, title in (("spread", "Standard deviation of the scores"), ("gradient", "Gradient of the softmax")):
        lines = []
        for which, role, name in (("raw", "key", "as they are"), ("scaled", "query", "÷ √d_k".replace("_k", "ₖ"))):
            ys = tuple(getattr(getattr(pair, which), what) for pair in random)
            lines.append(ChartLine(name, tuple(map(float, SIZES)), ys, role))
            here = getattr(getattr(own.mean, which), what)
            lines.append(ChartLine("here:", (float(own.mean.d_k),), (here,), role, points=True))
        charts.append(Chart(title, tuple(lines), "dₖ", tuple(map(float, SIZES)), log_y=what == "spread"))
    return Charts(tuple(charts))


def _make_cost(trace: "Trace") -> LensPicture:
    from attnlab.compute import cost

    e = trace.experiment
    found = [each for T in cost.SIZES if (each := cost.measure_at(e, T)) is not None]
    sizes = tuple(float(each.T) for each in found)
    times = ChartLine("all stages", sizes, tuple(each.milliseconds for each in found), "query")
    loops = cost.compare_with_loops(trace)
    bars = (
        Bar("double loop", loops.loops_ms, f"{loops.loops_ms:.3g} ms", "key"),
        Bar("matrix product", loops.matrix_ms, f"{loops.matrix_ms:.3g} ms", "query"),
    )
    bytes_ = ChartLine("memory", sizes, tuple(each.bytes / 1024 for each in found), "attention")
    now = next((each for each in found if e.T_k == each.T), None)
    here = () if now is None else (ChartLine("here:", (float(now.T),), (now.bytes / 1024,), "attention", points=True),)
    return Charts(
        (
            Chart("Milliseconds", (times,), "T", sizes, log_y=True),
            Chart("KiB of all stages", (bytes_, *here), "T", sizes, log_y=True),
        ),
        bars=bars,
    )


def _make_encoding(trace: "Trace") -> LensPicture:
    e = trace.experiment
    values = trace.array("inputs").astype(np.float64)
    length, width = values.shape
    data = MapData(
        values[None],
        "signed",
        find_scale(values, "signed"),
        None,
        labels(e, "token", length),
        list(map(str, range(width))),
    )
    stage = BY_NAME["inputs"]
    table = SlideMap(data, f"{length} positions (rows), {width} columns", stage.role, square=False)
    positions = tuple(map(float, range(length)))
    charts = tuple(
        Chart(
            f"columns {2 * pair} and {2 * pair + 1}",
            (
                ChartLine("", positions, tuple(values[:, 2 * pair].tolist()), "query"),
                ChartLine("", positions, tuple(values[:, 2 * pair + 1].tolist()), "key"),
            ),
            "position",
            tuple(float(t) for t in range(0, length, max(length // 5, 1))),
            log_x=False,
        )
        for pair in WAVES
        if 2 * pair + 1 < width
    )
    return Charts(charts, table, stacked=True)


def _make_order(trace: "Trace") -> LensPicture:
    from attnlab.attention import edits
    from attnlab.attention.measures.order import measure_order_blindness, random_order

    e = trace.experiment
    order = random_order(e.T_q, 0)  # the first one of the lens
    bare = edits.configure(e, positions=_POSITIONS)
    placed = e if e.config.positions != _POSITIONS else edits.configure(e, positions="sinusoidal")
    rows = []
    for heading, each in (("Without positions", bare), ("With positions", placed)):
        found = measure_order_blindness(each, order)
        maps = (
            _make_weights(found.weights[0].numpy(), each, "as written"),
            _make_weights(found.shuffled_weights[0].numpy(), found.shuffled, "shuffled"),
            _make_weights(found.restored_weights[0].numpy(), each, "put back in order"),
        )
        same = found.largest < 1e-9
        told = "The same map." if same else "Another map."
        rows.append(MapRow(heading, maps, f"{told} Largest difference: {0 if same else number(found.largest)}"))
    return MapRows(tuple(rows))


def _make_weights(
    values: "np.ndarray[tuple[int, ...], np.dtype[np.floating]]", e: "Experiment", title: str
) -> SlideMap:
    rows, columns = (labels(e, axis, count) for axis, count in zip(("query", "key"), values.shape, strict=True))
    data = MapData(values[None], "probability", find_scale(values, "probability"), None, rows, columns)
    return SlideMap(data, title, "attention")


def _make_rotation(trace: "Trace") -> LensPicture:
    """Return RoPE's turns of queries and keys if the layer has them, else the turns of the sinusoidal encoding."""
    if POSITIONS[trace.experiment.config.positions].frequencies is not None:
        return _make_rope(trace)
    values = trace.array("inputs").astype(np.float64)
    length, width = values.shape
    if length <= max(STARTS) + OFFSET or width < 2:
        raise AttnlabError(f"The circles need more than {max(STARTS) + OFFSET} positions.")
    pair = min(4, width // 2 - 1)
    omega = 10000.0 ** (-2 * pair / width)

    def place(t: int) -> float:
        """Return the angle of a position: its cosine points right, its sine up."""
        return math.atan2(values[t, 2 * pair], values[t, 2 * pair + 1])

    circles = tuple(
        Circle(
            Arrow(place(t + OFFSET), "query", f"position {t + OFFSET}", tuple(place(i) for i in range(t, t + OFFSET))),
            Arrow(place(t), "key", f"position {t}"),
            _degrees(OFFSET * omega),
            OFFSET * omega % (2 * math.pi),
        )
        for t in STARTS
    )
    dials = _make_dials([10000.0 ** (-2 * i / width) * OFFSET for i in range(width // 2)], pair)
    return Circles(circles, "", (), ("Ten positions on,", "pairs turn by"), dials)


def _make_rope(trace: "Trace") -> LensPicture:
    e = trace.experiment
    queries, keys = trace.array("queries")[0].astype(np.float64), trace.array("keys")[0].astype(np.float64)
    half = queries.shape[1] // 2
    if e.T_q <= max(ROPE_QUERIES) or half < 1:
        raise AttnlabError(f"The circles need more than {max(ROPE_QUERIES)} words.")
    scheme = POSITIONS[e.config.positions]
    assert scheme.frequencies is not None
    omegas: list[float] = scheme.frequencies(2 * half, trace.parameters(scheme)).tolist()
    pair = min(1, half - 1)

    def turn(of: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]", t: int) -> float:
        """Return the angle of a word's pair of numbers after its rotation by t positions."""
        begun = math.atan2(float(of[t, pair + half]), float(of[t, pair]))
        return float(begun + t * omegas[pair])

    def make_circle(t: int) -> Circle:
        key = t - ROPE_AHEAD
        first = Arrow(turn(queries, t), "query", f"query, word {t}", _list_dots(turn(queries, t), t, omegas[pair]))
        second = Arrow(turn(keys, key), "key", f"key, word {key}", _list_dots(turn(keys, key), key, omegas[pair]))
        between = (first.angle - second.angle + math.pi) % (2 * math.pi) - math.pi
        return Circle(first, second, _degrees(abs(between)), between)

    walk = tuple(make_circle(t) for t in range(ROPE_QUERIES[0], ROPE_QUERIES[1] + 1))
    scores, (a, b) = trace.array("scores")[0], ROPE_QUERIES
    asked = ((a, a - ROPE_AHEAD, True), (b, b - ROPE_AHEAD, True), (b, b - 1, False), (b, b - 3, False))
    numbers = tuple(
        (f"word {t} asks word {k}", f"{scores[t, k]:.3f}".replace("-", "−"), strong) for t, k, strong in asked
    )
    dials = _make_dials([ROPE_AHEAD * omega for omega in omegas], pair)
    caption = f"Score, all {2 * half} columns"
    return Circles((walk[0], walk[-1]), caption, numbers, ("Two words on,", "each pair turns by"), dials, walk)


def _list_dots(angle: float, t: int, omega: float) -> tuple[float, ...]:
    """Return the angles at which the arrow would stand for each earlier word."""
    return tuple(angle - i * omega for i in range(1, t + 1))


def _make_dials(turns: list[float], current: int) -> tuple[Dial, ...]:
    """Return the dials of the pairs: all, or evenly chosen ones that include the current pair."""
    step = max(len(turns) // MOST_DIALS, 1)
    chosen = sorted({*range(0, len(turns), step), current})[: MOST_DIALS + 1]
    return tuple(Dial(turns[i] % (2 * math.pi), _degrees(turns[i]), i == current) for i in chosen)


def _degrees(turn: float) -> str:
    degrees = math.degrees(turn)
    return f"{degrees:.0f}°" if degrees >= 10 else f"{degrees:.1f}°" if degrees >= 0.1 else f"{degrees:.1g}°"


def _make_masks(trace: "Trace") -> LensPicture:
    from attnlab.attention.measures.mask_parts import list_mask_parts
    from attnlab.figures.mask_data import make_mask_data

    parts = list_mask_parts(trace.experiment)
    rows = [parts[first : first + MASKS_IN_A_ROW] for first in range(0, len(parts), MASKS_IN_A_ROW)]
    maps = (tuple(SlideMap(make_mask_data(part), part.title, "attention") for part in row) for row in rows)
    return MapRows(tuple(MapRow("", each, "") for each in maps))


_PICTURES: Mapping[str, Callable[["Trace"], LensPicture]] = {
    "saturation": _make_saturation,
    "cost": _make_cost,
    "masks": _make_masks,
    "positions/encoding": _make_encoding,
    "positions": _make_encoding,
    "positions/order": _make_order,
    ROTATION: _make_rotation,
    "statistics": make_statistics,
    "precision": make_precision,
}
