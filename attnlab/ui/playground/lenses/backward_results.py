"""The cards at the foot of the backward lens: a number found by trying, and the loss over ten steps."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.lenses.backward_found import Stepped, Tried, describe_better, write_trial
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.lines import Line

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment

INVITATION = (
    "Click a number of a gradient to check it: the loss is computed with the number it belongs to a little higher and "
    "a little lower."
)


class TrialCard(Card):
    """The held number of a gradient, computed again by trying."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = sentence_label("Checked by trying", "title")
        self.lines, self.told = sentence_label(), sentence_label(INVITATION, "muted")
        for widget in (self.title, self.lines, self.told):
            self.column.addWidget(widget)
        self.column.addStretch(1)
        self.show_trial(None, None)

    def show_trial(self, found: Tried | None, e: "Experiment | None") -> None:
        """Show a number tried, or how to choose one."""
        self.lines.setVisible(found is not None)
        if found is None or e is None:
            self.title.setText("Checked by trying")
            self.told.setText(INVITATION)
            return
        name, lines, told = write_trial(found, e)
        self.title.setText(f"Checked by trying: {name}")
        self.lines.setText("\n".join(f"{name}: {text}" for name, text in lines))
        self.told.setText(told)

    def say(self, sentence: str) -> None:
        """Show why there is no trial."""
        self.lines.hide()
        self.told.setText(sentence)


class CurveCard(FollowsTheme, Card):
    """The loss over some steps, and over as many at a better rate."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.told = sentence_label("", "title"), sentence_label("", "muted")
        self.chart = LineChart("The loss over the steps")
        self.column.addWidget(self.title)
        self.column.addWidget(self.chart, 1)
        self.column.addWidget(self.told)

    def restyle(self) -> None:
        """Set the height of the chart."""
        self.chart.setFixedHeight(px(96))

    def show_steps(self, found: Stepped) -> None:
        """Show the losses of some steps."""
        self.title.setText(f"{len(found.descent.losses) - 1} steps")
        steps = np.arange(len(found.descent.losses), dtype=np.float64)
        lines = [Line(f"rate {found.rate:g}", steps, np.array(found.descent.losses), label=f"rate {found.rate:g}")]
        if found.better is not None:
            rate, other = found.better
            losses = np.array(other.losses)
            name = f"rate {rate:.3g}"
            lines.append(Line(name, steps[: len(losses)], losses, "muted", is_dashed=True, label=name))
        self.chart.show_lines(lines, x_end=float(steps[-1]))
        self.told.setText(describe_better(found))
        self.told.setVisible(bool(self.told.text()))
