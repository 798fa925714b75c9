"""Sets the formulas of slides with the program's own typesetting."""

from PySide6.QtCore import QPointF, QSizeF
from PySide6.QtGui import QPainter

from attnlab.ui.base.formula import draw_formula, formula_size


class _Formulas:
    """The formulas of :mod:`attnlab.ui.base.formula`, with the interface of the slide painter."""

    def size(self, latex: str, size_px: float) -> QSizeF:
        """Return the size of a formula's box."""
        return formula_size(latex, size_px)

    def draw(self, painter: QPainter, at: QPointF, latex: str, size_px: float, colour: str) -> None:
        """Draw a formula with its box's top left corner at a point."""
        draw_formula(painter, at, latex, size_px, colour)


FORMULAS = _Formulas()
