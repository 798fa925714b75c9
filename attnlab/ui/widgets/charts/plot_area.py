"""Two axes around a view box: pyqtgraph's plot without its hidden menus. Importing this module loads pyqtgraph."""

from collections.abc import Mapping

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QGraphicsWidget, QWidget

SIDES = {"left": (0, 0), "bottom": (1, 1)}
"""The cell (row, column) of each axis; the view box is at (0, 1)."""


class PlotArea(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph has no types
    """Items between a left and a bottom axis; ``axes`` replaces pyqtgraph's own axis on a side.

    ``pg.PlotWidget`` brings along 62 widgets of context menus that are never shown here, and each change of theme or
    type size restyles all of them.
    """

    def __init__(self, parent: QWidget | None = None, axes: Mapping[str, pg.AxisItem] | None = None) -> None:
        super().__init__(parent)
        self._box = pg.ViewBox(enableMenu=False)
        self._axes = {side: (axes or {}).get(side) or pg.AxisItem(side) for side in SIDES}
        ground = QGraphicsWidget()
        layout = QGraphicsGridLayout(ground)
        layout.setContentsMargins(1, 1, 1, 1)
        layout.setSpacing(0)
        layout.addItem(self._box, 0, 1)
        for side, axis in self._axes.items():
            axis.linkToView(self._box)
            axis.setZValue(0.5)  # above the background of the view box
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
            layout.addItem(axis, *SIDES[side])
        layout.setRowStretchFactor(0, 100)
        layout.setColumnStretchFactor(1, 100)
        self.setCentralItem(ground)
        for part in (self, self.viewport()):  # it takes no keys; the name of the chart around it says what it shows
            part.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def getViewBox(self) -> pg.ViewBox:
        """Return the box that contains the items."""
        return self._box

    def getAxis(self, side: str) -> pg.AxisItem:
        """Return the "left" or the "bottom" axis."""
        return self._axes[side]

    def addItem(self, item: QGraphicsItem) -> None:
        """Draw an item in the coordinates of the axes."""
        self._box.addItem(item)

    def removeItem(self, item: QGraphicsItem) -> None:
        """Remove an item."""
        self._box.removeItem(item)

    @property
    def items_shown(self) -> list[QGraphicsItem]:
        """The items that were added, in their order."""
        return list(self._box.addedItems)
