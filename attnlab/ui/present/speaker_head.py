"""The bar at the top of the speaker window: the step, the time since the start in large type, the time of day."""

from PySide6.QtCore import QDateTime, QLocale, QSize, Qt, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton

from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import set_sheet
from attnlab.ui.base.themed import palette_of
from attnlab.ui.present.stopwatch import Stopwatch, write_clock
from attnlab.ui.widgets.elided_label import ElidedLabel

TITLE, SMALL, CLOCK, DAY = 17, 14, 34, 22
"""Font sizes at 100 %."""


@guarded
class SpeakerHead(QFrame):
    """Shows the stopwatch, and pauses, continues and resets it."""

    def __init__(self, watch: Stopwatch) -> None:
        super().__init__()
        self._watch, self._began_s = watch, 0.0
        self._step = ""
        self.setObjectName("head")
        self.title, self.place = QLabel(), ElidedLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.elapsed, self.clock = QLabel(), QLabel()
        for label, name in ((self.place, "Step"), (self.clock, "Clock"), (self.elapsed, "Time since the start")):
            label.setAccessibleName(name)
        self._captions = QLabel("since the start"), QLabel("now")
        self.pause_button, self.reset_button = QPushButton("Pause"), QPushButton("Reset")
        self.pause_button.setToolTip("Pause or continue the time since the start")
        self.reset_button.setToolTip("Set the time since the start to 0")
        self.pause_button.clicked.connect(self._on_pause_clicked)
        self.reset_button.clicked.connect(self._on_reset_clicked)
        for button in (self.pause_button, self.reset_button):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # after a click, Space goes to the next step
        self._row = row = QHBoxLayout(self)
        row.addWidget(self.title)
        row.addWidget(self.place, 1)
        for widget in (
            self._captions[0],
            self.elapsed,
            self.pause_button,
            self.reset_button,
            self._captions[1],
            self.clock,
        ):
            row.addWidget(widget)

    def show_step(self, title: str, step: str, began_s: float) -> None:
        """Show the lesson's title and the step, which began this many seconds after the start."""
        self.title.setText(title)
        self._step, self._began_s = step, began_s
        self.tick()

    def tick(self) -> None:
        """Show the times."""
        seconds = self._watch.elapsed_ms / 1000
        self.elapsed.setText(write_clock(seconds))
        self.place.setText(f"{self._step} · {write_clock(seconds - self._began_s)} on it")
        time = QDateTime.currentDateTime().time()
        self.clock.setText(QLocale().toString(time, QLocale.FormatType.ShortFormat))
        self.pause_button.setText("Pause" if self._watch.running else "Go on")

    def set_look(self, factor: float, narrow: bool) -> None:
        """Set the sizes, as factors of those at 100 %, and the colours; a narrow bar has no captions."""
        palette = palette_of(self)
        set_sheet(
            self,
            f"#head {{ background: {palette.surface}; border: none; border-bottom: 1px solid {palette.hairline}; }}",
        )
        for label, size, bold, colour in (
            (self.title, TITLE, True, palette.ink),
            (self.place, SMALL, False, palette.muted),
            (self._captions[0], SMALL, False, palette.muted),
            (self._captions[1], SMALL, False, palette.muted),
            (self.elapsed, CLOCK, True, palette.ink),
            (self.clock, DAY, True, palette.ink),
        ):
            set_sheet(label, f"color: {colour}; background: transparent")
            label.setFont(make_face(size * factor, bold=bold))
        for caption in self._captions:
            caption.setVisible(not narrow)
        for button in (self.pause_button, self.reset_button):
            button.setFont(make_face(SMALL * factor))
        side = round(28 * factor)
        self._row.setContentsMargins(side, round(8 * factor), side, round(8 * factor))
        self._row.setSpacing(round(12 * factor))

    @Slot()
    def _on_pause_clicked(self) -> None:
        if self._watch.running:
            self._watch.pause()
        else:
            self._watch.start()
        self.tick()

    @Slot()
    def _on_reset_clicked(self) -> None:
        self._watch.reset()
        self._began_s = 0.0
        self.tick()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())
