"""A label of one line that shortens its text with … to fit; its tool tip then shows the whole text."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from attnlab.figures.subscripts import draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.widgets.shortened_paths import shorten_paths
from attnlab.ui.widgets.subscripts import write_tip


@guarded
class ElidedLabel(QLabel):
    """Takes the space that is left; ``text`` is the whole text, ``visible_text`` the part that fits.

    The middle of a path is left out first. With a ``separator`` whole parts are left out from the end, so that no
    number is cut in two.
    """

    def __init__(self, parent: QWidget | None = None, separator: str = "") -> None:
        super().__init__(parent)
        self._separator = separator
        self.whole = False
        """Whether the text is shown as a whole or not at all."""
        self.brief = ""
        """What is shown where not even the first part has room, if this has."""
        self.lowers_indices = False
        """Whether ``d_k`` is drawn with its index lowered; names of files must not be."""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumWidth(0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def visible_text(self) -> str:
        """The visible part of the text; "" if there is no room for a word."""
        room = self.contentsRect().width()
        whole = shorten_paths(self.text(), self.fontMetrics(), room)
        parts = whole.split(self._separator) if self._separator else [whole]
        for count in range(len(parts), 0, -1):
            fits = self._separator.join(parts[:count])
            if self.fontMetrics().horizontalAdvance(fits) <= room:
                return fits
        if self.brief and self.fontMetrics().horizontalAdvance(self.brief) <= room:
            return self.brief
        if self.whole:
            return ""
        short = self.fontMetrics().elidedText(parts[0], Qt.TextElideMode.ElideRight, room)
        return short if len(short) > 4 or short == whole else ""

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and not self.toolTip():
            write = write_tip if self.lowers_indices else plain_tip
            QToolTip.showText(event.globalPos(), write(self.text()) if self.visible_text != self.text() else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.setFont(self.font())
        place = self.contentsRect()
        if self.lowers_indices:
            draw_text(painter, place.x(), place.y() + place.height() / 2, self.visible_text, self.font())
        else:
            aligned = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
            painter.drawText(place, int(aligned), self.visible_text)
        painter.end()
