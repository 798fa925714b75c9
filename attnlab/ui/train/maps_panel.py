"""The middle: the probe, the answer, and below them all maps, a large one, the model, or its inside."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.training.specs import RunSpec
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.answer_card import AnswerCard
from attnlab.ui.train.head_switches import HeadSwitches
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.large_map import LEAST as LEAST_LARGE
from attnlab.ui.train.map_pages import MapPages
from attnlab.ui.train.maps_column import MapsColumn
from attnlab.ui.train.maps_head import MAPS, MODEL, MapsHead

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects

LEAST_MAP = 80
"""The least height that is left for maps below the answer, in pixels at 100 %."""


@guarded
class MapsPanel(FollowsTheme, QWidget):
    """Shows a moment; requests another probe, gradients, and the step that was pressed in the chart."""

    probe_changed = Signal(str)
    gradients_wanted = Signal(bool)
    step_chosen = Signal(float)
    page_changed = Signal(str)
    """The maps, the diagram of the model or its inside is chosen: "maps", "model" or "inside"."""
    worth_wanted = Signal(bool)
    """Whether a head is pointed at or enlarged, so that what it is worth is shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seen: Seen | None = None
        self.setProperty("ground", "ground")
        self.head = MapsHead()
        self.answer, self.stack = AnswerCard(), MapPages()
        self.overview, self.large_map = self.stack.overview, self.stack.large_map
        self.model, self.inside, self.empty = self.stack.model, self.stack.inside, self.stack.empty
        self.view, self.chart = self.overview.view, self.overview.chart
        self.heads = HeadSwitches(self.view)
        self.whole = MapsColumn(self.head, self.answer, self.stack)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self.whole)
        self.large_map.switch_requested.connect(self.heads.toggle)
        self.large_map.training_requested.connect(self.heads.request_training)
        self.heads.off_changed.connect(self.large_map.refresh_switch)
        self.large_map.closed.connect(self.close_map)
        self.head.probe.textEdited.connect(self.probe_changed)
        self.head.gradients.toggled.connect(self.gradients_wanted)
        self.head.mean.toggled.connect(self._on_mean_toggled)
        self.overview.group_changed.connect(self._show_again)
        self.head.pages.chosen.connect(self._on_page_chosen)
        self.view.map_opened.connect(self.open_map)
        self.view.cell_pointed.connect(self._on_pointed)
        self.model.map_wanted.connect(self._on_head_opened)
        self.model.left.connect(self._on_presentation_left)
        self.inside.map_wanted.connect(self._on_head_opened)
        self.chart.chart.x_chosen.connect(self.step_chosen)
        self.chart.head_opened.connect(self._on_head_opened)

    def arrange_answer(self) -> None:
        """Fold the answer to one line where the maps need its height."""
        least = legible = px(LEAST_MAP)
        if self.stack.is_enlarged:
            top = self.large_map.measure_top(self.width())
            least, legible = px(LEAST_LARGE) + top, self.large_map.sheet.measure_legible() + top
        self.whole.arrange(least, legible)

    def restyle(self) -> None:
        """Arrange the answer for the size of type."""
        self.arrange_answer()

    @property
    def seen(self) -> Seen | None:
        """The moment shown."""
        return self._seen

    def show_seen(self, seen: Seen) -> None:
        """Show the maps of a moment, and what the model answers there."""
        if self.stack.is_empty:
            self._set_empty(False)
        if self._seen is None or _find_model(self._seen.spec) != _find_model(seen.spec):
            self.close_map()  # it would show a map of another model under the same index
            for area in (self.overview, self.model.area):
                area.verticalScrollBar().setValue(0)
        self._seen = seen
        had_focus = self.view.hasFocus()
        self.overview.show_seen(seen, mean=self.head.mean.isChecked())
        if had_focus and self.view.isHidden():
            self.setFocus()  # else it goes to a button of the time line, which Space would press
        self.heads.show_seen(seen)
        self.answer.follow(seen.look.answer, seen.look.step)
        self.head.show_seen(seen, self.view.data[0] if seen.gradients else None, self.heads.count_off())
        self.arrange_answer()
        self.large_map.refresh()
        self.model.show_seen(seen)
        self.inside.show_seen(seen)

    def show_nothing(self, sentence: str) -> None:
        """Show no maps and no answer, but a sentence on why there are none, until there are some again."""
        self.close_map()
        self._seen = None
        self.empty.setText(sentence)
        self._set_empty(True)

    def _set_empty(self, on: bool) -> None:
        self.stack.is_empty = on
        self.head.setVisible(not on)
        self.answer.set_wanted(not on and self.page == MAPS)
        self.stack.show_page(self.page)

    @property
    def shows_model(self) -> bool:
        """Whether the diagram of the model is chosen in place of the maps."""
        return self.page == MODEL

    @property
    def page(self) -> str:
        """The page chosen: "maps", "model" or "inside"."""
        return self.head.page

    def show_page(self, page: str) -> None:
        """Show the maps or the diagram of the model."""
        if page != self.head.pages.value():
            self.head.pages.set_value(page)
            self._on_page_chosen(page)

    def present_model(self) -> None:
        """Choose the diagram of the model and show it on the whole screen, as soon as it is drawn."""
        if self.shows_model:
            self.model.present()
            return
        before = self.page
        for page in self.model.both:
            page.presents_next = True
        self.show_page(MODEL)
        self._returns_to = before

    def forget_presentation(self) -> None:
        """Present nothing that is still being drawn."""
        self._returns_to = ""
        for page in self.model.both:
            page.presents_next = False

    @Slot(object)
    def _on_page_chosen(self, page: object) -> None:
        self.close_map()
        self._returns_to = ""
        for each in self.model.both:
            each.presents_next &= self.shows_model
        self.stack.show_page(self.page)
        self.answer.set_wanted(page == MAPS and not self.stack.is_empty)  # the other pages have the answers themselves
        self.head.show_page()
        self.page_changed.emit(page)

    @Slot()
    def _on_presentation_left(self) -> None:
        """Show the page again on which the presentation began."""
        if self._returns_to:
            self.show_page(self._returns_to)

    @Slot(bool)
    def _on_mean_toggled(self, _on: bool) -> None:
        self.close_map()  # a large map shows a head, or the mean
        self._show_again()

    @Slot()
    def _show_again(self) -> None:
        if self._seen is not None:
            self.show_seen(self._seen)

    @Slot(object, object)
    def show_effects(self, found: "HeadEffects", spec: RunSpec) -> None:
        """Take what each head of a run is worth; the tips of the maps and the title of the large one say it."""
        self.heads.show_effects(found, spec)
        self.large_map.refresh()
        if self._pointed is not None:
            self._on_pointed(self._pointed)

    def show_course(self, steps: NDArray[np.float64], measures: NDArray[np.float64], end: float) -> None:
        """Show the measures of each head [n, measures, heads] at some steps [n], of ``end`` in all."""
        self.chart.show_course(steps, measures, end)

    @Slot(str, int)
    def _on_head_opened(self, layer: str, head: int) -> None:
        """Enlarge the map of a head, of all layers if it is not among the visible ones."""
        self.overview.reveal(layer)
        self.head.mean.setChecked(False)
        places = [self.view.place_of(index) for index in range(len(self.view.data))]
        if (layer, head) in places:
            self.open_map(places.index((layer, head)))

    @Slot(int)
    def open_map(self, index: int) -> None:
        """Show one map large."""
        self.stack.open_map(index)
        self._ask_for_worth()
        self.arrange_answer()
        bar = self.whole.verticalScrollBar()
        bar.setValue(bar.maximum())  # in a low room, the map rather than what is above it
        self.large_map.sheet.take_focus(by_key=self.view.ringed)

    @Slot()
    def close_map(self) -> None:
        """Show all maps again."""
        if self.stack.is_enlarged:
            self.stack.close_map(self.page)
            self._ask_for_worth()
            self.arrange_answer()
            self.view.take_focus(by_key=self.large_map.sheet.ringed)

    @property
    def told(self) -> str:
        """The text about the pointed or held cell."""
        return self.large_map.cell_text if self.stack.is_enlarged else self.head.pointed.text()

    @Slot(object)
    def _on_pointed(self, cell: tuple[int, int, int] | None) -> None:
        self._pointed = cell
        self._ask_for_worth()
        said = ""
        if cell is not None:
            parts = self.view.titles[cell[0]], self.view.cell_text(cell), self.heads.describe_worth(cell[0])
            said = " · ".join(filter(None, parts))
        self.head.pointed.setText(said)

    def _ask_for_worth(self) -> None:
        wanted = self._pointed is not None or self.stack.is_enlarged
        if wanted != self._wants_worth:
            self._wants_worth = wanted
            self.worth_wanted.emit(wanted)

    _pointed: tuple[int, int, int] | None = None
    _wants_worth = False
    _returns_to = ""  # the page to show after a presentation; "" for the one in view

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_closing(event):
            event.accept()
            return True
        return super().event(event)

    def _is_closing(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.stack.is_enlarged

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange_answer()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._is_closing(event):
            self.close_map()
        else:
            super().keyPressEvent(event)


def _find_model(spec: RunSpec) -> tuple[object, ...]:
    """Return the settings that make a model: if one of them differs, so do the maps."""
    return spec.task, dict(spec.options), spec.model
