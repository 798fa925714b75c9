"""The stages of a walk, filled as far as they are computed: thumbnails with names, thumbnails, or short bars."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QColor,
    QHelpEvent,
    QHideEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import palette_of

TICKS, BARS, THUMBNAILS, NAMES = range(4)
"""How much is shown of each stage."""
LATE_MS = 150
"""How late thumbnails follow while numbers change, in milliseconds: an edit is not to wait for them."""
_PITCH = {TICKS: 6, BARS: 27, THUMBNAILS: 38}
"""Pixels from one stage to the next at 100 %; with names it follows from the longest one."""
_SIDE, _PAD, _ARROW = 24, 6, 14
"""Pixels at 100 %: the side of a thumbnail, the space around it, and the room of the arrow between two stages."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What is shown: the stages' titles, how many are done, the current one if any, and the step in words."""

    titles: tuple[str, ...] = ()
    done: float = 0.0
    current: int | None = None
    told: str = ""


@guarded
class Progress(QWidget):
    """Shows completed stages, the last perhaps partly; emits the clicked stage and the position in it."""

    spoken_role = QAccessible.Role.ProgressBar

    place_clicked = Signal(int, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps = Steps()
        self.level = BARS
        self._draw: Callable[[Palette], Sequence[QImage]] = lambda palette: ()
        self._drawn: tuple[Palette, Sequence[QImage]] | None = None
        self.late_timer = QTimer(self)
        self.late_timer.setSingleShot(True)
        self.late_timer.setInterval(LATE_MS)
        self.late_timer.timeout.connect(self._on_late)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(60)
        self.setAccessibleName("Steps")

    def show_steps(self, steps: Steps, draw: Callable[[Palette], Sequence[QImage]]) -> None:
        """Show the progress; ``draw`` returns a thumbnail of each stage, and is called when the widget is painted."""
        if steps.told != self._steps.told:
            self.setToolTip(steps.told)
            self.setAccessibleName(f"Steps: {steps.told}")
            self.setAccessibleDescription(steps.told)
        if steps.titles != self._steps.titles:
            self.updateGeometry()
        is_same = steps == self._steps
        self._steps, self._draw = steps, draw
        if not is_same:
            self._on_late()
        elif self.level > BARS and not self.late_timer.isActive():
            self.late_timer.start()

    @Slot()
    def _on_late(self) -> None:
        self._drawn = None
        self.update()

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the stages."""
        return self._steps.titles

    @property
    def pictures(self) -> Sequence[QImage]:
        """The thumbnails that were last painted."""
        return self._drawn[1] if self._drawn is not None else ()

    def show_level(self, level: int) -> None:
        """Show short or long bars, thumbnails, or thumbnails with names."""
        if level != self.level:
            self.level = level
            self.updateGeometry()
            self.update()

    def measure_width(self, level: int) -> int:
        """Return the width in pixels that a level asks for."""
        return round(max(len(self._steps.titles), 1) * self._measure_pitch(level))

    def _measure_pitch(self, level: int) -> float:
        if level != NAMES:
            return px(_PITCH[level])
        longest = max((text_width(title, font("caption_strong")) for title in self._steps.titles), default=0)
        return px(_SIDE) + 3 * px(_PAD) + longest + px(_ARROW)

    def _find_cell(self, index: int) -> QRectF:
        """Return the place of a stage, without the gap or the arrow after it."""
        pitch = self.width() / max(len(self._steps.titles), 1)
        if self.level <= BARS:
            return QRectF(index * pitch, self.height() / 2 - 2, pitch - (6 if pitch > 12 else 2), 4)
        return QRectF(index * pitch, 0, pitch - px(_ARROW), self.height())

    def sizeHint(self) -> QSize:
        return QSize(self.measure_width(self.level), px(_SIDE + 2 * _PAD))  # the bar below has one height at all levels

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.level <= BARS:
            self._paint_bars(painter)
        else:
            self._paint_chain(painter)
        painter.end()

    def _paint_bars(self, painter: QPainter) -> None:
        palette = palette_of(self)
        painter.setPen(Qt.PenStyle.NoPen)
        for index in range(len(self._steps.titles)):
            bar, share = self._find_cell(index), min(max(self._steps.done - index, 0.0), 1.0)
            if share < 1:
                painter.setBrush(QColor(palette.hatch))
                painter.drawRoundedRect(bar, 2, 2)
            if share > 0:
                bar.setWidth(max(bar.width() * share, 4.0))
                painter.setBrush(QColor(palette.accent))
                painter.drawRoundedRect(bar, 2, 2)

    def _paint_chain(self, painter: QPainter) -> None:
        palette, side, pad = palette_of(self), px(_SIDE), px(_PAD)
        if self._drawn is None or self._drawn[0] is not palette:
            self._drawn = palette, self._draw(palette)
        for index, title in enumerate(self._steps.titles):
            cell, is_current = self._find_cell(index), index == self._steps.current
            if is_current:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(palette.control))
                painter.drawRoundedRect(cell.adjusted(0, 1, 0, -1), pad, pad)
            left = cell.x() + (pad if self.level == NAMES else (cell.width() - side) / 2)
            frame = QRectF(left, (cell.height() - side) / 2, side, side)
            painter.setPen(QPen(QColor(palette.accent if is_current else palette.hatch), 1))
            painter.setBrush(QColor(palette.surface))
            painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
            if index < len(self.pictures):
                painter.drawImage(frame.adjusted(2, 2, -2, -2), self.pictures[index])
            if self.level == NAMES:
                painter.setPen(QColor(palette.ink if is_current else palette.muted))
                face = font("caption_strong" if is_current else "caption")
                draw_text(painter, frame.right() + pad, cell.height() / 2, title, face)
            if index + 1 < len(self._steps.titles):
                self._paint_arrow(painter, QPointF(cell.right() + px(_ARROW) / 2, cell.height() / 2))

    def _paint_arrow(self, painter: QPainter, middle: QPointF) -> None:
        reach = px(3)
        painter.setPen(QPen(QColor(palette_of(self).muted), 1.2))
        for down in (-reach, reach):
            painter.drawLine(middle + QPointF(reach / 2, 0), middle + QPointF(-reach / 2, down))

    def showEvent(self, event: QShowEvent) -> None:
        self._drawn = None
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        self.late_timer.stop()
        super().hideEvent(event)

    def _find_place(self, x: float) -> tuple[int, float]:
        """Return the stage at a place, and the position within it from 0 to 1."""
        count = len(self._steps.titles)
        at = min(max(x / max(self.width(), 1) * count, 0.0), count - 1e-6)
        return int(at), at - int(at)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._steps.titles:
            self.place_clicked.emit(*self._find_place(event.position().x()))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._steps.titles:
            title = self._steps.titles[self._find_place(event.pos().x())[0]]
            QToolTip.showText(event.globalPos(), f"{title}: click to go to this stage ({self._steps.told})", self)
            return True
        return super().event(event)
