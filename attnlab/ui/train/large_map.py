"""The page of one large map: its head, the cell that is pointed at or held, and the switch of the head."""

import math
from dataclasses import replace

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.figures.map_data import MapData
from attnlab.figures.stage_data import choose_exponent
from attnlab.ui.base.dialog_parts import make_scroll_area
from attnlab.ui.base.fonts import face
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px, scale
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.maps.map_layout import LABEL_SIZE
from attnlab.ui.widgets.maps.map_sheet import MARGIN, MapSheet

POINT = "Point at a cell, or click it to hold it"
WITHOUT = "Go on from the last step with this head off, as a run of its own; this one is kept"
WITH = "Go on from the last step with this head again, as a run of its own; this one is kept"
LEAST = 230
"""The least height of the map with its labels and colour bar, in pixels at 100 %, or that of the room."""
TOP, BESIDE = 4, 66
"""The pixels above a large map, and all those above and below its rows, at 100 %."""
SIDE = 18
"""Pixels at the left and at the right of the map."""


COLUMN, ROW, AROUND, MOST_GROWTH = 58, 36, 110, 2.0
"""The room for a column and a row of a map and for what is around them, in pixels at 100 %: where a map has more, its
labels and numbers grow too, at most so much."""


class GrowingSheet(MapSheet):
    """A sheet whose type and cells grow where there is more room than its map needs."""

    @property
    def zoom(self) -> float:
        if self.data is None:
            return scale()
        _, rows, columns = self.shape()
        wide, high = self.width() / px(COLUMN * columns + AROUND), self.height() / px(ROW * rows + AROUND)
        return scale() * min(max(min(wide, high), 1.0), MOST_GROWTH)

    def measure_legible(self) -> int:
        """Return the least height in pixels at which each row has a line of type, so that labels do not touch."""
        line = QFontMetricsF(face("caption", scale() * LABEL_SIZE)).height()
        rows = self.shape()[1] if self.data is not None else 0
        return max(math.ceil(rows * line) + px(BESIDE), px(LEAST))

    def _area(self) -> QRectF:
        return super()._area().adjusted(0, (TOP + 4 - MARGIN) * self.zoom, 0, 0)


