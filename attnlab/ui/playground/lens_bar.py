"""The bar over the canvas: the tabs of the lenses, what the cards show, and Pin, in one line as long as they fit."""

from dataclasses import replace

from PySide6.QtCore import QEvent, QRect, Signal, Slot
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QLayoutItem, QPushButton, QSizePolicy, QWidget

from attnlab.figures.subscripts import text_width
from attnlab.lessons.lenses import LENSES
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.pill import Pill
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout, flow

CANVAS = "canvas"
LEAST_WIDTH = 240
LOOKS = (
    Choice("present", "Present", "The cards show the current state"),
    Choice("pinned", "Pinned", "The cards show the pinned state, on the same colour scale"),
    Choice("both", "Both", "The cards show the pinned state and the current one side by side, on one colour scale"),
    Choice("difference", "Difference", "The cards show current minus pinned, matched by token"),
)
STRIPS = "Show each stage’s range and row sums on its card"
NO_STRIPS = "This view has no cards; those of the canvas show each stage’s range and row sums"
NO_CARDS = "This view shows the current state; the cards of the canvas show the pinned one too"


@guarded
class LensBar(QWidget):
    """Shows as many tabs as one line has room for; the others are in the list of a button after them."""

    tab_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "lenses")
        self.setMinimumWidth(LEAST_WIDTH)  # otherwise its height is that of all tabs in one line
        self.tabs = Segments("View in the middle")
        lenses = (Choice(name, lens.title, lens.about) for name, lens in LENSES.items())
        self.views = (Choice(CANVAS, "Canvas", "Every stage as a card"), *lenses)
        self.tabs.set_choices(self.views)
        self.more = Pill("More", name="More views")
        self.more.drops_label = True
        self.more.setToolTip("Views that have no room for a tab")
        self.strips = QPushButton("Σ")
        self.strips.setCheckable(True)
        self.strips.setAccessibleName("Figures on the cards")
        self.pin = QPushButton("Pin")
        self.explain = QPushButton("Explain")
        self.explain.setToolTip("Show how the held number is computed, beside the canvas")
        self.explain.hide()
        self.looks = Segments("Which state the cards show")
        self.looks.set_choices(LOOKS)
        self.looks.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum)  # it wraps in a narrow bar
        self._row = _TabsLayout(self)
        for widget in (self.tabs, self.more, self.strips, self.looks, self.pin, self.explain):
            self._row.addWidget(widget)
        for chooser in (self.tabs, self.more):
            chooser.chosen.connect(self.tab_chosen)
        self.more.chosen.connect(self._on_listed_chosen)
        self._look, self._has_cards = "present", True
        self.show_tab(CANVAS)
        self.show_pin(False, "present")

    def add(self, widget: QWidget) -> None:
        """Add a widget after the tabs and buttons."""
        self._row.addWidget(widget)

    def show_tab(self, name: str, *, has_cards: bool = True) -> None:
        """Mark the tab of the visible view, or name it on the button of the others.

        A view without cards shows the present state, whichever the cards show, and no figures on them.
        """
        self.tabs.set_value(name)
        self._has_cards = has_cards
        self.strips.setEnabled(has_cards)
        self.strips.setToolTip(STRIPS if has_cards else NO_STRIPS)
        self._show_look()
        self._show_others()

    def show_pin(self, pinned: bool, look: str) -> None:
        """Show whether a state is pinned, and which state the cards show."""
        self.looks.setVisible(pinned)
        self._look = look
        self._show_look()
        self.pin.setText("Unpin" if pinned else "Pin")
        self.pin.setToolTip(
            "Discard the pinned state" if pinned else "Keep the current state, to compare later changes with it"
        )

    def _show_look(self) -> None:
        reason = "" if self._has_cards else NO_CARDS
        self.looks.set_choices([LOOKS[0], *(replace(look, reason=reason) for look in LOOKS[1:])])
        self.looks.set_value(self._look if self._has_cards else "present")

    @Slot()
    def _on_listed_chosen(self) -> None:
        """Take the focus from the last tab, whose ring would look like a choice."""
        self.more.setFocus()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        count = self._row.count_tabs(self.width())
        if count != self.tabs.count_shown():
            self.tabs.show_first(count)
            self._show_others()

    def _show_others(self) -> None:
        others = self.views[self.tabs.count_shown() :]
        self.more.set_choices(others)
        self.more.set_value(self.tabs.value())
        self.more.set_text(None if any(self.tabs.value() == choice.value for choice in others) else "")
        self.more.setVisible(bool(others))


@guarded
class _TabsLayout(FlowLayout):
    """The bar's rows: the tabs that fit in one line with everything else, the button of the others, the rest."""

    def __init__(self, bar: LensBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._longest: tuple[QFont | None, float] = None, 0.0
        self.setContentsMargins(16, 6, 16, 0)

    def count_tabs(self, width: int) -> int:
        """Return how many tabs to show in a width in pixels; at least one."""
        bar, views = self._bar, len(self._bar.views)
        margins = self.contentsMargins()
        others = [item.sizeHint().width() + self._gap for item in self._list_others()]
        room = width - margins.left() - margins.right() - sum(others)
        widths = bar.tabs.measure_widths()
        if widths[-1] <= room:
            return views
        room -= self._measure_more() + self._gap
        return max([n for n, width in enumerate(widths[:-1], 1) if width <= room], default=1)

    def _measure_more(self) -> int:
        """Return the width of the button when it names the longest title, so that no title changes what fits."""
        face, more = font("strong"), self._bar.more
        if face != self._longest[0]:  # a layout asks many times for each size of the window
            self._longest = face, max(text_width(choice.title, face) for choice in self._bar.views)
        return round(more.sizeHint().width() + self._longest[1] - text_width(more.value_text(), face))

    def _list_others(self) -> list[QLayoutItem]:
        return [item for item in self._items[2:] if not item.isEmpty()]

    def _flow(self, width: int) -> list[tuple[QLayoutItem, QRect]]:
        count, inside = self.count_tabs(width), width - self.contentsMargins().left() - self.contentsMargins().right()
        tabs, more, others = self._items[0], self._items[1], self._list_others()
        sizes = [(self._bar.tabs.measure_width(count), self._bar.tabs.sizeHint().height())]
        items = [tabs]
        if count < len(self._bar.views):
            items.append(more)
            sizes.append((self._bar.more.sizeHint().width(), self._bar.more.sizeHint().height()))
        for item in others:
            wraps = item.sizeHint().width() > inside and item.hasHeightForWidth()  # into rows of its own
            items.append(item)
            sizes.append((inside, item.heightForWidth(inside)) if wraps else item.sizeHint().toTuple())
        if more in items and sum(wide + self._gap for wide, _ in sizes) - self._gap > inside:
            sizes[1] = self._bar.more.minimumSizeHint().toTuple()  # the title of the view alone
        return list(zip(items, flow(sizes, inside, self._gap), strict=True))
