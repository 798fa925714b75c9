"""The bar below: steps through the stages, what the present one does, and how the last computation went."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QHideEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from attnlab.attention.stages import about
from attnlab.figures.palette import LIGHT, Palette
from attnlab.ui.icons import icon
from attnlab.ui.theme import font, plain_tip, restyle
from attnlab.ui.widgets.elided_label import ElidedLabel

if TYPE_CHECKING:
    from attnlab.compute.service import Reply
    from attnlab.document.document import View

BUTTONS = (
    ("first", "First step (Home)"),
    ("back", "Step back (←)"),
    ("next", "Step forward (→)"),
    ("last", "Show all steps (End)"),
)
NOTE_MS = 8000
TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "bfloat16": 2e-2, "float16": 4e-3}


class Progress(QWidget):
    """One short bar a step; those done in the accent colour. A click goes there."""

    step_clicked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._count, self._done = 0, 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(60)
        self.setAccessibleName("Steps")

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours from now on."""
        self._palette = palette
        self.update()

    def set_progress(self, count: int, done: int) -> None:
        """Show ``done`` of ``count`` steps."""
        if (count, done) == (self._count, self._done):
            return
        if count != self._count:
            self.updateGeometry()
        self._count, self._done = count, done
        self.setToolTip(f"step {done} of {count}")
        self.update()

    def _bar(self, index: int) -> QRectF:
        pitch = self.width() / max(self._count, 1)
        return QRectF(index * pitch, self.height() / 2 - 2, pitch - 6, 4)

    def sizeHint(self) -> QSize:
        return QSize(max(self._count, 1) * 27, 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for index in range(self._count):
            painter.setBrush(QColor(self._palette.accent if index < self._done else self._palette.hatch))
            painter.drawRoundedRect(self._bar(index), 2, 2)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._count:
            self.step_clicked.emit(min(int(event.position().x() / self.width() * self._count), self._count - 1) + 1)


class StepBar(QFrame):
    """Shows the step of a view and the outcome of a reply; announces the step that is wanted (None: all)."""

    step_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "bottom")
        self._palette = LIGHT
        self._names: tuple[tuple[str, str, str], ...] = ()
        self._step: int | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        self.buttons: dict[str, QToolButton] = {}
        for name, tip in BUTTONS:
            button = QToolButton()
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.setAutoRaise(True)
            button.setIconSize(QSize(18, 18))
            button.setObjectName(f"step-{name}")
            button.clicked.connect(getattr(self, f"step_{name}"))
            row.addWidget(button)
            self.buttons[name] = button
        row.addSpacing(8)
        self.progress = Progress()
        self.progress.step_clicked.connect(self.step_requested)
        row.addWidget(self.progress)
        row.addSpacing(8)
        self._title = QLabel()
        self._about = ElidedLabel()
        self._message = ElidedLabel()
        self._message.setObjectName("message")
        self._message.hide()
        self.note_timer = QTimer(self)
        self.note_timer.setSingleShot(True)
        self.note_timer.setInterval(NOTE_MS)
        self.note_timer.timeout.connect(self._on_note_read)
        row.addWidget(self._title)
        row.addWidget(self._about, 1)
        row.addWidget(self._message, 2)
        self._shape, self._time, self._sums = QLabel(), QLabel(), QLabel()
        for label in (self._shape, self._time, self._sums):
            label.setTextFormat(Qt.TextFormat.PlainText)
            row.addWidget(label)
            row.addSpacing(8)

    def set_palette(self, palette: Palette) -> None:
        """Write in other colours from now on."""
        self._palette = palette
        self.progress.set_palette(palette)
        for name, button in self.buttons.items():
            button.setIcon(icon(f"step-{name}", palette))
        for label in (self._about, self._shape, self._time):
            restyle(label, f"color: {palette.muted}")
        restyle(self._message, f"color: {palette.bad}")
        self._title.setFont(font("title"))
        for label in (self._shape, self._time, self._sums):
            label.setFont(font("number"))

    def show_reply(self, reply: "Reply", view: "View") -> None:
        """Show shape, time and row sums of the last computation."""
        trace = reply.trace
        if trace is None:
            return
        e, stages = reply.request.experiment, map(trace.stage, trace.all_stages)
        self._names = tuple((stage.name, stage.title, about(stage, e)) for stage in stages)
        self._shape.setText(str(list(trace["weights"].shape)))
        self._shape.setToolTip("heads, queries, keys")
        self._time.setText(f"{reply.elapsed_ms:.2f} ms · {reply.request.device} {reply.request.dtype}")
        self._time.setToolTip("The mathematics alone, from the inputs to the output")
        self._show_sums(reply)
        self.show_view(view)

    def _show_sums(self, reply: "Reply") -> None:
        good = reply.largest_gap <= TOLERANCE[reply.request.dtype]
        empty = f" · {len(reply.empty_rows)} empty" if reply.empty_rows else ""
        if reply.warnings:
            text, good = "∞ or NaN", False
            self._sums.setToolTip("\n".join(reply.warnings))
        else:
            text = f"✓ rows sum to 1{empty}" if good else f"{_sums_text(*reply.row_sums)}{empty}"
            self._sums.setToolTip(f"The row sum furthest from 1 is off by {reply.largest_gap:.2g}")
        self._sums.setText(text)
        restyle(self._sums, f"color: {self._palette.good if good else self._palette.bad}")

    def show_view(self, view: "View") -> None:
        """Show another step; without one, the selected cell's stage is what the text is about."""
        count = len(self._names)
        if view.step != self._step:  # what is said of the step stands where the message does
            self.show_message("")
        self._step = view.step
        done = count if view.step is None else view.step
        self.progress.set_progress(count, done)
        for name in ("first", "back"):
            self.buttons[name].setEnabled(done > 1)
        for name in ("next", "last"):
            self.buttons[name].setEnabled(view.step is not None)
        if not self._names:
            return
        if view.step is not None:
            _, title, about = self._names[done - 1]
            self._title.setText(f"{done} of {count}: {title}")
        else:
            title, about = "All steps", "press ← to walk back through them"
            self._title.setText(title)
        self._about.setText(about)

    @Slot(str)
    def show_message(self, sentence: str) -> None:
        """Show one sentence about what was refused, until the next edit or step."""
        if sentence == self.message == "":
            return
        self.note_timer.stop()
        restyle(self._message, f"color: {self._palette.bad}")
        self._message.setText(sentence)
        self._message.setAccessibleName(f"Message: {sentence}" if sentence else "")
        self._message.setToolTip(plain_tip(sentence))
        self._message.setVisible(bool(sentence))
        self._about.setVisible(not sentence)

    def show_note(self, sentence: str) -> None:
        """Show one sentence about what went well, for a while or until the next message."""
        self.show_message(sentence)
        self.note_timer.start()
        restyle(self._message, f"color: {self._palette.good}")

    @Slot()
    def _on_note_read(self) -> None:
        self.show_message("")

    @property
    def message(self) -> str:
        """The sentence shown, "" for none."""
        return self._message.text() if not self._message.isHidden() else ""

    @Slot()
    def step_first(self) -> None:
        """Go to the first step."""
        self.step_requested.emit(1)

    @Slot()
    def step_last(self) -> None:
        """Show everything."""
        self.step_requested.emit(None)

    @Slot()
    def step_back(self) -> None:
        """Go one step back; from everything shown, to the last but one."""
        done = len(self._names) if self._step is None else self._step
        self.step_requested.emit(max(done - 1, 1))

    @Slot()
    def step_next(self) -> None:
        """Go one step on; after the last, everything is shown."""
        if self._step is not None:
            self.step_requested.emit(None if self._step + 1 >= len(self._names) else self._step + 1)

    def hideEvent(self, event: QHideEvent) -> None:
        if not event.spontaneous():
            self.note_timer.stop()
        super().hideEvent(event)


def _sums_text(low: float, high: float) -> str:
    """Return what rows sum to that do not sum to 1."""
    if math.isnan(low + high):
        return "rows do not sum to 1"
    ends = [f"{end:.2f}".replace("-", "−") for end in (low, high)]
    return f"rows sum to {ends[0]}" if ends[0] == ends[1] else f"row sums {ends[0]} … {ends[1]}"
