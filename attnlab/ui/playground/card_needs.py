"""What each card of the canvas needs: its cells, and the widths of its labels and numbers in em."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QFont, QFontMetricsF

from attnlab.attention import axes
from attnlab.attention.stages.flow import split_backward, stage_rows
from attnlab.attention.stages.presence import LAST, find_last, is_gradient
from attnlab.attention.stages.table import BY_NAME, STAGES, Stage, sources
from attnlab.figures.map_labels import LABEL_LETTERS
from attnlab.figures.stage_data import find_exponent
from attnlab.ui.base.theme import font

if TYPE_CHECKING:
    from collections.abc import Collection

    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.attention.stages.walk import Place
    from attnlab.document.document import View

HEADS = "heads"
"""The name of the heads card among the cards."""
LEGIBLE = 12
"""Maps with up to this many rows and columns always show their numbers."""
LEGIBLE_PAIR = 8
"""The same, for the maps of a layer with two heads, which share a card."""
DECIMALS = (4, 3, 2)
LARGEST = 48
"""The digits of larger maps are not counted, as they have no room for numbers."""
MOST_DIGITS = 5
"""Larger numbers are written as powers of ten, or the card shows none."""
_EM_PX = 200
PAIR_GAP = 1
"""The gap between two states side by side, in columns, or below each other, in rows."""
FLAT = 6
"""Maps with so many columns for each row show two states below each other."""


@dataclass(frozen=True, slots=True)
class CardNeed:
    """The maps on a card: how many, their size, and the widths in em of their widest labels and numbers.

    ``numbers`` holds the width with each of ``DECIMALS``, or 0. ``label`` is 0 without row labels; ``folded`` are the
    cards shown as one line below this one. The columns are those of all ``states`` side by side, and the gap; the rows
    those of all that are ``stacked``.
    """

    name: str
    count: int
    rows: int
    columns: int
    label: float
    column_label: float
    numbers: tuple[float, ...]
    is_map: bool
    folded: tuple[str, ...] = ()
    states: int = 1
    stacked: int = 1
    header: float = 0.0
    """The width in em of a title that must not be cut: that of a gradient, whose factor stands behind it."""

    def is_picture(self, numbered: frozenset[str]) -> bool:
        """Whether this is a map of tokens by tokens without numbers, which are on the cards ``numbered``."""
        return self.is_map and self.name != HEADS and self.name not in numbered

    @property
    def is_legible(self) -> bool:
        """Whether the card must show its numbers however small the canvas is."""
        side = max(self.rows // self.stacked, self.columns // self.states)
        return self.count <= 2 and side <= (LEGIBLE if self.count == 1 else LEGIBLE_PAIR)


def list_cards(is_backward: bool = False) -> tuple[Stage, ...]:
    """Return the stages with a card on the canvas, or on that of the backward pass, which begins with its source."""
    return tuple(
        stage for stage in STAGES if stage.is_backward == is_backward or (is_backward and stage.name in _GIVEN)
    )


_GIVEN = ("weights", *LAST)
"""The stages that a loss is about, which its canvas shows before it."""


def collect_backward_needs(trace: "Trace", view: "View", digits: dict[str, tuple[int, bool]], pinned: bool) -> "Needs":
    """Return what the cards of the backward pass of a trace need, as :func:`collect_needs` does for the others."""
    e, needs = trace.experiment, []
    first, *others = split_backward([trace.stage(name) for name in trace if trace.stage(name).is_backward])
    given = trace.stage("weights" if "d_output" not in trace else find_last(e))
    for stages in ([given, *first], *others):
        found = [_measure_stage(e, stage, view, *digits[stage.name]) for stage in stages]
        needs.append(tuple(_double(need) if pinned and view.look == "both" else need for need in found))
    return Needs(tuple(needs), "", view.strips)


def collect_needs(trace: "Trace", view: "View", digits: dict[str, tuple[int, bool]], pinned: bool) -> "Needs":
    """Return what the cards of a trace need, in the groups that begin a new line on the canvas.

    ``digits`` has the digits before the point of each stage's numbers, and whether any of them is negative.
    """
    e = trace.experiment
    folds = {} if pinned else find_folded(e, view.at)
    sharing = "masked" if can_share(e) and not pinned else ""
    if sharing:  # the numbers of its source stand in its masked cells
        pairs = digits["masked"], digits["scaled"]
        digits = {**digits, "masked": (max(pair[0] for pair in pairs), any(pair[1] for pair in pairs))}
    needs = {}
    for stage in list_cards():
        if stage.name in trace and stage.name not in folds:
            below = tuple(name for name, host in folds.items() if host == stage.name)
            needs[stage.name] = replace(_measure_stage(e, stage, view, *digits[stage.name]), folded=below)
            if pinned and view.look == "both":
                needs[stage.name] = _double(needs[stage.name])
    rows = stage_rows([BY_NAME[name] for name in needs])
    maps = next(i for i, row in enumerate(rows) if row[0].is_map)
    groups = [*rows[:maps], [stage for row in rows[maps : maps + 2] for stage in row], *rows[maps + 2 :]]
    found = tuple(tuple(needs[stage.name] for stage in group) for group in groups)
    if e.n_heads > 1:
        label = _widest_label(e.tokens)
        heads = CardNeed(HEADS, e.n_heads + 1, e.T_q, e.T_k, label, label, (0, 0, 0), True)
        found = ((heads,), *found)
    return Needs(found, sharing, view.strips)


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of all cards, in groups of lines; ``sharing`` is the stage that may show its source's numbers too."""

    groups: tuple[tuple[CardNeed, ...], ...]
    sharing: str
    strips: bool

    @property
    def are_legible(self) -> bool:
        """Whether any card must show its numbers however small the canvas is."""
        return any(need.is_legible for group in self.groups for need in group)


