"""The page of the encodings: first what the positions of the open experiment do, if they rotate or add a bias; then the
sinusoidal encoding as curves, bars and a map, each of which can be enlarged."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from attnlab.attention.registries.positions import sinusoidal
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import TO_ONE
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.playground.lenses.positions_parts import Fields, Page, Panel, sentence_label
from attnlab.ui.playground.lenses.positions_rope import RopePanel, RopeResult, Rotated, rotate_pair
from attnlab.ui.playground.lenses.positions_scheme import SchemeRow, bias_maps, has_bias, has_rotation
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.layouts.side_by_side import SideBySide

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

Floats = NDArray[np.float64]
Result = tuple[Floats, MapData | None, RopeResult | None]
"""The sinusoidal encoding, and the biases and the rotation of the open experiment."""
ROLES = ("query", "key", "value", "attention", "neutral")
POSITIONS, DIMENSIONS, IN_BARS = (0, 10, 20, 50), (0, 2, 4, 8, 16), (10, 20)
FIRST_DIMENSIONS, FIRST_POSITIONS, BARS = 64, 50, 8


class EncodingPage(Page):
    """Shows PE [positions, d_model] in four plots."""

    name = "encoding"
    title = "Encoding"
    about = "Sines and cosines of each position, in four plots"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields = Fields()
        about = "columns of the encoding, 2 to 1024; each pair of columns is a sine and a cosine"
        self.d_model = self.fields.add("d_model", "d<sub>model</sub>", f"d_model: {about}", (2, 1024), 128)
        self.positions = self.fields.add("positions", "positions", "positions: their number, 1 to 1000", (1, 1000), 100)
        self.fields.changed.connect(self.changed)
        self.rows, self.columns, self.bars = Curves(), Curves(), Curves()
        self.map, self.bias = MapFigure("", ("position", "dimension")), MapFigure()
        self.map.setAccessibleName("Encoding of each position and dimension")
        self.bias.setAccessibleName("Bias of each query and key")
        self.map.spoken_title, self.bias.spoken_title = "encoding", "bias"
        self.scheme = SchemeRow()
        self._experiment: Experiment | None = None
        contents = (("positions", self.rows), ("map", self.map), ("dimensions", self.columns), ("bars", self.bars))
        self.panels = [Panel(name, content, 12 if content is self.map else 0) for name, content in contents]
        self.bias_panel = Panel("bias", self.bias, 12)
        self._large: Panel | None = None
        self.rope = RopePanel()
        self.rope.changed.connect(self.changed)
        self.comparison = sentence_label("For comparison: the sinusoidal encoding", "section")
        for panel in (*self.panels, self.bias_panel):
            panel.clicked.connect(self._on_clicked)
        for own in (self.scheme, self.rope, self.bias_panel, self.comparison, self.fields):
            self._column.addWidget(own)
        for pair in (SideBySide(*self.panels[:2]), SideBySide(*self.panels[2:])):
            self._column.addWidget(pair, 1)
        self._arrange()

    def show_experiment(self, e: "Experiment", head: int | str = 0) -> None:
        """Set the open experiment: its scheme is named, and its rotation or its biases are shown if it has any."""
        self._experiment = e if has_bias(e) or has_rotation(e) else None
        self.scheme.show_experiment(e)
        self.rope.show_experiment(e if has_rotation(e) else None, head)
        self._arrange()

    def describe_request(self) -> Hashable:
        return self.positions.value(), self.d_model.value(), self._experiment, self.rope.find_asked()

    def job(self) -> "Callable[[], Result]":
        sizes = self.positions.value(), self.d_model.value()
        return partial(_compute_encoding, *sizes, self._experiment, self.rope.find_asked())

    def show_result(self, result: "Result") -> None:
        encoding, bias, rotated = result
        self._show_encoding(encoding)
        self.bias_panel.title.setText("What its positions add to the scores" + (", in each head" * _several(bias)))
        self.bias.show_map(bias)
        if rotated is not None:
            self.rope.show_result(rotated)

    def _show_encoding(self, result: Floats) -> None:
        count, width = result.shape
        self._show_positions(result)
        first = min(FIRST_POSITIONS, count)
        self.panels[1].title.setText(f"The first {first} positions, one per row" if first > 1 else "The one position")
        self.map.show_map(MapData(result[None, :first], "signed", TO_ONE, None, (), ()))
        there = [d for d in DIMENSIONS if d < width]
        self.panels[2].title.setText(f"{_list_positions('Dimension', there)} over the positions")
        x = np.arange(count, dtype=np.float64)
        curves = [Curve(f"dimension {d}", x, result[:, d], r) for d, r in zip(there, ROLES, strict=False)]
        self.columns.show_curves(curves, x_label="position", y_label="value")
        self._show_bars(result)

    def _show_positions(self, encoding: Floats) -> None:
        there = [t for t in POSITIONS if t < len(encoding)]
        width = min(FIRST_DIMENSIONS, encoding.shape[1])
        self.panels[0].title.setText(f"{_list_positions('Position', there)} over the first {width} dimensions")
        x = np.arange(width, dtype=np.float64)
        curves = [Curve(f"position {t}", x, encoding[t, :width], r) for t, r in zip(there, ROLES, strict=False)]
        self.rows.show_curves(curves, x_label="dimension", y_label="value")

    def _show_bars(self, encoding: Floats) -> None:
        there = [t for t in IN_BARS if t < len(encoding)]
        width = min(BARS, encoding.shape[1])
        over = f"over {width} dimensions"
        none = f"Positions 10 and 20 are not among the first {len(encoding)}"
        self.panels[3].title.setText(f"{_list_positions('Position', there)} {over}" if there else none)
        x = np.arange(width, dtype=np.float64)
        curves = [Curve(f"position {t}", x, encoding[t, :width], ROLES[IN_BARS.index(t) + 1], "bars") for t in there]
        self.bars.show_curves(curves, x_label="dimension", y_label="value")

    def _arrange(self) -> None:
        """Show all panels, or only the enlarged one; the panel of biases only if there are some."""
        e = self._experiment
        there = [*self.panels, *([self.bias_panel] if e is not None and has_bias(e) else [])]
        if self._large not in there:
            self._large = None
        for panel in (*self.panels, self.bias_panel):
            panel.setVisible(panel in there and self._large in (None, panel))
            panel.set_large(panel is self._large)
        self.rope.setVisible(self._large is None and e is not None and has_rotation(e))
        self.comparison.setVisible(self._large is None and e is not None)

    @Slot()
    def _on_clicked(self) -> None:
        clicked = next(panel for panel in (*self.panels, self.bias_panel) if panel is self.sender())
        self._large = clicked if self._large is None else None
        self._arrange()


def _compute_encoding(count: int, d_model: int, e: "Experiment | None", asked: Rotated | None) -> "Result":
    """Return the encoding [count, d_model], and the experiment's biases and its rotation if it has them."""
    encoding: Floats = sinusoidal(count, d_model).numpy()
    bias = bias_maps(e) if e is not None and has_bias(e) else None
    return encoding, bias, rotate_pair(e, asked) if e is not None and asked is not None else None


def _several(maps: MapData | None) -> bool:
    return maps is not None and len(maps.values) > 1


def _list_positions(kind: str, numbers: Sequence[int]) -> str:
    """Return "Position 0", "Positions 0 and 10" or "Positions 0, 10 and 20"."""
    *rest, last = map(str, numbers)
    return f"{kind}s {', '.join(rest)} and {last}" if rest else f"{kind} {last}"
