"""The button with the name of the open session or preset; a dot after the name marks changes."""

import math

from PySide6.QtGui import QFontMetricsF, QPaintEvent, QRegion
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from attnlab.ui.base.guard import guarded

_DOT = " •"
_AFTER = "  ▾"


@guarded
class TitleButton(QPushButton):
    """A button whose width is the same with and without the dot, so that an edit moves nothing in the bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self.changed = False

    def show_title(self, name: str, *, changed: bool) -> None:
        """Show a name, and whether it was changed since it was saved."""
        self.setAccessibleName(f"Open a preset; now {name}{', changed' if changed else ''}")
        if (name, changed) == (self._name, self.changed):
            return
        self._name, self.changed = name, changed
        self.setText((name if len(name) <= 24 else name[:23] + "…") + _DOT + _AFTER)
        self.update()

    def title(self) -> str:
        """Return its text, without the arrow."""
        text = self.text().removesuffix(_AFTER)
        return text if self.changed else text.removesuffix(_DOT)

    def _dot_region(self) -> QRegion:
        """Return the rectangle of the dot in the centred text, with a little of the spaces around it."""
        metrics, text = QFontMetricsF(self.font()), self.text()
        before, dot = text.removesuffix(_DOT + _AFTER) + _DOT[:-1], _DOT[-1]
        left = (self.width() - metrics.horizontalAdvance(text)) / 2 + metrics.horizontalAdvance(before)
        return QRegion(round(left) - 1, 0, math.ceil(metrics.horizontalAdvance(dot)) + 3, self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        if not self.changed:
            painter.setClipRegion(QRegion(self.rect()).subtracted(self._dot_region()))
        painter.drawControl(QStyle.ControlElement.CE_PushButtonLabel, option)
