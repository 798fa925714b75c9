"""The line above the maps: the probe, the choice of a page, gradients and their colours, and the step."""

from PySide6.QtCore import Qt, Slot
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
LEAST_PROBE, MOST_PROBE = 200, 320
"""The least width of the probe beside the tools, and the most that its text asks for, in pixels at 100 %."""


@guarded
class MapsHead(FollowsTheme, QWidget):
    """Shows a moment's probe and step; the tools are beside the probe, or below it where there is no room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._probe: str | None = None
        self._has_scale = self._has_heads = False
        self._has_step = True
        self._title = QLabel("Attention of")
        self.probe, self.pointed, self.step, self.wrong = TextField(), ElidedLabel(), QLabel(), QLabel()
        self.pages = Segments("Maps, model or inside")
        self.gradients, self.scale = QPushButton("gradients"), ColourScale("Colours of the gradients")
        self.mean = QPushButton("mean")
        self._dress()
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 12, 18, 4)
        column.setSpacing(4)
        self._first_row, self._second_row = QHBoxLayout(), QHBoxLayout()
        for row in (self._first_row, self._second_row):
            row.setSpacing(8)
            column.addLayout(row)
        self._first_row.addWidget(self._title)
        self._first_row.addWidget(self.probe, 5)
        self._put_tools(self._first_row)
        column.addWidget(self.wrong)
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
        self.probe.setAccessibleName("Probe")
        self.probe.setToolTip("The sentence for these maps; type another one")
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
        self.step.setAccessibleName("Step shown")
        self.pointed.setProperty("role", "muted")
        self.wrong.setProperty("role", "error")
        self.wrong.setTextFormat(Qt.TextFormat.PlainText)
        self.wrong.setWordWrap(True)
        self.wrong.setAccessibleName("Message about the probe")
        self.wrong.hide()
        self.scale.hide()

    def _put_tools(self, row: QHBoxLayout) -> None:
        self._row_of_tools = row
        row.addWidget(self.pointed, 1)
        row.addWidget(self.pages)
        for widget in (self.scale, self.mean):  # beside the probe, as the row of tools is full in a narrow panel
            self._first_row.addWidget(widget)
        row.addWidget(self.gradients)
        row.addWidget(self.step)

    def restyle(self) -> None:
        """Set fonts and sizes."""
        self._title.setFont(font("title"))
        self.step.setFont(font("number"))
        self.probe.setMinimumWidth(px(110))
        self._arrange()

    def _arrange(self) -> None:
        """Put the tools beside the probe, without its title if that saves a line, or below it if there is no room."""
        self.pages.setMinimumWidth(self.pages.measure_tight())  # smaller where there is little room, but never wrapped
        optional = [each for each in (self.scale, self.mean) if each.isVisibleTo(self)]
        tools = [self.pages, self.gradients, self.step]
        beside = [*tools, *optional]
        wide = self.probe.fontMetrics().horizontalAdvance(self._probe or "") + px(32)
        wide = min(max(wide, px(LEAST_PROBE)), px(MOST_PROBE))
        needed = sum(each.sizeHint().width() for each in beside) + wide + 6 * 8 + 2 * 18
        row = self._first_row if needed <= self.width() else self._second_row
        has_room = needed + self._title.sizeHint().width() + 8 <= self.width()
        row_of_tools = sum(each.sizeHint().width() + 8 for each in tools) + 2 * 18
        self.step.setVisible(self._has_step and row_of_tools <= self.width())  # the bar of the moments tells it too
        if row is self._second_row:
            others = [each for each in (self.scale, self.mean) if each.isVisibleTo(self)]
            alone = [self._title, *others]
            has_room = sum(each.sizeHint().width() + 8 for each in alone) + wide + 2 * 18 <= self.width()
        self._title.setVisible(has_room)  # the probe has a name of its own
        if row is not self._row_of_tools:
            self._put_tools(row)
            if (whole := self.layout()) is not None:
                whole.activate()

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
        self._title.setText("Attention of" if self.page == MAPS else "Probe")
        self._show_tools()

    def _show_tools(self) -> None:
        self.scale.setVisible(self._has_scale and self.page == MAPS)
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
