"""The card of the first steps: a tick and a sentence for each, a lesson to start with, and a button to close it."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.icons import icon
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme, palette_of, set_role
from attnlab.ui.playground.first_steps import STEPS, FirstSteps, Step

_TICK = ((-3.2, 0.2), (-0.9, 2.6), (3.3, -2.4))


@guarded
class Tick(FollowsTheme, QWidget):
    """A ring, filled and ticked once its step is done."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_done = False

    def restyle(self) -> None:
        """Set the size."""
        self.setFixedSize(px(16), px(18))

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, side = palette_of(self), px(16)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ring = QRectF(1, 2, side - 2, side - 2)
        if not self.is_done:
            painter.setPen(QPen(QColor(palette.muted), 1.2))
            painter.drawEllipse(ring)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(palette.good))
            painter.drawEllipse(ring)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(palette.surface), side / 9))
            at, unit = ring.center(), ring.width() / 14
            painter.drawPolyline(QPolygonF([at + QPointF(x, y) * unit for x, y in _TICK]))
        painter.end()


class StepRow(QWidget):
    """One step: its tick and its sentence, muted once it is done."""

    def __init__(self, step: Step, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tick, self.label = Tick(), QLabel(step.text)
        self._spoken = step.spoken
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setWordWrap(True)
        self.label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.tick, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.label, 1)
        self.show_done(False)

    def show_done(self, done: bool) -> None:
        """Show whether the step is done."""
        self.tick.is_done = done
        self.tick.update()
        set_role(self.label, "muted" if done else "")
        self.label.setAccessibleName(f"{'Done' if done else 'To do'}: {self._spoken}")


@guarded
class FirstStepsCard(FollowsTheme, QFrame):
    """Shows the state of the first steps."""

    def __init__(self, steps: FirstSteps, parent: QWidget) -> None:
        super().__init__(parent)
        self._steps = steps
        self.setObjectName("first-steps")
        self.setAccessibleName("First steps")
        self._title = QLabel("First steps")
        self._title.setProperty("role", "strong")
        self.close_button = QToolButton()
        self.close_button.setAccessibleName("Close the first steps")
        self.close_button.setToolTip("Close; Help brings it back")
        self.close_button.clicked.connect(steps.close)
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self.close_button)
        self.rows = {step.name: StepRow(step) for step in STEPS}
        self.lesson_button = QPushButton("Start the first lesson")
        self.lesson_button.setProperty("primary", "true")
        self.lesson_button.setToolTip("It explains, beside the playground, what these numbers are")
        self.lesson_button.clicked.connect(steps.lesson_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 12)
        column.setSpacing(6)
        column.addLayout(head)
        for row in self.rows.values():
            column.addWidget(row)
        column.addSpacing(2)
        column.addWidget(self.lesson_button, 0, Qt.AlignmentFlag.AlignLeft)

    def refresh(self) -> None:
        """Show the present state."""
        for name, row in self.rows.items():
            row.show_done(name in self._steps.done)
        over = len(self._steps.done) == len(self.rows)
        self._title.setText("First steps: all done" if over else "First steps")
        self.lesson_button.setVisible(self._steps.offers_lesson)

    def restyle(self) -> None:
        """Set the icon of the button."""
        self.close_button.setIcon(icon("close", palette_of(self), px(14)))
        self.close_button.setIconSize(QSize(px(14), px(14)))
