"""Lists and combo boxes whose titles may have subscripts, as in ``W_q``; the titles stay plain texts."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
    QWidget,
)

from attnlab.figures.subscripts import cut_text, draw_text, spans
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled
from attnlab.ui.base.themed import palette_of


@guarded
class FormulaItems(QStyledItemDelegate):
    """Draws the items of a list as Qt does, with their indices lowered."""

    lowers_indices = True

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        made, view = QStyleOptionViewItem(option), option.widget
        self.initStyleOption(made, index)
        text = made.text
        if not any(low for _, low in spans(text)):
            super().paint(painter, option, index)
            return
        style = view.style()
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, made, view)
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, made, view) + 1  # as Qt leaves beside texts
        room = room.adjusted(margin, 0, -margin, 0)
        made.text = ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, made, painter, view)
        palette = palette_of(view)
        muted = index.data(Qt.ItemDataRole.ForegroundRole)
        ink = palette.ink if made.state & QStyle.StateFlag.State_Enabled else mix_disabled(palette)
        painter.save()
        painter.setPen(muted.color() if muted is not None else QColor(ink))
        text = cut_text(text, made.font, room.width(), made.textElideMode)
        draw_text(painter, room.x(), room.y() + room.height() / 2, text, made.font)
        painter.restore()


@guarded
class FormulaChoice(QComboBox):
    """A combo box that draws the chosen title, and those of its list, with their indices lowered."""

    lowers_indices = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(FormulaItems(self))

    def elide_text(self) -> str:
        """Return the visible part of the chosen title."""
        return self.currentText()

    def measure_room(self) -> int:
        """Return the width in pixels of the field of the title."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._find_field(option).width()

    def _find_field(self, option: QStyleOptionComboBox) -> QRect:
        field = QStyle.SubControl.SC_ComboBoxEditField
        return self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self)

    def paintEvent(self, event: QPaintEvent) -> None:
        is_chosen = self.currentIndex() >= 0 or self.isEditable()
        title = self.elide_text() if is_chosen else self.placeholderText()
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = title
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        if self.isEditable() or (is_chosen and not any(low for _, low in spans(title))):
            painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        else:
            room, palette = self._find_field(option), palette_of(self)
            ink = palette.ink if is_chosen else palette.muted
            painter.setPen(QColor(ink if self.isEnabled() else mix_disabled(palette)))
            draw_text(painter, room.x() + 1, room.y() + room.height() / 2, title, self.font())
        painter.end()