FOLD_WORDS = {"output": "same as the context", "scaled": "same as the scores", HEADS: "one head"}
"""What the line of a folded card says after its title."""
FOLD_TIPS = {
    "output": "W_o is off, so the output equals the context.",
    "scaled": "The scores are not divided, so the scaled scores equal them.",
    HEADS: "Increase Heads to see their maps and the mean side by side.",
}


def find_folded(e: "Experiment", at: "Place | None" = None) -> dict[str, str]:
    """Return the stages that only repeat another one, and the card below which each is shown as one line.

    A stage that a walk computes number by number has its maps.
    """
    folded = {}
    if e.weights.W_o is None and e.n_heads == 1:
        folded["output"] = "context"
    if e.divisor in (None, 1.0):
        folded["scaled"] = "scores"
    if e.n_heads == 1:
        folded[HEADS] = "weights"
    if at is not None and at.depth != "stage":
        folded.pop(at.stage, None)
    return folded


def find_form(trace: "Trace") -> Hashable:
    """Return what the places of the cards depend on besides their numbers: stages, tokens, sizes and folds."""
    e = trace.experiment
    stages = [BY_NAME[name] for name in trace.all_stages]
    used = dict.fromkeys(axis for stage in stages for axis in stage.axes)
    sizes = tuple(axes.size(e, axis) for axis in used)
    folds = tuple(find_folded(e).items())
    return trace.all_stages, e.tokens, e.memory_tokens, e.n_heads, sizes, _has_sink(e), can_share(e), folds


def _has_sink(e: "Experiment") -> bool:
    """Return whether the weights have a column for the share of a sink."""
    return bool(e.config.option("sink"))


def can_share(e: "Experiment") -> bool:
    """Whether the masked scores can be drawn on one card with the scaled ones: masked cells keep their number there."""
    masked = BY_NAME["masked"]
    return masked.present(e) and e.divisor not in (None, 1.0) and [s.name for s in sources(masked, e)] == ["scaled"]


