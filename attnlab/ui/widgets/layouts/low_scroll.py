"""A column that fills its room, and scrolls as a whole where the room is too low for it."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from attnlab.ui.base.guard import guarded


@guarded
class LowScroll(QScrollArea):
    """Shows a widget as wide as its room and as high, or ``wanted`` pixels high if that is more."""

    wanted_changed = Signal(int)

    def __init__(self, inside: QWidget, name: str) -> None:
        """Create the area; ``name`` is its name for screen readers."""
        super().__init__()
        self._wanted = 0
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(inside)

    @Slot(int)
    def set_wanted(self, height: int) -> None:
        """Set the least height of the widget; it scrolls where that is more than the room."""
        if height != self._wanted:
            self._wanted = height
            low = height > self.height()
            policy = Qt.ScrollBarPolicy.ScrollBarAlwaysOn if low else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
            self.setVerticalScrollBarPolicy(policy)
            self.updateGeometry()
            self._fit()
            self.wanted_changed.emit(height)

    @property
    def wanted(self) -> int:
        """The least height of the widget, in pixels."""
        return self._wanted

    def _fit(self) -> None:
        room, inside = self.viewport().size(), self.widget()
        if inside is not None:
            inside.resize(room.width(), max(room.height(), self._wanted))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()  # a scroll area does not tell its layout
        return super().eventFilter(watched, event)

    def minimumSizeHint(self) -> QSize:
        inside, bar = self.widget(), self.verticalScrollBar()
        beside = bar.sizeHint().width() if self.verticalScrollBarPolicy() == Qt.ScrollBarPolicy.ScrollBarAlwaysOn else 0
        return QSize(inside.minimumSizeHint().width() + beside if inside is not None else 0, 0)

    def sizeHint(self) -> QSize:
        inside = self.widget()
        return inside.sizeHint() if inside is not None else super().sizeHint()
