"""The middle: the probe and the maps of all layers and heads, one large when clicked, and the course of each head."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from attnlab.figures.map_data import MapData
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.answer_card import AnswerCard, frame_answer
from attnlab.ui.train.course_card import CourseCard
from attnlab.ui.train.inspector import Seen
from attnlab.ui.train.maps_view import MapsView, find_group
from attnlab.ui.train.model_page import ModelPage
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.undo_fields import TextField
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout
from attnlab.ui.widgets.maps.colour_scale import ColourScale
from attnlab.ui.widgets.maps.map_sheet import MapSheet

if TYPE_CHECKING:
    from attnlab.training.head_effects import HeadEffects

MAPS, MODEL = "maps", "model"
LEAST_PROBE = 240
"""The least width of the probe beside the tools, in pixels at 100 %."""
LEAST_MAP = 80
"""The least height that is left for maps below the answer, in pixels at 100 %."""
FIRST = "Computing the first maps…"
NONE = "This model has no attention: its decoder sees the source as one vector. There is no map to show."

ABOUT = {
    "encoder": "Attention from source to source",
    "decoder": "Attention from each output to the outputs before it",
    "cross": "Attention from the outputs to the source",
}
POINT = "Point at a cell, or click it to hold it"


@guarded
class MapsPanel(FollowsTheme, QWidget):
    """Shows a moment; requests another probe, gradients, and the step that was pressed in the chart."""

    probe_changed = Signal(str)
    gradients_wanted = Signal(bool)
    step_chosen = Signal(float)
    model_toggled = Signal(bool)
    """The diagram of the model is shown in place of the maps, or no longer."""
    heads_off_changed = Signal(object)
    """The heads that are off, only for looking: a frozenset of (layer, head)."""
    height_shared = Signal(int)
    """The height in pixels for all maps at once has changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seen: Seen | None = None
        self._large: int | None = None
        self._pinned: tuple[int, int] | None = None
        self.setProperty("ground", "ground")
        self.probe, self.step, self.pointed, self.wrong = TextField(), QLabel(), ElidedLabel(), QLabel()
        self.gradients, self.scale = QPushButton("gradients"), ColourScale("Colours of the gradients")
        self.groups, self._group = Segments("Visible layers"), dict[tuple[str, str, int], str]()
        self.answer = AnswerCard()
        self.view, self.sheet = MapsView(), MapSheet()
        self.chart, self.model = CourseCard(), ModelPage()
        self.pages = Segments("Maps or model")
        self.none = QLabel(FIRST)
        self._title = QLabel("Attention of")
        self._sheet_title, self._sheet_cell, self.back = ElidedLabel(), ElidedLabel(), QPushButton("All maps")
        self.switch = QPushButton("Switch off")
        self.switch.setToolTip("Show what the model does without this head; training goes on with it (Delete)")
        self._dress()
        self.stack = QStackedWidget()
        self.stack.addWidget(self._make_overview())
        self.stack.addWidget(self._make_large_page())
        self.stack.addWidget(self.model)
        self.rows = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = self._make_head()
        column.addWidget(self.head)
        column.addLayout(frame_answer(self.answer))
        column.addWidget(self.stack, 1)
        self.view.describe = self.describe_worth
        self.view.switch_requested.connect(self.toggle_head)
        self.switch.clicked.connect(self._on_switch_clicked)
        self.probe.textEdited.connect(self.probe_changed)
        self.probe.cancelled.connect(self._on_probe_cancelled)
        self.gradients.toggled.connect(self.gradients_wanted)
        self.view.map_opened.connect(self.open_map)
        self.view.cell_pointed.connect(self._on_pointed)
        self.groups.chosen.connect(self._on_group_chosen)
        self.pages.chosen.connect(self._on_page_chosen)
        self.model.map_wanted.connect(self._on_head_opened)
        self.sheet.map_clicked.connect(self._on_sheet_clicked)
        self.sheet.cell_pointed.connect(self._on_sheet_hovered)
        self.back.clicked.connect(self.close_map)
        self.area.viewport().installEventFilter(self)
        self.chart.chart.x_chosen.connect(self.step_chosen)
        self.chart.head_opened.connect(self._on_head_opened)

    def _dress(self) -> None:
        self._title.setProperty("role", "title")
        self.pages.set_choices(
            [Choice(MAPS, "Maps", "The maps of all heads"), Choice(MODEL, "Model", "The model, drawn with its blocks")]
        )
        self.pages.set_value(MAPS)
        self.probe.setAccessibleName("Probe")
        self.probe.setToolTip("The sentence for these maps; type another one")
        self.gradients.setCheckable(True)
        self.gradients.setProperty("small", "true")
        self.gradients.setEnabled(False)
        self.gradients.setAccessibleName("Gradients of the weights")
        self.gradients.setToolTip("Show the gradient of the loss with respect to each attention weight")
        self.step.setProperty("role", "muted")
        self.step.setAccessibleName("Step shown")
        self.pointed.setProperty("role", "muted")
        self.wrong.setProperty("role", "error")
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.setWordWrap(True)
        self.wrong.setAccessibleName("Message about the probe")
        self.wrong.hide()
        self.none.setWordWrap(True)
        self.none.setContentsMargins(4, 0, 4, 0)
        self.none.setProperty("role", "muted")
        for part in (self.groups, self.view, self.chart, self.scale):
            part.hide()
        self.back.setToolTip("Back to all maps (Esc)")
        self._sheet_title.setTextFormat(Qt.TextFormat.PlainText)
        self._sheet_title.setProperty("role", "title")

    def _make_head(self) -> QWidget:
        head = QWidget()
        head.setProperty("ground", "ground")
        column = QVBoxLayout(head)
        column.setContentsMargins(18, 12, 18, 4)
        column.setSpacing(4)
        self._first_row, self._second_row = QHBoxLayout(), QHBoxLayout()
        for row in (self._first_row, self._second_row):
            row.setSpacing(8)
            column.addLayout(row)
        self._first_row.addWidget(self._title)
        self._first_row.addWidget(self.probe, 3)
        self._put_tools(self._first_row)
        column.addWidget(self.wrong)
        return head

    def _put_tools(self, row: QHBoxLayout) -> None:
        self._row_of_tools = row
        row.addWidget(self.pointed, 2)
        row.addWidget(self.pages)
        self._first_row.addWidget(self.scale)  # beside the probe, as the row of tools is full in a narrow panel
        row.addWidget(self.gradients)
        row.addWidget(self.step)

    def _arrange_head(self) -> None:
        """Put the tools beside the probe, or below it if there is no room."""
        self.pages.setMinimumWidth(self.pages.measure_width(2))  # beside the scale of gradients it would wrap
        optional = [each for each in (self.step, self.scale) if each.isVisibleTo(self.head)]
        beside = [self._title, self.pages, self.gradients, *optional]
        needed = sum(each.sizeHint().width() for each in beside) + px(LEAST_PROBE) + 5 * 8 + 2 * 18
        row = self._first_row if needed <= self.width() else self._second_row
        has_scale = self.scale.isVisibleTo(self.head)
        self._title.setVisible(row is self._first_row or not has_scale)  # the probe has a name of its own
        if row is not self._row_of_tools:
            self._put_tools(row)
            if (whole := self.head.layout()) is not None:
                whole.activate()

    def arrange_answer(self) -> None:
        """Fold the answer to one line where the maps need its height."""
        row = self.large_row.heightForWidth(self.width() - 36) + self._sheet_cell.sizeHint().height() + 30
        least = px(LEAST_MAP) + (row if self._large is not None else 0)
        above = [item.widget() for item in map(self.rows.itemAt, range(self.rows.count())) if item is not None]
        used = sum(
            max(each.sizeHint().height(), each.minimumHeight()) for each in above if each not in (None, self.stack)
        )
        self.answer.arrange(self.height() - used, least)

    def _share_height(self) -> None:
        """Let the maps fill the height that the chart leaves, or all of it where that is little."""
        whole = self.area.viewport().height() - 18
        if self.groups.isVisibleTo(self):
            whole -= self.groups.sizeHint().height() + self.column.spacing()
        chart = max(self.chart.minimumSizeHint().height(), min(self.chart.sizeHint().height(), whole // 5))
        left = whole - chart - self.column.spacing()
        self.view.set_room(left if 2 * left >= whole and self.view.fits(left) else whole)
        self.height_shared.emit(self.view.room)

    def _make_overview(self) -> QScrollArea:
        self.area = QScrollArea()
        self.area.setWidgetResizable(True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget()
        inside.setProperty("ground", "ground")
        self.column = QVBoxLayout(inside)
        self.column.setContentsMargins(14, 4, 14, 14)
        self.column.setSpacing(10)
        self.column.addWidget(self.none)
        self.column.addWidget(self.groups)
        self.column.addWidget(self.view)
        card = QVBoxLayout()
        card.setContentsMargins(4, 0, 4, 0)  # aligned with the cards, which leave this much for their shadows
        card.addWidget(self.chart)
        self.column.addLayout(card, 1)
        self.column.addStretch(0)
        self.area.setWidget(inside)
        return self.area

    def _make_large_page(self) -> QWidget:
        page = QWidget()
        page.setProperty("ground", "surface")
        column = QVBoxLayout(page)
        column.setContentsMargins(18, 8, 18, 8)
        self.large_row = row = FlowLayout(gap=12)
        self._sheet_title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._sheet_title.setMinimumWidth(1)  # whole, in a line of its own if need be
        row.addWidget(self.back)
        row.addWidget(self._sheet_title)
        row.addWidget(self.switch)
        column.addLayout(row)
        column.addWidget(self._sheet_cell)  # below, where a longer text moves nothing
        column.addWidget(self.sheet, 1)
        return page

    def restyle(self) -> None:
        """Set fonts and sizes."""
        for label in (self._title, self._sheet_title):
            label.setFont(font("title"))
        self.step.setFont(font("number"))
        self.probe.setMinimumWidth(px(110))
        self._arrange_head()
        self.arrange_answer()

    @property
    def seen(self) -> Seen | None:
        """The moment shown."""
        return self._seen

    def show_seen(self, seen: Seen) -> None:
        """Show the maps of a moment, and what the model answers there."""
        if self._off and self._seen is not None and self._seen.spec != seen.spec:
            self._set_off(frozenset())
        self._seen = seen
        maps, kind = (seen.gradients, "signed") if seen.gradients else (seen.look.maps, "probability")
        self.view.show_maps(maps, kind, self._show_groups(seen))
        self.answer.follow(seen.look.answer, seen.look.step)
        self.none.setText(NONE)
        self.none.setVisible(not maps)
        self.chart.show_seen(seen)
        self.chart.setVisible(bool(maps))
        self.view.setVisible(bool(maps))
        self.gradients.setEnabled(bool(maps))
        self.scale.setVisible(kind == "signed" and not self.shows_model)
        if kind == "signed":
            self.scale.show_scale(self.view.data[0])
        off = f" · {len(self._off)} head{'s' if len(self._off) > 1 else ''} off" if self._off else ""
        self.step.setText(f"step {seen.look.step:,}{off}")
        self._arrange_head()
        self.arrange_answer()
        self._share_height()
        typing = self.probe.hasFocus() and self.probe.isModified()
        if not typing and self.probe.text() != seen.probe:
            self.probe.setText(seen.probe)
            self.probe.setCursorPosition(0)
        if seen.note or self.probe.text() == seen.probe:  # an unfinished probe may still be wrong
            self.say(seen.note)
        if self._large is not None:
            self._show_large()
        self.model.show_seen(seen)

    @property
    def shows_model(self) -> bool:
        """Whether the diagram of the model is chosen in place of the maps."""
        return self.pages.value() == MODEL

    def show_page(self, page: str) -> None:
        """Show the maps or the diagram of the model."""
        if page != self.pages.value():
            self.pages.set_value(page)
            self._on_page_chosen(page)

    @Slot(object)
    def _on_page_chosen(self, page: object) -> None:
        self.close_map()
        self.stack.setCurrentWidget(self.model if page == MODEL else self.area)
        self.gradients.setVisible(page != MODEL)
        self.scale.setVisible(page != MODEL and self._seen is not None and bool(self._seen.gradients))
        self.answer.set_wanted(page != MODEL)  # the diagram has the answers itself
        self._title.setText("Probe" if page == MODEL else "Attention of")
        self._arrange_head()
        self.model_toggled.emit(page == MODEL)

    def _show_groups(self, seen: Seen) -> str:
        """Offer the groups of layers, if there are several, and return the one chosen for the run."""
        names = list(dict.fromkeys(find_group(each.layer) for each in seen.look.maps))
        choices = [Choice("", "All", "The maps of all layers")]
        choices += [Choice(name, name.capitalize(), ABOUT.get(name, "")) for name in names]
        if choices != self._choices:
            self._choices = choices
            self.groups.set_choices(choices)
        self.groups.setVisible(len(names) > 1)
        group = self._group.get(_run_of(seen), "")
        group = group if group in names else ""
        self.groups.set_value(group)
        return group

    _choices: Sequence[Choice] = ()

    @Slot(object)
    def _on_group_chosen(self, group: object) -> None:
        if self._seen is not None:
            self._group[_run_of(self._seen)] = str(group)
            self.show_seen(self._seen)

    @Slot(object)
    def show_effects(self, found: "HeadEffects") -> None:
        """Take what each head is worth; the tips of the maps and the title of the large one say it."""
        self._effects = found
        if self._large is not None:
            self._show_large()

    _effects: "HeadEffects | None" = None

    _off: frozenset[tuple[str, int]] = frozenset()

    @Slot(int)
    def toggle_head(self, index: int) -> None:
        """Switch the head of a map off, only for looking, or on again."""
        if index < len(self.view.data):
            self._set_off(self._off ^ {self.view.place_of(index)})

    @Slot()
    def _on_switch_clicked(self) -> None:
        if self._large is not None:
            self.toggle_head(self._large)

    def _set_off(self, off: frozenset[tuple[str, int]]) -> None:
        self._off = off
        self.view.show_off(off)
        self._write_switch()
        self.heads_off_changed.emit(off)

    def _write_switch(self) -> None:
        off = self._large is not None and self._large < len(self.view.data) and self.view.is_off(self._large)
        self.switch.setText("Switch on" if off else "Switch off")

    def describe_worth(self, index: int) -> str:
        """Return what the head of a map is worth, "" if that is unknown."""
        if self._effects is None or self._seen is None or not index < len(self.view.data):
            return ""
        return self._effects.describe(*self.view.place_of(index), self._seen.look.step)

    def show_course(self, steps: NDArray[np.float64], measures: NDArray[np.float64], end: float) -> None:
        """Show the measures of each head [n, measures, heads] at some steps [n], of ``end`` in all."""
        self.chart.show_course(steps, measures, end)

    def say(self, sentence: str) -> None:
        """Show the problem of the typed probe; "" if there is none."""
        show_text(self.wrong, sentence)
        self.wrong.setVisible(bool(sentence))
        if (self.probe.property("wrong") == "true") != bool(sentence):
            self.probe.setProperty("wrong", "true" if sentence else "false")
            self.probe.style().polish(self.probe)

    def focus_probe(self) -> None:
        """Move keyboard focus to the probe."""
        self.probe.setFocus()
        self.probe.selectAll()

    @Slot(str, int)
    def _on_head_opened(self, layer: str, head: int) -> None:
        """Enlarge the map of a head, of all layers if it is not among the visible ones."""
        if self._seen is not None and find_group(layer) != self._group.get(_run_of(self._seen)):
            self._on_group_chosen("")
        places = [self.view.place_of(index) for index in range(len(self.view.data))]
        if (layer, head) in places:
            self.open_map(places.index((layer, head)))

    @Slot(int)
    def open_map(self, index: int) -> None:
        """Show one map large."""
        self._large, self._pinned = index, None
        self._sheet_cell.setText(POINT)
        self._show_large()
        self.stack.setCurrentIndex(1)
        self.arrange_answer()
        self.sheet.take_focus(by_key=self.view.ringed)

    @Slot()
    def close_map(self) -> None:
        """Show all maps again."""
        if self._large is not None:
            self._large = None
            self.stack.setCurrentWidget(self.model if self.shows_model else self.area)
            self.arrange_answer()
            self.view.take_focus(by_key=self.sheet.ringed)

    @property
    def large(self) -> int | None:
        """The index of the large map."""
        return self._large

    @property
    def told(self) -> str:
        """The text about the pointed or held cell."""
        return self._sheet_cell.text() if self._large is not None else self.pointed.text()

    def _show_large(self) -> None:
        assert self._large is not None
        if self._large >= len(self.view.data):
            self.close_map()
            return
        data = self.view.spell_out(self._large)
        if self._pinned is not None and not _has(data, self._pinned):
            self._pinned = None
            self._sheet_cell.setText(POINT)
        if self._hovered is not None and not _has(data, self._hovered):
            self._hovered = None
        self.sheet.show_maps(replace(data, titles=()))
        hovered = self.sheet.cell_at(self.sheet.mapFromGlobal(self.cursor().pos()).toPointF())
        self._write_switch()
        worth = self.describe_worth(self._large)
        self._sheet_title.setText(self.view.titles[self._large] + (f" · {worth}" if worth else ""))
        self.sheet.spoken_title = self.view.titles[self._large].replace(" · ", ", ")
        self.sheet.setAccessibleName(f"Attention map: {self.sheet.spoken_title}")
        cell = self._pinned or (hovered[1:] if hovered is not None and self.sheet.underMouse() else None)
        if cell is not None:
            self._sheet_cell.setText(self.view.cell_text((self._large, *cell)))

    @Slot(object)
    def _on_pointed(self, cell: tuple[int, int, int] | None) -> None:
        said = ""
        if cell is not None:
            parts = self.view.titles[cell[0]], self.view.cell_text(cell), self.describe_worth(cell[0])
            said = " · ".join(filter(None, parts))
        self.pointed.setText(said)

    @Slot(object)
    def _on_sheet_hovered(self, cell: tuple[int, int, int] | None) -> None:
        self._hovered = cell[1:] if cell is not None else None
        at = self._hovered or self._pinned
        if self._large is not None and at is not None:
            self._sheet_cell.setText(self.view.cell_text((self._large, *at)))

    _hovered: tuple[int, int] | None = None

    @Slot(int)
    def _on_sheet_clicked(self, _index: int) -> None:
        self._pinned = self._hovered if self._hovered != self._pinned else None

    @Slot()
    def _on_probe_cancelled(self) -> None:
        if self._seen is not None:
            self.probe.setText(self._seen.probe)
            self.say("")

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._is_closing(event):
            event.accept()
            return True
        return super().event(event)

    def _is_closing(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self._large is not None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_head()
        self.arrange_answer()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._share_height()
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._is_closing(event):
            self.close_map()
        else:
            super().keyPressEvent(event)


def _run_of(seen: Seen) -> tuple[str, str, int]:
    return seen.spec.task, seen.spec.model.kind, seen.spec.train.seed


def _has(data: MapData, cell: tuple[int, int]) -> bool:
    """Return whether a map has a cell [row, column]."""
    _, rows, columns = data.values.shape
    return bool(cell[0] < rows and cell[1] < columns)