def count_decimals(planned: int, differs: bool) -> int:
    """Return the decimals of all cards: a difference may be negative, so that its sign takes the room of one."""
    return max(planned - differs, DECIMALS[-1])


def count_digits(
    trace: "Trace", known: dict[str, tuple[int, bool]], names: "Collection[str] | None" = None
) -> dict[str, tuple[int, bool]]:
    """Return the digits before the point of each named stage's numbers and whether any is negative, never fewer than
    known; without names of all stages.

    Keeping the larger of the two prevents a layout that jumps while a number is dragged.
    """
    found = {}
    for stage in STAGES:
        if stage.name not in trace or (names is not None and stage.name not in names):
            continue
        array = trace.array(stage.name)
        exponent = find_exponent(trace, stage)
        array = array * 10.0**-exponent if exponent else array
        digits, negative = known.get(stage.name, (1, False))
        if max(array.shape[-2:]) <= LARGEST:
            mask = trace.find_shown_mask(stage.name)
            array = array if mask is None else array[..., ~mask]  # masked cells have no number, or −1e9
            finite = array[np.isfinite(array)]
            low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
            largest = max(-low, high)
            whole = 1 if largest < 9.99995 else min(int(math.log10(largest + 0.00005)) + 1, MOST_DIGITS)
            digits, negative = max(digits, whole), negative or low < 0
        found[stage.name] = digits, negative
    return found


def _measure_stage(e: "Experiment", stage: Stage, view: "View", digits: int, negative: bool) -> CardNeed:
    down, across = stage.axes[-2:]
    rows, columns = axes.size(e, down), axes.size(e, across)
    columns += stage.name == "weights" and _has_sink(e)
    count = e.n_heads if stage.has_heads and view.head == "all" else 1
    labels = [
        _widest_label(axes.labels(e, axis, size)) if axis in axes.TOKENS else 0.0
        for axis, size in ((down, rows), (across, columns))
    ]
    numbers = tuple(_number_width(digits, decimals, negative) for decimals in DECIMALS)
    has_factor = is_gradient(stage.name) or stage.name == "loss"
    header = _measure_header(f"{stage.title}  × 10⁻⁰  {rows}×{columns}") if has_factor else 0.0
    return CardNeed(stage.name, count, rows, columns, labels[0], labels[1], numbers, stage.is_map, header=header)


def is_flat(rows: int, columns: int) -> bool:
    """Return whether two states of a map are easier to compare below each other than side by side."""
    return columns >= FLAT * rows


def _double(need: CardNeed) -> CardNeed:
    """Return the need of a card that shows two states side by side, or below each other."""
    if need.count > 1:
        return replace(need, count=2 * need.count)
    if is_flat(need.rows, need.columns):
        return replace(need, rows=2 * need.rows + PAIR_GAP, stacked=2)
    return replace(need, columns=2 * need.columns + PAIR_GAP, states=2)


@lru_cache(maxsize=64)
def _widest_label(labels: tuple[str, ...]) -> float:
    """Return the width in em of the widest of the first labels, each shortened to the letters that are shown."""
    metrics = _metrics()
    return max((metrics.horizontalAdvance(label[:LABEL_LETTERS] or "∅") for label in labels[:64]), default=0.0) / _EM_PX


@lru_cache(maxsize=64)
def _measure_header(text: str) -> float:
    """Return the width in em of the title and the shape of a card, which are a little larger than its numbers."""
    return 1.1 * _metrics().horizontalAdvance(text) / _EM_PX


@lru_cache(maxsize=64)
def _number_width(digits: int, decimals: int, negative: bool) -> float:
    text = "−" * negative + "4" * digits + "." + "4" * decimals
    return _metrics().horizontalAdvance(text) / _EM_PX


@lru_cache(maxsize=1)
def _metrics() -> QFontMetricsF:
    large = QFont(font("number"))
    large.setPixelSize(_EM_PX)
    return QFontMetricsF(large)
