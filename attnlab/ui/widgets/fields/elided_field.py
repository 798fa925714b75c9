"""A field for a long text: it shows the beginning and the end of the text while nobody types in it."""

from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionFrame, QStylePainter, QToolTip

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.widgets.fields.undo_fields import TextField

BESIDE = 2
"""The pixels that Qt leaves at both sides of a field's text."""


@guarded
class ElidedField(TextField):
    """Leaves out the middle of a text that is too long; its tool tip then begins with the whole text."""

    @property
    def visible_text(self) -> str:
        """The visible part of the text while nobody types in the field."""
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self._find_room().width())

    def _find_room(self) -> QRect:
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        room = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self)
        return room.marginsRemoved(self.textMargins()).adjusted(BESIDE, 0, -BESIDE, 0)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.visible_text != self.text():
            told = "\n".join(filter(None, (self.text(), self.toolTip())))
            QToolTip.showText(event.globalPos(), plain_tip(told), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.hasFocus() or self.visible_text == self.text():
            super().paintEvent(event)
            return
        painter, option = QStylePainter(self), QStyleOptionFrame()
        self.initStyleOption(option)
        painter.drawPrimitive(QStyle.PrimitiveElement.PE_PanelLineEdit, option)
        painter.setPen(option.palette.text().color())
        painter.drawText(
            self._find_room(), int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft), self.visible_text
        )
        painter.end()
