"""The head that is looked at: its labelled map, with the numbers where they fit."""

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attnlab.figures.map_data import MapData, Outline
from attnlab.figures.map_painter import draw_outlines
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.models.map_window import Window, cut_window
from attnlab.ui.models.model_card import ModelCard
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.maps.map_sheet import MapSheet
from attnlab.ui.widgets.maps.map_widget import MapCell
from attnlab.ui.widgets.subscripts import FormulaLabel

VALUES = {
    "weights": ("Weights", "The softmax weights: each row sums to 1"),
    "moved": (
        "What moves",
        "‖α v W_o‖: how far each key’s value moves the query; a large weight on a short value is little",
    ),
}
LEAST = 280
"""The least height of the map, in pixels at 100 %."""


@guarded
class HeadSheet(MapSheet):
    """The map of one head; emits the cell that is clicked or walked to, and the one whose arrow is to be switched."""

    cell_chosen = Signal(int, int)
    switch_requested = Signal(int, int)
    menu_requested = Signal(int, int, QPoint)
    plain_arrows = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = -1
        self.setAccessibleName("Map of the head")

    def show_row(self, row: int) -> None:
        """Draw a frame around a row; −1 for none."""
        self._row = row
        self.update()

    def walk_to(self, cell: MapCell | None) -> None:
        super().walk_to(cell)
        if cell is not None:
            self.cell_chosen.emit(cell[1], cell[2])

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self._walked = cell
            self.cell_chosen.emit(cell[1], cell[2])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self._walked is not None:
            self.switch_requested.emit(self._walked[1], self._walked[2])
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        cell = self.cell_at(event.pos().toPointF()) if mouse else self._walked
        if cell is None:
            return
        at = event.globalPos() if mouse else self.mapToGlobal(self.cell_rect(*cell).center().toPoint())
        self.menu_requested.emit(cell[1], cell[2], at)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.grid is not None and 0 <= self._row < self.shape()[1]:
            painter = QPainter(self)
            draw_outlines(painter, self.grid, [Outline(0, self._row, None, self._palette.accent, 2)])
            painter.end()


class HeadCard(ModelCard):
    """Shows one head. Cells are those of the whole map, whatever part of it is shown.

    ``values_chosen`` carries "weights" or "moved".
    """

    values_chosen = Signal(object)
    cell_chosen = Signal(int, int)
    switch_requested = Signal(int, int)
    menu_requested = Signal(int, int, QPoint)

    def __init__(self) -> None:
        super().__init__("Head")
        self.window_shown = Window()
        self.sheet = HeadSheet()
        self.sheet.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.values = Segments("Numbers of the map")
        self.values.set_choices([Choice(name, title, about) for name, (title, about) in VALUES.items()])
        self.values.set_value("weights")
        self.values.chosen.connect(self.values_chosen)
        self.sheet.cell_chosen.connect(lambda row, column: self.cell_chosen.emit(*self._place(row, column)))
        self.sheet.switch_requested.connect(lambda row, column: self.switch_requested.emit(*self._place(row, column)))
        self.sheet.menu_requested.connect(
            lambda row, column, at: self.menu_requested.emit(*self._place(row, column), at)
        )
        self.note = FormulaLabel(role="caption")
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.note.setAccessibleName("What the numbers sum to")
        self.note.hide()
        self.head.addWidget(self.values)
        self.column.addWidget(self.note)
        self.column.addWidget(self.sheet, 1)

    def _place(self, row: int, column: int) -> tuple[int, int]:
        """Return the query and the key of a cell of the part that is shown."""
        return row + self.window_shown.query, column + self.window_shown.key

    def restyle(self) -> None:
        """Set the least height."""
        super().restyle()
        self.sheet.setMinimumHeight(px(LEAST))

    def show_map(
        self, title: str, about: str, data: MapData, row: int, values: str, window: Window, note: str = ""
    ) -> None:
        """Show a head; of a long text the part in a window; a note stands below the title."""
        self.window_shown = window
        self.title.setText(title)
        self.about.setText(about)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.values.set_value(values)
        self.sheet.spoken_title = title
        self.sheet.show_maps(cut_window(data, window))
        self.sheet.show_row(row - window.query)
