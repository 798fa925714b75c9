"""The splitter of a workspace: panels side by side, which their owner lays out for the width and the size of type."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from attnlab.ui.base.themed import FollowsTheme


class BodySplitter(FollowsTheme, QSplitter):
    """Panels side by side; emits ``restyled`` after a change of the theme or of the size of type."""

    restyled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)

    def restyle(self) -> None:
        """Let the owner lay out the panels for the size of type."""
        self.restyled.emit()
