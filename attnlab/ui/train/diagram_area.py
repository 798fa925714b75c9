"""The room of a diagram: it scrolls, grows with its room, and has the chosen block beside it or below it."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from attnlab.ui.base.dialog_parts import make_scroll_area
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.block_details import WIDTH, BlockDetails
from attnlab.ui.train.diagram_view import DiagramView

BESIDE = 900
"""From this width on, in pixels at 100 %, the chosen block stands beside the diagram, otherwise below it."""
EDGE, BELOW = 2, 8
"""The margins at the sides and below, in pixels."""


@guarded
class DiagramArea(FollowsTheme, QWidget):
    """Owns the diagram ``view`` and the ``details`` of the chosen block; ``area`` scrolls what has no room."""

    def __init__(self, opens: bool = True) -> None:
        """Create the area; without ``opens`` the details have no buttons that open a map elsewhere."""
        super().__init__()
        self.setProperty("ground", "surface")
        self.view, self.details = DiagramView(), BlockDetails(opens)
        self._beside = True
        inside = self._inside = QWidget()
        inside.setProperty("ground", "surface")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(EDGE, 0, EDGE, BELOW)
        self._column.setSpacing(4)
        self._column.addWidget(self.view)
        self._column.addStretch(1)
        self.area = make_scroll_area(inside, "Diagram of the model, scrolled")
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.side = make_scroll_area(self.details, "The chosen block, scrolled")
        self.side.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.area, 1)
        row.addWidget(self.side)
        self.area.viewport().installEventFilter(self)
        self.view.walked.connect(self._on_walked)
        self._place_details()

    def restyle(self) -> None:
        """Set the width of the details."""
        self.side.setFixedWidth(px(WIDTH))
        self._place_details()

    @Slot(QRectF)
    def _on_walked(self, rect: QRectF) -> None:
        at = self.view.mapTo(self._inside, rect.center().toPoint())
        self.area.ensureVisible(at.x(), at.y(), round(rect.width() / 2) + 24, round(rect.height() / 2) + 24)

    def _place_details(self) -> None:
        """Put the details beside the diagram, or below it in a narrow room."""
        beside = self.width() >= px(BESIDE)
        if beside == self._beside:
            return
        self._beside = beside
        if beside:
            self._column.removeWidget(self.details)
            self.side.setWidget(self.details)
        else:
            self.side.takeWidget()
            self._column.insertWidget(1, self.details)
        self.details.show()
        self.side.setVisible(beside)
        self._share_room()

    def _share_room(self) -> None:
        """Give the diagram the width, and the height if no details stand below it."""
        room = self.area.viewport().size()
        self.view.set_room(room.width() - 2 * EDGE, room.height() - 2 * BELOW if self._beside else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_details()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._share_room()
        return super().eventFilter(watched, event)
