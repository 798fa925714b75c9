"""Layout of the canvas: cards in rows that follow the computation, or a single card; scaled down to fit."""

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSizeF

from attnlab.attention import axes
from attnlab.attention.stages.flow import stage_rows
from attnlab.attention.stages.table import STAGES, Stage

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import View

MARGIN, GAP, ROW_GAP = 16.0, 12.0, 28.0
HEADS = "heads"
"""The name of the heads card among the cards."""
WIDEST_ROW, USUAL_ROWS = 5, 3
LEAST_CARD, LEAST_HEIGHT, LEAST_ROW = 112.0, 420.0, 160.0
"""The minimum room for cards: their width, the usual rows together, each of more rows than usual. A canvas that is
smaller scales all cards down to fit."""
LEAST_SEEN = 64.0
"""The lowest readable height of a card: cards that still do not fit are reached by panning."""


@lru_cache(maxsize=2)
def list_rows(e: "Experiment") -> list[list[Stage]]:
    """Return the stages in the rows of the canvas; maps that are too many for one row take two."""
    rows = []
    for row in stage_rows([stage for stage in STAGES if stage.present(e)]):
        half = (len(row) + 1) // 2 if row[0].is_map and len(row) > WIDEST_ROW else len(row)
        rows += [part for part in (row[:half], row[half:]) if part]
    return rows


def lay_out_cards(e: "Experiment", view: "View", canvas: QSizeF) -> tuple[dict[str, QRectF], float]:
    """Return each card's rectangle at zoom 1, and the factor that scales all of them down to fit the canvas."""
    if view.alone is not None:
        whole = QRectF(0, 0, max(canvas.width(), 1.0), max(canvas.height(), 1.0))
        return {view.alone: whole.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)}, 1.0
    rows = list_rows(e)
    least = _measure_least(rows)
    row = (least.height() - 2 * MARGIN - (len(rows) - 1) * ROW_GAP) / len(rows)
    shrunk = max(min(1.0, canvas.width() / least.width(), canvas.height() / least.height()), LEAST_SEEN / row)
    return _place_in_rows(e, view, rows, (canvas / shrunk).expandedTo(least)), shrunk


def _measure_least(rows: list[list[Stage]]) -> QSizeF:
    """Return the least room that rows of cards need at zoom 1."""
    widest = max(map(len, rows))
    high = 2 * MARGIN + (len(rows) - 1) * ROW_GAP + len(rows) * LEAST_ROW
    wide = 2 * MARGIN + (widest - 1) * GAP + widest * LEAST_CARD
    return QSizeF(wide, high if len(rows) > USUAL_ROWS else LEAST_HEIGHT)


def _place_in_rows(e: "Experiment", view: "View", rows: list[list[Stage]], size: QSizeF) -> dict[str, QRectF]:
    """Return each card's rectangle in rows that fill a size; the heads card comes first in the last row."""
    height = (size.height() - 2 * MARGIN - (len(rows) - 1) * ROW_GAP) / len(rows)
    places = {}
    for line, stages in enumerate(rows):
        wishes = {stage.name: _prefer_width(e, view, stage) for stage in stages}
        if line == len(rows) - 1:
            wishes = {HEADS: 2.2 if e.n_heads == 1 else 1.5 * max(wishes.values()), **wishes}
        free = size.width() - 2 * MARGIN - (len(wishes) - 1) * GAP
        all_wishes, x = sum(wishes.values()), MARGIN
        for name, wish in wishes.items():
            width = free * wish / all_wishes
            places[name] = QRectF(x, MARGIN + line * (height + ROW_GAP), width, height)
            x += width + GAP
    return places


def _prefer_width(e: "Experiment", view: "View", stage: Stage) -> float:
    """Return a card's preferred relative width: wide matrices get somewhat more, within bounds."""
    rows, columns = (axes.size(e, axis) for axis in stage.axes[-2:])
    several = view.head == "all" and e.n_heads > 1 and stage.has_heads
    return min(max(columns / rows, 1.2 if several else 0.8), 1.6)
