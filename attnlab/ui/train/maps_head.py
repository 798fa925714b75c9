"""The line above the maps: the choice of a page, the probe, the mean, gradients and their colours, and the step."""

from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from attnlab.figures.map_data import MapData
from attnlab.ui.base.announcing import show_text
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.train.inspector import Seen
from attnlab.ui.widgets.elided_label import ElidedLabel
from attnlab.ui.widgets.fields.choice import Choice
from attnlab.ui.widgets.fields.segments import Segments
from attnlab.ui.widgets.fields.undo_fields import TextField
from attnlab.ui.widgets.maps.colour_scale import ColourScale

MAPS, MODEL, INSIDE = "maps", "model", "inside"
NARROWEST_PROBE, LEAST_PROBE, MOST_PROBE = 80, 200, 320
"""The least width of the probe, that beside the tools, and the most that its text asks for, in pixels at 100 %."""
BESIDE = 18
"""Pixels at the left and the right of the line."""
GAP = 8
"""Pixels between two parts."""
STRETCH: dict[type[QWidget], int] = {TextField: 5, ElidedLabel: 1}
"""How the probe and the text about a cell share the width that is left."""


@guarded
class MapsHead(FollowsTheme, QWidget):
    """Shows a moment's probe and step; the tools are beside the probe, or below it where there is no room.

    The choice of a page is at that end of the first row which stays in place while panels are shown and hidden.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._probe: str | None = None
        self._has_scale = self._has_heads = False
        self._has_step, self._at_right = True, False
        self._longest_step = ""
        self._title = QLabel("Attention of")
        self.pages = Segments("Maps, model or inside")
        self.probe, self.pointed, self.step, self.wrong = TextField(), ElidedLabel(), QLabel(), QLabel()
        self.mean = QPushButton("mean")
        self.gradients, self.scale = QPushButton("gradients"), ColourScale("Colours of the gradients")
        self._dress()
        column = QVBoxLayout(self)
        column.setContentsMargins(BESIDE, 12, BESIDE, 4)
        column.setSpacing(4)
        self._first_row, self._second_row = QHBoxLayout(), QHBoxLayout()
        for row in (self._first_row, self._second_row):
            row.setSpacing(GAP)
            column.addLayout(row)
        self._place(self._first_row)
        column.addWidget(self.wrong)
        column.addStretch(1)  # the first row stays at the top until a new height is laid out
        self.probe.cancelled.connect(self._on_cancelled)

    def _dress(self) -> None:
        self._title.setProperty("role", "title")
        self.pages.set_choices(
            [
                Choice(MAPS, "Maps", "The maps of all heads"),
                Choice(MODEL, "Model", "The model, drawn with its blocks"),
                Choice(INSIDE, "Inside", "The answer after each layer, and what each head adds to it"),
            ]
        )
        self.pages.set_value(MAPS)
        self.pages.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.probe.setAccessibleName("Input")
        self.probe.setToolTip("The input that the model reads for these maps; type another one")
        for button in (self.gradients, self.mean):
            button.setCheckable(True)
            button.setProperty("small", "true")
        self.mean.hide()
        self.mean.setAccessibleName("Mean of the heads")
        self.mean.setToolTip("Show one map for each layer: the mean of its heads")
        self.gradients.setEnabled(False)
        self.gradients.setAccessibleName("Gradients of the weights")
        self.gradients.setToolTip("Show the gradient of the loss with respect to each attention weight")
        self.step.setProperty("role", "muted")
        self.step.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.step.setAccessibleName("Step shown")
        self.pointed.setProperty("role", "muted")
        self.wrong.setProperty("role", "error")
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.setWordWrap(True)
        self.wrong.setAccessibleName("Message about the input")
        self.wrong.hide()
        self.scale.hide()

    def _place(self, row_of_tools: QHBoxLayout) -> None:
        """Put the choice of a page and the probe into the first row, and the tools into theirs."""
        self._row_of_tools = row_of_tools
        probe = self._title, self.probe
        tools = self.pointed, self.scale, self.mean, self.gradients, self.step
        beside = tools if row_of_tools is self._first_row else ()
        first = (*probe, *beside, self.pages) if self._at_right else (self.pages, *probe, *beside)
        for part in first:
            self._first_row.addWidget(part, STRETCH.get(type(part), 0))
        for part in () if beside else tools:
            self._second_row.addWidget(part, STRETCH.get(type(part), 0))
        stops = (self.probe, self.pages) if self._at_right else (self.pages, self.probe)
        for before, after in pairwise((*stops, self.mean, self.gradients)):
            QWidget.setTabOrder(before, after)

    def put_pages(self, *, at_right: bool) -> None:
        """Put the choice of a page at the right or the left end of the first row."""
        if at_right != self._at_right:
            self._at_right = at_right
            self._place(self._row_of_tools)

    def set_room_at_right(self, width: int) -> None:
        """Take a width that something at the right of the line takes from it, such as a scroll bar, from its margin."""
        if (column := self.layout()) is not None:
            margins = column.contentsMargins()
            margins.setRight(max(BESIDE - width, 0))
            column.setContentsMargins(margins)

    def restyle(self) -> None:
        """Set fonts and sizes."""
        self._title.setFont(font("title"))
        self.step.setFont(font("number"))
        self.probe.setMinimumWidth(px(NARROWEST_PROBE))
        self._arrange()

    def _arrange(self) -> None:
        """Put the tools beside the probe, without its title if that saves a line, or below it if there is no room."""
        self._fix_pages()
        room = self.width() - 2 * BESIDE
        step = max(self.step.fontMetrics().horizontalAdvance(self._longest_step), self.step.sizeHint().width()) + GAP
        self.step.setMinimumWidth(step - GAP)  # a run does not move what is beside it
        tools = sum(each.sizeHint().width() + GAP for each in (self.mean, self.gradients) if each.isVisibleTo(self))
        scale = self.scale.sizeHint().width() + GAP
        has_scale = self._has_scale and self.page == MAPS and tools + scale <= room
        tools += scale if has_scale else 0
        has_step = self._has_step and tools + step <= room  # the bar of the moments tells it too
        tools += step if has_step else 0
        self.scale.setVisible(has_scale)
        self.step.setVisible(has_step)
        wide = self.probe.fontMetrics().horizontalAdvance(self._probe or "") + px(32)
        least = px(NARROWEST_PROBE if has_scale else LEAST_PROBE)  # so that the button just pressed stays
        wide = self.pages.width() + GAP + min(max(wide, least), px(MOST_PROBE))
        row = self._first_row if wide + tools + GAP <= room else self._second_row
        beside = tools + GAP if row is self._first_row else 0
        title = self._title.sizeHint().width() + GAP
        self._title.setVisible(wide + beside + title <= room)  # the probe has a name of its own
        if row is not self._row_of_tools:
            self._place(row)
            if (whole := self.layout()) is not None:
                whole.activate()

    def _fix_pages(self) -> None:
        """Give the choice of a page a width that its page does not change: smaller only where it leaves no probe."""
        wide, least = self.pages.sizeHint().width(), px(NARROWEST_PROBE) + GAP + 2 * BESIDE
        self.pages.setFixedWidth(wide if wide + least <= self.width() else self.pages.measure_tight())

    @property
    def page(self) -> str:
        """The page chosen: "maps", "model" or "inside"."""
        return str(self.pages.value())

    def show_seen(self, seen: Seen, signed: MapData | None, off: int) -> None:
        """Show a moment's probe and step, the scale of a map of gradients, if there is one, and how many heads are off.

        A probe that is being typed stays as it is.
        """
        self.gradients.setEnabled(bool(seen.gradients or seen.look.maps))
        self._has_scale, self._has_heads = signed is not None, any(len(each.weights) > 1 for each in seen.look.maps)
        if signed is not None:
            self.scale.show_scale(signed)
        told = f" · {off} head{'s' if off > 1 else ''} off" if off else ""
        self.step.setText(f"step {seen.look.step:,}{told}")
        self._longest_step = f"step {max(seen.spec.train.steps, seen.look.step):,}{told}"
        self._probe = seen.probe
        self._show_tools()
        typing = self.probe.hasFocus() and self.probe.isModified()
        if not typing and self.probe.text() != seen.probe:
            self.probe.setText(seen.probe)
            self.probe.setCursorPosition(0)
        if seen.note or self.probe.text() == seen.probe:  # an unfinished probe may still be wrong
            self.say(seen.note)

    def show_page(self) -> None:
        """Show the tools of the chosen page: only maps have gradients."""
        self.gradients.setVisible(self.page == MAPS)
        self._title.setText("Attention of" if self.page == MAPS else "Input")
        self._show_tools()

    def _show_tools(self) -> None:
        self.mean.setVisible(self._has_heads and self.page == MAPS)
        self._arrange()

    def say(self, sentence: str) -> None:
        """Show the problem of the typed probe; "" if there is none."""
        show_text(self.wrong, sentence)
        self.wrong.setVisible(bool(sentence))
        if (self.probe.property("wrong") == "true") != bool(sentence):
            self.probe.setProperty("wrong", "true" if sentence else "false")
            self.probe.style().polish(self.probe)

    def show_step(self, on: bool) -> None:
        """Show the step, where it has room, or leave it to the header above."""
        self._has_step = on
        self._arrange()

    def focus_probe(self) -> None:
        """Move keyboard focus to the probe."""
        self.probe.setFocus()
        self.probe.selectAll()

    @Slot()
    def _on_cancelled(self) -> None:
        if self._probe is not None:
            self.probe.setText(self._probe)
            self.say("")

    def minimumSizeHint(self) -> QSize:
        """Return the least size in any arrangement; that of a wide one would keep the panel wide."""
        wide = self.pages.measure_tight() + GAP + self.probe.minimumWidth() + 2 * BESIDE
        return QSize(wide, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
