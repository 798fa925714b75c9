"""The plan of a lecture: a piece for each step, as long as it was planned, and how far behind the speaker is."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of
from attnlab.ui.present.stopwatch import write_clock

NEAR_S = 15
"""Up to this many seconds the speaker is on time."""
GAP = 4


@guarded
class PlanBar(QWidget):
    """Shows planned pieces, filled up to the current step, and one line of words below."""

    spoken_role = QAccessible.Role.ProgressBar

    def __init__(self) -> None:
        super().__init__()
        self._plan: tuple[float, ...] = ()
        self._index, self._began_s, self._first = 0, 0.0, 0
        self.setAccessibleName("Plan")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._size = 13.0
        self.set_size(self._size)

    def set_size(self, size_px: float) -> None:
        """Set the size of the words."""
        self._size = size_px
        self.setFixedHeight(round(14 + 1.8 * size_px))
        self.update()

    def show_plan(self, plan: tuple[float, ...], index: int, began_s: float, first: int = 0) -> None:
        """Show the planned seconds of all steps, the current step, and when it began, in seconds from the start.

        The plan counts from the step ``first``, at which the presentation began.
        """
        self._plan, self._index, self._began_s, self._first = plan, index, began_s, first
        self.setAccessibleName(f"Plan: {self.planned}. {self.told}")
        self.setAccessibleDescription(f"{self.planned}. {self.told}")
        self.update()

    @property
    def planned(self) -> str:
        """The length of the lecture in words."""
        return f"planned {max(1, round(sum(self._plan) / 60))} min"

    @property
    def told(self) -> str:
        """When the step was planned, when it began, and the difference in words."""
        due = sum(self._plan[self._first : self._index])
        late = round(self._began_s - due)
        said = "on time" if abs(late) <= NEAR_S else f"{_span(abs(late))} {'behind' if late > 0 else 'ahead'}"
        return f"this step was planned for {write_clock(due)} and began at {write_clock(self._began_s)} · {said}"

    def sizeHint(self) -> QSize:
        return QSize(400, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        whole = sum(self._plan)
        if not whole:
            return
        painter, palette = QPainter(self), palette_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        x, room = 0.0, self.width() - GAP * (len(self._plan) - 1)
        now = QColor(palette.accent)
        now.setAlphaF(0.55)
        for index, seconds in enumerate(self._plan):
            wide = max(room * seconds / whole, 1.0)
            done = QColor(palette.accent) if index < self._index else now
            painter.setBrush(done if index <= self._index else QColor(palette.hairline))
            painter.drawRoundedRect(QRectF(x, 4, wide, 7), 3, 3)
            x += wide + GAP
        self._write(painter, QRectF(0, 14, self.width(), self.height() - 14))

    def _write(self, painter: QPainter, line: QRectF) -> None:
        """Write the planned length at the left, and at the right how the speaker is, its last words strong."""
        palette, font, bold = palette_of(self), make_face(self._size), make_face(self._size, bold=True)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(font)
        painter.setPen(QColor(palette.muted))
        painter.drawText(line, int(middle | Qt.AlignmentFlag.AlignLeft), self.planned)
        words, _, said = self.told.rpartition(" · ")
        metrics, end = QFontMetricsF(font), QFontMetricsF(bold).horizontalAdvance(said)
        if metrics.horizontalAdvance(f"{self.planned}  {words} · ") + end <= line.width():
            rest = line.adjusted(0, 0, -end, 0)
            painter.drawText(rest, int(middle | Qt.AlignmentFlag.AlignRight), f"{words} · ")
        painter.setFont(bold)
        painter.setPen(QColor(palette.ink))
        painter.drawText(line, int(middle | Qt.AlignmentFlag.AlignRight), said)


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 100 else f"{round(seconds / 60)} min"
