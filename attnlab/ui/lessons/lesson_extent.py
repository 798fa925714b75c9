"""One line on a lesson: its steps, minutes and questions, and a bar of what is done."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from attnlab.base.counted import format_count
from attnlab.lessons.duration import estimate_minutes
from attnlab.lessons.lesson import Lesson
from attnlab.lessons.lesson_progress import Progress
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import palette_of

BAR = 110, 6


@guarded
class ShareBar(QWidget):
    """A share as a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)

    def show_share(self, share: float) -> None:
        """Show a share from 0 to 1."""
        self._share = share
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(BAR[0]), px(BAR[1]) + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), palette_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        high = px(BAR[1])
        lane = QRectF(0, (self.height() - high) / 2, self.width(), high)
        painter.setBrush(QColor(palette.hairline))
        painter.drawRoundedRect(lane, high / 2, high / 2)
        if self._share:
            lane.setWidth(max(self._share * lane.width(), high))
            painter.setBrush(QColor(palette.good if self._share >= 1 else palette.accent))
            painter.drawRoundedRect(lane, high / 2, high / 2)


class LessonExtent(QWidget):
    """Says how long a lesson is, and how much of it is done."""

    def __init__(self) -> None:
        super().__init__()
        self._length, self._bar, self._done = QLabel(), ShareBar(), QLabel()
        self._length.setProperty("role", "muted")
        self._done.setProperty("role", "strong")
        row = QHBoxLayout(self)
        row.setContentsMargins(px(8), 0, 0, 0)
        row.setSpacing(px(8))
        for widget in (self._length, self._bar, self._done):
            row.addWidget(widget)

    def show_lesson(self, lesson: Lesson, progress: Progress) -> None:
        """Show the length of a lesson and the progress in it."""
        questions = sum(step.question is not None for step in lesson.steps)
        asked = f" · {format_count(questions, 'question')}" if questions else ""
        count = len(lesson.steps)
        self._length.setText(f"{format_count(count, 'step')} · {estimate_minutes(lesson)} min{asked}")
        share = progress.compute_share(lesson)
        self._bar.show_share(share)
        done = count if share >= 1 else len([step for step in progress.done if step < count])
        self._done.setText(f"{done} of {count}")
        for widget in (self._bar, self._done):
            widget.setVisible(progress.has_begun)
