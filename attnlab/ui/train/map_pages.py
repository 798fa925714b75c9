"""The pages below the answer: all maps, a large one, the model or its inside, or a sentence on why there is none."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from attnlab.ui.train.inside_page import InsidePage
from attnlab.ui.train.large_map import LargeMap
from attnlab.ui.train.maps_head import INSIDE, MAPS, MODEL
from attnlab.ui.train.maps_overview import MapsOverview
from attnlab.ui.train.model_page import ModelPage


class MapPages(QStackedWidget):
    """Shows the page that is asked for: "maps", "model" or "inside"; over it a large map, while one is open.

    With nothing to show, a sentence takes the place of all of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.overview, self.model, self.inside = MapsOverview(), ModelPage(), InsidePage()
        self.large_map, self.empty = LargeMap(self.overview.view), QLabel()
        self.is_empty = False
        self.empty.setWordWrap(True)
        self.empty.setProperty("role", "muted")
        self.empty.setContentsMargins(18, 18, 18, 0)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.empty.setTextFormat(Qt.TextFormat.PlainText)
        for page in (self.overview, self.large_map, self.model, self.inside, self.empty):
            self.addWidget(page)

    @property
    def is_enlarged(self) -> bool:
        """Whether a large map is open."""
        return self.large_map.index is not None

    def show_page(self, name: str) -> None:
        """Show a page, or the sentence that says why there is nothing to show."""
        pages: dict[str, QWidget] = {MAPS: self.overview, MODEL: self.model, INSIDE: self.inside}
        self._switch_to(self.empty if self.is_empty else pages[name])

    def open_map(self, index: int) -> None:
        """Show one map large."""
        self.large_map.open(index)
        self._switch_to(self.large_map)

    def close_map(self, name: str) -> None:
        """Show a page in place of the large map."""
        self.large_map.close_map()
        self.show_page(name)

    def _switch_to(self, page: QWidget) -> None:
        """Show a page; all maps stay scrolled, though Qt gives the focus of what it hides to the next part of them."""
        bar = self.overview.verticalScrollBar()
        before = bar.value()
        self.setCurrentWidget(page)
        bar.setValue(before)
