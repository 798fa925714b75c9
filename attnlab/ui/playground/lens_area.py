"""The middle of the playground: the canvas or a lens, under a row of tabs."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QStackedWidget, QVBoxLayout, QWidget

from attnlab.attention.stages.table import BY_NAME
from attnlab.ui.base.late_pages import rest, wake
from attnlab.ui.base.tab_order import move_tab_stops
from attnlab.ui.playground.canvas import Canvas
from attnlab.ui.playground.lens_bar import CANVAS, LEAST_WIDTH, LensBar
from attnlab.ui.playground.lenses import make_lens
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View
    from attnlab.ui.playground.lenses.lens import Lens, Runner


BACKWARD = "backward"
"""The lens with the cards of the backward pass."""


class LensArea(QWidget):
    """Shows the canvas or one lens; emits the edits that lenses request, and the choice of state for the cards."""

    cell_clicked = Signal(object)
    cell_hovered = Signal(object)
    cell_moved = Signal(object)
    alone_requested = Signal(object)
    colours_asked = Signal(str, QPoint)
    card_menu_wanted = Signal(object, QPoint)
    edit_requested = Signal(str, object)
    gesture_requested = Signal(str, object, object)
    export_requested = Signal(object)
    save_requested = Signal(str, str)
    """Emitted with the title of a table and its rows as CSV."""
    pin_toggled = Signal()
    look_chosen = Signal(object)
    strips_toggled = Signal(bool)
    lens_shown = Signal(str)
    explain_requested = Signal()

    def __init__(self, run: "Runner", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._shown: tuple[Trace, View] | None = None
        self._lenses: dict[str, Lens] = {}
        self._pinned: Trace | None = None
        self.bar = LensBar(self)  # first, as Tab follows the order of creation
        self.stack = QStackedWidget(self)
        self.canvas = Canvas(self.stack)
        self.stack.addWidget(self.canvas)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.bar.tab_chosen.connect(self._on_tab_chosen)
        self.bar.strips.clicked.connect(self.strips_toggled)
        self.bar.pin.clicked.connect(self.pin_toggled)
        self.bar.explain.clicked.connect(self.explain_requested)
        self.bar.looks.chosen.connect(self.look_chosen)
        column.addWidget(self.bar)
        column.addWidget(self.stack, 1)
        self.setMinimumSize(LEAST_WIDTH, 200)

    def add_to_bar(self, widget: QWidget) -> None:
        """Add a widget after the tabs and buttons."""
        self.bar.add(widget)

    @property
    def current(self) -> str:
        """The name of the visible view: "canvas" or a lens."""
        widget = self.stack.currentWidget()
        return next((name for name, lens in self._lenses.items() if lens is widget), CANVAS)

    @property
    def place(self) -> str:
        """The name of the visible view, with its page if it has several: "positions/order"."""
        pages: dict[str, QAbstractButton] = getattr(self.stack.currentWidget(), "tabs", {})
        page = next((page for page, tab in pages.items() if tab.isChecked()), "")
        return f"{self.current}/{page}" if page else self.current

    @staticmethod
    def find_view(stage: str) -> str:
        """Return the view that has the card of a stage: the lens of the backward pass, or else the canvas."""
        return BACKWARD if stage in BY_NAME and BY_NAME[stage].is_backward else CANVAS

    def show_pin(self, pinned: bool, look: str) -> None:
        """Show whether a state is pinned, and which state the cards show."""
        self.bar.show_pin(pinned, look)

    def show_pinned(self, pinned: "Trace | None") -> None:
        """Compare the cards of lenses with another trace, or with none; the playground updates the canvas."""
        self._pinned = pinned
        for lens in self._lenses.values():
            lens.show_pinned(pinned)

    def suits_canvas(self, width: int) -> bool | None:
        """Whether a width is enough for the canvas below the tabs, seen or not; None if unknown."""
        return self.canvas.suits(width, self.height() - self.bar.heightForWidth(width))

    def suits_lens(self, width: int) -> bool:
        """Whether a width is enough for the lens that is shown, if any."""
        lens = self._lenses.get(self.current)
        return lens is None or lens.suits(width)

    def offer_explanation(self, on: bool) -> None:
        """Show the button that unfolds the explanation, or hide it."""
        self.bar.explain.setVisible(on)

    def show_trace(self, trace: "Trace", view: "View") -> None:
        """Show another trace in the visible lens; the playground updates the canvas."""
        self._shown = trace, view
        if self.current != CANVAS:
            self._lenses[self.current].show_trace(trace, view)

    def show_view(self, view: "View") -> None:
        """Show the same trace with another view; a walk goes on in the lens of the backward pass."""
        before = self._shown[1].at if self._shown is not None else None
        if self._shown is not None:
            self._shown = self._shown[0], view
        if view.at is not None and view.at != before:
            there = self.find_view(view.at.stage)
            if self.current in {CANVAS, BACKWARD} - {there}:
                self.open_lens(there)
                return
        if self.current != CANVAS:
            self._lenses[self.current].show_view(view)

    def open_lens(self, name: str, stage: str = "") -> None:
        """Show the canvas or a lens, which is created on first use; "positions/order" names a page of it.

        A step of a lesson about a ``stage`` is shown as on its slide.
        """
        name, _, page = name.partition("/")
        if is_new := name != CANVAS and name not in self._lenses:
            self._lenses[name] = self._make_lens(name)
        self.bar.show_tab(name, has_cards=name == CANVAS or self._lenses[name].has_cards)
        if name in self._lenses:
            wake(self._lenses[name])
        before, shown = self.stack.currentWidget(), self.canvas if name == CANVAS else self._lenses[name]
        focus = self.window().focusWidget()
        had_focus = before is not None and (focus is before or before.isAncestorOf(focus))
        self.stack.setCurrentWidget(shown)
        for other in self._lenses.keys() - {name}:
            rest(self._lenses[other])
        if name != CANVAS:
            self._lenses[name].open_page(page)
            if stage:
                self._lenses[name].turn_to(stage)
        if name != CANVAS and self._shown is not None:
            self._lenses[name].show_trace(*self._shown)
        if is_new:
            move_tab_stops(shown, after=self.bar.explain)
        if had_focus and shown is not before:
            shown.setFocus()  # Qt gave it to some part of the view
        self.lens_shown.emit(name)

    def _make_lens(self, name: str) -> "Lens":
        lens = make_lens(name, self._run, self.stack)
        lens.cell_clicked.connect(self.cell_clicked)
        lens.cell_hovered.connect(self.cell_hovered)
        lens.cell_moved.connect(self.cell_moved)
        lens.alone_requested.connect(self.alone_requested)
        lens.colours_asked.connect(self.colours_asked)
        lens.card_menu_wanted.connect(self.card_menu_wanted)
        lens.edit_requested.connect(self.edit_requested)
        lens.gesture_requested.connect(self.gesture_requested)
        lens.export_requested.connect(self.export_requested)
        for table in lens.findChildren(NumberTable):
            table.offer_saving(self.save_requested.emit)
        if not lens.is_explained:
            lens.cell_clicked.connect(self._unfold_explanation)
        lens.show_pinned(self._pinned)
        self.stack.addWidget(lens)
        return lens

    @Slot(object)
    def _unfold_explanation(self, _: object) -> None:
        """Show the explanation of the cell that was asked for, if the lens had taken its room."""
        if not self.bar.explain.isHidden():
            self.explain_requested.emit()

    @Slot(object)
    def _on_tab_chosen(self, name: object) -> None:
        self.open_lens(str(name))
