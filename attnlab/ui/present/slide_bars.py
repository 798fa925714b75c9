"""A row of a map as the bars of a slide."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.table import Stage
from attnlab.base.text_marks import COVER
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import LONG_ROW
from attnlab.figures.slides.slide_content import Bar, BarRow

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment


_TITLES = {
    **{name: f"{name.capitalize()} scores of {{}}" for name in ("scaled", "biased", "capped", "masked")},
    "zeroed": "Weights of {}, masked after softmax",
    "dropped": "Weights of {} after dropout",
}
"""What the numbers of a row are, with a place for its token, where the title of its stage does not say it."""


def make_bar_row(e: "Experiment", stage: Stage, data: MapData, index: int, row: int, current: int | None) -> BarRow:
    """Return a row of one of the maps of a stage as bars, the current column emphasised.

    Weights are parts of 1, unless they are so many that they would hardly be seen; other bars are compared with the
    longest.
    """
    numbers = data.values[index, row]
    masked = data.masked[row] if data.masked is not None else np.zeros(len(numbers), bool)
    unknown = data.unknown[index, row] if data.unknown is not None else np.zeros(len(numbers), bool)
    finite = numbers[np.isfinite(numbers)]
    bars = tuple(
        Bar(token, None, "masked", faint=True)
        if masked[j]
        else _make_bar(token, float(numbers[j]), data.kind, bool(unknown[j]), j == current)
        for j, token in enumerate(e.key_tokens)
    )
    largest = float(np.abs(finite).max(initial=0.0)) or 1.0
    whole = data.kind == "probability" and len(numbers) <= LONG_ROW and largest <= 1
    title, signed = _TITLES.get(stage.name, f"{stage.title} of {{}}"), bool((finite < 0).any())
    return BarRow(title.format(f"“{e.tokens[row]}”"), bars, stage.role, 1.0 if whole else largest, signed, track=whole)


def _make_bar(label: str, value: float, kind: str, is_covered: bool, current: bool) -> Bar:
    length, text = value if np.isfinite(value) else None, write_weight(value, kind)
    return Bar(label, length, COVER if is_covered else text, current=current, held=text if is_covered else "")


def write_weight(value: float, kind: str) -> str:
    """Return a number as it is written in large type; a weight too small for four decimals is "< 0.0001"."""
    return "< 0.0001" if kind == "probability" and 0 < value < 1e-4 else number(value)
