"""A row of a pill's popup: one choice, with a tick if it is the current one."""

from functools import lru_cache

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QRadioButton, QWidget

from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, mix_disabled, plain_tip, px, scale
from attnlab.ui.base.themed import palette_of
from attnlab.ui.widgets.fields.choice import Choice

_WIDEST, _LEADING = 380, 15
"""The width of a description's lines and their distance, in pixels at 100 %."""


@lru_cache(maxsize=512)  # Qt asks each row for its size about four times whenever the style changes
def break_lines(text: str, size: float) -> tuple[str, ...]:
    """Return a description broken into lines; ``size``, the size of type, decides where."""
    face, widest = font("caption"), round(_WIDEST * size)
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", face) <= widest:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)


@guarded
class PillRow(QRadioButton):
    """One choice: a tick if it is the current one, its title, and below it a muted description."""

    hovered = Signal()

    def __init__(self, choice: Choice, current: bool, parent: QWidget) -> None:
        super().__init__(choice.title, parent)
        self.choice = choice
        self.setAutoExclusive(False)
        self.setChecked(current)
        self.setEnabled(choice.usable)
        self.setAccessibleName(choice.title)
        self.setAccessibleDescription(". ".join(filter(None, (choice.description, choice.reason))))
        self.setToolTip(plain_tip(choice.reason))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        lines = self._lines()
        widths = [text_width(self.choice.title, font("text")), *(text_width(line, font("caption")) for line in lines)]
        return QSize(
            px(28) + round(max(widths)) + px(14), px(30 + (14 if lines else 0) + _LEADING * max(len(lines) - 1, 0))
        )

    def _lines(self) -> tuple[str, ...]:
        return break_lines(self.choice.description, scale())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        self.hovered.emit()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self.update()
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        p, live = palette_of(self), self.isEnabled()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus() or (live and self.underMouse()):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.control))
            painter.drawRoundedRect(QRectF(self.rect()), px(6), px(6))
        lines = self._lines()
        middle = self.height() / 2 - px(8 + _LEADING * (len(lines) - 1) / 2 if lines else 0)
        if self.isChecked():
            self._tick(painter, middle)
        painter.setPen(QColor(p.ink if live else mix_disabled(p)))
        draw_text(painter, px(28), middle, self.choice.title, font("strong" if self.isChecked() else "text"))
        painter.setPen(QColor(mix_disabled(p) if self.choice.reason else p.muted))
        for place, line in enumerate(lines):
            draw_text(painter, px(28), middle + px(17 + _LEADING * place), line, font("caption"))
        painter.end()

    def _tick(self, painter: QPainter, middle: float) -> None:
        pen = QPen(QColor(palette_of(self).accent), 2 * px(10) / 10)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        at = QPoint(px(10), round(middle))
        painter.drawPolyline([at, at + QPoint(px(3), px(3)), at + QPoint(px(9), -px(4))])
