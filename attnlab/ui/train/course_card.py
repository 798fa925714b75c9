"""A card with the course of each head over the training: its scores for the task's patterns, or its entropy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.layer_labels import list_titles
from attnlab.ui.widgets.charts.lines import Line
from attnlab.ui.widgets.charts.zoom_chart import ZoomChart
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.surface import Surface

HEADS = ("query", "key", "value", "attention", "neutral", "accent")
"""Colours of the layers' curves, repeated."""
LEAST = 96
"""The least height of the chart, in pixels at 100 %."""
ENTROPY = "entropy"
ENTROPY_TIP = "The mean entropy of each head’s rows, in nats; 0 means that every row attends to one position only"
NO_ROW = "The pattern “{}” fits no row of this input."
BEST, OPEN = "The head with the highest score on this input at this moment", "; click to enlarge its map."
COUNTED = "Tables of several runs show means over held-out examples. Layers count from 1, heads from 0."


@guarded
class CourseCard(FollowsTheme, Surface):
    """Shows one measure of each head, chosen by a switch. Above the chart, the best head and its score at the moment
    shown: with ``opens`` a button, and ``head_opened`` carries its layer and number when it is pressed."""

    head_opened = Signal(str, int)
    measure_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, opens: bool = True) -> None:
        super().__init__(parent)
        self._seen: Seen | None = None
        self._wanted, self._offered = "", tuple[str, ...]()
        self._course: tuple[NDArray[np.float64], NDArray[np.float64], float] | None = None
        self._best = 0
        self.chart = ZoomChart("Course of each head")
        self.switch, self.none = Segments("Measure of each head"), QLabel()
        self.badge: QLabel | QPushButton = QPushButton() if opens else QLabel()
        self._title = QLabel("Each head")
        self._title.setProperty("role", "caption_strong")
        self.badge.setToolTip(f"{BEST}{OPEN if opens else '.'}\n{COUNTED}")
        self.badge.setMinimumWidth(1)  # its text is shortened with the card
        if isinstance(self.badge, QPushButton):
            self.badge.setProperty("small", "true")
            self.badge.clicked.connect(self._on_badge_pressed)
        self.badge.hide()
        self.none.setProperty("role", "muted")
        self.none.setTextFormat(Qt.TextFormat.PlainText)
        self.none.setWordWrap(True)
        self.none.hide()
        self.switch.chosen.connect(self._on_chosen)
        preferred = QSizePolicy.Policy.Preferred
        self.switch.setSizePolicy(preferred, preferred)  # it takes several lines where there is little room
        head = FlowLayout(gap=8)  # in a narrow window the badge is below
        for widget in (self._title, self.switch, self.badge):
            head.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.none)
        column.addWidget(self.chart, 1)

    def restyle(self) -> None:
        """Set the least height."""
        self.chart.setMinimumHeight(px(LEAST))

    @property
    def measure(self) -> str:
        """The measure shown: the name of a pattern, or "entropy"."""
        return self._wanted if self._wanted in self._offered else self._offered[0] if self._offered else ENTROPY

    def show_seen(self, seen: Seen) -> None:
        """Show the best head of a moment, and offer the patterns of its task that its model can have."""
        self._seen = seen
        offered = (*(pattern.name for pattern in seen.patterns), ENTROPY)
        if offered != self._offered:
            self._offered = offered
            choices = [Choice(pattern.name, _title(pattern.name), pattern.about) for pattern in seen.patterns]
            self.switch.set_choices([*choices, Choice(ENTROPY, "Entropy", ENTROPY_TIP)])
            self.switch.set_value(self.measure)
            self._draw()
        self._show_best()

    def show_course(self, steps: NDArray[np.float64], measures: NDArray[np.float64], end: float) -> None:
        """Show the measures [n, 1 + patterns, heads] at some steps [n], of ``end`` in all."""
        self._course = steps, measures, end
        self._draw()

    def _draw(self) -> None:
        if self._course is None or self._seen is None:
            return
        steps, measures, end = self._course
        place = self._find_place()
        courses = measures[:, place] if place < measures.shape[1] else measures[:, :0].reshape(len(steps), 0)
        names: Sequence[str] = list_titles(self._seen.look.maps)
        if len(names) != courses.shape[1]:
            names = [f"head {i}" for i in range(courses.shape[1])]
        lines = make_head_lines(names, steps, courses, self.chart.count_labels())
        self.chart.show_lines(lines, x_end=end, y_range=(0.0, 1.04) if place else None)

    def _find_place(self) -> int:
        """Return the index of the measure shown in the measures of a moment: 0 is the entropy."""
        names = [pattern.name for pattern in self._seen.patterns] if self._seen is not None else []
        return 1 + names.index(self.measure) if self.measure in names else 0

    def _show_best(self) -> None:
        """Show the head with the highest score; there is none for the entropy, nor for a probe without such rows."""
        seen, place = self._seen, self._find_place()
        scores = seen.measures[place] if seen is not None and place else np.zeros(0)
        known = np.flatnonzero(np.isfinite(scores))
        self.badge.setVisible(bool(len(known)))
        self.none.setVisible(bool(place) and not len(known))
        self.none.setText(NO_ROW.format(self.measure))
        if len(known) and seen is not None:
            self._best = int(known[scores[known].argmax()])
            whole = f"{seen.heads[self._best]}: {self.measure} {scores[self._best]:.2f}"
            fits = self.badge.fontMetrics().horizontalAdvance(whole) + px(32) <= self.width() - px(24)
            self.badge.setText(whole if fits else f"{seen.heads[self._best]}: {scores[self._best]:.2f}")

    def choose(self, measure: str) -> None:
        """Show another measure, or the first one until a model has it."""
        self._wanted = measure
        self.switch.set_value(self.measure)
        self._draw()
        self._show_best()

    @Slot(object)
    def _on_chosen(self, name: object) -> None:
        self.choose(str(name))
        self.measure_chosen.emit(self.measure)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_best()

    @Slot()
    def _on_badge_pressed(self) -> None:
        if self._seen is not None:
            places = [(each.layer, head) for each in self._seen.look.maps for head in range(len(each.weights))]
            self.head_opened.emit(*places[self._best])


def make_head_lines(
    names: Sequence[str], steps: NDArray[np.float64], courses: NDArray[np.float64], most: int
) -> list[Line]:
    """Return the curves of the heads [n, heads], in the colour of their layer, and with its name if they are too many.

    Otherwise each curve has the name of its head. Heads without a number have no curve.
    """
    layers = list(dict.fromkeys(name.split(" · ")[0] for name in names))
    kept = [(name, curve) for name, curve in zip(names, courses.T, strict=True) if np.isfinite(curve).any()]
    named: set[str] = set()
    lines = []
    for name, curve in kept:
        layer, _, head = name.partition(" · ")
        label = f"{layer} {head}".replace("head ", "h").strip() if len(kept) <= most else layer
        label = "" if label in named else label
        named.add(label)
        lines.append(Line(name, steps, curve, HEADS[layers.index(layer) % len(HEADS)], 1.5, label=label))
    return lines


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]
