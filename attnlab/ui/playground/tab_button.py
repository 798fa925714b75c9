"""A tab with a name such as W_q, with its subscript."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolButton, QWidget

from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import palette_of


@guarded
class TabButton(QToolButton):
    """A checkable button of a tab row; the checked one is highlighted. ``air`` is the room beside its text."""

    def __init__(self, title: str, about: str = "", parent: QWidget | None = None, *, air: int = 10) -> None:
        super().__init__(parent)
        self._air = air
        self.setText(title)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setAccessibleName(f"Table {title}")
        self.setToolTip(about)

    def sizeHint(self) -> QSize:
        return QSize(round(text_width(self.text(), font("strong"))) + 2 * px(self._air), px(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        p = palette_of(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.control))
            painter.drawRoundedRect(QRectF(self.rect()), px(6), px(6))
        face = font("strong" if self.isChecked() else "text")
        painter.setPen(QColor(p.ink if self.isChecked() else p.muted))
        draw_text(painter, (self.width() - text_width(self.text(), face)) / 2, self.height() / 2, self.text(), face)
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), p, px(6))
        painter.end()
