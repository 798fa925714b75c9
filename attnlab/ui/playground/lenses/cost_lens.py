"""The cost lens: measured milliseconds and bytes on each device, as functions of T, and against plain loops."""

import math
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QWidget

from attnlab.attention.stages.arithmetic import number
from attnlab.base.counted import format_count, format_whole
from attnlab.base.errors import AttnlabError
from attnlab.compute import cost
from attnlab.compute.cost import Cost, Loops
from attnlab.compute.engine import devices
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.line_pen import find_pen
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.page import scrolling_column
from attnlab.ui.widgets.charts.bars import BarList
from attnlab.ui.widgets.charts.curves import Curve, Curves, Style
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.subscripts import FormulaLabel

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View

Step = tuple[Literal["now", "loops", "curve"], str, int]
"""The measurement, its device, and its T; 0 stands for the experiment's own."""
ROLES = ("attention", "value", "query", "key", "neutral")
LINE: Style = "line"
POINTS: Style = "points"
HEADS = ("Device", "Time", "Memory")


@guarded
class TimeBars(BarList):
    """Shows times in milliseconds as bars."""

    def show_times(self, times: Mapping[str, float]) -> None:
        """Show a bar for each name."""
        self.set_bars(tuple(times), tuple(times.values()), title="Time of loops and of the matrix product")
        self.setVisible(bool(times))

    def row_text(self, index: int) -> str:
        return _ms(self._values[index])

    def measure_values(self) -> int:
        pen = find_pen(self.strong_role)
        texts = [self.row_text(index) for index in range(len(self._values))]
        return max([super().measure_values(), *(math.ceil(pen.measure(text)) for text in texts)])


