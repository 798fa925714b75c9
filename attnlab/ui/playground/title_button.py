"""The button with the name of the open session or preset; a dot after the name marks changes."""

from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QWidget

from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import mix_disabled
from attnlab.ui.base.themed import palette_of

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

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        palette, face = palette_of(self), self.font()
        painter.setPen(QColor(palette.ink if self.isEnabled() else mix_disabled(palette)))
        middle, name = self.height() / 2, self.text().removesuffix(_DOT + _AFTER)
        x = (self.width() - text_width(self.text(), face)) / 2
        x = draw_text(painter, x, middle, name, face)
        if self.changed:
            draw_text(painter, x, middle, _DOT, face)
        draw_text(painter, x + text_width(_DOT, face), middle, _AFTER, face)
        painter.end()
