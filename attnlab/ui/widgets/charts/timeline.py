"""A slider over recorded moments, not a plot: the current moment, marks, and the loss at each in tool tips."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import draw_focus_ring, mix_disabled, px
from attnlab.ui.widgets.maps.drawn import Drawn

PAGE = 10
"""The moments that Page Up and Page Down move by."""


@dataclass(frozen=True, slots=True)
class TimeMark:
    """A marked moment and the reason for it: the user's ``own``, or a suggested one."""

    step: int
    text: str
    own: bool = False


@guarded
class Timeline(HasCells, KeepsKeys, Drawn):
    """Shows moments by their steps; ``moment_chosen`` carries the index of the chosen one."""

    cells_role, cell_role = QAccessible.Role.List, QAccessible.Role.ListItem
    moment_chosen = Signal(int)
    play_requested = Signal()
    mark_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._losses: NDArray[np.float64] = np.zeros(0)
        self._marks: tuple[TimeMark, ...] = ()
        self._current = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._describe()

    @property
    def steps(self) -> NDArray[np.int64]:
        """The steps of the moments shown."""
        return self._steps

    @property
    def current(self) -> int:
        """The index of the current moment; 0 if there are no moments."""
        return self._current

    @property
    def marks(self) -> tuple[TimeMark, ...]:
        """The marks shown."""
        return self._marks

    def restyle(self) -> None:
        super().restyle()
        self.updateGeometry()

    def show_moments(self, steps: ArrayLike, losses: ArrayLike) -> None:
        """Show moments by their steps, in ascending order, and their losses."""
        self._steps, self._losses = np.asarray(steps, dtype=np.int64), np.asarray(losses, dtype=np.float64)
        self._current = min(self._current, max(len(self._steps) - 1, 0))
        self._describe()
        self.update()

    def show_marks(self, marks: Sequence[TimeMark]) -> None:
        """Show these marks as diamonds."""
        self._marks = tuple(marks)
        self.update()

    def show_current(self, index: int) -> None:
        """Mark the current moment, by its index."""
        self._current = min(max(index, 0), max(len(self._steps) - 1, 0))
        self._describe()
        self.update()

    def take_key(self, key: Qt.Key) -> None:
        """Move by an arrow, Page Up or Down, Home or End."""
        way = _WAYS[key]
        self._choose(self._current + way if abs(way) <= PAGE else (0 if way < 0 else len(self._steps) - 1))

    def place_of(self, index: int) -> QPointF:
        """Return the position of a moment, in pixels."""
        return QPointF(self._x(int(self._steps[index])), self._middle())

    def moment_at(self, x: float) -> int | None:
        """Return the index of the moment nearest to a pixel; None if there are no moments."""
        if not len(self._steps):
            return None
        left, width = self._span()
        first, last = int(self._steps[0]), int(self._steps[-1])
        step = first + (x - left) / max(width, 1) * (last - first)
        right = min(int(np.searchsorted(self._steps, step)), len(self._steps) - 1)
        before = max(right - 1, 0)
        return before if step - self._steps[before] < self._steps[right] - step else right

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point: a mark's text, and step and loss of the nearest moment."""
        index = self.moment_at(at.x())
        if index is None:
            return "Nothing is recorded yet; go back to earlier steps of the training here"
        marks = [mark.text for mark in self._marks if abs(self._x(mark.step) - at.x()) <= px(6)]
        return "\n".join([*marks, self._describe_moment(index)])

    def count_cells(self) -> int:
        return len(self._steps)

    def name_cell(self, place: int) -> str:
        marks = [mark.text for mark in self._marks if mark.step == int(self._steps[place])]
        moment = self._describe_moment(place).replace(" · ", ", ")
        return speak_text(", ".join([f"moment {place + 1} of {len(self._steps)}", moment, *marks]))

    def locate_cell(self, place: int) -> QRectF:
        at, half = self.place_of(place), px(6)
        return QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half)

    def find_cell(self, at: QPointF) -> int | None:
        return self.moment_at(at.x())

    @property
    def current_cell(self) -> int | None:
        return self._current if len(self._steps) else None

    def _describe_moment(self, index: int) -> str:
        return f"step {self._steps[index]:,} · loss {self._losses[index]:.4g}".replace("-", "−")

    def _describe(self) -> None:
        count = len(self._steps)
        told = (
            f"moment {self._current + 1} of {count}, {self._describe_moment(self._current)}"
            if count
            else "nothing is recorded"
        )
        self.setAccessibleName(f"Time line: {told}")

    def _span(self) -> tuple[float, float]:
        """Return the start and the length of the line, in pixels."""
        edge = px(9)
        return float(edge), float(self.width() - 2 * edge)

    def _middle(self) -> float:
        return self.height() / 2 + px(3)

    def _x(self, step: int) -> float:
        left, width = self._span()
        first, last = int(self._steps[0]), int(self._steps[-1])
        return left + (step - first) / max(last - first, 1) * width

    def _choose(self, index: int) -> None:
        index = min(max(index, 0), len(self._steps) - 1)
        if index >= 0:
            self.show_current(index)
            self.tell_cell()
            self.moment_chosen.emit(index)

    def _drag_to(self, at: QPointF) -> None:
        index = self.moment_at(at.x())
        if index is not None:
            if index != self._current:
                self._choose(index)
            QToolTip.showText(self.mapToGlobal(QPoint(int(at.x()), -px(30))), self._describe_moment(index), self)

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(36))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(80), px(36))

    def keeps_key(self, event: QKeyEvent) -> bool:
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        return plain and (event.key() in _WAYS or event.key() in (Qt.Key.Key_Space, Qt.Key.Key_M))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.keeps_key(event) or not len(self._steps):
            super().keyPressEvent(event)
        elif event.key() == Qt.Key.Key_Space:
            self.play_requested.emit()
        elif event.key() == Qt.Key.Key_M:
            self.mark_requested.emit(int(self._steps[self._current]))
        else:
            self.take_key(Qt.Key(event.key()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and len(self._steps):
            near = [mark for mark in self._marks if abs(self._x(mark.step) - event.position().x()) <= px(6)]
            on_mark = near and event.position().y() < self._middle() - px(4)
            index = self.moment_at(self._x(near[0].step) if on_mark else event.position().x())
            assert index is not None
            self._choose(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and len(self._steps):
            self._drag_to(event.position())

    def paintEvent(self, event: QPaintEvent) -> None:
        p, (left, width), middle = self._palette, self._span(), self._middle()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        thick = px(4)
        line = QRectF(left, middle - thick / 2, width, thick)
        painter.setBrush(QColor(p.hatch if len(self._steps) else p.control))
        painter.drawRoundedRect(line, thick / 2, thick / 2)
        if not len(self._steps):
            painter.end()
            return
        at = self._x(int(self._steps[self._current]))
        painter.setBrush(QColor(p.accent if self.isEnabled() else mix_disabled(p)))
        painter.drawRoundedRect(QRectF(left, line.y(), at - left, thick), thick / 2, thick / 2)
        painter.drawEllipse(QPointF(at, middle), px(6), px(6))
        for mark in self._marks:
            painter.setBrush(QColor(p.attention if mark.own else p.key))
            painter.drawPolygon(_diamond(self._x(mark.step), middle - px(10), px(5)))
        if self.hasFocus():
            ring = px(10)
            draw_focus_ring(painter, QRectF(at - ring, middle - ring, 2 * ring, 2 * ring), p, ring)
        painter.end()


_WAYS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -PAGE,
    Qt.Key.Key_PageDown: PAGE,
    Qt.Key.Key_Home: -PAGE - 1,
    Qt.Key.Key_End: PAGE + 1,
}


def _diamond(x: float, y: float, half: float) -> QPolygonF:
    return QPolygonF([QPointF(x, y - half), QPointF(x + half, y), QPointF(x, y + half), QPointF(x - half, y)])
