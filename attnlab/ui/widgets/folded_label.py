"""A label of one line that folds its text into two smaller ones where it is too long for one."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetrics, QFontMetricsF, QPainter, QPaintEvent

from attnlab.figures.subscripts import draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.widgets.broken_text import break_text
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.shortened_paths import shorten_paths

FILLED = 1.5
"""How many lines a text with paths fills at most, as words leave some room at the end of the first."""
NARROWEST = 110
"""A narrower label has one line only, in pixels at 100 %."""


@guarded
class FoldedLabel(ElidedLabel):
    """Takes the space that is left, as an :class:`ElidedLabel` does; a text too long for two lines is cut."""

    def break_lines(self) -> tuple[QFont, list[str]]:
        """Return the visible lines and their font."""
        room, small = self.contentsRect(), font("caption")
        shown = super().visible_text
        too_small = room.width() < px(NARROWEST) or 2 * QFontMetricsF(small).lineSpacing() > room.height()
        if shown == self.text() or too_small:
            return self.font(), [shown]
        text = shorten_paths(self.text(), QFontMetrics(small), FILLED * room.width())
        return small, break_text(text, small, room.width(), 2)

    @property
    def visible_text(self) -> str:
        """The visible part of the text."""
        return " ".join(self.break_lines()[1])

    def paintEvent(self, event: QPaintEvent) -> None:
        face, lines = self.break_lines()
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.setFont(face)
        room, high = QRectF(self.contentsRect()), QFontMetricsF(face).lineSpacing()
        top = room.center().y() - len(lines) * high / 2
        for place, line in enumerate(lines):
            at = QRectF(room.x(), top + place * high, room.width(), high)
            if self.lowers_indices:
                draw_text(painter, at.x(), at.center().y(), line, face)
            else:
                painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), line)
        painter.end()
