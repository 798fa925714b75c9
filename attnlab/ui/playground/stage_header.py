"""The header of a stage's card: the mark of its role, title, formula, colour bar and shape in one line."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QWidget

from attnlab.attention.stages.presence import is_gradient
from attnlab.attention.stages.table import Stage, name_stage, sources
from attnlab.figures.colour_bar import write_colour_ends
from attnlab.figures.map_data import MapData
from attnlab.figures.subscripts import text_width
from attnlab.figures.text import Pen, find_key, measure_text
from attnlab.ui.base.fonts import face
from attnlab.ui.base.formula import draw_formula, formula_ascent, formula_size
from attnlab.ui.playground.canvas_card import STRIP_WIDTH, CanvasCard
from attnlab.ui.playground.card_words import shape_text, shorten_shape

PAINTING = "painting the mask"
LEAST_SHARE = 0.8
"""A formula for which even this share of its usual size is too large is not shown: it could not be read."""


class StageHeader(CanvasCard):
    """A card whose header tells about a stage; subclasses show its maps below."""

    def __init__(self, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(stage.name, stage.name, parent)
        self.stage = stage
        self._shares = False
        """Whether the card also shows the numbers of the stage's source, in the masked cells."""
        self._painting = False
        self._formula_share = 1.0
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
                power = self._data.power if self._data is not None else ""
                self._title_texts = shape_text(self._trace, self.stage.name, power), formula
        return self._title_texts

    def shape_text(self) -> str:
        """Return the shape as in the header."""
        return self._shape_and_formula()[0]

    @property
    def title(self) -> str:
        """The title in the header."""
        if self._shares:
            return "Scaled, masked"
        return self.stage.title if self._trace is None else name_stage(self.stage, self._trace.experiment)

    def measure_formula(self) -> float:
        """Return the share of its usual size at which the formula fits the header, at most 1; 0 if it is not shown."""
        shape, formula = self._leave_for_scale()
        if self._folded or not formula:
            return 0.0
        title = text_width(self.title, face("title", self._zoom))
        return self._find_share(formula, shape, (26 + 8) * self._zoom + title)

    def set_formula_share(self, share: float) -> None:
        """Draw the formula at most at a share of its usual size, as in the other cards of the line."""
        if share != self._formula_share:
            self._formula_share = share
            self.update()

    def _find_share(self, formula: str, shape: str, left: float) -> float:
        wanted = formula_size(formula, self._usual_size(formula)).width()
        share = max(self._fit_shape(shape, left)[1] - left, 0.0) / max(wanted, 1e-3)
        return 0.0 if share < LEAST_SHARE else min(share, 1.0)

    def _usual_size(self, formula: str) -> float:
        return min(13 * self._zoom, 26 * self._zoom / max(formula_size(formula, 1.0).height(), 1e-3))

    def _paint_header(self, painter: QPainter) -> None:
        """Paint the title, the formula and the shape in one line, as far as there is room."""
        z, p = self._zoom, self._palette
        shape, formula = self._leave_for_scale()
        left = self._paint_title(painter, self.title, self.stage.role, is_hollow=is_gradient(self.stage.name)) + 8 * z
        if self._folded:
            self._paint_fold(painter, left)
            return
        text, _ = self._fit_shape(shape, left)
        painter.setPen(QColor(p.accent if text == PAINTING else p.muted))
        Pen(painter, face("map", z)).draw(self.width() - 12 * z, self._title_middle(), text, 1.0)
        if formula and (share := min(self._find_share(formula, shape, left), self._formula_share)):
            size = share * self._usual_size(formula)
            at = QPointF(left, self._title_middle() + 4.5 * z - formula_ascent(formula, size))
            draw_formula(painter, at, formula, size, p.muted)

    def _fit_shape(self, shape: str, left: float) -> tuple[str, float]:
        """Return the shape as it has room at the right, or that the brush is in use, and the x left of it."""
        z, key = self._zoom, find_key(face("map", self._zoom))
        room = self.width() - 12 * z - left
        texts = (*([PAINTING] if self._painting else []), *shorten_shape(shape))
        text = next((text for text in texts if measure_text(text, key) <= room), "")
        return text, self.width() - (20 * z + measure_text(text, key) if text else 12 * z)

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
        return self._painting, self._folded, self.title, self._formula_share, *self._leave_for_scale()
