"""A check box whose label may have subscripts, as in ``W_q``."""

from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QStyle, QStyleOptionButton, QStylePainter

from attnlab.figures.subscripts import draw_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled
from attnlab.ui.base.themed import palette_of


@guarded
class FormulaBox(QCheckBox):
    """A check box that draws its text itself; the text stays plain, its subscripts after an underscore."""

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
