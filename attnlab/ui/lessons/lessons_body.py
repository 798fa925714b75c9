"""The list of lessons beside a page; in narrow windows the list is a page of its own."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.lessons.row_list import RowList

SHELF, NARROW_SHELF, NARROW = 440, 300, 1130
"""The width of the list at 100 %, and in bodies narrower than this, which are those of windows below 1200 pixels."""
ONE = 760
"""Below this width the list and the page do not stand side by side."""


@guarded
class LessonsBody(FollowsTheme, QSplitter):
    """Shows the list, the page, or both; another size of type resets their widths."""

    def __init__(self, shelf: RowList, page: QWidget, back: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._width_class: tuple[bool, bool] | None = None
        self._page, self._back = page, back
        self._at_page = self._whole = False
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self._side = QWidget()
        self._side.setProperty("ground", "surface")
        row = QHBoxLayout(self._side)
        row.setContentsMargins(4, 8, 4, 8)
        row.addWidget(shelf)
        self.addWidget(self._side)
        self.addWidget(page)
        self.setStretchFactor(1, 1)

    @property
    def shows_one(self) -> bool:
        """Whether there is room for the list or the page only."""
        return self.width() < px(ONE)

    def turn_to_page(self, at_page: bool) -> None:
        """In a narrow window show the page, or the list."""
        self._at_page = at_page
        self._arrange()

    def hide_list(self, whole: bool) -> None:
        """Give the page the whole width, or not."""
        self._whole = whole
        self._arrange()

    def restyle(self) -> None:
        """Set the widths for the size of type."""
        self._side.setMinimumWidth(px(200))
        self._arrange()

    def _arrange(self) -> None:
        one = self.shows_one
        self._side.setVisible(not self._whole and not (one and self._at_page))
        self._page.setVisible(self._whole or not one or self._at_page)
        self._back.setVisible(one)
        shelf = px(NARROW_SHELF if self.width() < px(NARROW) else SHELF)
        self.setSizes([shelf, max(self.width() - shelf, px(300))])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        now = self.shows_one, self.width() < px(NARROW)
        if self._width_class != now:
            self._width_class = now
            self._arrange()
