"""All heads at a glance: the weights of every head and their mean; a click chooses what every card shows."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages import kind_of
from attnlab.figures.layout import Limits, arrange
from attnlab.figures.map_painter import MapData, Outline, draw_cells, draw_outlines, draw_titles
from attnlab.figures.raster import limit_of
from attnlab.figures.text import Pen
from attnlab.ui.playground.canvas_card import CanvasCard
from attnlab.ui.playground.still import face

if TYPE_CHECKING:
    from attnlab.attention.trace import Trace
    from attnlab.document.document import View

HINT = "One head. Raise Heads and the maps stand here side by side; click one and every card shows it, or their mean."


class HeadsCard(CanvasCard):
    """Shows one small map for each head; announces the head, "mean" or "all" that was chosen."""

    head_clicked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("heads", parent)

    @property
    def choices(self) -> tuple[int | str, ...]:
        """What each small map stands for: the heads, and with several their mean."""
        n = self._trace.experiment.n_heads if self._trace is not None else 0
        return (*range(n), "mean") if n > 1 else tuple(range(n))

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show the weights of another trace."""
        self._trace, self._view = trace, None
        self.show_view(view)

    def show_view(self, view: "View") -> None:
        """Mark what another view shows; nothing while the weights are not revealed."""
        before, self._view = self._view, view
        if before is None or before.step != view.step:
            self._data = self._collected(view)
            self._arrange()
        if before is None or before.head != view.head:
            assert self._trace is not None
            self.setAccessibleName(f"Heads: {self._trace.experiment.n_heads}, showing {view.head}")
            self.update()

    def _collected(self, view: "View") -> MapData | None:
        assert self._trace is not None
        if view.step is not None and self._trace.stages.index("weights") >= view.step:
            return None
        e, values = self._trace.experiment, self._trace.array("weights")
        if len(values) > 1:
            values = np.concatenate([values, self._trace.mean("weights")[None]])
        titles = tuple("mean" if c == "mean" else f"head {c}" for c in self.choices)
        kind = kind_of(self._trace.stage("weights"), e)
        return MapData(values, kind, limit_of(values, kind), self._trace.shown_mask("weights"), (), (), titles)

    def choice_at(self, position: QPointF) -> int | str | None:
        """Return what the small map under a point stands for."""
        if self._grid is None:
            return None
        for index, choice in enumerate(self.choices):
            if QRectF(*self._grid.rect(index, None, None)).contains(position):
                return choice
        return None

    def _arrange(self) -> None:
        self._grid = None
        if self._data is not None:
            z, (count, rows, columns) = self._zoom, self._data.values.shape
            area = QRectF(self.rect()).adjusted(12 * z, 46 * z, -12 * z, -12 * z)
            if count == 1:
                area.setWidth(min(area.width() * 0.4, area.height()))
            side = 16 * z
            title = 12 * z if count > 1 else 0.0
            limits = Limits(side, side, 0, title, title)
            rect = (area.x(), area.y(), area.width(), area.height())
            self._grid = arrange(rect, rows, columns, count, limits, True, self.devicePixelRatioF())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        heads = self._trace.experiment.n_heads if self._trace is not None else 0
        self.still.draw(painter, (self._palette, self._zoom, self.hasFocus(), heads), self._paint_still)
        if self._data is not None and self._grid is not None:
            self._paint_maps(painter)
        painter.end()

    def _paint_still(self, painter: QPainter) -> None:
        """Paint ground and header."""
        z, p = self._zoom, self._palette
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, "Heads", "neutral")
        pen = Pen(painter, face("caption", z))
        painter.setPen(QColor(p.muted))
        pen.draw(12 * z, 35 * z, pen.elided("weights of every head, at a glance", self.width() - 24 * z))
        if self._trace is not None:
            pen.draw(self.width() - 12 * z, 18 * z, str(self._trace.experiment.n_heads), 1.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_maps(self, painter: QPainter) -> None:
        assert self._data is not None
        assert self._grid is not None
        draw_cells(painter, self._grid, self._data, self._palette)
        draw_titles(painter, self._grid, self._data, self._palette, face("tiny", self._zoom))
        if self._grid.count == 1:
            left = self._grid.x + self._grid.width + 16
            painter.setPen(QColor(self._palette.muted))
            painter.setFont(face("caption", self._zoom))
            room = QRectF(left, self._grid.y, self.width() - left - 12, self.height() - self._grid.y - 8)
            painter.drawText(room, Qt.TextFlag.TextWordWrap, HINT)
        elif self._view is not None and self._view.head in self.choices:
            index = self.choices.index(self._view.head)
            draw_outlines(painter, self._grid, [Outline(index, None, None, self._palette.accent, 2.5)])

    def _choose(self, choice: int | str) -> None:
        current = self._view.head if self._view is not None else None
        self.head_clicked.emit("all" if choice == current else choice)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        choice = self.choice_at(event.position())
        if choice is not None and len(self.choices) > 1:
            self._choose(choice)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or len(self.choices) < 2 or self._view is None:
            super().keyPressEvent(event)
            return
        choices = ("all", *self.choices)
        self.head_clicked.emit(choices[(choices.index(self._view.head) + step) % len(choices)])
