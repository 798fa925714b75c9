"""The maps of a moment for export: the labels of their rows, their titles, and the sheets of a figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.figures.scales import find_scale, join_scales
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.layer_labels import format_title, list_labels

if TYPE_CHECKING:
    from attnlab.ui.train.map_cards import Card


def make_sheets(seen: Seen, name: str) -> Sheets | None:
    """Return the maps of all layers, or their gradients if these are shown, on one scale; None without attention.

    ``name`` is what the run is called.
    """
    layers, kind = (seen.gradients, "signed") if seen.gradients else (seen.look.maps, "probability")
    if not layers:
        return None
    scale = join_scales([find_scale(each.weights, kind, each.hidden) for each in layers])
    what = ", gradients" if seen.gradients else ""
    heading = f"{name}, step {seen.look.step:,}{what}"
    found = (
        Sheet(each.layer, format_title(each), each.weights, *list_labels(each), each.hidden, kind, scale)
        for each in layers
    )
    return Sheets(tuple(found), heading, "Layers")


def find_visible(cards: "Sequence[Card]", large: int | None, all_maps: Sheets) -> tuple[tuple[str, ...], int | str]:
    """Return the layers of the visible cards and the head: that of the ``large`` one, "all", or "mean" of all."""
    if large is not None:
        card = cards[large]
        return (all_maps.all_stages[card.layer],), card.head if card.head >= 0 else "mean"
    head = "mean" if any(card.head < 0 for card in cards) else "all"
    return tuple(dict.fromkeys(all_maps.all_stages[card.layer] for card in cards)), head
