"""Small pictures of steps: computed in the background as values, and painted in the colours of the map."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from attnlab.base.errors import AttnlabError
from attnlab.figures.palette import Palette
from attnlab.figures.raster import colour_cells, reduce_maps
from attnlab.figures.scales import Scale
from attnlab.lessons.lesson import Lesson
from attnlab.ui.base.jobs import run

if TYPE_CHECKING:
    from attnlab.lessons.slides import Slide

MOST_CELLS = 24
"""The most rows and columns of a thumbnail; larger maps are reduced."""
LEAST_MARK = 9.0
"""The least size of a cell in pixels that has room for its question mark."""


@dataclass(frozen=True, slots=True, eq=False)
class Thumbnail:
    """A map as it is drawn small: values, colour scale, masked and covered cells [rows, columns], the held cell."""

    values: NDArray[np.floating]
    kind: str
    scale: Scale
    masked: NDArray[np.bool_]
    covered: NDArray[np.bool_]
    cell: tuple[int, int] | None


def make_thumbnails(lesson: Lesson, only: int | None = None) -> dict[int, Thumbnail]:
    """Return the thumbnails of a lesson's steps, or of one of them. Runs on any thread; steps that fail have none."""
    from attnlab.compute.engine import check_size, compute
    from attnlab.lessons.slides import make_slides

    made: dict[int, Thumbnail] = {}
    for slide in make_slides(lesson, None if only is None else only + 1):
        if slide.experiment is None or only not in (None, slide.index):
            continue
        try:
            check_size(slide.experiment)
            made[slide.index] = _make_thumbnail(slide, compute(slide.experiment, "cpu", "float32"))
        except AttnlabError:
            continue
    return made


def choose_telling_step(lesson: Lesson) -> int:
    """Return the step whose picture stands for a lesson: the first in its second half that holds a cell."""
    steps = lesson.steps
    later = range(len(steps) // 2, len(steps))
    return next((i for i in later if steps[i].cell is not None and steps[i].lens is None), len(steps) // 2)


def _make_thumbnail(slide: "Slide", trace: object) -> Thumbnail:
    from attnlab.attention.measures.symmetry import add_mirrored
    from attnlab.attention.stages.trace import Trace
    from attnlab.document.document import View
    from attnlab.ui.playground.stage_maps import look_at

    assert isinstance(trace, Trace)
    stage = trace.stage(slide.stage if slide.stage in trace else "weights")
    data = look_at(trace, None, stage, View(head=0 if trace.experiment.n_heads == 1 else "mean")).data
    assert data is not None
    rows, columns = data.values.shape[1:]
    covered = np.zeros((rows, columns), bool)
    asked = [(each.row, each.column) for each in slide.blanks if each.stage == stage.name]
    for row, column in add_mirrored(trace.experiment, stage.name, asked):
        if row < rows and column < columns:
            covered[row, column] = True
    cell = slide.cell if slide.cell is not None and slide.cell.stage == stage.name else None
    held = None if cell is None or cell.row >= rows or cell.column >= columns else (cell.row, cell.column)
    masked = np.zeros((rows, columns), bool) if data.masked is None else np.asarray(data.masked, bool)
    values: NDArray[np.floating] = np.asarray(data.values[:1], np.float64)
    if max(rows, columns) > MOST_CELLS:
        shown = np.where(masked, 0.0, values)
        values = reduce_maps(shown, MOST_CELLS, MOST_CELLS)
        masked = ~(reduce_maps((~masked)[None].astype(np.float64), MOST_CELLS, MOST_CELLS)[0] > 0)
        covered, held = np.zeros(masked.shape, bool), None
    return Thumbnail(values[0], data.kind, _find_scale(values[0], masked, data.kind, data.scale), masked, covered, held)


def _find_scale(values: NDArray[np.floating], masked: NDArray[np.bool_], kind: str, scale: Scale) -> Scale:
    """Return the scale of colours: weights are coloured up to the largest, or most of them would be pale."""
    shown = values[~masked & np.isfinite(values)]
    return Scale(float(shown.max(initial=0.0)) or scale.limit) if kind == "probability" else scale


def draw_thumbnail(painter: QPainter, area: QRectF, thumbnail: Thumbnail, palette: Palette) -> None:
    """Draw a thumbnail as large as it fits, in the middle of an area."""
    rows, columns = thumbnail.values.shape
    cell = min(area.width() / columns, area.height() / rows)
    wide = min(cell * 2.2, area.width() / columns) if columns <= 4 else cell
    left = area.center().x() - wide * columns / 2
    top = area.center().y() - cell * rows / 2
    gap, radius = (1.0 if cell >= 5 else 0.4), min(2.0, cell / 5)
    image = colour_cells(thumbnail.values, thumbnail.kind, thumbnail.scale, palette, thumbnail.masked)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    font = painter.font()
    font.setPixelSize(max(round(0.75 * cell), 1))
    font.setBold(True)
    painter.setFont(font)
    for row in range(rows):
        for column in range(columns):
            rect = QRectF(left + column * wide, top + row * cell, wide - gap, cell - gap)
            covered = bool(thumbnail.covered[row, column])
            is_masked = bool(thumbnail.masked[row, column])
            colour = QColor.fromRgba(int(image[row, column]))
            painter.setBrush(QColor(palette.cover if covered else palette.control) if covered or is_masked else colour)
            painter.drawRoundedRect(rect, radius, radius)
            if covered and cell >= LEAST_MARK:
                painter.setPen(QColor(palette.on_cover))
                painter.drawText(rect, int(Qt.AlignmentFlag.AlignCenter), "?")
                painter.setPen(Qt.PenStyle.NoPen)
    if thumbnail.cell is not None:
        row, column = thumbnail.cell
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.ink), 1.6))
        painter.drawRoundedRect(
            QRectF(left + column * wide, top + row * cell, wide - gap, cell - gap), radius + 1, radius + 1
        )
    painter.restore()


