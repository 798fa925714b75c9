"""The interactive card of a stage: pointing, clicking, panning, painting the mask, and keys."""

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QHideEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.table import Stage, kind_of
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import plain_tip
from attnlab.ui.playground.brush import Brush
from attnlab.ui.playground.canvas_card import BAR_TIP
from attnlab.ui.playground.canvas_lengths import HEADER
from attnlab.ui.playground.stage_face import StageFace
from attnlab.ui.playground.stage_maps import cell_text
from attnlab.ui.playground.weight_drag import WeightDrag
from attnlab.ui.widgets.maps.spoken_maps import move_cell

_STEPS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
"""Keys that walk the steps, unless a cell is held."""
DRAG_START_PX = 4
MASK_AXES = ("query", "key")


@guarded
class StageCard(StageFace):
    """Shows one stage of a trace; emits a signal for each of the user's actions and does not act on them."""

    cell_hovered = Signal(object)
    cell_clicked = Signal(object)
    cell_moved = Signal(object)
    """An arrow key chose a cell: unlike a second click it never releases the cell."""
    title_double_clicked = Signal(str)
    brushed = Signal(object, bool)
    """The brush first crossed this cell in its stroke; and whether the cell is the first of the stroke."""
    stroke_ended = Signal()
    weight_dragged = Signal(object, float, QPoint)
    """Shift and a drag: the cell, what its weight should be, and the pointer's place on the screen."""
    weight_dropped = Signal(object, float)
    """The end of such a drag."""

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage, parent)
        self._tipped = False
        self._pressed: QPointF | None = None
        self._panning = False
        self._brush: Brush | None = None
        self._weight_drag: tuple[Cell, WeightDrag] | None = None
        self.setMouseTracking(True)

    def _tell_cell(self, cell: Cell | None) -> None:
        """Describe the selected cell, and remove the tip if Escape released it."""
        super()._tell_cell(cell)
        if cell is None and self._tipped:
            self._tipped = False
            QToolTip.hideText()

    def set_painting(self, on: bool) -> None:
        """Make the left button a brush, or not, if the cells are those of a mask."""
        on = on and self.stage.axes[-2:] == MASK_AXES
        if on == self._painting:
            return
        self._end_stroke()
        self._painting = on
        self.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)
        self._describe_again()
        self.update()

    def _brush_to(self, position: QPointF) -> None:
        """Emit the cells that the brush crosses on its way to a point."""
        brush = self._brush
        for index, row, column in brush.move(self.grid, position) if brush and self.grid else ():
            if self._data is not None and column >= self._data.values.shape[2] - self._data.aside:
                continue
            if brush and brush is self._brush:  # a slot may have ended the stroke
                first, brush.used = not brush.used, True
                self.brushed.emit(Cell(self.stage.name, row, column, self._heads[index]), first)

    def _end_stroke(self) -> None:
        if self._brush is not None:
            self._brush = None
            self.stroke_ended.emit()

    def cell_at(self, position: QPointF) -> Cell | None:
        """Return the cell under a point of the card."""
        hit = self.grid.hit(position.x(), position.y()) if self.grid else None
        if hit is None or self._data is None:
            return None
        index, row, column = hit
        beside = column >= self._data.values.shape[2] - self._data.aside
        return None if beside else Cell(self.stage.name, row, column, self._heads[index])

    def _tip_at(self, position: QPointF) -> str:
        """Return the tool tip of the cell under a point; among several maps it begins with the title of the map."""
        hit = self.grid.hit(position.x(), position.y()) if self.grid else None
        if hit is None or self._data is None:
            return BAR_TIP if self._is_on_bar(position) else self.toolTip()
        text = cell_text(self._data, *hit)
        return plain_tip(f"{self._data.titles[hit[0]]}\n{text}" if len(self._heads) > 1 else text)

    def _find_held(self) -> Cell | None:
        """Return the held cell if it is on this card, else None."""
        cell = self._view.cell if self._view is not None and self._view.pinned else None
        return cell if cell is not None and cell.stage == self.stage.name else None

    def _find_next(self, event: QKeyEvent) -> Cell | None:
        """Return the cell to which a key leads; the keys of the steps lead to none unless a cell here is held."""
        if self._data is None or self._view is None or self._folded:
            return None
        held, cell = self._find_held(), self._view.cell
        if held is None and event.key() in _STEPS and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return None
        own = cell if cell is not None and cell.stage == self.stage.name and cell.head in self._heads else None
        at = None if own is None else (self._find_map(own.head), own.row, own.column)
        count, rows, columns = self._data.values.shape
        found = move_cell(event, at, (count, rows, columns - self._data.aside), plain=True)
        return Cell(self.stage.name, found[1], found[2], self._heads[found[0]]) if found is not None else None

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            cell = self.cell_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), self._tip_at(QPointF(event.pos())), self)
            self._tipped = cell is not None
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._painting and event.button() == Qt.MouseButton.LeftButton:
            self._end_stroke()
            self._brush = Brush()
            self._brush_to(event.position())
            return
        self._pressed = event.globalPosition()
        self._panning = False
        self._weight_drag = self._find_weight_drag(event)

    def _find_weight_drag(self, event: QMouseEvent) -> tuple[Cell, WeightDrag] | None:
        """Return the drag that a press with Shift begins on a weight of one head, as it is at present."""
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if self.stage.name != "weights" or not shift or event.button() != Qt.MouseButton.LeftButton:
            return None
        cell, trace, view = self.cell_at(event.position()), self._trace, self._view
        if cell is None or cell.head is None or trace is None or view is None:
            return None
        if self._pinned is not None and view.look != "present":
            return None
        weight = float(np.nan_to_num(trace.array("weights")[cell.head, cell.row, cell.column]))
        return cell, WeightDrag(event.position(), weight, signed=kind_of(self.stage, trace.experiment) == "signed")

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._brush is not None and not event.buttons() & Qt.MouseButton.LeftButton:
            self._end_stroke()  # the release went to another widget
        if self._brush is not None:
            self._brush_to(event.position())
        elif self._weight_drag is not None and event.buttons() & Qt.MouseButton.LeftButton:
            cell, drag = self._weight_drag
            if (wanted := drag.move(event.position())) is not None:
                self.weight_dragged.emit(cell, wanted, event.globalPosition().toPoint())
            return
        elif self._pressed is not None and event.buttons() & (Qt.MouseButton.LeftButton | Qt.MouseButton.MiddleButton):
            moved = event.globalPosition() - self._pressed
            if self._panning or moved.manhattanLength() >= DRAG_START_PX:
                self._panning = True
                self._pressed = event.globalPosition()
                self.panned.emit(moved)
            return
        self.cell_hovered.emit(self.cell_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._brush is not None and event.button() == Qt.MouseButton.LeftButton:
            self._end_stroke()
            return
        dragged, self._weight_drag = self._weight_drag, None
        if dragged is not None and dragged[1].wanted is not None:
            self._pressed = None
            self.weight_dropped.emit(dragged[0], dragged[1].wanted)
            return
        if self._pressed is not None and not self._panning and event.button() == Qt.MouseButton.LeftButton:
            cell = self.cell_at(event.position())
            if cell is not None:
                self.cell_clicked.emit(cell)
            elif self._is_on_bar(event.position()):
                self._ask_colours(self.bar_rect.bottomLeft())
        self._pressed, self._panning = None, False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.position().y() < HEADER * self._zoom and self._data is not None:
            self.title_double_clicked.emit(self.stage.name)
        elif self._painting:
            self.mousePressEvent(event)  # the second of two quick strokes

    def leaveEvent(self, event: QEvent) -> None:
        self.cell_hovered.emit(None)

    def inputMethodQuery(self, query: Qt.InputMethodQuery) -> Any:
        """Tell where the key for menus opens one: at the held cell."""
        held = self._find_held()
        if query != Qt.InputMethodQuery.ImCursorRectangle or held is None or self._data is None:
            return super().inputMethodQuery(query)
        return self.cell_rect(held.row, held.column, self._find_map(held.head)).toRect()

    def hideEvent(self, event: QHideEvent) -> None:
        self._end_stroke()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (cell := self._find_next(event)) is not None:
            self.cell_moved.emit(cell)
        elif event.key() in _STEPS:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._data is not None:
            self.title_double_clicked.emit(self.stage.name)
        elif self._painting and event.key() in (Qt.Key.Key_Space, Qt.Key.Key_M) and self._find_held() is not None:
            self.brushed.emit(self._find_held(), True)
            self.stroke_ended.emit()
        else:
            super().keyPressEvent(event)
