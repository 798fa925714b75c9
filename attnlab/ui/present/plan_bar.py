"""The plan of a lecture: a piece for each step, as long as it was planned, and how far behind the speaker is."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.slides.slide_text import make_face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of

NEAR_S = 15
"""Up to this many seconds the speaker is on time."""
GAP = 4


@guarded
class PlanBar(QWidget):
    """Shows planned pieces, filled up to the current step, and one line of words below."""

    def __init__(self) -> None:
        super().__init__()
        self._plan: tuple[float, ...] = ()
        self._index, self._began_s = 0, 0.0
        self.setAccessibleName("Plan")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(40)

    def show_plan(self, plan: tuple[float, ...], index: int, began_s: float) -> None:
        """Show the planned seconds of all steps, the current step, and when it began, in seconds from the start."""
        self._plan, self._index, self._began_s = plan, index, began_s
        self.setAccessibleDescription(f"{self.planned}. {self.told}")
        self.update()

    @property
    def planned(self) -> str:
        """The length of the lecture in words."""
        return f"planned {max(1, round(sum(self._plan) / 60))} min"

    @property
    def told(self) -> str:
        """When the step was planned, when it began, and the difference in words."""
        due = sum(self._plan[: self._index])
        late = round(self._began_s - due)
        said = "on time" if abs(late) <= NEAR_S else f"{_span(abs(late))} {'behind' if late > 0 else 'ahead'}"
        return f"this step was planned for {_clock(due)} and began at {_clock(self._began_s)} · {said}"

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
        painter.setFont(make_face(13))
        painter.setPen(QColor(palette.muted))
        line = QRectF(0, 16, self.width(), 22)
        painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self.planned)
        used = QFontMetricsF(make_face(13)).horizontalAdvance(f"{self.planned}  {self.told}")
        told = self.told if used <= self.width() else self.told.rpartition(" · ")[2]
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), told)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 100 else f"{round(seconds / 60)} min"
