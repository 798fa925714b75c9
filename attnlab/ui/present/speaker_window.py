"""The speaker window: notes in large type, the current slide, the next one, a clock and the elapsed time."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QElapsedTimer, QLocale, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from attnlab.figures.slides.slide_markdown import to_lines
from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.present.plan_bar import PlanBar
from attnlab.ui.present.slide_view import SlideView

if TYPE_CHECKING:
    from attnlab.figures.slides.slide_content import SlideContent

TICK_MS = 500
ASPECT = 9 / 16


class Stopwatch:
    """Time since the start, which can be paused."""

    def __init__(self) -> None:
        self._timer = QElapsedTimer()
        self._kept_ms = 0
        self.start()

    @property
    def running(self) -> bool:
        """Whether it is running."""
        return self._timer.isValid()

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds so far."""
        return self._kept_ms + (self._timer.elapsed() if self.running else 0)

    def start(self) -> None:
        """Start or continue."""
        self._timer.start()

    def pause(self) -> None:
        """Halt."""
        self._kept_ms = self.elapsed_ms
        self._timer.invalidate()

    def reset(self) -> None:
        """Reset to 0; a paused stopwatch stays paused."""
        self._kept_ms = 0
        if self.running:
            self._timer.restart()


@guarded
class SpeakerWindow(FollowsTheme, QWidget):
    """Shows the lecturer's view; emits its keys, so that they work here as in the audience's window."""

    key_pressed = Signal(QKeyEvent)
    ticked = Signal()
    """The live parts before the audience may have changed."""
    closed = Signal()

    def __init__(self, parent: QWidget | None = None, watch: Stopwatch | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Speaker — attnlab")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.watch = watch or Stopwatch()
        self.now, self.next = SlideView(), SlideView()
        for view, name in ((self.now, "Shown now"), (self.next, "Next")):
            view.reduced_motion = view.framed = True
            view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            view.setToolTip(name)
        self.place, self.clock, self.elapsed = _make_label("Step"), _make_label("Clock"), _make_label("Time so far")
        self._captions = _make_label("", "Now"), _make_label("", "Next"), _make_label("", "Notes")
        self.plan = PlanBar()
        self.notes = _make_label("Notes")
        self.notes.setWordWrap(True)
        self.notes.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.notes.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        self.pause_button, self.reset_button = QPushButton("Pause"), QPushButton("Reset")
        self.pause_button.setToolTip("Pause or continue the stopwatch")
        self.reset_button.setToolTip("Reset the stopwatch to 0")
        self.pause_button.clicked.connect(self._on_pause_clicked)
        self.reset_button.clicked.connect(self._on_reset_clicked)
        for button in (self.pause_button, self.reset_button):
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Space goes to the next step
        self._build()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self.resize(1280, 720)

    def _build(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self.place, 1)
        for widget in (self.elapsed, self.pause_button, self.reset_button, self.clock):
            top.addWidget(widget)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.notes)
        self._scroll = scroll
        right = QVBoxLayout()
        right.addWidget(self._captions[1])
        right.addWidget(self.next)
        right.addStretch(1)
        self._grid = QGridLayout(self)
        self._grid.addLayout(top, 0, 0, 1, 2)
        self._grid.addWidget(self.plan, 1, 0, 1, 2)
        self._grid.addWidget(self._captions[0], 2, 0)
        self._grid.addWidget(self.now, 3, 0)
        self._grid.addLayout(right, 2, 1, 2, 1)
        self._grid.addWidget(self._captions[2], 4, 0)
        self._grid.addWidget(scroll, 5, 0, 1, 2)
        self._grid.setRowStretch(5, 1)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(1, 2)
        self._grid.setContentsMargins(24, 16, 24, 16)
        self._grid.setSpacing(12)

    def restyle(self) -> None:
        """Set colours and fonts."""
        palette = palette_of(self)
        set_sheet(
            self, f"SpeakerWindow, QScrollArea, QScrollArea > QWidget > QWidget {{ background: {palette.ground} }}"
        )
        for label in (self.place, self.clock, self.elapsed, self.notes):
            set_sheet(label, f"color: {palette.ink}; background: transparent")
        for label in self._captions:
            set_sheet(label, f"color: {palette.muted}; background: transparent")
        self._set_sizes()

    def show_step(
        self, place: str, notes: str, now: "SlideContent | None", following: "SlideContent | None", lens: str = ""
    ) -> None:
        """Show the place in the lecture, the notes, the current slide, and the next one with its lens."""
        self.place.setText(place)
        self.notes.setText(to_lines(notes) or "No notes for this step.")
        if now is not None:
            self.now.show_content(now)
        self.next.setVisible(following is not None)
        self._captions[1].setText(
            (f"Next, with the lens {lens}" if lens else "Next") if following is not None else "This is the end."
        )
        if following is not None:
            self.next.show_content(following)

    def _set_sizes(self) -> None:
        unit = max(self.height(), 1) / 100
        self.place.setFont(make_face(max(2.6 * unit, 13)))
        for label in (self.clock, self.elapsed):
            label.setFont(make_face(max(4.2 * unit, 16), bold=True))
        self.notes.setFont(make_face(max(3.6 * unit, 16)))
        for label in self._captions:
            label.setFont(make_face(max(2.0 * unit, 12)))
        room = max(self.width() - 60, 100)
        for view, share in ((self.now, 0.6), (self.next, 0.4)):
            high = min(share * room * ASPECT, 0.5 * self.height())
            view.setFixedHeight(max(round(high), 1))
            view.setMaximumWidth(max(round(high / ASPECT), 1))

    @Slot()
    def _on_tick(self) -> None:
        time = QDateTime.currentDateTime().time()
        self.clock.setText(QLocale().toString(time, QLocale.FormatType.ShortFormat))
        seconds = self.watch.elapsed_ms // 1000
        hours, minutes = seconds // 3600, seconds // 60 % 60
        self.pause_button.setText("Pause" if self.watch.running else "Go on")
        self.ticked.emit()
        self.elapsed.setText(f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}")

    @Slot()
    def _on_pause_clicked(self) -> None:
        if self.watch.running:
            self.watch.pause()
        else:
            self.watch.start()
        self._on_tick()

    @Slot()
    def _on_reset_clicked(self) -> None:
        self.watch.reset()
        self._on_tick()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_sizes()

    def showEvent(self, event: object) -> None:
        self._on_tick()
        self._timer.start()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        super().closeEvent(event)
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.key_pressed.emit(event)


def _make_label(name: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if name:
        label.setAccessibleName(name)
    return label
