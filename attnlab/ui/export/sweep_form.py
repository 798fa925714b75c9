"""The settings of a film: the value swept, its range, the number of frames, what is drawn, and the format."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget

from attnlab.base.formats import FILMS
from attnlab.figures.films.film_file import FPS_RANGE
from attnlab.figures.films.film_frame import make_film_spec
from attnlab.figures.panels.figure_colours import MAPS
from attnlab.figures.panels.figure_spec import WIDE_MM, WIDTH_MM, FigureSpec
from attnlab.ui.base.theme import px
from attnlab.ui.export.filming import Scenario
from attnlab.ui.widgets.fields.form_parts import combo
from attnlab.ui.widgets.fields.held_fields import HeldFields
from attnlab.ui.widgets.fields.option_field import Field, choice_field, whole_field
from attnlab.ui.widgets.fields.undo_fields import TextField

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.scene import Scene

CANVAS = "canvas"
_WHAT = "The name of any number or switch: temperature, scale, causal, n_heads, or a cell such as W_q[0, 0]"
_WIDTHS = (480, 640, 960, 1280, 1920)
_MOST_FRAMES = 1000
REMEMBERED = ("back", "frames", "fps", "width", "colours", "ground", "format")
"""The fields whose choices are remembered; what is swept, and what is drawn, are not."""


class SweepForm(HeldFields):
    """The fields; ``scenario`` returns the film that they describe."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._ends: dict[str, tuple[object, object]] = {}
        self.what = combo(())
        self.what.setEditable(True)
        self.what.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.what.setCompleter(None)  # type: ignore[arg-type]  # T is not to become temperature
        self.start, self.stop = TextField(), TextField()
        self.stop.setAccessibleName("To")
        self.add_widget("Sweep", self.what, _WHAT)
        self.add_widget("From", self._both_ends(), "A number, on or off, or the name of a choice")
        self.hold(_fields())
        self.what.activated.connect(self._on_chosen)
        self.what.editTextChanged.connect(self.changed)
        for field in (self.start, self.stop):
            field.textChanged.connect(self.changed)

    @property
    def ending(self) -> str:
        """The file format: .mp4, .gif or .apng."""
        return str(self.value("format"))

    def make_scenario(self, scene: "Scene") -> Scenario:
        """Return the film of the open scene that the fields describe.

        Raises:
            AttnlabError: nothing has that name, or an end of the range is invalid; the sentence says what is valid.
        """
        from attnlab.lessons.sweep import make_sweep, parse_value

        e, ends = scene.experiment, (parse_value(self.start.text()), parse_value(self.stop.text()))
        sweep = make_sweep(e, self.what.currentText(), *ends, self.whole("frames"))
        sweep = sweep.there_and_back() if self.value("back") else sweep
        return Scenario(e, sweep, self._read_spec(e.n_heads), self.whole("fps"), scene.device, scene.dtype)

    def _read_spec(self, heads: int) -> FigureSpec:
        name, head = str(self.value("stage")), self.value("heads")
        assert isinstance(head, int | str)
        spec = FigureSpec(
            stages=() if name == CANVAS else (name,),
            canvas=name == CANVAS,
            head=head,
            colour_map=str(self.value("colours")),
            ground=str(self.value("ground")),
        )
        several = name == CANVAS or (heads > 1 and head == "all")
        return make_film_spec(spec, self.whole("width"), WIDE_MM if several else WIDTH_MM)

    def show_trace(self, trace: "Trace", stage: str, head: int | str) -> None:
        """List what can be swept in a state, its stages and its heads."""
        from attnlab.lessons.sweep import suggest_sweeps

        self.blockSignals(True)
        self._ends = suggest_sweeps(trace.experiment)
        key = self.what.currentText()
        self.what.clear()
        self.what.addItems(list(self._ends))
        stages = [*((trace.stage(name).title, name) for name in trace.all_stages), ("The whole canvas", CANVAS)]
        self.offer("stage", stages, stage)
        n_heads = trace.experiment.n_heads
        heads = [("All", "all"), ("Mean", "mean"), *((f"Head {i}", i) for i in range(n_heads))]
        self.offer("heads", heads, head)
        self.change("heads", reason="" if n_heads > 1 else "The layer has one head.")
        if key:
            self.what.setCurrentText(key)
        else:
            self._on_chosen()
        self.blockSignals(False)
        self.changed.emit()

    @Slot()
    def _on_chosen(self) -> None:
        """Set a range that is valid for the chosen value."""
        ends = self._ends.get(self.what.currentText())
        for field, value in zip((self.start, self.stop), ends or (), strict=False):
            text = {True: "on", False: "off"}[value] if isinstance(value, bool) else f"{value:g}"
            field.setText(text.replace("-", "−"))
        self.changed.emit()

    def _both_ends(self) -> QWidget:
        ends, row = QWidget(), QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.start, 1)
        row.addWidget(QLabel("to"))
        row.addWidget(self.stop, 1)
        ends.setLayout(row)
        return ends


def _fields() -> list[Field]:
    back = "Return to the start, so that the film repeats without a jump"
    formats = "MP4 is the smallest; GIF works everywhere; APNG keeps every colour"
    widths = [(f"{width} pixels", width) for width in _WIDTHS]
    colours = [(each.title, each.name) for each in MAPS]
    return [
        Field("back", "There and back", back, "switch", False, False),
        whole_field("frames", "Frames", "The number of pictures from one end to the other", 100, 2, _MOST_FRAMES),
        whole_field("fps", "Frames per second", "The speed of the film", 25, *FPS_RANGE),
        choice_field("stage", "Stage", "The stage to draw", ()),
        choice_field("heads", "Heads", "All heads as small maps, one head, or their mean", ()),
        choice_field("width", "Width", "The height depends on the maps", widths, 960),
        choice_field("colours", "Colours", "One scale is used for the whole film", colours),
        choice_field("ground", "Background", "The colour behind the maps", [("Light", "light"), ("Dark", "dark")]),
        choice_field("format", "Format", formats, [(title, ending) for ending, title in FILMS.items()]),
    ]
