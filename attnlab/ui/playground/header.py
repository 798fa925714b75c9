"""The head of the playground: the bar of switches, and below it what is odd about the open layer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.ui.playground.remark_strip import RemarkStrip
from attnlab.ui.playground.top_bar import TopBar

if TYPE_CHECKING:
    from attnlab.document.document import Document


class Header(QWidget):
    """Stacks the two. Only the first line of the bar is above the rail: all below it stands beside the rail."""

    def __init__(self, document: "Document", devices: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.top_bar, self.remarks = TopBar(document, devices, self), RemarkStrip(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for bar in (self.top_bar, self.remarks):
            column.addWidget(bar)

    def arrange(self, rail: int, window_height: int) -> None:
        """Fit both to the width of the rail and the height of the window."""
        self.top_bar.stand_beside(rail)
        self.remarks.arrange(rail, window_height)
