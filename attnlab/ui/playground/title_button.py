"""The button with the name of the open session or preset; a dot after the name marks changes."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled
from attnlab.ui.base.themed import palette_of

_DOT = " •"
_AFTER = "  ▾"
_LEAST_LETTERS = 6


@guarded
class TitleButton(QPushButton):
    """A button whose width is the same with and without the dot, so that an edit moves nothing in the bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
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

    def _elide_name(self) -> str:
        """Return the name as it fits; the rest of the bar has precedence in a narrow window."""
        name, beside = self.text().removesuffix(_DOT + _AFTER), self.sizeHint().width()
        room = self.width() - (beside - self.fontMetrics().horizontalAdvance(name))
        return self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room) if self.width() < beside else name

    def minimumSizeHint(self) -> QSize:
        whole, name = self.sizeHint(), self.text().removesuffix(_DOT + _AFTER)
        least = self.fontMetrics().horizontalAdvance(name[:_LEAST_LETTERS] + "…")
        return QSize(whole.width() - max(self.fontMetrics().horizontalAdvance(name) - least, 0), whole.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        palette, face = palette_of(self), self.font()
        painter.setPen(QColor(palette.ink if self.isEnabled() else mix_disabled(palette)))
        middle, name = self.height() / 2, self._elide_name()
        x = (self.width() - text_width(name + _DOT + _AFTER, face)) / 2
        x = draw_text(painter, x, middle, name, face)
        if self.changed:
            draw_text(painter, x, middle, _DOT, face)
        draw_text(painter, x + text_width(_DOT, face), middle, _AFTER, face)
        painter.end()
