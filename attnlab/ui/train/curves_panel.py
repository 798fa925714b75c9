"""The curves at the right: loss of training and held-out examples, accuracy, and those of other runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.widgets.charts.bands import Band
from attnlab.ui.widgets.charts.chart_legend import ChartLegend
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.lines import Level, Line, Upright
from attnlab.ui.widgets.charts.zoom_chart import Stretch, ZoomChart
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments

Floats = NDArray[np.floating]
Range = tuple[Floats, Floats, Floats]
"""Steps, the least and the largest value at each."""
OTHERS = ("key", "attention", "value", "query", "neutral")
"""Colours of other runs, in the order they are added."""
LAYERS = ("query", "key", "value", "attention", "neutral")
"""Colours of the layers' gradients; the accent is too much like that of queries."""
LOSS, GRADIENTS = "loss", "gradients"
FIRST = (
    Choice(LOSS, "Loss", "The loss of each batch, and of the held-out examples"),
    Choice(
        GRADIENTS,
        "Gradients",
        "The norm of the gradient of each layer, before clipping, in the step before each evaluation",
    ),
)


def _none() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class RunCurves:
    """The curves of one run: the loss of each step's batch, and the held-out metrics at their steps."""

    name: str
    steps: Floats = field(default_factory=_none)
    losses: Floats = field(default_factory=_none)
    metric_steps: Floats = field(default_factory=_none)
    metric_losses: Floats = field(default_factory=_none)
    right: Floats = field(default_factory=_none)
    by_length: Sequence[Sequence[tuple[int, float]]] = ()
    """For each metric (length, share of the examples of that length that are entirely right); () without lengths."""
    gradients: Mapping[str, Floats] = field(default_factory=dict)
    """The norm of the gradient of each layer, in the step before each metric; NaN where it was not measured."""

    def find_lengths(self, step: float | None) -> tuple[Floats, Floats]:
        """Return the lengths and the shares of the last metric up to a step; None is the very last."""
        known = [place for place, pairs in enumerate(self.by_length) if pairs]
        if step is not None:
            known = [place for place in known if self.metric_steps[place] <= step] or known[:1]
        pairs = np.array(self.by_length[known[-1]] if known else (), np.float64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]


