"""The header of a stage's card: the mark of its role, title, formula, colour bar and shape in one line."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.attention.registries.losses import find_pair
from attnlab.attention.stages.presence import is_gradient
from attnlab.attention.stages.table import Stage, sources
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.map_data import MapData
from attnlab.figures.text import Pen, find_key, measure_text
from attnlab.ui.base.fonts import face
from attnlab.ui.base.formula import draw_formula, formula_ascent, formula_size
from attnlab.ui.playground.canvas_card import STRIP_WIDTH, CanvasCard
from attnlab.ui.playground.card_words import shape_text, shorten_shape

PAINTING = "painting the mask"


class StageHeader(CanvasCard):
    """A card whose header tells about a stage; subclasses show its maps below."""

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage.name, stage.name, parent)
        self.stage = stage
        self._shares = False
        """Whether the card also shows the numbers of the stage's source, in the masked cells."""
        self._painting = False
        self._title_texts: tuple[str, str] | None = None

    def _shape_and_formula(self) -> tuple[str, str]:
        """Return the shape and the formula in the header, computed once per trace."""
        if self._title_texts is None:
            self._title_texts = "", ""
            if self._trace is not None and self.stage.name in self._trace:
                e = self._trace.experiment
                formula = self.stage.formula(e)
                if self._shares:
                    formula = rf"{sources(self.stage, e)[0].formula(e)},\; {formula}"
                self._title_texts = shape_text(self._trace, self.stage.name), formula
        return self._title_texts

    def shape_text(self) -> str:
        """Return the shape as in the header."""
        return self._shape_and_formula()[0]

    @property
    def title(self) -> str:
        """The title in the header."""
        if self.stage.name == "jacobian" and self._trace is not None and "jacobian" in self._trace:
            e = self._trace.experiment
            return f"{self.stage.title} of “{e.tokens[find_pair(e)[1]] or '∅'}”"
        return "Scaled, masked" if self._shares else self.stage.title

    def _paint_header(self, painter: QPainter) -> None:
        """Paint the title, the formula and the shape in one line, as far as there is room."""
        z, p = self._zoom, self._palette
        shape, formula = self._leave_for_scale()
        left = self._paint_title(painter, self.title, self.stage.role, is_hollow=is_gradient(self.stage.name)) + 8 * z
        if self._folded:
            self._paint_fold(painter, left)
            return
        right = self._paint_shape(painter, shape, left)
        if formula:
            size = min(13 * z, 26 * z / max(formula_size(formula, 1.0).height(), 1e-3))
            top = self._title_middle() + 4.5 * z - formula_ascent(formula, size)
            room = max(right - left, 0.0)
            if formula_size(formula, size).width() <= 1.6 * room:  # one that is much too long would be illegible
                draw_formula(painter, QPointF(left, top), formula, size, p.muted, room)

    def _paint_shape(self, painter: QPainter, shape: str, left: float) -> float:
        """Write the shape at the right, or that the brush is in use; return the x left of it."""
        z, p = self._zoom, self._palette
        pen = Pen(painter, face("map", z))
        room = self.width() - 12 * z - left
        texts = (*([PAINTING] if self._painting else []), *shorten_shape(shape))
        text = next((text for text in texts if pen.width(text) <= room), "")
        painter.setPen(QColor(p.accent if text == PAINTING else p.muted))
        pen.draw(self.width() - 12 * z, self._title_middle(), text, 1.0)
        return self.width() - 20 * z - (pen.width(text) if text else -8 * z)

    def _paint_scale(self, painter: QPainter, data: MapData) -> None:
        """Paint the colour bar left of the shape, if there is room for it beside the title and the formula."""
        z = self._zoom
        shape, formula = self._leave_for_scale()
        title, pen = Pen(painter, face("title", z)), Pen(painter, face("map", z))
        left = 26 * z + title.width(self.title) + 8 * z
        if formula:
            left += formula_size(formula, 13 * z).width() + 12 * z
        right = self.width() - 12 * z - pen.width(PAINTING if self._painting else shape) - 14 * z
        self._paint_bar(painter, data, right, left)

    def _leave_for_scale(self) -> tuple[str, str]:
        """Return the shape and the formula that leave room for a colour bar that says more than where it ends."""
        shape, formula = self._shape_and_formula()
        if self._data is None or self._data.scale.is_plain or self._painting:
            return shape, formula
        z, key = self._zoom, find_key(face("map", self._zoom))
        ends = sum(measure_text(text, key) for text in write_colour_ends(self._data))
        room = self.width() - measure_text(self.title, find_key(face("title", z))) - ends - (STRIP_WIDTH + 75) * z
        if formula and formula_size(formula, 13 * z).width() + measure_text(shape, key) > room:
            formula = ""
        return shape if measure_text(shape, key) <= room else shorten_shape(shape)[-1], formula

    def _header_depends_on(self) -> tuple[object, ...]:
        return self._painting, self._folded, self.title, *self._leave_for_scale()