@guarded
class CostLens(Lens):
    """A table, two plots and two sentences. It measures when first shown and on its button, never on an edit."""

    name = "cost"
    title = "Cost"
    about = "Time and memory, measured on this machine"
    tab_order = 50

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self._trace: Trace | None = None
        self._measured: Trace | None = None
        self._steps: list[Step] = []
        self._round = 0
        self._costs: dict[Step, Cost | str] = {}
        self._cells: dict[tuple[str, int], QLabel] = {}
        self.milliseconds, self.bytes = Curves("Time"), Curves("Memory used by the stages")
        self.state, self.loops, self.growth = (_label(name) for name in ("Measured for", "Loops", "Growth"))
        column = scrolling_column(self)
        column.addLayout(self._make_controls())
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(len(HEADS), 1)
        column.addLayout(self._grid)
        self.bars = TimeBars()
        self.bars.setMaximumWidth(px(560))
        self.bars.show_times({})
        column.addWidget(self.bars)
        column.addWidget(self.loops)
        column.addWidget(self.growth)
        column.addWidget(SideBySide(self.milliseconds, self.bytes), 1)

    def _make_controls(self) -> QHBoxLayout:
        self.button = QPushButton("Measure")
        self.button.setAccessibleName("Measure")
        self.button.setToolTip("Measure the current experiment")
        self.button.clicked.connect(self._on_measure)
        row = QHBoxLayout()
        row.addWidget(self.state, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self._trace = trace
        if self._measured is None:
            self._on_measure()
        self._say_state()

    @Slot()
    def _on_measure(self) -> None:
        if self._trace is None:
            return
        self._measured, self._costs = self._trace, {}
        self._round += 1
        found = devices()
        self._steps = [("now", device, 0) for device in found]
        self._steps.append(("loops", "cpu", 0))
        self._steps += [("curve", device, T) for T in cost.SIZES for device in found]
        self.loops.clear()
        self.bars.show_times({})
        self._say_state()
        self._ask_next()

    def _ask_next(self) -> None:
        """Make the next measurement; between two of them the worker answers the window's requests."""
        if self._steps and self._measured is not None:
            self.ask((self._round, self._steps[0]), _job(self._measured, self._steps[0]))

    def on_result(self, key: Hashable, result: Any) -> None:
        if not self._steps or key != (self._round, self._steps[0]):
            return
        step = self._steps.pop(0)
        if isinstance(result, Loops):
            self.loops.setText(_loops_text(result))
            self.bars.show_times({"double loop": result.loops_ms, "matrix product": result.matrix_ms})
        elif step[0] == "loops":
            self.loops.setText(result)
        elif result is None or (step[0] == "curve" and isinstance(result, str)):
            self._steps = [each for each in self._steps if each[1] != step[1]]  # larger ones do not fit either
        else:
            self._costs[step] = result
        self._show()
        self._ask_next()

    def _show(self) -> None:
        self._say_state()
        self._show_table()
        by_device = {device: self._curve_of(device) for _, device, _ in self._costs}
        shown = [(device, costs) for device, costs in by_device.items() if costs]
        T = "T_q" if self._crosses() else "T"
        axes: dict[str, Any] = {
            "x_label": T,
            "log_x": True,
            "log_y": True,
            "x_ticks": [(t, str(t)) for t in cost.SIZES],
        }
        for plot, field, label in ((self.milliseconds, "milliseconds", "ms"), (self.bytes, "bytes", "KiB")):
            unit = 1024 if field == "bytes" else 1
            curves = [
                Curve(name, [c.T for c in costs], [getattr(c, field) / unit for c in costs], role, style)
                for (device, curve), role in zip(shown, ROLES, strict=False)
                for name, costs, style in ((device, curve, LINE), (f"here, {device}", self._here(device), POINTS))
            ]
            plot.show_curves(curves, y_label=label, **axes)
        self._say_growth(shown[0][1] if shown else [])

    def _crosses(self) -> bool:
        """Return whether keys come from a second sequence, whose length is constant when T grows."""
        return self._measured is not None and self._measured.experiment.memory_embeddings is not None

    def _here(self, device: str) -> list[Cost]:
        found = self._costs.get(("now", device, 0))
        return [found] if isinstance(found, Cost) else []

    def _curve_of(self, device: str) -> list[Cost]:
        return [
            c for (kind, on, _), c in self._costs.items() if kind == "curve" and on == device and isinstance(c, Cost)
        ]

    def _show_table(self) -> None:
        for column, text in enumerate(HEADS):
            self._cell("", column).setText(text)
        for (kind, device, _), found in self._costs.items():
            if kind == "now":
                told = (_ms(found.milliseconds), size_text(found.bytes)) if isinstance(found, Cost) else (found, "")
                for column, text in enumerate((device, *told)):
                    self._cell(device, column).setText(text)

    def _cell(self, device: str, column: int) -> QLabel:
        if (device, column) not in self._cells:
            label = _label("")
            label.setWordWrap(False)
            if not device:
                label.setProperty("role", "caption")
            row = len({name for name, _ in self._cells} | {device}) - 1
            self._grid.addWidget(label, row, column)
            self._cells[device, column] = label
        return self._cells[device, column]

    def _say_state(self) -> None:
        self.button.setEnabled(not self._steps)
        if self._measured is None or self._trace is None:
            return
        text = f"{'Measuring' if self._steps else 'Measured for'} {_shape_text(self._measured)}."
        if _shape(self._measured) != _shape(self._trace):
            text += f" It is now {_shape_text(self._trace)}: press Measure to update the numbers."
        self.state.setText(text)

    def _say_growth(self, costs: list[Cost]) -> None:
        self.growth.setVisible(len(costs) > 1)
        if len(costs) > 1:
            few, many = costs[-2:]
            alone = "twice as large, as T_k stays the same" if self._crosses() else "4 times as large, with T²"
            self.growth.setText(
                f"From T = {few.T} to {many.T}, the stages use {many.bytes / few.bytes:.2f} times the memory: "
                f"{size_text(few.bytes)} → {size_text(many.bytes)}. The maps alone become {alone}."
            )

    def hideEvent(self, event: QHideEvent) -> None:
        if self._steps:
            self._steps, self._measured = [], None  # and it starts again when next shown


def _job(trace: "Trace", step: Step) -> Callable[[], Cost | Loops | str | None]:
    """Return the job of a step; it holds nothing of the window, and every fault of a device becomes a sentence."""
    kind, device, T = step
    e, dtype = trace.experiment, str(trace.dtype).removeprefix("torch.")

    def job() -> Cost | Loops | str | None:
        try:
            if kind == "loops":
                return cost.compare_with_loops(trace)
            return cost.measure_at(e, T, device, dtype) if kind == "curve" else cost.measure(e, device, dtype)
        except AttnlabError as error:
            return str(error)
        except (RuntimeError, MemoryError, NotImplementedError) as error:  # torch's errors on a failing device
            return f"{device} could not compute this in {dtype}: {str(error).splitlines()[0] if str(error) else error}"

    return job


def _shape(trace: "Trace") -> tuple[object, ...]:
    e = trace.experiment
    sizes = (e.T_q, e.T_k, e.d_model, e.d_k, e.d_v, e.d_out, e.n_heads, e.n_kv_heads)
    return (*sizes, trace.all_stages, str(trace.dtype))


def _shape_text(trace: "Trace") -> str:
    e = trace.experiment
    T = f"T = {e.T_q}" if e.memory_embeddings is None else f"T_q = {e.T_q}, T_k = {e.T_k}"
    heads = format_count(e.n_heads, "head")
    return f"{T}, {heads}, d_k = {e.d_k}, {len(trace.all_stages)} stages in {str(trace.dtype).removeprefix('torch.')}"


def _loops_text(found: Loops) -> str:
    what = f"{format_count(found.heads, 'head')} of {format_whole(found.T_q)} × {format_whole(found.T_k)} tokens"
    cut = " (not the whole experiment: loops would take too long)" if found.cut else ""
    return (
        f"Loops {_ms(found.loops_ms)}, matrix product {_ms(found.matrix_ms)}: {_faster(found.times_faster)}; "
        f"largest difference {number(found.difference)}. On the CPU, without masks, {what}{cut}."
    )


def _faster(times: float) -> str:
    if times < 1:
        return f"{1 / times:.1f} times slower"
    return f"{times:.0f} times faster" if times >= 10 else f"{times:.1f} times faster"


def _ms(value: float) -> str:
    return f"{value:.0f} ms" if value >= 99.95 else f"{value:#.3g} ms"


def size_text(count: int) -> str:
    """Return a number of bytes with a suitable unit."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << power:
            return f"{count / (1 << power):.2f} {unit}"
    return f"{count} B"


def _label(name: str) -> FormulaLabel:
    label = FormulaLabel()
    if name:
        label.setAccessibleName(name)
    return label
