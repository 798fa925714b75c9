"""The diagram of a model on the screen: its blocks can be pointed at, clicked, and walked with the keyboard."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.diagram.diagram_data import DiagramData, Opened
from attnlab.figures.diagram.diagram_layout import lay_out_diagram
from attnlab.figures.diagram.scene import Region, Scene
from attnlab.figures.diagram.scene_painter import measure_label, paint_scene
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, scale
from attnlab.ui.widgets.maps.drawn import Drawn

KEYS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
LEAST_ZOOM = 0.9
"""The least size of the type, as a share of that at 100 %, to which a diagram shrinks before it scrolls."""
ZOOMS = (2.5, 2.0, 1.75, 1.5, 1.35, 1.2, 1.1)
"""How much larger than the type of the window a diagram is drawn: the first that fits into its room."""
_PRESS = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)
_BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)
HINT = "Arrow keys walk once the Tab key has moved the focus here; Enter chooses a block, its maps or a layer."


@guarded
class DiagramView(HasCells, Drawn):
    """Shows a model. ``chosen`` carries the name of a region that was clicked or entered.

    The arrow keys walk to the next place in their direction. They belong to the time line until Tab moves focus here.
    """

    chosen = Signal(str)
    present_wanted = Signal()
    """F5 was pressed here."""
    walked = Signal(QRectF)
    """Emitted with the rectangle of the place that the keyboard has moved to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data: DiagramData | None = None
        self._opened, self._scene = Opened(), Scene()
        self._selected: tuple[str, ...] = ()
        self._hovered, self._place, self._ringed = "", "", False
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Diagram of the model")

    @property
    def scene(self) -> Scene:
        """What is drawn, in units of a pixel at 100 %."""
        return self._scene

    @property
    def data(self) -> DiagramData | None:
        """The model that is shown."""
        return self._data

    def show_model(self, data: DiagramData, opened: Opened) -> None:
        """Show a model on a probe."""
        self._data, self._opened = data, opened
        tree = data.inside.tree
        self.setAccessibleDescription(f"{tree.title}, {tree.total:,} parameters. {HINT}")
        self._arrange()

    def select(self, *names: str) -> None:
        """Ring a block, and one of its heads."""
        self._selected = names
        self.update()

    def lay_out(self, width: float) -> Scene:
        """Return the diagram in a width, in units, as for a figure."""
        return Scene(width) if self._data is None else lay_out_diagram(self._data, width, self._opened, measure_label)

    def _arrange(self) -> None:
        super()._arrange()
        self._zoom = scale()
        self._scene = self.lay_out(max(self._room, 1) / self._zoom)
        if self._scene.width * self._zoom > self._room + 1:  # large type becomes smaller to fit, though never small
            self._zoom = max(self._room / self._scene.width, LEAST_ZOOM * min(scale(), 1.0))
            self._scene = self.lay_out(self._room / self._zoom)
        elif self._data is not None and self._scene.height * self._zoom < self._height:
            self._grow()
        size = QSize(round(self._scene.width * self._zoom), round(self._scene.height * self._zoom))
        if size != self.minimumSize():
            self.setMinimumSize(size)
            self.updateGeometry()

    def _grow(self) -> None:
        """Enlarge the diagram as far as it fits into the room without scrolling.

        What fitted is tried first: while a model learns, this is drawn again and again.
        """
        assert self._data is not None
        tree = self._data.inside.tree
        found_for = self._room, self._height, scale(), self._opened, tree.title, tree.total
        known = (self._grown,) if found_for == self._grown_for else ()
        for grown in (*known, *ZOOMS, 1.0):
            zoom = scale() * grown
            scene = self.lay_out(self._room / zoom)
            if scene.width * zoom <= self._room + 1 and scene.height * zoom <= self._height:
                self._grown, self._grown_for = grown, found_for
                self._zoom, self._scene = zoom, scene
                return

    _grown = 1.0
    _grown_for: tuple[object, ...] = ()

    _room, _height, _zoom = 0, 0, 1.0

    @property
    def zoom(self) -> float:
        """Pixels for each unit of the scene."""
        return self._zoom

    def set_room(self, width: int, height: int = 0) -> None:
        """Set the width in pixels that the diagram fills, or exceeds if it must, and the height to which it grows."""
        if (width, height) != (self._room, self._height):
            self._room, self._height = width, height
            self._arrange()

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    # Cells for screen readers

    def count_cells(self) -> int:
        return len(self._scene.regions)

    def name_cell(self, place: int) -> str:
        return self._scene.regions[place].spoken

    def locate_cell(self, place: int) -> QRectF:
        return self._find_rect(self._scene.regions[place])

    def find_cell(self, at: QPointF) -> int | None:
        region = self._find_region(at)
        return self._scene.regions.index(region) if region is not None else None

    @property
    def current_cell(self) -> int | None:
        names = [region.name for region in self._scene.regions]
        return names.index(self._place) if self._place in names else None

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point."""
        region = self._find_region(at)
        return region.tip or region.spoken if region is not None else ""

    def _find_region(self, at: QPointF) -> Region | None:
        return self._scene.find_at(at.x() / self._zoom, at.y() / self._zoom)

    def _find_rect(self, region: Region) -> QRectF:
        x, y, width, height = (side * self._zoom for side in region.rect)
        return QRectF(x, y, width, height)

    # Mouse and keyboard

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        region = self._find_region(event.position())
        name = region.name if region is not None else ""
        if name != self._hovered:
            self._hovered = name
            self.setCursor(Qt.CursorShape.PointingHandCursor if name else Qt.CursorShape.ArrowCursor)
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hovered = ""
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        region = self._find_region(event.position())
        if region is not None and event.button() == Qt.MouseButton.LeftButton:
            self._place = region.name
            self.chosen.emit(region.name)

    def event(self, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_F5
        ):
            event.accept()  # here it presents the diagram, elsewhere the lesson
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ringed = event.reason() in _BY_KEYBOARD
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        way = KEYS.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_F5:
            self.present_wanted.emit()
            return
        if not self._ringed or not self._scene.regions:
            super().keyPressEvent(event)
        elif way is not None:
            self._walk(*way)
        elif event.key() in _PRESS and self._place:
            self.chosen.emit(self._place)
        else:
            super().keyPressEvent(event)

    def _walk(self, right: int, down: int) -> None:
        """Move the keyboard to the nearest place in a direction."""
        at = self.current_cell
        regions = self._scene.regions
        if at is None:
            self._go_to(regions[0])
            return
        x, y = _centre(regions[at])
        best: tuple[float, Region] | None = None
        for region in regions:
            dx, dy = _centre(region)[0] - x, _centre(region)[1] - y
            along, across = (right * dx, abs(dy)) if right else (down * dy, abs(dx))
            if region is not regions[at] and along > 1 and across <= 3 * along + 8:
                far = along + 2 * across
                best = (far, region) if best is None or far < best[0] else best
        if best is not None:
            self._go_to(best[1])

    def _go_to(self, region: Region) -> None:
        self._place = region.name
        self.walked.emit(self._find_rect(region))
        self.tell_cell()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = self._palette
        if self._still is None:
            self._still = self._make_picture(palette.surface)
            inner = QPainter(self._still)
            inner.scale(self._zoom, self._zoom)
            paint_scene(inner, self._scene, palette)
            inner.end()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._still)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for name in (*self._selected, self._hovered):
            if (region := self._scene.find(name)) is not None:
                chosen = name in self._selected
                painter.setPen(QPen(QColor(palette.accent if chosen else palette.muted), 2 if chosen else 1))
                radius = region.radius * self._zoom
                painter.drawRoundedRect(self._find_rect(region).adjusted(-1, -1, 1, 1), radius, radius)
        if self.hasFocus() and self._ringed:
            place = self._scene.find(self._place)
            rect = self._find_rect(place).adjusted(-3, -3, 3, 3) if place is not None else QRectF(self.rect())
            draw_focus_ring(painter, rect, palette, 6)
        painter.end()


def _centre(region: Region) -> tuple[float, float]:
    x, y, width, height = region.rect
    return x + width / 2, y + height / 2
