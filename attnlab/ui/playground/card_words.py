"""A stage's card in words: the shape in its header, and its description for a screen reader."""

from typing import TYPE_CHECKING

from attnlab.attention.stages.table import Stage, about
from attnlab.figures.map_data import MapData

if TYPE_CHECKING:
    from attnlab.attention.stages.trace import Trace

_GAP = "   "


def shape_text(trace: "Trace", name: str, power: str) -> str:
    """Return the shape of a stage as a header shows it: ``8 × 6×6``, or ``6×6`` without heads.

    Before it stands the power of ten of small numbers, "" for none.
    """
    shape = trace.array(name).shape
    text = f"{shape[-2]}×{shape[-1]}"
    text = f"{shape[0]} × {text}" if len(shape) == 3 and shape[0] > 1 else text
    return f"{power}{_GAP}{text}" if power else text


def shorten_shape(text: str) -> tuple[str, ...]:
    """Return a shape in ever shorter forms; the last is the power of ten, without which the numbers are wrong."""
    power, gap, _ = text.partition(_GAP)
    return text, text.replace(" × ", "×"), power if gap else ""


def describe_card(trace: "Trace", stage: Stage, shown: MapData, figures: str, *, painting: bool) -> str:
    """Return a screen reader's description of a card with maps: sizes, content, and the line of figures."""
    count, rows, columns = shown.values.shape
    heads = f"{count} heads, " if count > 1 else ""
    partly = "" if shown.unknown is None else ", not all computed yet"
    figures = f" {figures}." if figures else ""
    brush = " Painting the mask: Space paints the held cell." if painting else ""
    return f"{stage.title}: {heads}{rows} by {columns}{partly}. {about(stage, trace.experiment)}{figures}{brush}"
