"""A film of a training: the maps of the recorded moments as frames, each with its step."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from attnlab.base.counted import format_count
from attnlab.figures.diagram.scene import Scene
from attnlab.figures.diagram.scene_painter import paint_scene
from attnlab.figures.films.film_frame import Film
from attnlab.figures.layout import Grid
from attnlab.figures.map_data import MapData
from attnlab.figures.map_labels import draw_labels
from attnlab.figures.map_painter import draw_cells
from attnlab.figures.panels.figure_colours import OWN, make_palette
from attnlab.figures.panels.figure_spec import FigureSpec
from attnlab.figures.panels.figure_type import SMALL_PX, TITLE_PX, make_figure_font
from attnlab.figures.scales import TO_ONE
from attnlab.figures.text import Pen
from attnlab.files.atomic import make_write_error, write_bytes
from attnlab.training.recorder import Moment
from attnlab.training.specs import HeadsBefore, RunSpec, find_spec_at
from attnlab.ui.base.jobs import Lane
from attnlab.ui.base.slices import Call
from attnlab.ui.train.answer_card import color_tokens
from attnlab.ui.train.answer_scene import LINE as TEXT_LINE
from attnlab.ui.train.answer_scene import draw_answer
from attnlab.ui.train.layer_labels import format_title, list_labels
from attnlab.ui.widgets.charts.plot_scene import Plot, draw_plot

if TYPE_CHECKING:
    from attnlab.training.look import LayerMaps, Look, Viewer

CELL, LABEL, LINE, MARGIN, GAP, STRIP = 12.0, 18.0, 22.0, 14.0, 14.0, 34.0
"""Sizes in units: a cell, space for tokens, for a map's title, around and between maps, and for the step."""
LETTER, ARROW_ROOM = 5.5, 8.0
"""The space for each further letter of a token, and more for the arrow of a row that writes."""
WIDEST, WIDEST_WRITING = 60.0, 96.0
"""The most space that tokens of several letters take, and that rows take with the token that they write."""
LARGEST = 340.0
"""The width of the cells of a map shown alone."""
LEAST, PLOT = 420.0, 90.0
"""The least width of a frame with curves or an answer, and the height of its curves."""
INKS = ("accent", "good", "bad")
"""The colours of curves and answers that maps lack."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The maps in a film: one head of a layer, or without a layer all."""

    layer: str = ""
    head: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a map, in units."""

    layer: int
    head: int
    title: str
    grid: Grid


@dataclass(slots=True, eq=False)
class RunFilm:
    """Frames of a run's moments for a probe; ``width_px`` wide, everything scaled in proportion."""

    spec: RunSpec
    moments: tuple[Moment, ...]
    probe: str
    title: str
    choice: Choice = Choice()
    width_px: int = 960
    fps: int = 15
    ground: str = "light"
    colours: str = OWN
    plots: tuple[Plot, ...] = ()
    """Curves that are shown below the maps, with a cursor at the step."""
    with_answer: bool = False
    """Whether the answer to the probe is shown below the maps."""
    heads_before: HeadsBefore = ()
    """The heads that were off in earlier moments, if others were."""
    _viewer: "Viewer | None" = None

    @property
    def count(self) -> int:
        """The number of frames."""
        return len(self.moments)

    def compute_trace(self, frame: int) -> "Look":
        """Return the maps at a frame's moment; must be called by one thread at a time."""
        from attnlab.training.look import Viewer

        moment = self.moments[frame]
        spec = find_spec_at(self.spec, self.heads_before, moment.step)
        if self._viewer is None or self._viewer.spec != spec:
            self._viewer = Viewer(spec, self._viewer.data if self._viewer is not None else None)
        return self._viewer.look(moment.step, moment.weights, self.probe)

    def film(self, look: "Look") -> Film:
        """Return the values shared by all frames: their even size, and a scale from 0 to 1."""
        _, width, height = self._place(look)
        below = self._draw_below(look, width)
        height += below.height + (TEXT_LINE if self.with_answer else 0.0)  # its sentence may need another line
        high = round(height * self.width_px / width)
        spec = FigureSpec(colour_map=self.colours, ground=self.ground)
        wide = self.width_px + self.width_px % 2
        return Film(
            spec, (wide, high + high % 2), 0, {("weights", "probability"): TO_ONE}, INKS if below.shapes else ()
        )

    def _place(self, look: "Look") -> tuple[tuple[Place, ...], float, float]:
        """Return the places of the maps, the width of the whole frame, and the height of the maps, in units."""
        found, width, height = place_maps(look, self.choice)
        return found, max(width, LEAST) if self.plots or self.with_answer else width, height

    def _draw_below(self, look: "Look", width: float) -> Scene:
        """Return what is below the maps: curves side by side, then the answer."""
        room, scene = width - 2 * MARGIN, Scene(width)
        wide = (room - GAP * (len(self.plots) - 1)) / max(len(self.plots), 1)
        for place, plot in enumerate(self.plots):
            drawn = draw_plot(replace(plot, cursor=float(look.step)), wide, PLOT)
            scene.put(drawn, MARGIN + place * (wide + GAP), 0.0)
            scene.height = max(scene.height, drawn.height + GAP)
        if self.with_answer:
            tokens = color_tokens(look.answer) if not look.answer.written else ()
            answer = draw_answer(look.answer, tokens, own=False, step=look.step, width=room)
            scene.put(answer, MARGIN, scene.height)
            scene.height += answer.height + GAP
        return scene

    def draw_image(self, film: Film, trace: "Look", frame: int) -> QImage:
        """Return a frame as an image; in the window's thread only."""
        found, width, height = self._place(trace)
        palette = make_palette(film.spec.colour_map, dark=film.spec.dark)
        image = QImage(*film.size, QImage.Format.Format_RGB32)
        image.fill(QColor(palette.surface))
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(film.size[0] / width, film.size[0] / width)
        pen = Pen(painter, make_figure_font(TITLE_PX, QFont.Weight.DemiBold, still=True))
        painter.setPen(QColor(palette.ink))
        step = f"step {trace.step:,}"
        pen.draw(width - MARGIN, STRIP / 2, step, 1.0)
        pen.draw(MARGIN, STRIP / 2, pen.elide(self.title, width - 3 * MARGIN - pen.width(step)))
        for place in found:
            data = _make_data(trace.maps[place.layer], place.head)
            pen = Pen(painter, make_figure_font(SMALL_PX, QFont.Weight.DemiBold))
            painter.setPen(QColor(palette.ink))
            top = place.grid.y - place.grid.label_height - LINE / 2
            pen.draw(place.grid.x, top, pen.elide(place.title, place.grid.cell_width * place.grid.columns))
            draw_labels(painter, place.grid, data, palette, make_figure_font(SMALL_PX), (None, None))
            draw_cells(painter, place.grid, data, palette)
        painter.save()
        painter.translate(0.0, height)
        paint_scene(painter, self._draw_below(trace, width), palette)
        painter.restore()
        share = frame / max(self.count - 1, 1)
        painter.fillRect(QRectF(0, STRIP - 2, width * share, 1.5), QColor(palette.attention))
        painter.end()
        return image


