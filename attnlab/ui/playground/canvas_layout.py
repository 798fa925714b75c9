"""Where the cards of the canvas lie: in rows as the computation flows, or one alone; smaller where all had no room."""

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSizeF

from attnlab.attention import axes
from attnlab.attention.stages.table import STAGES, Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import View

MARGIN, GAP, ROW_GAP = 16.0, 12.0, 28.0
HEADS = "heads"
"""What the overview of all heads is called among the cards."""
WIDEST_ROW, USUAL_ROWS = 5, 3
LEAST_CARD, LEAST_HEIGHT, LEAST_ROW = 112.0, 420.0, 160.0
"""Cards have room for at least this: their width, the usual rows together, each of more rows than usual. In a canvas
that is too small for it all is drawn smaller, so that it fits."""
LEAST_SEEN = 64.0
"""On cards drawn lower than this nothing could be read: what does not fit then is dragged into sight."""


@lru_cache(maxsize=2)
def rows_of(e: "Experiment") -> list[list[Stage]]:
    """Return the stages in the rows of the canvas: before the maps of query by key, these, and what follows.

    What is done to queries and keys once they are there has a row of its own, as have maps that are too many for one.
    """
    present = [stage for stage in STAGES if stage.present(e)]
    maps = [i for i, stage in enumerate(present) if stage.is_map]
    first, values = maps[0], next(i for i, stage in enumerate(present) if stage.name == "values") + 1
    before = [present[:values], present[values:first]]
    among = present[first : maps[-1] + 1]
    half = len(among) if len(among) <= WIDEST_ROW else (len(among) + 1) // 2
    return [row for row in (*before, among[:half], among[half:], present[maps[-1] + 1 :]) if row]


def laid_out(e: "Experiment", view: "View", canvas: QSizeF) -> tuple[dict[str, QRectF], float]:
    """Return where each card lies at zoom 1, and how much smaller than that all is drawn so that it fits the canvas."""
    if view.alone is not None:
        whole = QRectF(0, 0, max(canvas.width(), 1.0), max(canvas.height(), 1.0))
        return {view.alone: whole.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)}, 1.0
    rows = rows_of(e)
    least = _least(rows)
    row = (least.height() - 2 * MARGIN - (len(rows) - 1) * ROW_GAP) / len(rows)
    shrunk = max(min(1.0, canvas.width() / least.width(), canvas.height() / least.height()), LEAST_SEEN / row)
    return _in_rows(e, view, rows, (canvas / shrunk).expandedTo(least)), shrunk


def _least(rows: list[list[Stage]]) -> QSizeF:
    """Return the room that cards in rows need at zoom 1."""
    widest = max(map(len, rows))
    high = 2 * MARGIN + (len(rows) - 1) * ROW_GAP + len(rows) * LEAST_ROW
    wide = 2 * MARGIN + (widest - 1) * GAP + widest * LEAST_CARD
    return QSizeF(wide, high if len(rows) > USUAL_ROWS else LEAST_HEIGHT)


def _in_rows(e: "Experiment", view: "View", rows: list[list[Stage]], size: QSizeF) -> dict[str, QRectF]:
    """Return where each card lies in rows that fill a size; the overview of the heads begins the last one."""
    height = (size.height() - 2 * MARGIN - (len(rows) - 1) * ROW_GAP) / len(rows)
    places = {}
    for line, stages in enumerate(rows):
        wishes = {stage.name: _wish(e, view, stage) for stage in stages}
        if line == len(rows) - 1:
            wishes = {HEADS: 2.2 if e.n_heads == 1 else 1.5 * max(wishes.values()), **wishes}
        free = size.width() - 2 * MARGIN - (len(wishes) - 1) * GAP
        all_wishes, x = sum(wishes.values()), MARGIN
        for name, wish in wishes.items():
            width = free * wish / all_wishes
            places[name] = QRectF(x, MARGIN + line * (height + ROW_GAP), width, height)
            x += width + GAP
    return places


def _wish(e: "Experiment", view: "View", stage: Stage) -> float:
    """Return how wide a card wants to be against the others: wide matrices somewhat more, never too much."""
    rows, columns = (axes.size(e, axis) for axis in stage.axes[-2:])
    several = view.head == "all" and e.n_heads > 1 and stage.has_heads
    return min(max(columns / rows, 1.2 if several else 0.8), 1.6)
