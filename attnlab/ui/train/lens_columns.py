"""Columns of the answers after each layer, one for each place of the probe, of which one is chosen."""

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from attnlab.figures.palette import Palette, mix
from attnlab.figures.subscripts import text_width
from attnlab.figures.text import Pen
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.answer_columns import HEAD, ROW, AnswerColumns
from attnlab.ui.train.stream_words import LensColumn
from attnlab.ui.widgets.maps.drawn import Drawn


@guarded
class LensColumns(AnswerColumns):
    """Shows columns; ``chosen`` carries the index of the one that is clicked, or reached with the keys."""

    chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._chosen = 0
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)

    def choose(self, index: int) -> None:
        """Mark a column, and scroll to it if it is another one."""
        if index != self._chosen:
            self._chosen = index
            self.show_place(index)

    def name_cell(self, place: int) -> str:
        return f"{super().name_cell(place)}{', chosen' if place == self._chosen else ''}"

    def paint_columns(self, painter: QPainter, visible: Sequence[tuple[int, QRect]], palette: Palette) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(mix(palette.accent, palette.surface, 0.86)))
        for index, rect in visible:
            if index == self._chosen:
                painter.drawRoundedRect(QRectF(rect).adjusted(1, 0, -1, 0), px(4), px(4))
        super().paint_columns(painter, visible, palette)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        at = self.item_at(event.position().toPoint())
        if at is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.isAccepted() and self._columns:
            self.chosen.emit(self._cursor)


@guarded
class StageNames(Drawn):
    """The names of the stages, each at the height of its line."""

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def show_names(self, names: Sequence[str]) -> None:
        """Show other names."""
        self._names = tuple(names)
        self.setAccessibleName(f"Lines: {', '.join(names)}")
        self._arrange()

    def _arrange(self) -> None:
        super()._arrange()
        self.updateGeometry()

    def tool_tip(self, at: QPointF) -> str:
        return ""

    def sizeHint(self) -> QSize:
        face = font("caption")
        widest = max((text_width(name, face) for name in self._names), default=0.0)
        return QSize(math.ceil(widest), px(HEAD) + len(self._names) * px(ROW))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        pen = Pen(painter, font("caption"))
        painter.setPen(QColor(self._palette.muted))
        for line, name in enumerate(self._names):
            pen.draw(0, px(HEAD) + (line + 0.5) * px(ROW), name)
        painter.end()


class LensTable(QWidget):
    """The columns with the names of the stages at their left."""

    def __init__(self) -> None:
        super().__init__()
        self.names, self.columns = StageNames(), LensColumns("Answers after each layer")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.names, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.columns, 1)

    def show_columns(self, columns: Sequence[LensColumn]) -> None:
        """Show other columns, which all have the same stages."""
        self.names.show_names(columns[0].stages if columns else ())
        self.columns.show_columns(columns)
