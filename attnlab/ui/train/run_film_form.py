"""The settings of a training's film: maps, steps, size, speed and file format."""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.base.formats import FILMS
from attnlab.figures.films.film_file import FPS_RANGE
from attnlab.figures.panels.figure_colours import MAPS
from attnlab.figures.panels.figure_spec import DPI_RANGE, MM_PER_INCH
from attnlab.training.recorder import Moment
from attnlab.ui.base.theme import is_dark
from attnlab.ui.base.themed import application_palette
from attnlab.ui.train.run_film import Choice as MapChoice
from attnlab.ui.widgets.fields.held_fields import HeldFields
from attnlab.ui.widgets.fields.option_field import Field, choice_field, whole_field

FOLDER = ""
"""The ending that stands for a folder of pictures."""
CURVES, ANSWER, BOTH = "curves", "answer", "both"
_BELOW = [("Nothing", ""), ("The curves", CURVES), ("The answer", ANSWER), ("Curves and answer", BOTH)]
MOST_FRAMES, USUAL_FRAMES = 5000, 200
SIZES_PX, SIZES_MM = (64, 4096), (10, 500)
USUAL_PX, USUAL_MM = 960, 120
REMEMBERED = ("unit", "width", "dpi", "fps", "colours", "ground", "format", "below")
"""The fields whose choices are remembered; maps and steps depend on the run."""
_IN_MM = "Only for a width in millimetres"


class FilmForm(HeldFields):
    """The fields, for the moments of a run."""

    def __init__(self, maps: Sequence[tuple[str, MapChoice]], moments: Sequence[Moment]) -> None:
        super().__init__(_fields(maps, moments))

    @property
    def ending(self) -> str:
        """The kind of file: .mp4, .gif, .apng, or "" for a folder."""
        return str(self.value("format"))

    @property
    def width_px(self) -> int:
        """The chosen width, in pixels."""
        size = self.whole("width")
        return size if self.value("unit") == "px" else round(size * self.whole("dpi") / MM_PER_INCH)

    @property
    def has_curves(self) -> bool:
        """Whether the curves are below the maps."""
        return self.value("below") in (CURVES, BOTH)

    @property
    def has_answer(self) -> bool:
        """Whether the answer is below the maps."""
        return self.value("below") in (ANSWER, BOTH)

    @property
    def maps(self) -> MapChoice:
        """The chosen maps."""
        chosen = self.value("maps")
        assert isinstance(chosen, MapChoice)
        return chosen

    def adapt(self, name: str) -> None:
        if name == "unit":
            in_px = self.value("unit") == "px"
            least, most = SIZES_PX if in_px else SIZES_MM
            self.change("width", least=least, most=most, value=USUAL_PX if in_px else USUAL_MM)
            self.change("dpi", reason=_IN_MM if in_px else "")


def _fields(maps: Sequence[tuple[str, MapChoice]], moments: Sequence[Moment]) -> list[Field]:
    first, last = moments[0].step, moments[-1].step
    frames = min(len(moments), USUAL_FRAMES)
    grounds, ground = [("Light", "light"), ("Dark", "dark")], "dark" if is_dark(application_palette()) else "light"
    colours = [(each.title, each.name) for each in MAPS if not each.signed]
    formats = [*((title, ending) for ending, title in FILMS.items()), ("Folder of PNGs", FOLDER)]
    about = "MP4 is smallest; GIF works everywhere; APNG and PNGs keep every colour"
    return [
        choice_field("maps", "Maps", "All heads of all layers, or one head large", [("All heads", MapChoice()), *maps]),
        choice_field("below", "Below the maps", "Curves with a cursor at the step; the answer to your input", _BELOW),
        whole_field("first", "From step", "The first recorded moment in the film", first, first, last),
        whole_field("last", "To step", "The last recorded moment in the film", last, first, last),
        whole_field("frames", "Frames", "The most frames; the moments are spaced evenly", frames, 1, MOST_FRAMES),
        whole_field("fps", "Frames per second", "The speed of the film", 15, *FPS_RANGE),
        whole_field("width", "Width", "The height follows from the maps", USUAL_PX, *SIZES_PX),
        choice_field(
            "unit", "Unit", "Pixels, or millimetres at the dots per inch below", [("pixels", "px"), ("mm", "mm")]
        ),
        replace(whole_field("dpi", "Dots per inch", "For a width in millimetres", 300, *DPI_RANGE), reason=_IN_MM),
        choice_field("colours", "Colours", "One scale, from 0 to 1, holds over the whole film", colours),
        choice_field("ground", "Background", "The colour behind the maps", grounds, ground),
        choice_field("format", "Format", about, formats),
    ]