@guarded
class CurvesPanel(FollowsTheme, QWidget):
    """Shows this run's curves and others'; a press on one requests its moment, by the step."""

    step_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run, self._others = RunCurves("this run"), tuple[RunCurves, ...]()
        self._members: tuple[RunCurves, ...] = ()
        self._baselines: Mapping[str, float] = {}
        self._numbers = False
        self._end = 0.0
        self._cursor: float | None = None
        self.loss, self.right = ZoomChart("Loss"), ZoomChart("Held-out tokens correct")
        self.gradients = ZoomChart("Norm of the gradient of each layer")
        self.gradients.hide()
        self.switch = Segments("Loss or gradients")
        self.switch.set_choices(FIRST)
        self.switch.set_value(LOSS)
        self.switch.chosen.connect(self._on_switched)
        self.lengths = LineChart("Held-out examples correct, by length", x_name="length")
        self.lengths.setToolTip("The share of the examples of each length that are entirely right")
        self.scale_button = QPushButton("log")
        self.scale_button.setCheckable(True)
        self.scale_button.setProperty("small", "true")
        self.scale_button.setToolTip("Show the loss or the gradients on a logarithmic scale")
        self.scale_button.setAccessibleName("Logarithmic loss")
        self.scale_button.toggled.connect(self._on_scale_toggled)
        self.all_button = QPushButton("All steps")
        self.all_button.setProperty("small", "true")
        self.all_button.setToolTip("Show all steps again (double click, or 0)")
        self.all_button.clicked.connect(self.show_all)
        self.all_button.hide()
        self._charts = self.loss, self.gradients, self.right
        for chart in self._charts:
            chart.x_chosen.connect(self.step_chosen)
            chart.stretch_changed.connect(self._on_stretch_changed)
        column = *self._charts, self.lengths
        for each in column:
            each.share_left(column)
        self.legends = tuple(map(ChartLegend, (self.loss, self.right, self.lengths)))
        self.gradient_legend = ChartLegend(self.gradients)
        self._headings = [_heading(text) for text in ("Held-out tokens correct", "Correct by length")]
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        head = QHBoxLayout()
        head.addWidget(self.switch)
        head.addStretch(1)
        head.addWidget(self.all_button)
        head.addWidget(self.scale_button)
        column.addLayout(head)
        column.addWidget(self.loss, 3)
        column.addWidget(self.legends[0])
        column.addWidget(self.gradients, 3)
        column.addWidget(self.gradient_legend)
        for heading, chart, legend in zip(self._headings, (self.right, self.lengths), self.legends[1:], strict=True):
            column.addWidget(heading)
            column.addWidget(chart, 2)
            column.addWidget(legend)

    def restyle(self) -> None:
        """Set the sizes."""
        sizes = ((self.loss, 112, 220), (self.gradients, 112, 220), (self.right, 80, 150), (self.lengths, 80, 150))
        for chart, least, most in sizes:
            chart.setMinimumHeight(px(least))
            chart.setMaximumHeight(px(most))

    def show_curves(
        self,
        run: RunCurves,
        others: Sequence[RunCurves] = (),
        *,
        end: float = 0.0,
        baselines: Mapping[str, float] | None = None,
        numbers: bool = False,
    ) -> None:
        """Show a run up to at least step ``end``, with others and with the losses of simple baselines.

        A task on ``numbers`` has no tokens that could be correct.
        """
        self._run, self._others, self._end = run, tuple(others), end
        self._baselines, self._numbers = baselines or {}, numbers
        self._draw()

    def show_edits(self, steps: Sequence[int]) -> None:
        """Mark the steps at which edited weights entered the training."""
        for chart in self._charts:
            chart.show_marks([Upright("edited", step) for step in steps])

    def show_range(self, name: str, loss: Range | None, right: Range | None, members: Sequence[RunCurves] = ()) -> None:
        """Show between which values several runs, called ``name``, lie at each step, and each of them as a thin line.

        None removes the bands.
        """
        if members or self._members:
            self._members = tuple(members)
            self._draw()
        self.loss.show_bands([Band(name, *loss)] if loss else [])
        shares = [Band(name, right[0], 100 * right[1], 100 * right[2], "value")] if right else []
        self.right.show_bands(shares)
        self._refresh_legends()

    @Slot()
    def show_all(self) -> None:
        """Show all steps again."""
        self.loss.show_all()

    def show_cursor(self, step: float | None) -> None:
        """Move the cursor to a step."""
        for chart in self._charts:
            chart.show_cursor(step)
        if step != self._cursor:
            self._cursor = step
            self._draw_lengths()

    def _draw(self) -> None:
        lines = [
            Line(f"{each.name}, held-out", each.metric_steps, each.metric_losses, "accent", 1.0, True, listed=False)
            for each in self._members
        ]
        for other, colour in zip(self._others, OTHERS * (len(self._others) // len(OTHERS) + 1), strict=False):
            lines.append(Line(f"{other.name}, held-out", other.metric_steps, other.metric_losses, colour, 1.5))
        run = self._run
        lines.append(Line("training", run.steps, run.losses, "neutral", 1.0, faint=True))
        lines.append(Line("held-out", run.metric_steps, run.metric_losses, "accent", 2.0))
        levels = [Level(name, loss) for name, loss in self._baselines.items()]
        self.loss.show_lines(lines, x_end=self._end, log_y=self.scale_button.isChecked(), levels=levels)
        self.all_button.setVisible(self.loss.stretch is not None)
        self._draw_gradients()
        told = not self._numbers and (not len(run.right) or bool(np.isfinite(run.right).any()))
        for widget in (self._headings[0], self.right):
            widget.setVisible(told)
        if told:
            right = [
                Line(f"{each.name}, correct", each.metric_steps, 100 * each.right, "value", 1.0, True, listed=False)
                for each in self._members
            ]
            right += [
                Line(f"{other.name}, correct", other.metric_steps, 100 * other.right, colour, 1.5)
                for other, colour in zip(self._others, OTHERS * len(self._others), strict=False)
            ]
            right.append(Line("correct", run.metric_steps, 100 * run.right, "value", 2.0))
            self.right.show_lines(right, x_end=self.loss.x_end, y_range=(0.0, 104.0), unit="%")

        self._draw_lengths()

    def _draw_gradients(self) -> None:
        """Draw the norms of this run's gradients; the colours repeat with dashes, and beyond these faintly."""
        run = self._run
        lines = [
            Line(
                layer,
                run.metric_steps,
                norms,
                LAYERS[at % len(LAYERS)],
                1.5,
                faint=at >= 2 * len(LAYERS),
                is_dashed=at // len(LAYERS) % 2 == 1,
            )
            for at, (layer, norms) in enumerate(run.gradients.items())
        ]
        self.gradients.show_lines(lines[::-1], x_end=self.loss.x_end, log_y=self.scale_button.isChecked())

    @property
    def shows_gradients(self) -> bool:
        """Whether the norms of gradients are shown in place of the loss."""
        return self.switch.value() == GRADIENTS

    @Slot(object)
    def _on_switched(self, _value: object) -> None:
        self.loss.setVisible(not self.shows_gradients)
        self.gradients.setVisible(self.shows_gradients)
        self._refresh_legends()

    def _draw_lengths(self) -> None:
        """Draw the accuracy for each length at the visible moment, beside that of other runs at their ends."""
        lines = [
            Line(f"{other.name}, correct", *_in_percent(other.find_lengths(None)), colour, 1.5)
            for other, colour in zip(self._others, OTHERS * len(self._others), strict=False)
        ]
        mine = _in_percent(self._run.find_lengths(self._cursor))
        lines.append(Line("correct", *mine, "value", 2.0))
        known = [line.x for line in lines if len(line.x)]
        shortest = min((float(lengths[0]) for lengths in known), default=0.0)
        longest = max((float(lengths[-1]) for lengths in known), default=0.0)
        for widget in (self._headings[1], self.lengths):
            widget.setVisible(longest > shortest)  # a single length would be a single point
        self.lengths.show_lines(lines, x_start=shortest, x_end=longest, y_range=(0.0, 104.0), unit="%")
        self._refresh_legends()

    def _refresh_legends(self) -> None:
        for legend in (*self.legends, self.gradient_legend):
            legend.refresh()

    @Slot(object)
    def _on_stretch_changed(self, stretch: Stretch | None) -> None:
        """Enlarge the same steps in both charts."""
        for chart in self._charts:
            chart.show_stretch(stretch)
        self.all_button.setVisible(stretch is not None)

    @Slot()
    def _on_scale_toggled(self) -> None:
        self._draw()


def _in_percent(found: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return found[0], 100 * found[1]


def _heading(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", "section")
    label.setContentsMargins(0, 8, 0, 0)  # apart from the legend above, as long as it is shown
    return label
