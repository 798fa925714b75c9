"""A card of the workspace: a title, what it is about at the right, and its content below."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.surface import Surface


@guarded
class Mark(QWidget):
    """The small square before a title, in the colour of its role."""

    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role

    def sizeHint(self) -> QSize:
        return QSize(px(8), px(8))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, side = QPainter(self), px(8)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette_of(self).role(self._role)))
        painter.drawRoundedRect(0, (self.height() - side) // 2, side, side, 2, 2)
        painter.end()


@guarded
class ModelCard(FollowsTheme, Surface):
    """Subclasses add widgets to ``column``, and those beside the title to ``head``."""

    def __init__(self, title: str, role: str = "attention", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(title)
        self.setSizePolicy(
            QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred
        )  # cards beside each other are alike
        self.title, self.about = QLabel(title), ElidedLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setProperty("role", "caption")
        self._mark = Mark(role)
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addWidget(self._mark)
        self.head.addWidget(self.title)
        self.head.addWidget(self.about, 1)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 10, 14, 12)
        self.column.setSpacing(6)
        self.column.addLayout(self.head)

    def restyle(self) -> None:
        """Set the font of the title."""
        self.title.setFont(font("title"))
        self._mark.setFixedWidth(px(8))
