"""The settings of a training's film: maps, steps, size, speed and file format."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from attnlab.base.formats import FILMS
from attnlab.figures.films.film_file import FPS_RANGE
from attnlab.figures.panels.figure_colours import MAPS
from attnlab.figures.panels.figure_spec import DPI_RANGE, MM_PER_INCH
from attnlab.training.recorder import Moment
from attnlab.ui.base.theme import is_dark
from attnlab.ui.base.themed import application_palette
from attnlab.ui.export.form_rows import lay_out_rows, number_box
from attnlab.ui.train.run_film import Choice
from attnlab.ui.widgets.fields.form_parts import combo

FOLDER = ""
"""The ending that stands for a folder of pictures."""
MOST_FRAMES, USUAL_FRAMES = 5000, 200
SIZES_PX, SIZES_MM = (64, 4096), (10, 500)
USUAL_PX, USUAL_MM = 960, 120


class FilmForm(QWidget):
    """The fields, for the moments of a run; ``changed`` after each change."""

    changed = Signal()

    def __init__(
        self, maps: Sequence[tuple[str, Choice]], moments: Sequence[Moment], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        first, last = moments[0].step, moments[-1].step
        self.maps = combo([("All heads", Choice()), *maps])
        self.first, self.last = number_box(first, last, first), number_box(first, last, last)
        self.frames = number_box(1, MOST_FRAMES, min(len(moments), USUAL_FRAMES))
        self.fps = number_box(*FPS_RANGE, 15)
        self.breadth, self.unit = number_box(*SIZES_PX, USUAL_PX), combo([("pixels", "px"), ("mm", "mm")])
        self.dpi = number_box(*DPI_RANGE, 300)
        self.colours = combo([(each.title, each.name) for each in MAPS if not each.signed])
        self.ground = combo([("Light", "light"), ("Dark", "dark")])
        self.ground.setCurrentIndex(int(is_dark(application_palette())))
        self.format = combo([*((title, ending) for ending, title in FILMS.items()), ("Folder of PNGs", FOLDER)])
        self.dpi.setEnabled(False)
        self._lay_out()
        self.unit.currentIndexChanged.connect(self._on_unit_chosen)
        for box in (self.maps, self.unit, self.colours, self.ground, self.format):
            box.currentIndexChanged.connect(self.changed)
        for number in (self.first, self.last, self.frames, self.fps, self.breadth, self.dpi):
            number.valueChanged.connect(self.changed)

    @property
    def ending(self) -> str:
        """The kind of file: .mp4, .gif, .apng, or "" for a folder."""
        return str(self.format.currentData())

    @property
    def habits(self) -> dict[str, QWidget]:
        """The fields whose choices are remembered; maps and steps depend on the run."""
        return {
            "unit": self.unit,
            "width": self.breadth,
            "dpi": self.dpi,
            "fps": self.fps,
            "colours": self.colours,
            "ground": self.ground,
            "format": self.format,
        }

    @property
    def width_px(self) -> int:
        """The chosen width, in pixels."""
        size = int(self.breadth.value())
        return size if self.unit.currentData() == "px" else round(size * self.dpi.value() / MM_PER_INCH)

    def _lay_out(self) -> None:
        self.unit.setAccessibleName("Unit of the width")
        lay_out_rows(
            self,
            (
                ("Maps", self.maps, "All heads of all layers, or one head large"),
                ("From step", self.first, "The first recorded moment in the film"),
                ("To step", self.last, "The last recorded moment in the film"),
                ("Frames", self.frames, "The most frames; the moments are spaced evenly"),
                ("Frames per second", self.fps, "The speed of the film"),
                ("Width", self.breadth, "The height follows from the maps"),
                ("in", self.unit, "Pixels, or millimetres at the dots per inch below"),
                ("Dots per inch", self.dpi, "For a width in millimetres"),
                ("Colours", self.colours, "One scale, from 0 to 1, holds over the whole film"),
                ("Background", self.ground, "The colour behind the maps"),
                ("Format", self.format, "MP4 is smallest; GIF works everywhere; APNG and PNGs keep every colour"),
            ),
        )

    @Slot()
    def _on_unit_chosen(self) -> None:
        in_px = self.unit.currentData() == "px"
        self.dpi.setEnabled(not in_px)
        self.breadth.setRange(*(SIZES_PX if in_px else SIZES_MM))
        self.breadth.setValue(USUAL_PX if in_px else USUAL_MM)