class Thumbnails(QObject):
    """Computes the thumbnails of lessons one lesson at a time; ``ready`` says that there are more."""

    ready = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._kept: dict[tuple[object, bool], tuple[Lesson, dict[int, Thumbnail]]] = {}
        self._waiting: list[tuple[Lesson, bool]] = []
        self._busy = False

    def find(self, lesson: Lesson, *, whole: bool) -> dict[int, Thumbnail] | None:
        """Return the thumbnails of the ``whole`` lesson, or of its telling step; None while they are missing."""
        known = self._kept.get(_make_key(lesson, whole=whole))
        return known[1] if known is not None and known[0] == lesson else None

    def want(self, lessons: list[tuple[Lesson, bool]]) -> None:
        """Compute the thumbnails of these lessons, whole or of their telling step, in this order; forget the rest."""
        self._waiting = [each for each in lessons if self.find(each[0], whole=each[1]) is None]
        self._go_on()

    def _go_on(self) -> None:
        if self._busy or not self._waiting:
            return
        lesson, whole = self._waiting.pop(0)
        self._busy = True
        run(
            make_thumbnails,
            lesson,
            None if whole else choose_telling_step(lesson),
            on_done=partial(self._keep, lesson, whole),
            on_failed=partial(self._give_up, lesson, whole),
            owner=self,
            doing="drawing the steps of the lessons",
        )

    def _keep(self, lesson: Lesson, whole: bool, found: dict[int, Thumbnail]) -> None:
        self._kept[_make_key(lesson, whole=whole)] = lesson, found
        self._busy = False
        self.ready.emit()
        self._go_on()

    def _give_up(self, lesson: Lesson, whole: bool, _sentence: str) -> None:
        self._keep(lesson, whole, {})  # the list does without


def _make_key(lesson: Lesson, *, whole: bool) -> tuple[object, bool]:
    return (lesson.name, lesson.path), whole
