"""A plane of arrows whose tips can be dragged with the mouse, or walked and moved with the keyboard."""

from collections.abc import Hashable

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.arrows.arrow_data import ArrowsData
from attnlab.figures.arrows.arrow_layout import PlaneLayout, lay_out_plane
from attnlab.figures.arrows.arrow_painter import paint_plane
from attnlab.figures.text import measure_text
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, px, scale
from attnlab.ui.widgets.arrows.arrow_motion import ArrowMotion
from attnlab.ui.widgets.maps.drawn import Drawn
from attnlab.ui.widgets.matrix.matrix_gestures import new_gesture

NEAR = 14
"""Pixels, at 100 %, within which a press takes hold of a tip."""
THRESHOLD = 3
"""Pixels from which a press becomes a drag."""
HINT = "Pull a tip with the mouse. Arrow keys move between tips, Enter holds one, Shift+arrow pulls it, Ctrl finely."
_WALK = {Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1}
_MOVE = {Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1), Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0)}
_HOLD = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


@guarded
class ArrowPlane(HasCells, Drawn):
    """Shows arrows. The arrow keys walk from arrow to arrow, Enter holds one, Shift and the arrow keys move its tip.

    The scale stays while a tip is dragged, and fits again afterwards.
    """

    arrow_chosen = Signal(object)
    """Emitted with the key of an arrow that was clicked or held by Enter."""
    arrow_moved = Signal(object, float, float, int)
    """Emitted with the key, the distance of the tip from where the gesture began, and the gesture's number."""
    move_ended = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._data: ArrowsData | None = None
        self._layout: PlaneLayout | None = None
        self.motion = ArrowMotion(self)
        self.motion.moved.connect(self.update)
        self._place: int | None = None
        self._hovered: int | None = None
        self._ringed, self._told = False, ""
        self._pressed: tuple[Hashable, QPointF] | None = None
        self._gesture = 0
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(title)

    @property
    def data(self) -> ArrowsData | None:
        """What is shown."""
        return self._data

    @property
    def dragging(self) -> bool:
        """Whether a tip is being dragged."""
        return bool(self._gesture) and self._pressed is not None

    def restyle(self) -> None:
        self.setMinimumSize(px(220), px(300))
        super().restyle()

    def show_arrows(self, data: ArrowsData | None, *, moving: bool = False) -> None:
        """Show other arrows, or none; if ``moving``, the tips travel to their new places."""
        before, self._data = self._data, data
        self.motion.skip()
        if moving and before is not None and data is not None:
            self.motion.begin(before, data)
        count = len(data.arrows) if data is not None else 0
        if self._place is not None and self._place >= count:
            self._place = None
        self._hovered = None if self._hovered is not None and self._hovered >= count else self._hovered
        self.setAccessibleDescription(f"{count} arrows. {HINT}")
        self._arrange()
        told = self._place is not None and data is not None and data.arrows[self._place].spoken
        if told and told != self._told and not self.dragging:
            self.tell_cell()
        self._told = told or ""

    def tip(self, key: Hashable) -> QPointF:
        """Return the pixel of the tip of an arrow."""
        assert self._data is not None
        assert self._layout is not None
        return self._layout.sight.place(next(arrow.tip for arrow in self._data.arrows if arrow.key == key))

    def _arrange(self) -> None:
        super()._arrange()
        if self._data is None or self.size().isEmpty():
            return
        strong = face("strong", scale()).toString()
        kept = self._layout.sight if self._layout is not None and self.dragging else None
        self._layout = lay_out_plane(
            self._data, QRectF(self.rect()), scale(), lambda text: measure_text(text, strong), kept
        )

    # Cells for screen readers

    def count_cells(self) -> int:
        return len(self._data.arrows) if self._data is not None else 0

    def name_cell(self, place: int) -> str:
        assert self._data is not None
        return self._data.arrows[place].spoken

    def locate_cell(self, place: int) -> QRectF:
        if self._data is None or self._layout is None:
            return QRectF()
        at, near = self._layout.sight.place(self._data.arrows[place].tip), NEAR * scale()
        return QRectF(at.x() - near / 2, at.y() - near / 2, near, near)

    def find_cell(self, at: QPointF) -> int | None:
        """Return the arrow whose tip is near a point: a held one first, then the nearest; or whose name is there."""
        if self._data is None or self._layout is None:
            return None
        near, found = NEAR * scale(), []
        for index, arrow in enumerate(self._data.arrows):
            offset = self._layout.sight.place(arrow.tip) - at
            away = (offset.x() ** 2 + offset.y() ** 2) ** 0.5
            if away <= near:
                found.append((away - (5 * scale() if arrow.held else 0), index))
        if found:
            return min(found)[1]
        if self._layout.column.contains(at):
            count = len(self._data.arrows)
            return next(
                (i for i, y in self._layout.names.items() if abs(y - at.y()) <= 9 * scale() and i < count), None
            )
        return None

    @property
    def current_cell(self) -> int | None:
        return self._place

    def tool_tip(self, at: QPointF) -> str:
        place = self.find_cell(at)
        return self.name_cell(place) if place is not None else HINT if self.count_cells() else ""

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.motion.skip()
        place = self.find_cell(event.position())
        if event.button() != Qt.MouseButton.LeftButton or place is None or self._data is None:
            event.ignore()
            return
        self._place, self._gesture = place, 0
        self._pressed = self._data.arrows[place].key, event.position()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            hovered = self.find_cell(event.position())
            self.setCursor(Qt.CursorShape.OpenHandCursor if hovered is not None else Qt.CursorShape.ArrowCursor)
            return
        key, start = self._pressed
        if self._data is None or self._layout is None or not self._data.movable:
            return
        if not self._gesture and (event.position() - start).manhattanLength() < THRESHOLD:
            return
        self._gesture = self._gesture or new_gesture()
        self.arrow_moved.emit(key, *self._layout.sight.step(start, event.position()), self._gesture)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or event.button() != Qt.MouseButton.LeftButton:
            return
        key, _ = self._pressed
        dragged, self._pressed, self._gesture = self._gesture, None, 0
        if dragged:
            self.move_ended.emit()
            self._arrange()
        else:
            self.arrow_chosen.emit(key)

    def hideEvent(self, event: QHideEvent) -> None:
        self.motion.skip()

    def leaveEvent(self, event: QEvent) -> None:
        self.unsetCursor()

    # Keyboard

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ringed = event.reason() in _KEYBOARD
        if self._place is None and self.count_cells():
            assert self._data is not None
            self._place = next((i for i, arrow in enumerate(self._data.arrows) if arrow.held), 0)
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._ringed = False
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.motion.skip()
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if self._data is None or self._place is None:
            super().keyPressEvent(event)
        elif modifiers & Qt.KeyboardModifier.ShiftModifier and key in _MOVE:
            self._move_by_key(key, fine=bool(modifiers & Qt.KeyboardModifier.ControlModifier))
        elif not modifiers & Qt.KeyboardModifier.ShiftModifier and key in _WALK:
            self._place = min(max(self._place + _WALK[key], 0), self.count_cells() - 1)
            self._ringed = True
            self.update()
            self.tell_cell()
        elif not modifiers and key in _HOLD:
            self.arrow_chosen.emit(self._data.arrows[self._place].key)
        else:
            super().keyPressEvent(event)

    def _move_by_key(self, key: Qt.Key, *, fine: bool) -> None:
        """Move the tip by 8 pixels of the plane, or by 1; each press is an edit of its own."""
        assert self._data is not None
        assert self._place is not None
        if self._layout is None or not self._data.movable:
            return
        step, (x, y) = (1 if fine else 8) * scale() / self._layout.sight.unit, _MOVE[key]
        self._ringed = True
        self.arrow_moved.emit(self._data.arrows[self._place].key, x * step, y * step, new_gesture())
        self.move_ended.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._data is not None and self._layout is not None:
            shown, zoom = self.motion.data or self._data, scale()
            ringed = self._place if self._ringed and self.hasFocus() else None
            paint_plane(painter, shown, self._layout, self._palette, zoom, lambda role: face(role, zoom), ringed)
        if self.hasFocus() and self._ringed:
            draw_focus_ring(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), self._palette)
        painter.end()
