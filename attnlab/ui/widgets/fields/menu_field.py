"""A button among the fields of a form that opens a menu; its text begins where those of lists do."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled, px
from attnlab.ui.base.themed import palette_of

LEFT, ARROW = 12, 12
"""The place of the text and the width of the arrow, as in the style sheet; the arrow grows with the type."""


@guarded
class MenuField(QPushButton):
    """Draws its text itself: with a style sheet for its arrow, Qt ignores the padding of a text at the left."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        palette = palette_of(self)
        painter.setPen(QColor(palette.ink if self.isEnabled() else mix_disabled(palette)))
        room = QRect(LEFT, 0, self.width() - 2 * LEFT - px(ARROW), self.height())
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), text)
        painter.end()