class Pictures:
    """A film being written to a folder, a PNG for each frame. ``done`` of ``total`` steps are done."""

    def __init__(self, scenario: RunFilm, folder: Path, film: Film, lane: Lane) -> None:
        self._scenario, self._folder, self._film, self._lane = scenario, folder, film, lane
        self.done, self.total = 0, scenario.count
        self._writing: Call[None] | None = None

    def describe_cancellation(self) -> str:
        """Return the message after cancelling: pictures already written are kept."""
        count = self.done + (self._writing is not None and not self._writing.dropped)
        return f"Cancelled after {format_count(count, 'picture')}." if count else "Cancelled; nothing was written."

    def run_steps(self) -> Generator[Call[Any] | None, Any, None]:
        """Write a picture at each step.

            Raises:
        AttnlabError: a moment cannot be computed, or a picture cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise make_write_error(self._folder, error) from None
        for frame in range(self._scenario.count):
            look = yield Call(self._scenario.compute_trace, frame, lane=self._lane)
            data = _encode_png(self._scenario.draw_image(self._film, look, frame))
            path = self._folder / f"frame-{frame:05}-step-{look.step}.png"
            self._writing = Call(write_bytes, path, data, lane=self._lane)
            yield self._writing
            self._writing = None
            self.done += 1


def place_maps(look: "Look", choice: Choice) -> tuple[tuple[Place, ...], float, float]:
    """Return the positions of the maps, a line for each layer, and the total width and height, in units."""
    found: list[Place] = []
    y, widest = STRIP + MARGIN / 2, 0.0
    for index, layer in enumerate(look.maps):
        if choice.layer not in ("", layer.layer):
            continue
        heads = [choice.head] if choice.layer else list(range(len(layer.weights)))
        cell = max(CELL, LARGEST / max(len(layer.key_tokens), 1)) if choice.layer else CELL
        grid = _make_grid(layer, cell)
        x = MARGIN
        for head in heads:
            title = format_title(layer) + (f" · head {head}" if len(layer.weights) > 1 else "")
            found.append(
                Place(index, head, title, replace(grid, x=x + grid.label_width, y=y + LINE + grid.label_height))
            )
            x += grid.label_width + cell * grid.columns + GAP
        widest = max(widest, x - GAP + MARGIN)
        y += LINE + grid.label_height + cell * grid.rows + GAP
    return tuple(found), widest, y - GAP + MARGIN


def _make_grid(layer: "LayerMaps", cell: float) -> Grid:
    rows, columns = list_labels(layer)
    longest, across = (max(map(len, labels), default=0) for labels in (rows, columns))
    writes = any(layer.writes)
    left = LABEL + LETTER * max(longest - 1, 0) + ARROW_ROOM * writes
    left = min(left, WIDEST_WRITING if writes else WIDEST)
    above = LABEL if across <= 1 else min(LABEL + LETTER * (across - 1), WIDEST)
    return Grid(0, 0, cell, cell, len(layer.query_tokens), len(layer.key_tokens), 1, 1, (0, 0), left, above)


def _make_data(layer: "LayerMaps", head: int) -> MapData:
    labels, bold = list_labels(layer), layer.list_answers()
    return MapData(layer.weights[head : head + 1], "probability", TO_ONE, layer.hidden, *labels, bold_rows=bold)


def _encode_png(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # Qt takes text here
    return bytes(data.data())
