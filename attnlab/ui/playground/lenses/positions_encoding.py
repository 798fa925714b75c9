"""The page of the sinusoidal encoding: its values as curves, bars and a map, each of which can stand alone."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from attnlab.attention.positions import sinusoidal
from attnlab.figures.map_painter import MapData
from attnlab.figures.palette import Palette
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.playground.lenses.positions_parts import Fields, Page, Panel
from attnlab.ui.widgets.curves import Curve, Curves

Floats = NDArray[np.float64]
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
        self.positions = self.fields.add("positions", "positions", "positions: how many, 1 to 1000", (1, 1000), 100)
        self.fields.changed.connect(self.changed)
        self.rows, self.columns, self.bars = Curves(), Curves(), Curves()
        self.map = MapFigure("", ("position", "dimension"))
        contents = (("positions", self.rows), ("map", self.map), ("dimensions", self.columns), ("bars", self.bars))
        self.panels = [Panel(name, content, 12 if content is self.map else 0) for name, content in contents]
        self._large: int | None = None
        self._column.addWidget(self.fields)
        for line in (self.panels[:2], self.panels[2:]):
            row = QHBoxLayout()
            row.setSpacing(16)
            for panel in line:
                row.addWidget(panel, 1)
                panel.clicked.connect(self._on_clicked)
            self._column.addLayout(row, 1)

    def set_palette(self, palette: Palette) -> None:
        self.fields.set_palette(palette)
        for panel in self.panels:
            panel.set_palette(palette)
        for plot in (self.rows, self.map, self.columns, self.bars):
            plot.set_palette(palette)

    def wanted(self) -> Hashable:
        return self.positions.value(), self.d_model.value()

    def job(self) -> Callable[[], Floats]:
        return partial(_encoding, self.positions.value(), self.d_model.value())

    def show_result(self, result: Floats) -> None:
        count, width = result.shape
        self._show_positions(result)
        first = min(FIRST_POSITIONS, count)
        self.panels[1].title.setText(f"The first {first} positions, one a row" if first > 1 else "The one position")
        self.map.show_map(MapData(result[None, :first], "signed", 1.0, None, (), ()))
        there = [d for d in DIMENSIONS if d < width]
        self.panels[2].title.setText(f"{_listed('Dimension', there)} over the positions")
        x = np.arange(count, dtype=np.float64)
        curves = [Curve(f"dimension {d}", x, result[:, d], r) for d, r in zip(there, ROLES, strict=False)]
        self.columns.show_curves(curves, x_label="position", y_label="value")
        self._show_bars(result)

    def _show_positions(self, encoding: Floats) -> None:
        there = [t for t in POSITIONS if t < len(encoding)]
        width = min(FIRST_DIMENSIONS, encoding.shape[1])
        self.panels[0].title.setText(f"{_listed('Position', there)} over the first {width} dimensions")
        x = np.arange(width, dtype=np.float64)
        curves = [Curve(f"position {t}", x, encoding[t, :width], r) for t, r in zip(there, ROLES, strict=False)]
        self.rows.show_curves(curves, x_label="dimension", y_label="value")

    def _show_bars(self, encoding: Floats) -> None:
        there = [t for t in IN_BARS if t < len(encoding)]
        width = min(BARS, encoding.shape[1])
        over = f"over {width} dimensions"
        none = f"Positions 10 and 20 are not among the first {len(encoding)}"
        self.panels[3].title.setText(f"{_listed('Position', there)} {over}" if there else none)
        x = np.arange(width, dtype=np.float64)
        curves = [Curve(f"position {t}", x, encoding[t, :width], ROLES[IN_BARS.index(t) + 1], "bars") for t in there]
        self.bars.show_curves(curves, x_label="dimension", y_label="value")

    @Slot()
    def _on_clicked(self) -> None:
        clicked = next(i for i, panel in enumerate(self.panels) if panel is self.sender())
        self._large = clicked if self._large is None else None
        for i, panel in enumerate(self.panels):
            panel.setVisible(self._large in (None, i))
            panel.set_large(self._large == i)


def _encoding(count: int, d_model: int) -> Floats:
    encoding: Floats = sinusoidal(count, d_model).numpy()
    return encoding


def _listed(kind: str, numbers: Sequence[int]) -> str:
    """Return "Position 0", "Positions 0 and 10" or "Positions 0, 10 and 20"."""
    *rest, last = map(str, numbers)
    return f"{kind}s {', '.join(rest)} and {last}" if rest else f"{kind} {last}"
