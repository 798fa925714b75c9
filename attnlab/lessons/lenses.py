"""The lenses of the playground: views beside the canvas, which a step of a lesson may show.

A new lens is an entry here, and its class ``NameLens`` in ``ui/playground/lenses/name_lens.py``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LensEntry:
    """The tab of a lens and its tool tip, and the names of its pages; a page is written "positions/order"."""

    title: str
    about: str
    pages: tuple[str, ...] = ()


LENSES = {
    "statistics": LensEntry("Statistics", "Every row of weights in numbers, to sort and copy"),
    "positions": LensEntry(
        "Positions",
        "How positions are encoded, and whether attention sees the order of the tokens",
        ("encoding", "rotation", "order"),
    ),
    "saturation": LensEntry("Saturation", "Why scores are divided: their standard deviation and softmax's gradient"),
    "precision": LensEntry("Precision", "The same layer in four number formats"),
    "cost": LensEntry("Cost", "Time and memory, measured on this machine"),
}