@guarded
class LargeMap(FollowsTheme, QWidget):
    """Shows one map of a view, which has the numbers, titles and heads; ``row`` has room for more buttons."""

    closed = Signal()
    """The button back was pressed, or the view has no such map any more."""
    switch_requested = Signal(int)
    """A head is to be switched off or on again, only for looking, by the index of its map."""
    training_requested = Signal(int)
    """The run is to go on without a head, or with it again, by the index of its map."""

    def __init__(self, view: MapsView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._view = view
        self._index: int | None = None
        self._pinned: tuple[int, int] | None = None
        self._hovered: tuple[int, int] | None = None
        self.back, self.title, self.switch = QPushButton("All maps"), ElidedLabel(), QPushButton("Switch off")
        self.train = QPushButton("Train without it")
        self._cell, self.sheet = ElidedLabel(), GrowingSheet()
        self.back.setToolTip("Back to all maps (Esc)")
        self.switch.setToolTip("Show what the model does without this head; training goes on with it (Delete)")
        self.title.setProperty("role", "title")
        self.title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.title.setMinimumWidth(1)  # whole, in a line of its own if need be
        self.row = FlowLayout(gap=12)
        for widget in (self.back, self.title, self.switch, self.train):
            self.row.addWidget(widget)
        inside = QWidget()
        inside.setProperty("ground", "surface")
        column = QVBoxLayout(inside)
        column.setContentsMargins(SIDE, 8, SIDE, 8)
        column.addLayout(self.row)
        column.addWidget(self._cell)  # below, where a longer text moves nothing
        column.addWidget(self.sheet, 1)
        self.area = make_scroll_area(inside, "Large map, scrolled")
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.area.viewport().installEventFilter(self)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.addWidget(self.area)
        self.back.clicked.connect(self.closed)
        self.switch.clicked.connect(self._on_switch_clicked)
        self.train.clicked.connect(self._on_train_clicked)
        self.sheet.map_clicked.connect(self._on_clicked)
        self.sheet.cell_pointed.connect(self._on_hovered)

    def restyle(self) -> None:
        """Set the font of the title, and the least height of the map."""
        self.title.setFont(font("title"))
        self._fit()

    def _fit(self) -> None:
        """Keep the map legible in a low room, which then scrolls."""
        room = self.area.viewport().height()
        self.sheet.setMinimumHeight(min(self.sheet.measure_legible(), room))
        bar = self.area.verticalScrollBar()
        if self.sheet.height() < self.sheet.minimumHeight() or bar.maximum():
            QTimer.singleShot(0, self, self._scroll)

    def _scroll(self) -> None:
        """Show the whole map with its colour bar rather than its tools, but no space below it."""
        if (grid := self.sheet.grid) is not None:
            below = self.sheet.y() + math.ceil(self.sheet.place_bar(grid).bottom()) + px(4)
            self.area.verticalScrollBar().setValue(below - self.area.viewport().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    @property
    def index(self) -> int | None:
        """The index of the map in the view; None while all maps are shown."""
        return self._index

    @property
    def cell_text(self) -> str:
        """The text about the pointed or held cell."""
        return self._cell.text()

    def open(self, index: int) -> None:
        """Show a map of the view, without a held cell."""
        self._index, self._pinned = index, None
        self._cell.setText(POINT)
        self.refresh()

    def close_map(self) -> None:
        """Show no map any more."""
        self._index = None

    def refresh(self) -> None:
        """Show the present numbers of the map and the worth of its head, if a map is open."""
        index, view = self._index, self._view
        if index is None:
            return
        if index >= len(view.data):
            self.closed.emit()
            return
        data = view.spell_out(index)
        if data.kind == "signed":  # gradients, which may all be too small for two decimals
            data = replace(data, exponent=choose_exponent(data.values))
        if self._pinned is not None and not _has(data, self._pinned):
            self._pinned = None
            self._cell.setText(POINT)
        if self._hovered is not None and not _has(data, self._hovered):
            self._hovered = None
        self.sheet.show_maps(replace(data, titles=()))
        self._fit()
        hovered = self.sheet.cell_at(self.sheet.mapFromGlobal(self.cursor().pos()).toPointF())
        self.refresh_switch()
        worth = view.describe(index)
        self.title.setText(" · ".join(filter(None, (view.titles[index], data.power, worth))))
        self.sheet.spoken_title = view.titles[index].replace(" · ", ", ")
        self.sheet.setAccessibleName(f"Attention map: {self.sheet.spoken_title}")
        self._describe(self._pinned or (hovered[1:] if hovered and self.sheet.underMouse() else self._hovered))

    def _describe(self, cell: tuple[int, int] | None) -> None:
        """Show the number of a cell; without one, how to see it."""
        if self._index is not None:
            self._cell.setText(self._view.cell_text((self._index, *cell)) if cell is not None else POINT)

    def refresh_switch(self) -> None:
        """Show on the buttons whether the head is off; the mean of the heads has no such buttons."""
        index, view = self._index, self._view
        if index is None or index >= len(view.data):
            return
        is_head, left_out = view.place_of(index)[1] >= 0, view.is_left_out(index)
        self.switch.setText("Switch on" if view.is_off(index) else "Switch off")
        self.switch.setVisible(is_head and not left_out)
        self.train.setText("Train with it" if left_out else "Train without it")
        self.train.setToolTip(WITH if left_out else WITHOUT)
        self.train.setVisible(is_head)

    def measure_top(self, width: int) -> int:
        """Return the height in pixels above the map when the page has a width in pixels."""
        return self.row.heightForWidth(width - 2 * SIDE) + self._cell.sizeHint().height() + 30

    @Slot()
    def _on_switch_clicked(self) -> None:
        if self._index is not None:
            self.switch_requested.emit(self._index)

    @Slot()
    def _on_train_clicked(self) -> None:
        if self._index is not None:
            self.training_requested.emit(self._index)

    @Slot(object)
    def _on_hovered(self, cell: tuple[int, int, int] | None) -> None:
        self._hovered = cell[1:] if cell is not None else None
        self._describe(self._hovered or self._pinned)

    @Slot(int)
    def _on_clicked(self, _index: int) -> None:
        self._pinned = self._hovered if self._hovered != self._pinned else None


def _has(data: MapData, cell: tuple[int, int]) -> bool:
    """Return whether a map has a cell [row, column]."""
    _, rows, columns = data.values.shape
    return bool(cell[0] < rows and cell[1] < columns)
