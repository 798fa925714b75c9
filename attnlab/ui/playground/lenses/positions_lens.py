"""The positions explorer: the sinusoidal encoding, its rotation, and whether attention depends on token order."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from attnlab.ui.base.guard import guarded
from attnlab.ui.playground.lenses.lens import Lens, Runner
from attnlab.ui.playground.lenses.positions_encoding import EncodingPage
from attnlab.ui.playground.lenses.positions_order import OrderPage
from attnlab.ui.playground.lenses.positions_parts import Page
from attnlab.ui.playground.lenses.positions_rotation import RotationPage
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View


@guarded
class PositionsLens(Lens):
    """Three pages under three tabs; only the open page is computed."""

    name = "positions"
    title = "Positions"
    about = "How positions are encoded, and whether attention sees the order of the tokens"
    tab_order = 20
    pages = ("encoding", "rotation", "order")

    def __init__(self, run: Runner, parent: QWidget | None = None) -> None:
        super().__init__(run, parent)
        self.encoding, self.rotation, self.order = EncodingPage(), RotationPage(), OrderPage()
        self._pages: dict[str, Page] = {p.name: p for p in (self.encoding, self.rotation, self.order)}
        self._asked: dict[str, Hashable] = {}
        self._stack = QStackedWidget()
        self.tabs: dict[str, TabButton] = {}
        bar = QWidget()  # the tabs are exclusive among its children, separate from the plots' radio buttons
        row = FlowLayout(bar, gap=4)
        row.setContentsMargins(16, 12, 16, 4)
        for place, page in enumerate((self.encoding, self.rotation, self.order)):
            tab = TabButton(page.title)
            tab.setAccessibleName(f"Positions: {page.title}")
            tab.setToolTip(page.about)
            tab.clicked.connect(partial(self._open, place))
            page.changed.connect(self._on_changed)
            self.tabs[page.name] = tab
            row.addWidget(tab)
            self._stack.addWidget(page)
        self.order.shuffle_requested.connect(self._on_shuffle_requested)
        self.tabs["encoding"].setChecked(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self._stack, 1)
        self.setProperty("ground", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        self.encoding.show_experiment(trace.experiment, view.head)
        self.order.show_experiment(trace.experiment, view.head)
        self._refresh()

    def open_page(self, page: str) -> None:
        if page:
            self.tabs[page].click()

    def show_view(self, view: "View") -> None:
        self.order.show_head(view.head)
        self.encoding.rope.show_head(view.head)
        self._refresh()

    def on_result(self, key: Hashable, result: Any) -> None:
        page = self._pages[str(key)]
        page.show_result(result)
        page.reveal()

    def on_failed(self, key: Hashable, sentence: str) -> None:
        self._asked.pop(str(key), None)  # so that it is requested again when the page is next shown
        if key == self.order.name:
            self.order.show_result(sentence)
        self._pages[str(key)].reveal()

    def _open(self, place: int, _checked: bool = False) -> None:
        self._stack.setCurrentIndex(place)
        self._refresh()

    def _refresh(self) -> None:
        """Request the open page's values, unless they were requested already."""
        page = self._stack.currentWidget()
        assert isinstance(page, Page)
        wanted = page.describe_request()
        if wanted is None or self._asked.get(page.name) == wanted:
            return
        self._asked[page.name] = wanted
        self.ask(page.name, page.job(), latest=page.name)

    @Slot()
    def _on_changed(self) -> None:
        self._refresh()

    @Slot(object)
    def _on_shuffle_requested(self, change: Callable[..., Any]) -> None:
        self.edit_requested.emit("Shuffle the tokens", change)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()
