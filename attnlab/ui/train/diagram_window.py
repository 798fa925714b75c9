"""Diagrams for a class, on a whole screen: the keys walk from block to block, each with its sentence."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from attnlab.figures.diagram.diagram_data import Diagram
from attnlab.figures.diagram.diagram_layout import GAP, lay_out_beside, name_region
from attnlab.figures.diagram.diagram_walk import describe_step, list_steps
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import measure_label, paint_scene
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of
from attnlab.ui.train.diagram_words import DiagramWords

NEXT = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Return)
BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Backspace, Qt.Key.Key_PageUp)
LEAVE = (Qt.Key.Key_Escape, Qt.Key.Key_F5)
WIDTHS = range(420, 1700, 40)
"""The widths in which each diagram is laid out, in units; the one that fills the screen best is taken."""
KEYS = "→\u00a0next   ←\u00a0back   Esc\u00a0leave"


@guarded
class DiagramWindow(QWidget):
    """Shows one model or two, then their blocks from the first to the output; it is deleted when it is closed."""

    left = Signal()
    """The window was closed."""

    def __init__(self, diagrams: Sequence[Diagram], start: tuple[int, str], parent: QWidget) -> None:
        """Create the window. It begins with a block, ``start``, given by the place of its diagram and its name, or
        with the whole if no step has that block.
        """
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Diagram — attnlab")
        models = "model" if len(diagrams) == 1 else "two models"
        self.setAccessibleName(f"Diagram of the {models}, presented")
        self.setProperty("ground", "surface")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(480, 320)
        self.diagrams, self.canvas, self.words = tuple(diagrams), _Canvas(diagrams), DiagramWords(len(diagrams))
        self.steps = list_steps(diagrams)
        where, name = start
        names = ["" if (block := step[where]) is None else block.name for step in self.steps]
        self.place = names.index(name) if name in names else 0
        row = QHBoxLayout(self)
        row.setContentsMargins(32, 32, 32, 24)
        row.setSpacing(40)
        row.addWidget(self.canvas, 3)
        row.addWidget(self.words, 2)
        self._show_step()

    def present(self) -> None:
        """Fill the screen of the parent."""
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.screen().geometry())
        self.showFullScreen()
        self.activateWindow()
        self.setFocus()

    def go(self, by: int) -> None:
        """Go forward or back, up to the last or the first step."""
        self.place = min(max(self.place + by, 0), len(self.steps) - 1)
        self._show_step()

    def _show_step(self) -> None:
        step = self.steps[self.place]
        self.canvas.ring([name_region(at, block.name) for at, block in enumerate(step) if block is not None])
        at = f"{self.place} of {len(self.steps) - 1}   " if self.place else ""
        self.words.show_words(describe_step(self.diagrams, step), at + KEYS)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # no key is a shortcut of the window behind
        return super().event(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in NEXT or key in BACK:
            self.go(1 if key in NEXT else -1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.go(len(self.steps) if key == Qt.Key.Key_End else -len(self.steps))
        elif key in LEAVE:
            self.close()
        else:
            super().keyPressEvent(event)


def present_diagrams(diagrams: Sequence[Diagram], start: tuple[int, str], parent: QWidget) -> DiagramWindow:
    """Show diagrams on the whole screen of the window that ``parent`` is in; see :class:`DiagramWindow`."""
    window = DiagramWindow(diagrams, start, parent.window())
    window.present()
    return window


@guarded
class _Canvas(QWidget):
    """Paints the diagrams as large as they fit, with a ring around the blocks of a step."""

    def __init__(self, diagrams: Sequence[Diagram]) -> None:
        super().__init__()
        self._diagrams, self.ringed = diagrams, list[str]()
        self.scene = Scene()

    def ring(self, names: list[str]) -> None:
        """Ring blocks, given by the names of their regions."""
        self.ringed = names
        self.update()

    def _fit(self) -> float:
        """Lay the diagrams out in the width in which they become largest, and return their zoom."""
        best, count = 0.0, len(self._diagrams)
        for width in WIDTHS:
            whole = width * count + GAP * (count - 1)
            if self.width() <= best * whole:  # no wider scene can be larger
                break
            scene = lay_out_beside(self._diagrams, whole, measure_label)
            zoom = min(self.width() / scene.width, self.height() / scene.height)
            if zoom > best:
                best, self.scene = zoom, scene
        return best

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._zoom = self._fit()

    _zoom = 1.0

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = palette_of(self)
        painter = QPainter(self)
        painter.translate(0, (self.height() - self.scene.height * self._zoom) / 2)
        painter.scale(self._zoom, self._zoom)
        paint_scene(painter, self.scene, palette)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.accent), 3))
        for name in self.ringed:
            if (region := self.scene.find(name)) is not None:
                painter.drawRoundedRect(QRectF(*region.rect).adjusted(-2, -2, 2, 2), region.radius, region.radius)
        painter.end()
