"""The precision lens: the same experiment in four number formats, and the difference of each stage from float64."""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.compute.precision import FORMATS, Difference, compare_formats, format_difference, summarize
from attnlab.ui.base.announcing import announce
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from attnlab.attention.experiment import Experiment
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

_LOOKS = {
    "absolute": ("Difference", "The largest difference from float64"),
    "relative": ("Relative", "The largest difference from float64, relative to the number there"),
    "moved": ("Other targets", "Rows of weights whose strongest target differs from float64"),
    "non_finite": ("NaN, ∞", "How many numbers are NaN or ∞, without the masked ones"),
}
_TINTS = (-8.0, 0.0)
"""The powers of ten over which a difference is coloured."""


class PrecisionLens(Lens):
    """A table of stages by formats, measured in the worker, under a sentence with the summary."""

    name = "precision"
    title = "Precision"
    about = "The same layer in four number formats"
    tab_order = 40

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._experiment: Experiment | None = None
        self._differences: tuple[Difference, ...] = ()
        self.sentence = QLabel()
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setWordWrap(True)
        self._looks = {look: TabButton(title) for look, (title, _) in _LOOKS.items()}
        self._looks["absolute"].setChecked(True)
        bar = QWidget()
        row = FlowLayout(bar, gap=4)
        for look, button in self._looks.items():
            button.setAccessibleName(f"Precision: {_LOOKS[look][0]}")
            button.setToolTip(_LOOKS[look][1])
            button.toggled.connect(self._on_look_toggled)
            row.addWidget(button)
        self.table = NumberTable("Compared with float64")
        column = scrolling_column(self)
        column.setSpacing(8)
        column.addWidget(bar)
        column.addWidget(self.sentence)
        column.addWidget(self.table, 1)
        self._say("")

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Measure the trace's experiment, unless already requested: heads and devices change nothing."""
        e = trace.experiment
        if e is self._experiment:
            return
        self._experiment = e
        if not self._differences:
            self._say("Computing in four number formats …")
        self.ask("precision", partial(compare_formats, e), latest="precision")

    def on_result(self, key: Any, result: Any) -> None:
        """Show the measurements, or a sentence with the reason for their absence."""
        if isinstance(result, str):
            self._differences = ()
            self._say(result)
        else:
            self._differences = result
            self._say(summarize(result))
        self._refresh()

    def _say(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        self.sentence.setAccessibleName(f"Precision: {sentence}")
        announce(sentence, self)

    def _refresh(self) -> None:
        look = next(look for look, button in self._looks.items() if button.isChecked())
        titles = {d.stage: d.title for d in self._differences}
        measured = {(d.stage, d.format): getattr(d, look) for d in self._differences}
        columns = [Column("stage", list(titles.values()))]
        for name in FORMATS:
            found = (measured[stage, name] for stage in titles)
            values = np.array([math.nan if value is None else value for value in found], dtype=np.float64)
            columns.append(Column(name, values, _writer(look), _LOOKS[look][1], _tints(look, values)))
        self.table.set_columns(columns, tuple(titles))

    @Slot(bool)
    def _on_look_toggled(self, on: bool) -> None:
        if on:
            self._refresh()


def _writer(look: str) -> "Callable[[float], str]":
    return format_difference if look in ("absolute", "relative") else _count


def _count(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.0f}"


def _tints(look: str, values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the strength of each cell's colour: differences by their power of ten, counts if above 0."""
    sized = np.nan_to_num(values, nan=0.0, posinf=1.0)
    if look in ("moved", "non_finite"):
        return np.where(sized > 0, 1.0, 0.0)
    low, high = _TINTS
    with np.errstate(divide="ignore"):
        powers = np.log10(sized)
    return np.clip((powers - low) / (high - low), 0.0, 1.0)
