"""The settings of a film: the value swept, its range, the number of frames, what is drawn, and the format."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QWidget

from attnlab.base.formats import FILMS
from attnlab.figures.films.film_file import FPS_RANGE
from attnlab.figures.films.film_frame import film_spec
from attnlab.figures.panels.figure_colours import MAPS
from attnlab.figures.panels.figure_spec import WIDE_MM, WIDTH_MM, FigureSpec
from attnlab.ui.base.theme import px
from attnlab.ui.export.filming import Scenario
from attnlab.ui.export.form_rows import lay_out_rows, number_box
from attnlab.ui.widgets.fields.form_parts import combo
from attnlab.ui.widgets.fields.undo_fields import TextField

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.scene import Scene

CANVAS = "canvas"
_WIDTHS = (480, 640, 960, 1280, 1920)
_MOST_FRAMES = 1000


class SweepForm(QWidget):
    """The fields; ``scenario`` returns the film that they describe. ``changed`` is emitted after each change."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ends: dict[str, tuple[object, object]] = {}
        self.what = combo(())
        self.what.setEditable(True)
        self.what.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.what.setCompleter(None)  # type: ignore[arg-type]  # T is not to become temperature
        self.start, self.stop = TextField(), TextField()
        self.back = QCheckBox("There and back")
        self.frames, self.fps = number_box(2, _MOST_FRAMES, 100), number_box(*FPS_RANGE, 25)
        self.stage, self.heads = combo(()), combo(())
        self.width_px = combo([(f"{width} pixels", width) for width in _WIDTHS])
        self.width_px.setCurrentIndex(_WIDTHS.index(960))
        self.colours = combo([(each.title, each.name) for each in MAPS])
        self.ground = combo([("Light", "light"), ("Dark", "dark")])
        self.format = combo([(title, ending) for ending, title in FILMS.items()])
        self._lay_out()
        self._connect()

    @property
    def ending(self) -> str:
        """The file format: .mp4, .gif or .apng."""
        return str(self.format.currentData())

    @property
    def habits(self) -> dict[str, QWidget]:
        """The fields whose choices are remembered; what is swept, and what is drawn, are not."""
        return {
            "back": self.back,
            "frames": self.frames,
            "fps": self.fps,
            "width": self.width_px,
            "colours": self.colours,
            "ground": self.ground,
            "format": self.format,
        }

    def scenario(self, scene: "Scene") -> Scenario:
        """Return the film of the open scene that the fields describe.

        Raises:
            AttnlabError: nothing has that name, or an end of the range is invalid; the sentence says what is valid.
        """
        from attnlab.lessons.sweep import parsed, swept

        e, ends = scene.experiment, (parsed(self.start.text()), parsed(self.stop.text()))
        sweep = swept(e, self.what.currentText(), *ends, self.frames.value())
        sweep = sweep.there_and_back() if self.back.isChecked() else sweep
        return Scenario(e, sweep, self._spec(e.n_heads), self.fps.value(), scene.device, scene.dtype)

    def _spec(self, heads: int) -> FigureSpec:
        name = self.stage.currentData()
        head = self.heads.currentData()
        spec = FigureSpec(
            stages=() if name == CANVAS else (name,),
            canvas=name == CANVAS,
            head=head,
            colour_map=self.colours.currentData(),
            ground=self.ground.currentData(),
        )
        several = name == CANVAS or (heads > 1 and head == "all")
        return film_spec(spec, self.width_px.currentData(), WIDE_MM if several else WIDTH_MM)

    def show_trace(self, trace: "Trace", stage: str, head: int | str) -> None:
        """List what can be swept in a state, its stages and its heads."""
        from attnlab.lessons.sweep import suggested

        self.blockSignals(True)
        self._ends = suggested(trace.experiment)
        key = self.what.currentText()
        self.what.clear()
        self.what.addItems(list(self._ends))
        stages = [*((trace.stage(name).title, name) for name in trace.all_stages), ("The whole canvas", CANVAS)]
        _fill(self.stage, stages, stage)
        heads = [("All", "all"), ("Mean", "mean"), *((f"Head {i}", i) for i in range(trace.experiment.n_heads))]
        _fill(self.heads, heads, head)
        self.heads.setEnabled(trace.experiment.n_heads > 1)
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

    def _lay_out(self) -> None:
        ends, row = QWidget(), QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.start, 1)
        row.addWidget(QLabel("to"))
        row.addWidget(self.stop, 1)
        ends.setLayout(row)
        self.stop.setAccessibleName("To")
        what = "The name of any number or switch: temperature, scale, causal, n_heads, or a cell such as W_q[0, 0]"
        lay_out_rows(
            self,
            (
                ("Sweep", self.what, what),
                ("From", ends, "A number, on or off, or the name of a choice"),
                ("", self.back, "Return to the start, so that the film repeats without a jump"),
                ("Frames", self.frames, "The number of pictures from one end to the other"),
                ("Frames per second", self.fps, "The speed of the film"),
                ("Stage", self.stage, "The stage to draw"),
                ("Heads", self.heads, "All heads as small maps, one head, or their mean"),
                ("Width", self.width_px, "The height depends on the maps"),
                ("Colours", self.colours, "One scale is used for the whole film"),
                ("Background", self.ground, "The colour behind the maps"),
                ("Format", self.format, "MP4 is the smallest; GIF works everywhere; APNG keeps every colour"),
            ),
        )

    def _connect(self) -> None:
        self.what.activated.connect(self._on_chosen)
        self.what.editTextChanged.connect(self.changed)
        for field in (self.start, self.stop):
            field.textChanged.connect(self.changed)
        for number in (self.frames, self.fps):
            number.valueChanged.connect(self.changed)
        for box in (self.stage, self.heads, self.width_px, self.colours, self.ground, self.format):
            box.currentIndexChanged.connect(self.changed)
        self.back.toggled.connect(self.changed)


def _fill(box: QComboBox, choices: Sequence[tuple[str, object]], usual: object) -> None:
    """Replace the choices; the current one stays selected if it is still among them."""
    now = box.currentData()
    box.clear()
    for title, value in choices:
        box.addItem(title, value)
    place = box.findData(now) if now is not None else -1
    box.setCurrentIndex(max(place if place >= 0 else box.findData(usual), 0))
