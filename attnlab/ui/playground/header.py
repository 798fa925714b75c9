"""The head of the playground: the bar of switches, and below it what is odd about the open layer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.ui.playground.remark_strip import RemarkStrip
from attnlab.ui.playground.top_bar import TopBar

if TYPE_CHECKING:
    from attnlab.document.document import Document


class Header(QWidget):
    """Stacks the two."""

    def __init__(self, document: "Document", devices: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.top_bar, self.remarks = TopBar(document, devices, self), RemarkStrip(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for bar in (self.top_bar, self.remarks):
            column.addWidget(bar)
