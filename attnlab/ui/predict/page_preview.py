"""A page of paper, as large as fits."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from attnlab.figures.handout import PAPERS, draw_page_image
from attnlab.ui.base.guard import guarded

if TYPE_CHECKING:
    from attnlab.figures.handout import Page

_LEAST_PX = 40


@guarded
class PagePreview(QLabel):
    """Shows one page, redrawn when the size changes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page: Page | None = None
        self._paper = "A4"
        self.setAccessibleName("The first page")
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_page(self, page: "Page | None", paper: str) -> None:
        """Show a page, or none."""
        self._page, self._paper = page, paper
        self._draw()

    def _draw(self) -> None:
        size = PAPERS[self._paper]
        width = int(min(self.width(), self.height() * size.width() / size.height()))
        if self._page is None or width < _LEAST_PX:
            self.clear()
        else:
            image = draw_page_image(self._page, self._paper, width, self.devicePixelRatioF())
            self.setPixmap(QPixmap.fromImage(image))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._draw()
