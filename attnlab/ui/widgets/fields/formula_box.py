"""A check box whose label may have subscripts, as in ``W_q``."""

import math

from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QStyle, QStyleOptionButton, QStylePainter

from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled
from attnlab.ui.base.themed import palette_of

TAIL = 1.45
"""The height of a line with a subscript in heights of its font: a lowered tail, and as much above."""


@guarded
class FormulaBox(QCheckBox):
    """A check box that draws its text itself; the text stays plain, its subscripts after an underscore."""

    def sizeHint(self) -> QSize:
        """Return the size of a check box with room for the tail of a subscript, as that of a q, and as much above."""
        size, height = super().sizeHint(), self.fontMetrics().height()
        size.setWidth(size.width() - self.fontMetrics().horizontalAdvance(self.text()) + self._measure_text())
        return QSize(size.width(), max(size.height(), round(TAIL * height)))

    def minimumSizeHint(self) -> QSize:
        """Return the size in which the whole text is seen."""
        return self.sizeHint()

    def _measure_text(self) -> int:
        return math.ceil(text_width(self.text(), self.font()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        label = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxContents, option, self)
        option.text = ""
        painter.drawControl(QStyle.ControlElement.CE_CheckBox, option)
        palette = palette_of(self)
        painter.setPen(QColor(palette.ink if self.isEnabled() else mix_disabled(palette)))
        middle = label.y() + label.height() / 2
        draw_text(painter, label.x(), middle, self.text(), self.font())
        if self.hasFocus() and option.state & QStyle.StateFlag.State_KeyboardFocusChange:
            option.rect = self.rect()
            painter.drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, option)
        painter.end()
