"""The bar above: the model, the buttons that start, pause, step, stop and reset the training, and its progress.

If the width is too small, text is shortened, then the tools, Reset and finally Step move into a menu. A running
training can be stopped at every width.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLayout, QPushButton, QSizePolicy, QToolButton, QWidget

from attnlab.base.counted import format_count
from attnlab.figures.palette import Palette
from attnlab.training.heads_off import read_heads
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.overflow import Overflow
from attnlab.ui.train.run_words import describe_end
from attnlab.ui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from attnlab.ui.train.train_session import TrainSession

AGAIN = "A new run from the first weights; increase “stop at step” to continue this one instead."
ABOUT = 150
"""Least width of the text about the model, in pixels at 100 %: less would show nothing useful."""
LEAD = 400
"""The width of title and model together, in pixels at 100 %, so that the buttons are at one place for every task."""
VERBS = ("Start", "Pause", "Resume", "Restart")
PACE = " · 00,000 steps/s · 59 min left"
"""Sample text whose width is reserved for the pace, so that the layout does not change with every number."""

BEFORE = " · settings before the error"
"""What follows the model of the maps while the settings are refused."""


@guarded
class ControlBar(FollowsTheme, QFrame):
    """Shows a session; emits a signal for each button."""

    start_requested = Signal()
    pause_requested = Signal()
    step_requested = Signal()
    stop_requested = Signal()
    reset_requested = Signal()
    settings_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "top")
        self._share, self._icon = 0.0, ""
        self._told, self._longest, self._offered = [""], "step 0 of 0", False
        self._rooms: Mapping[QWidget, int] = {}
        self._tools: list[QWidget] = []
        self._fitted: tuple[object, ...] = ()
        self.title, self.about, self.speed = QLabel(), ElidedLabel(separator=" · "), QLabel()
        self.settings = QToolButton()
        self.settings.setText("Settings")
        self.settings.setCheckable(True)
        self.settings.setToolTip("Show or hide the settings")
        self.settings.setAccessibleName("Settings")
        self.settings.toggled.connect(self.settings_toggled)
        self.main = QPushButton()
        self.main.setProperty("primary", "true")
        self.step, self.stop, self.reset = QPushButton("Step"), QPushButton("Stop"), QPushButton()
        self.step.setToolTip("Take one step and wait")
        self.stop.setToolTip("End the training; the trained weights are kept")
        self.reset.setToolTip("Return to the first weights of this seed")
        self.speed.setProperty("role", "muted")
        self.speed.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.speed.setAccessibleName("Progress")
        self.title.setProperty("role", "title")
        self.title.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.about.setProperty("role", "caption")
        self.main.clicked.connect(self._on_main)
        self.step.clicked.connect(self.step_requested)
        self.stop.clicked.connect(self.stop_requested)
        self.reset.clicked.connect(self.reset_requested)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # the window may be narrower
        self.row = QHBoxLayout(self)
        self.row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self.row.setContentsMargins(16, 8, 16, 8)
        self.row.setSpacing(8)
        self.row.addWidget(self.settings)
        self.row.addWidget(self.title)
        self.row.addWidget(self.about, 1000)  # before the stretch behind the buttons
        for widget in (self.main, self.step, self.stop, self.reset):
            self.row.addWidget(widget)
        self.row.addStretch(1)
        self.row.addWidget(self.speed)
        self.more = Overflow(self.row)
        self.row.addWidget(self.more)

    def add_tool(self, widget: QWidget) -> None:
        """Add a widget at the right end; it is the first to be hidden."""
        self.row.insertWidget(self.row.indexOf(self.more), widget)
        QWidget.setTabOrder((self.reset, *self._tools)[-1], widget)  # not after the panels, which are older
        self._tools.append(widget)

    def restyle(self) -> None:
        """Set fonts, icon and sizes."""
        self._fitted = ()
        self._show_icon()
        self.title.setFont(font("title"))
        self.speed.setFont(font("number"))
        self.main.setIconSize(QSize(px(14), px(14)))
        self.main.ensurePolished()
        texts = self.main.fontMetrics()
        spare = max(map(texts.horizontalAdvance, VERBS)) - texts.horizontalAdvance(self.main.text())
        self.main.setMinimumWidth(max(self.main.sizeHint().width() + spare, px(92)))  # whatever its text
        self._fit()

    def _show_icon(self) -> None:
        if self._icon:
            self.main.setIcon(_on_accent(self._icon, palette_of(self)))

    def show_session(self, session: "TrainSession", ready: bool) -> None:
        """Show the model and the progress; ``ready`` says whether the settings can be trained."""
        state, run = session.state, session.run
        running = session.alive and state == "running"
        text, name = ("Pause", "pause") if running else (self._find_verb(session), "play")
        self.main.setText(text)
        if self._icon != name:
            self._icon = name
            self._show_icon()
        can = session.alive or session.can_go_on or ready
        self.main.setEnabled(can)
        tip = f"{text} (Ctrl+Return)" + (f"\n{AGAIN}" if text == "Restart" else "")
        self.main.setToolTip(tip if can else "These settings cannot be trained; see the panel at the left")
        self.step.setEnabled(can and not running)
        if self.stop.hasFocus() and not session.alive:
            self.main.setFocus()  # else it goes to “Reset”, which Space would press
        self.stop.setEnabled(session.alive)
        self.reset.setEnabled(run is not None)
        spec = run.spec if run is not None else session.spec
        self.reset.setText(f"Reset · seed {session.spec.train.seed}")  # the settings may have another seed by now
        self._told = _describe_progress(session)
        self._longest = f"step {spec.train.steps:,} of {spec.train.steps:,}"
        self._fit()
        self._share = run.step / run.spec.train.steps if run is not None else 0.0
        self.update()

    def show_about(self, session: "TrainSession") -> None:
        """Describe the model of the run that is shown; before there is one, that of the settings.

        While these are refused it is that of the maps, which are of the settings before.
        """
        from attnlab.training.models import KINDS
        from attnlab.training.tasks import TASKS

        run, valid, seen = session.run, session.valid, session.inspection.seen
        refused = run is None and seen is not None and valid is not None and bool(valid.problem)
        spec = run.spec if run is not None else seen.spec if refused and seen is not None else session.spec
        parameters = run.parameters if run is not None else 0
        if not parameters and valid is not None and valid.spec == spec and not valid.problem:
            parameters = valid.parameters
        self.title.setText(TASKS[spec.task].title)
        self.title.setToolTip(TASKS[spec.task].title)
        kind = KINDS[spec.model.kind]
        layers = format_count(spec.model.layers, "layer")
        heads = f"{layers} × {format_count(spec.model.heads, 'head')}" if "heads" in kind.fields else layers
        count = f" · {parameters:,} parameters" if parameters else ""
        if off := len(read_heads(spec.train.heads_off)):
            heads += f", {off} off"
        self.about.setText(f"{kind.title} · {heads}{count}{BEFORE if refused else ''}")

    def offer_settings(self, offered: bool) -> None:
        """Show or hide the button that hides the settings."""
        self._offered = offered
        self._fit()

    @staticmethod
    def _find_verb(session: "TrainSession") -> str:
        if session.alive or session.can_go_on:
            return "Resume"
        return "Restart" if session.begins_anew else "Start"

    def _on_main(self) -> None:
        (self.pause_requested if self.main.text() == "Pause" else self.start_requested).emit()

    def _fit(self) -> None:
        """Hide the parts that do not fit, and show as much of the progress as fits."""
        texts = (self.title.text(), bool(self.about.text()), self.reset.text(), self._longest)
        fitted = (self.width(), px(100), self._offered, len(self._tools), *texts)
        if fitted != self._fitted:  # the slowest part of this method
            self._fitted = fitted
            self._rooms = self.more.fit(self.width(), *self._measure_parts())
            self._fix_places(self._rooms)
        brief = self._rooms.get(self.speed) == self._advance(self._longest)
        self.speed.setText(self._told[-1] if brief else " · ".join(self._told))
        self.speed.setToolTip(" · ".join(self._told))

    def _fix_places(self, rooms: Mapping[QWidget, int]) -> None:
        """Let the progress have a width that its numbers do not change, and the lead too: the buttons never move."""
        self.about.setMaximumWidth(max(px(LEAD) - rooms[self.title], rooms[self.about]))
        if self.speed.minimumWidth() != rooms[self.speed]:
            self.speed.clear()  # a label caches its size hint with its least width until its text changes
            self.speed.setMinimumWidth(rooms[self.speed])

    def _measure_parts(self) -> tuple[dict[QWidget, int], list[tuple[QWidget, int]]]:
        """Return the width that each part needs, and the reduced widths in the order in which they apply."""
        step = self._advance(self._longest)
        buttons = (self.main, self.stop, self.step, self.reset, *self._tools)
        rooms: dict[QWidget, int] = {each: _measure_width(each) for each in (self.title, *buttons)}
        rooms |= {self.about: px(ABOUT) if self.about.text() else 0, self.speed: step + self._advance(PACE)}
        rooms[self.settings] = _measure_width(self.settings) if self._offered else 0
        folds: list[tuple[QWidget, int]] = [(self.about, 0), (self.speed, step), *((tool, 0) for tool in self._tools)]
        return rooms, [*folds, (self.reset, 0), (self.speed, 0), (self.title, 0), (self.step, 0)]

    def _advance(self, text: str) -> int:
        return self.speed.fontMetrics().horizontalAdvance(text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._share > 0:
            painter = QPainter(self)
            line = QRectF(0, self.height() - 2, self.width() * min(self._share, 1.0), 2)
            painter.fillRect(line, QColor(palette_of(self).accent))
            painter.end()


def _describe_progress(session: "TrainSession") -> list[str]:
    """Return the progress, in parts."""
    run, device = session.run, session.spec.train.device
    if run is None:
        return ["CPU" if device == "cpu" else device]
    if run.status == "new":
        return ["starting…"]
    parts = [f"step {run.step:,} of {run.spec.train.steps:,}"]
    if session.alive and session.state == "running" and session.speed:
        parts.append(f"{session.speed:,.0f} steps/s" if session.speed >= 10 else f"{session.speed:.1f} steps/s")
        parts.append(f"{_format_duration(session.left_s or 0.0)} left")
    elif session.state == "paused":
        parts += ["paused"]
    elif not session.alive and (ended := describe_end(run.status, run.step, run.spec.train.steps, run.sentence)):
        parts += [ended]
    return parts


def _measure_width(part: QWidget) -> int:
    part.ensurePolished()
    return max(part.sizeHint().width(), part.minimumWidth())


def _format_duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _on_accent(name: str, palette: Palette) -> QIcon:
    return icon(name, replace(palette, muted=palette.on_accent, ink=palette.on_accent), px(14))
