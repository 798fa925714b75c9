"""The diagram of a model for a class, on a whole screen: the keys walk from block to block, each with its sentence."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from attnlab.figures.diagram.block_shapes import name_shape
from attnlab.figures.diagram.diagram_data import DiagramData, Opened
from attnlab.figures.diagram.diagram_layout import lay_out_diagram
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import measure_label, paint_scene
from attnlab.figures.subscripts import write_html
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font
from attnlab.ui.base.themed import palette_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from attnlab.training.model_tree import Block, ModelTree, Side

NEXT = (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Space, Qt.Key.Key_PageDown, Qt.Key.Key_Return)
BACK = (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Backspace, Qt.Key.Key_PageUp)
LEAVE = (Qt.Key.Key_Escape, Qt.Key.Key_F5)
WIDTHS = range(420, 1700, 40)
"""The widths in which the diagram is laid out, in units; the one that fills the screen best is taken."""
KEYS = "→\u00a0next   ←\u00a0back   Esc\u00a0leave"
SHRINK, LEAST = 0.95, 0.4
"""While the words are too tall for the screen, their type shrinks by a factor, down to a part of its usual size."""


@guarded
class DiagramWindow(QWidget):
    """Shows the whole model, then its blocks from the first to the output; it is deleted when it is closed."""

    def __init__(self, data: DiagramData, opened: Opened, block: str, parent: QWidget) -> None:
        """Create the window; it begins with a block, or with the whole model if ``block`` is none of its steps."""
        super().__init__(parent, Qt.WindowType.Window)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Diagram — attnlab")
        self.setAccessibleName("Diagram of the model, presented")
        self.setProperty("ground", "surface")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(480, 320)
        self.canvas = _Canvas(data, opened)
        self._data = data
        self.steps = ["", *(each.name for each in list_shown(data.inside.tree, opened))]
        self.place = self.steps.index(block) if block in self.steps else 0
        self.title, self.about, self.formula, self.shapes, self.keys = (QLabel() for _ in range(5))
        self.title.setAccessibleName("Block")
        for label in (self.title, self.about, self.formula, self.shapes, self.keys):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.formula.setTextFormat(Qt.TextFormat.RichText)
        for label in (self.about, self.shapes, self.keys):
            label.setProperty("role", "muted")
        self._words = words = QVBoxLayout()
        words.addStretch(1)
        for label in (self.title, self.about, self.formula, self.shapes):
            words.addWidget(label)
        words.addStretch(2)
        words.addWidget(self.keys)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(32, 32, 32, 24)
        row.setSpacing(40)
        row.addWidget(self.canvas, 3)
        row.addLayout(words, 2)
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
        self._tell_step()
        self._fit_words()

    def _tell_step(self) -> None:
        tree = self._data.inside.tree
        block = tree.find(self.steps[self.place])
        self.canvas.ring(block.name if block is not None else "")
        at = f"{self.place} of {len(self.steps) - 1}   " if self.place else ""
        self.keys.setText(at + KEYS)
        if block is None:
            show_text(self.title, tree.title)
            self.about.setText(f"{tree.total:,} parameters in {len(list(tree.list_blocks()))} blocks.")
            self.formula.hide()
            self.shapes.setText(self._data.heading)
            return
        show_text(self.title, block.title)
        self.about.setText(block.about)
        self.formula.setText(write_html(block.formula))
        self.formula.setVisible(bool(block.formula))
        self.shapes.setText("\n".join(_list_sizes(block)))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # no key is a shortcut of the window behind
        return super().event(event)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_words()

    def _fit_words(self) -> None:
        """Choose the largest type, in proportion to the screen, in which the words of this step are not cut."""
        usual = zoom = max(self.height() / 620, 0.8)
        self._set_type(zoom)
        while zoom > LEAST * usual and not self._words_fit():
            zoom *= SHRINK
            self._set_type(zoom)

    def _set_type(self, zoom: float) -> None:
        for label, role, larger in (
            (self.title, "title", 1.7),
            (self.about, "text", 1.35),
            (self.formula, "text", 1.35),
            (self.shapes, "text", 1.0),
            (self.keys, "caption", 1.0),
        ):
            label.setFont(font(role, zoom * larger))

    def _words_fit(self) -> bool:
        margins = self._row.contentsMargins()
        wide = (self.width() - margins.left() - margins.right() - self._row.spacing()) * 2 // 5
        shown = [each for each in (self.title, self.about, self.formula, self.shapes, self.keys) if not each.isHidden()]
        tall = sum(each.heightForWidth(wide) + self._words.spacing() for each in shown)
        longest = max(each.minimumSizeHint().width() for each in shown)
        return longest <= wide and tall <= self.height() - margins.top() - margins.bottom()


@guarded
class _Canvas(QWidget):
    """Paints the diagram as large as it fits, with a ring around one block."""

    def __init__(self, data: DiagramData, opened: Opened) -> None:
        super().__init__()
        self._data, self._opened, self._ringed = data, opened, ""
        self._scene = Scene()

    def ring(self, name: str) -> None:
        self._ringed = name
        self.update()

    def _fit(self) -> float:
        """Lay the diagram out in the width in which it becomes largest, and return its zoom."""
        best = 0.0
        for width in WIDTHS:
            scene = lay_out_diagram(self._data, width, self._opened, measure_label)
            zoom = min(self.width() / scene.width, self.height() / scene.height)
            if zoom > best:
                best, self._scene = zoom, scene
        return best

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._zoom = self._fit()

    _zoom = 1.0

    def sizeHint(self) -> QSize:
        return QSize(640, 480)

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = palette_of(self)
        painter = QPainter(self)
        painter.translate(0, (self.height() - self._scene.height * self._zoom) / 2)
        painter.scale(self._zoom, self._zoom)
        paint_scene(painter, self._scene, palette)
        if (region := self._scene.find(self._ringed)) is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(palette.accent), 3))
            painter.drawRoundedRect(QRectF(*region.rect).adjusted(-2, -2, 2, 2), region.radius, region.radius)
        painter.end()


def list_shown(tree: "ModelTree", opened: Opened) -> "Iterator[Block]":
    """Yield the blocks in the order in which a text passes them; of a stack those of the layer that is open."""
    if tree.reading is not None:
        yield from _list_side(tree.reading, opened)
    if tree.memory is not None:
        yield tree.memory
    yield from _list_side(tree.writing, opened)
    yield from (each for each in (tree.attention, tree.output) if each is not None)


def _list_side(side: "Side", opened: Opened) -> "Iterator[Block]":
    yield side.embedding
    if side.stack is not None:
        layer = side.stack.layers[opened.layer_of(side.stack.title, len(side.stack.layers))]
        yield from (part.block for part in layer)
    yield from (each for each in (side.cell, side.last_norm) if each is not None)


def _list_sizes(block: "Block") -> list[str]:
    """Return the shapes and the number of parameters of a block, a line each."""
    lines = [f"{name}  {name_shape(shape)}  {said}" for name, said, shape in block.inputs]
    lines = lines or ([name_shape(block.shape)] if block.shape else [])
    return [*lines, f"{block.total:,} parameters" if block.total else "nothing to learn"]
