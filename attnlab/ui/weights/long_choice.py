"""A combo box for long titles in little space: the chosen title is shortened, the list is as wide as needed."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.widgets.formula_items import FormulaChoice

APART = "  "
"""Separates the main part of a title from the part shown in the list only."""
_WIDEST = 460
_LOOKED_AT = 400
"""The number of titles measured; with thousands of titles, some may be shortened."""
_LINES = 14
_PADDING = 48
"""Pixels of a line, the frame and the scroll bar beside a title."""


@guarded
class LongChoice(FormulaChoice):
    """May be narrower than its titles; its list scrolls, as set in the style sheet."""

    def __init__(self, choices: Sequence[tuple[str, object]] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setMaxVisibleItems(_LINES)
        self.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for title, value in choices:
            self.addItem(title, value)

    def choose(self, value: object) -> None:
        """Show a value; if it is not in the list, the first one."""
        self.setCurrentIndex(max(self.findData(value), 0))

    def elide_text(self) -> str:
        """Return the visible part of the chosen title."""
        room = self.measure_room()
        metrics, title = QFontMetrics(self.font()), self.currentText()
        if metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, room - 2) == title:
            return title
        return metrics.elidedText(title.split(APART)[0], Qt.TextElideMode.ElideMiddle, room - 2)

    def showPopup(self) -> None:
        metrics = self.view().fontMetrics()
        titles = (self.itemText(place) for place in range(min(self.count(), _LOOKED_AT)))
        widest = max((metrics.horizontalAdvance(title) for title in titles), default=0)
        self.view().setMinimumWidth(min(widest + px(_PADDING), px(_WIDEST)))
        super().showPopup()
