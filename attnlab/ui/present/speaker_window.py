"""The speaker window: the slide shown now, what the next press shows, the notes, the steps, the times."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import scale, set_sheet
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.present.help_card import HelpCard
from attnlab.ui.present.plan_bar import PlanBar
from attnlab.ui.present.slide_view import SlideView
from attnlab.ui.present.speaker_head import SpeakerHead
from attnlab.ui.present.speaker_notes import SpeakerNotes
from attnlab.ui.present.speaker_steps import SpeakerSteps
from attnlab.ui.present.stopwatch import Stopwatch

if TYPE_CHECKING:
    from attnlab.figures.slides.slide_content import SlideContent

TICK_MS = 500
ASPECT = 9 / 16
NOW, NEXT = 800, 536
"""The widths of the two slides in a window of 1440 pixels."""
CAPTION, HEIGHT, FACTORS = 14, 900, (0.7, 1.5)
"""The font size of captions at 100 %, the height at which sizes are those, and the limits for other heights."""
LEAST = 480, 320
NARROW, LOW = 1100, 700
"""In narrower windows the times have no captions, in lower ones the steps no keys; in pixels at 100 %."""
_BUTTON_KEYS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
"""The keys that a button with the focus keeps."""


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
        self.head, self.plan = SpeakerHead(self.watch), PlanBar()
        self.now, self.next = SlideView(), SlideView()
        for view, name in ((self.now, "Shown now"), (self.next, "Next")):
            view.reduced_motion = view.framed = True
            view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            view.setToolTip(name)
        self.now.ringed = True
        self.now_caption, self.next_caption = _make_label(), _make_label()
        self.now_caption.setText("<b>Now</b>&nbsp; what the class sees")
        self.notes, self.steps = SpeakerNotes(), SpeakerSteps()
        self.help = HelpCard(self)
        self._build()
        for button in self.findChildren(QPushButton):
            button.installEventFilter(self)
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        self.setMinimumSize(*LEAST)  # else the slides, whose sizes follow the window's, would keep it from shrinking
        self.resize(1440, HEIGHT)

    def _build(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        for widget in (self.now_caption, self.now):
            left.addWidget(widget)
        left.addWidget(self.notes, 1)
        for widget in (self.next_caption, self.next):
            right.addWidget(widget)
        right.addWidget(self.steps, 1)
        columns = QHBoxLayout()
        columns.addLayout(left, NOW)
        columns.addLayout(right, NEXT)
        self._body = QVBoxLayout()
        self._body.addWidget(self.plan)
        self._body.addLayout(columns, 1)
        self._columns, self._sides = columns, (left, right)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addLayout(self._body, 1)

    def restyle(self) -> None:
        """Set colours and fonts."""
        palette = palette_of(self)
        set_sheet(
            self, f"SpeakerWindow, QScrollArea, QScrollArea > QWidget > QWidget {{ background: {palette.ground} }}"
        )
        for label in (self.now_caption, self.next_caption):
            set_sheet(label, f"color: {palette.muted}; background: transparent")
        self._set_sizes()

    def set_class_height(self, height: int) -> None:
        """Lay the slides out for the height of the audience's window, in pixels, so that they show the same numbers."""
        self.now.drawn_height = self.next.drawn_height = height

    def show_slides(self, now: "SlideContent | None", following: "SlideContent | None", lens: str = "") -> None:
        """Show the current slide, and what the next press shows, with its lens."""
        if now is not None:
            self.now.show_content(now)
        self.next.setVisible(following is not None)
        if following is None:
            self.next_caption.setText("<b>This is the end.</b>")
            return
        step = f" · step {following.done}" if now is None or following.done != now.done else ""
        told = f" · with the lens {lens}" if lens else ""
        self.next_caption.setText(f"<b>Next</b>&nbsp; after one →{step}{told}")
        self.next.show_content(following)

    def _set_sizes(self) -> None:
        least, most = FACTORS
        factor = scale() * min(max(self.height() / HEIGHT / scale(), least), most)
        self.head.set_look(factor, narrow=self.width() < NARROW * factor)
        self.notes.set_look(factor)
        self.steps.set_look(factor, low=self.height() < LOW * factor)
        self.plan.set_size(13 * factor)
        for label in (self.now_caption, self.next_caption):
            label.setFont(make_face(CAPTION * factor))
        margin, gap = round(28 * factor), round(12 * factor)
        self._body.setContentsMargins(margin, gap, margin, gap)
        self._body.setSpacing(gap)
        self._columns.setSpacing(round(44 * factor * 0.6))
        for side in self._sides:
            side.setSpacing(gap)
        room = max(self.width() - 2 * margin - self._columns.spacing(), 100)
        for view, share in ((self.now, NOW), (self.next, NEXT)):
            high = min(share / (NOW + NEXT) * room * ASPECT, 0.52 * self.height())
            view.setFixedSize(max(round(high / ASPECT), 1), max(round(high), 1))
        self._place_help()

    def _place_help(self) -> None:
        if self.help.isVisible():
            self.help.set_look(palette_of(self), 0.6 * self.height() / 100)
            self.help.move((self.width() - self.help.width()) // 2, (self.height() - self.help.height()) // 2)
            self.help.raise_()

    def _on_tick(self) -> None:
        self.head.tick()
        self.ticked.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_sizes()

    def showEvent(self, event: object) -> None:
        self.setFocus()  # else the first button takes the keys of the presentation
        self._on_tick()
        self._timer.start()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        super().closeEvent(event)
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Go on with → on a button too, where Qt would move the focus to the next button."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() not in _BUTTON_KEYS:
            self.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """H shows the keys here, not to the class; all other keys work as in the audience's window."""
        if event.key() in (Qt.Key.Key_H, Qt.Key.Key_Question):
            self.help.setVisible(not self.help.isVisible())
            self._place_help()
        elif event.key() == Qt.Key.Key_Escape and self.help.isVisible():
            self.help.hide()
        else:
            self.key_pressed.emit(event)


def _make_label() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.RichText)
    return label
