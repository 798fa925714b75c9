"""The bar below: the line of recorded moments, the buttons that play and mark them, and their memory."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSize, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_role
from attnlab.ui.widgets.charts.timeline import Timeline, TimeMark
from attnlab.ui.widgets.fields.pill import Choice, Pill
from attnlab.ui.widgets.folded_label import FoldedLabel

FRAME_MS = 33
PER_SECOND = 15
"""Moments per second at speed 1."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ROOMY = 680
"""The width in pixels at 100 % from which memory is shown beside the line."""
MOST = 1 / 2
"""The largest share of the width for a message; a longer one is folded, and if need be cut, with a tip of the whole."""
BUTTONS = (
    ("first", "step-first", "First moment (Home)"),
    ("play", "play", "Play the moments (Space)"),
    ("last", "step-last", "Latest moment, and follow the training (End)"),
    ("mark", "mark", "Mark or unmark this moment (M)"),
)
METHODS = {"first": "go_first", "play": "toggle_playing", "last": "go_last", "mark": "mark"}


@guarded
class TimeBar(FollowsTheme, QFrame):
    """Shows moments; ``moment_chosen`` carries the index of the chosen one, ``mark_requested`` the step to mark."""

    moment_chosen = Signal(int)
    mark_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bottom")
        self._speed, self._at = 1.0, 0.0
        self._buttons_show: tuple[object, ...] = ()
        self.line = Timeline()
        self.line.moment_chosen.connect(self._on_moment_chosen)
        self.line.play_requested.connect(self.toggle_playing)
        self.line.mark_requested.connect(self.mark_requested)
        self.timer = QTimer(self)
        self.timer.setInterval(FRAME_MS)
        self.timer.timeout.connect(self._on_time_for_next)
        self.buttons = {name: self._make_button(name, tip) for name, _, tip in BUTTONS}
        self.speed = Pill("", name="Speed")
        self.speed.setToolTip("The speed of playing the moments")
        self.speed.set_choices([Choice(speed, f"{speed:g}×") for speed in SPEEDS])
        self.speed.set_value(self._speed)
        self.speed.chosen.connect(self._on_speed_chosen)
        self.memory, self.message = QLabel(), FoldedLabel()
        self.memory.setProperty("role", "muted")
        self.memory.setAccessibleName("Recorded moments")
        self.message.setObjectName("message")
        self.message.setAccessibleName("Message")
        self.message.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._lay_out()
        self._show_buttons()

    def _lay_out(self) -> None:
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        for name in ("first", "play", "last"):
            row.addWidget(self.buttons[name])
        row.addWidget(self.speed)
        row.addWidget(self.line, 3)
        row.addWidget(self.buttons["mark"])
        row.addWidget(self.message)
        row.addWidget(self.memory)
        self.message.hide()

    def _make_button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setObjectName(f"time-{name}")
        button.clicked.connect(getattr(self, METHODS[name]))
        return button

    def restyle(self) -> None:
        """Set the font and the icons."""
        self.memory.setFont(font("number"))
        for button in self.buttons.values():
            button.setIconSize(QSize(px(18), px(18)))
        self._show_buttons()
        self._make_room()

    def show_moments(self, steps: Sequence[int], losses: Sequence[float], memory: str) -> None:
        """Show the moments, and their memory."""
        self.line.show_moments(np.asarray(steps), np.asarray(losses))
        self.memory.setText(memory)
        self._show_buttons()

    def show_marks(self, marks: Sequence[TimeMark]) -> None:
        """Show the marks."""
        self.line.show_marks(marks)

    def show_current(self, index: int) -> None:
        """Move to a moment."""
        self.line.show_current(index)
        if not self.playing:
            self._at = float(index)

    def show_message(self, sentence: str, *, wrong: bool = True) -> None:
        """Show one sentence, or with "" nothing."""
        set_role(self.message, "error" if wrong else "good")
        show_text(self.message, sentence)
        self._make_room()
        self.message.setVisible(bool(sentence))

    def _make_room(self) -> None:
        """Fit the message beside the line, so that the bar keeps its height; hide the memory if it does not fit."""
        wide = self.message.fontMetrics().horizontalAdvance(self.message.text())
        wide = max(min(wide, int(MOST * self.width()), self.width() - self._measure_others()), 0)
        self.message.setFixedWidth(wide)
        self.memory.setVisible(self.width() >= px(ROOMY) + wide)

    def _measure_others(self) -> int:
        """Return the least width of the bar without the message and the memory."""
        parts = *self.buttons.values(), self.speed, self.line
        margins, gap = self._row.contentsMargins(), self._row.spacing()
        least = sum(max(each.minimumSizeHint().width(), each.minimumWidth()) + gap for each in parts)
        return least + margins.left() + margins.right()

    @property
    def playing(self) -> bool:
        """Whether the moments are playing."""
        return self.timer.isActive()

    @Slot()
    def toggle_playing(self) -> None:
        """Play from the current moment, from the first if it is the last; or stop."""
        if self.playing:
            self.stop()
        elif len(self.line.steps) > 1:
            last = len(self.line.steps) - 1
            self._at = 0.0 if self.line.current >= last else float(self.line.current)
            self._go(int(self._at))
            self.timer.start()
            self._show_buttons()

    def stop(self) -> None:
        """Stop playing."""
        if self.playing:
            self.timer.stop()
            self._show_buttons()

    def _show_buttons(self) -> None:
        there = len(self.line.steps) > 0
        state = (there, self.playing, palette_of(self), px(100))
        if state == self._buttons_show:  # drawing icons is the slowest part of this method
            return
        self._buttons_show = state
        for name, icon_name, tip in BUTTONS:
            button = self.buttons[name]
            button.setEnabled(there)
            pausing = name == "play" and self.playing
            button.setIcon(icon("pause" if pausing else icon_name, palette_of(self), px(18)))
            told = "Pause (Space)" if pausing else tip
            button.setToolTip(told)
            button.setAccessibleName(told)
        self.speed.setEnabled(there)
        self.line.setEnabled(there)

    def _choose(self, index: int) -> None:
        """Show a recorded moment, if there is one: a run that has just begun, or failed at the start, has none."""
        if len(self.line.steps):
            self._on_moment_chosen(index)
            self.line.show_current(index)

    def _go(self, index: int) -> None:
        self.line.show_current(index)
        self.moment_chosen.emit(index)

    @Slot(int)
    def _on_moment_chosen(self, index: int) -> None:
        self.stop()
        self._at = float(index)
        self.moment_chosen.emit(index)

    @Slot()
    def _on_time_for_next(self) -> None:
        last = len(self.line.steps) - 1
        if last < 0:  # the run was reset during playback
            self.stop()
            return
        self._at = min(self._at + self._speed * PER_SECOND * FRAME_MS / 1000, float(last))
        if int(self._at) != self.line.current:
            self._go(int(self._at))
        if int(self._at) >= last:
            self.stop()

    @Slot()
    def go_first(self) -> None:
        """Show the first moment."""
        self._choose(0)

    @Slot()
    def go_last(self) -> None:
        """Show the latest moment."""
        self._choose(len(self.line.steps) - 1)

    @Slot()
    def mark(self) -> None:
        """Mark or unmark the current moment."""
        if len(self.line.steps):
            self.mark_requested.emit(int(self.line.steps[self.line.current]))

    @Slot(object)
    def _on_speed_chosen(self, speed: float) -> None:
        self._speed = speed
        self.speed.set_value(speed)

    def hideEvent(self, event: QHideEvent) -> None:
        if not event.spontaneous():
            self.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()
