"""Shows a tool tip beside the rows of a widget, which it would cover below the pointer."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.ui.base.theme import px

SHIFT = QPoint(2, 16)
"""Qt shows a tool tip at least so far from its point, in pixels."""
MARGIN = 34
"""The room around the text of a tool tip and beside it, in pixels at 100 %."""


def show_beside(text: str, widget: QWidget, row: QRect) -> None:
    """Show a tool tip at the left of a widget, level with one of its rows; at its right if there is no room."""
    document = QTextDocument()
    document.setDefaultFont(QToolTip.font())
    document.setHtml(text)
    level = row.y() - SHIFT.y()
    left = widget.mapToGlobal(QPoint(-round(document.idealWidth()) - px(MARGIN), level))
    right = widget.mapToGlobal(QPoint(widget.width() + SHIFT.x(), level))
    fits = left.x() >= widget.screen().availableGeometry().left()
    QToolTip.showText(left - QPoint(SHIFT.x(), 0) if fits else right, text, widget, row)
