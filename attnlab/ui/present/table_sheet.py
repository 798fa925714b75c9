"""A table of numbers for live edits: the playground's table in large type, over the slide."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QToolButton, QVBoxLayout, QWidget

from attnlab.attention import edits
from attnlab.figures.palette import Palette
from attnlab.figures.slides.slide_text import make_face
from attnlab.figures.subscripts import draw_text, text_width
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, set_sheet
from attnlab.ui.base.themed import dress, palette_of
from attnlab.ui.playground import input_tables as tables
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.matrix.matrix_table import BlockEdit, MatrixTable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.document.document import Document

OF_STAGE = {
    "queries": "W_q",
    "keys": "W_k",
    "values": "W_v",
    "memory": "memory_embeddings",
    **{stage: matrix for stage, (matrix, _) in tables.MULTIPLIED.items()},
}
"""The table most relevant to a stage; for all others the embeddings."""
HINT = "Drag a number, or type. Ctrl+Z undoes, R restores, E closes."
SHARES = (0.85, 0.8, 0.75, 0.7, 0.65, 0.6)
"""Sizes of the table's type as parts of the slide's: the largest in which all rows fit."""
LEAST_ROWS = 3
"""So many rows of the table are visible before there is room for the hint."""
CLICKER = (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_F5)
_CHORDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_VERBS = {"type": "Type", "drag": "Drag", "wheel": "Turn", "step": "Step", "paste": "Paste into", "clear": "Clear"}


@guarded
class _TableButton(QToolButton):
    """The name of a table, with its subscript; the name of the open table is coloured."""

    def sizeHint(self) -> QSize:
        size_px = self.font().pixelSize()
        return QSize(round(text_width(self.text(), self.font()) + size_px), round(1.6 * size_px))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), palette_of(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.accent if self.isChecked() else palette.ink))
        left = (self.width() - text_width(self.text(), self.font())) / 2
        draw_text(painter, left, self.height() / 2, self.text(), self.font())
        if self.hasFocus():
            draw_focus_ring(painter, QRectF(self.rect()), palette, 6)
        painter.end()


@guarded
class TableSheet(QWidget):
    """Shows one table of the document's experiment and edits it; a clicker's keys and letters go to the presentation:
    no number begins with a letter, and R and E work as the hint says."""

    clicker_pressed = Signal(QKeyEvent)

    def __init__(self, document: "Document", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document, self._name = document, "embeddings"
        self._palette: Palette | None = None
        self._button_font = make_face(20)
        self._size_px = 28.0
        self.setAccessibleName("Numbers to change")
        self._buttons: dict[str, _TableButton] = {}
        self._row = FlowLayout(gap=4)
        self.table = MatrixTable()
        self.table.edited.connect(self._on_edited)
        self.table.message_raised.connect(self._on_message)
        self.table.installEventFilter(self)
        self._hint = QLabel(HINT)
        self._hint.setWordWrap(True)
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._row)
        column.addWidget(self.table, 1)
        column.addWidget(self._hint)
        column.addStretch()  # only what the table leaves: a share of its own would cut the last row
        document.scene_changed.connect(self._on_scene_changed)

    @property
    def name(self) -> str:
        """The open table."""
        return self._name

    def open_for(self, stage: str, changed: str = "") -> None:
        """Show the table that a step changes, else the one most relevant to a stage."""
        there = edits.tables(self._document.experiment)
        wanted = changed if changed in there else OF_STAGE.get(stage, "embeddings")
        self._name = wanted if wanted in there else "embeddings"
        self._refresh()

    def set_look(self, palette: Palette, size_px: float) -> None:
        """Apply a palette, with numbers of this size."""
        if palette is not self._palette:
            dress(self.table, replace(palette, surface=palette.ground))  # no box around the numbers
        self._palette = palette
        set_sheet(self._hint, f"color: {palette.muted}")
        set_sheet(self, f"background: {palette.ground}")  # before the fonts, which a new style sheet takes away
        self._button_font = make_face(0.7 * size_px)
        for button in self._buttons.values():
            button.setFont(self._button_font)
        self._hint.setFont(make_face(0.66 * size_px))
        self._size_px = size_px
        self._fit()

    def _refresh(self) -> None:
        e = self._document.experiment
        there = edits.tables(e)
        if self._name not in there:
            self._name = "embeddings"
        self._show_buttons(e)
        numbers = edits.array(e, self._name)
        self.table.spoken_title = tables.title(self._name)
        self.table.setAccessibleName(f"Numbers of {self.table.spoken_title}")
        columns = [str(i) for i in range(numbers.shape[1])]
        self.table.set_matrix(numbers, tables.row_labels(e, self._name), columns)
        self._fit()

    def _fit(self) -> None:
        """Make the table as high as its rows, in type so large that all fit; else show whole rows of the largest."""
        self._set_type(SHARES[0])
        grid = self.table.grid()
        self.table.setMinimumHeight(self._measure(min(grid.rows, LEAST_ROWS)))
        room = self._show_hint()
        for share in SHARES:
            self._set_type(share)
            if self._measure(self.table.grid().rows) <= room:
                break
        else:
            self._set_type(SHARES[0])
        grid = self.table.grid()
        rows = min(max((room - self._measure(0)) // grid.cell_height, LEAST_ROWS), grid.rows)
        self.table.setMinimumHeight(min(self.table.minimumHeight(), self._measure(rows)))
        self.table.setMaximumHeight(self._measure(rows))
        self._activate()

    def _set_type(self, share: float) -> None:
        face = make_face(share * self._size_px)
        if face.pixelSize() != self.table.font().pixelSize():
            self.table.setFont(face)

    def _measure(self, rows: int) -> int:
        """Return the height of the table with so many rows."""
        grid, frame = self.table.grid(), 2 * self.table.frameWidth()
        wide = self.table.is_wider_than(self.width() - frame - self.table.verticalScrollBar().sizeHint().width())
        bar = self.table.horizontalScrollBar().sizeHint().height() if wide else 0
        return grid.header_height + rows * grid.cell_height + frame + bar

    def _show_hint(self) -> int:
        """Show the hint if the table keeps its rows beside it, or a message; return the height left for the table."""
        layout = self.layout()
        assert layout is not None
        width, spacing = self.width(), layout.spacing()
        room = self.height() - self._row.heightForWidth(width) - spacing
        hint = self._hint.heightForWidth(width) + spacing
        shown = room - hint >= self.table.minimumHeight() or self._hint.text() != HINT
        self._hint.setVisible(shown)
        return room - hint if shown else room

    def _activate(self) -> None:
        layout = self.layout()
        assert layout is not None
        layout.activate()  # at once: it has already given the place away

    def _show_buttons(self, e: "Experiment") -> None:
        """Update the choice of tables."""
        names = _list_tables(e, self._name)
        for name in names:
            if name not in self._buttons:
                self._buttons[name] = self._make_button(name, tables.about(e, name))
        for name, button in self._buttons.items():
            button.setVisible(name in names)
            button.setChecked(name == self._name)

    def _make_button(self, name: str, about: str) -> _TableButton:
        button = _TableButton()
        button.setText(tables.title(name))
        button.setAccessibleName(f"Table {tables.title(name)}")
        button.setToolTip(about)
        button.setCheckable(True)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setFont(self._button_font)
        button.setProperty("table", name)
        button.clicked.connect(self._on_table_clicked)
        self._row.addWidget(button)
        return button

    @Slot()
    def _on_table_clicked(self) -> None:
        self._name = str(self.sender().property("table"))
        self.table.let_go()
        self._refresh()

    @Slot(object)
    def _on_scene_changed(self, _: object) -> None:
        if self.isVisible():
            self._refresh()

    @Slot(object)
    def _on_edited(self, edit: BlockEdit) -> None:
        name = self._name
        what = tables.title(name)
        if edit.values.size == 1:
            what = f"{what}[{edit.row}, {edit.column}] = {float(edit.values[0, 0]):.4g}"
        label = f"{_VERBS[edit.verb]} {what}".replace("-", "−")
        self._document.edit(
            label, lambda e: edits.set_block(e, name, edit.row, edit.column, edit.values), ("present", edit.gesture)
        )

    @Slot(str)
    def _on_message(self, sentence: str) -> None:
        self._hint.setText(sentence or HINT)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and _is_for_the_hall(event):
            self.clicker_pressed.emit(event)
            return True
        return super().eventFilter(watched, event)


def _is_for_the_hall(event: QKeyEvent) -> bool:
    letter = event.text().isalpha() and not event.modifiers() & _CHORDS
    return letter or event.key() in CLICKER


def _list_tables(e: "Experiment", open_now: str) -> list[str]:
    """Return the tables to choose from: the usual ones, and the open one."""
    usual = ("embeddings", "memory_embeddings", "W_q", "W_k", "W_v", "W_o")
    there = edits.tables(e)
    found = [name for name in usual if name in there]
    return found if open_now in found else [*found, open_now]
