"""Draws the lines of steps: heads with a number in a circle, terms with their results and bars."""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from attnlab.attention.stages.steps import Term
from attnlab.figures.palette import Palette
from attnlab.ui.playground.span_text import Pen
from attnlab.ui.playground.step_layout import (
    INDENT,
    Columns,
    Item,
    break_expression,
    is_above,
    stands_left,
    write_result,
)


class StepPainter:
    """Draws items of steps with a painter, in a palette; ``pen`` writes numbers, ``titles`` the titles."""

    def __init__(self, painter: QPainter, palette: Palette, pen: Pen, titles: Pen) -> None:
        self._painter, self._palette, self._pen, self._titles = painter, palette, pen, titles

    def _px(self, length: float) -> float:
        return round(length * self._pen.unit)

    def draw_head(self, item: Item) -> None:
        """Draw the number, the title and the formula of a step, and its result if it has no other line."""
        p, step, columns = self._palette, item.step, item.columns
        base = item.top + item.height / 2 + self._px(4.5)
        x = 0.0
        if item.number:
            size = self._px(18)
            circle = QRectF(0, item.top + (item.height - size) / 2, size, size)
            self._painter.setPen(Qt.PenStyle.NoPen)
            self._painter.setBrush(QColor(p.control))
            self._painter.drawEllipse(circle)
            text = str(item.number)
            middle = circle.center().x() - self._pen.measure_text(text, True) / 2
            self._pen.draw_text(self._painter, QPointF(middle, circle.center().y() + self._px(4.5)), text, p.ink, True)
            x = self._px(INDENT)
        self._titles.draw_text(self._painter, QPointF(x, base), step.title, p.ink)
        x += self._titles.measure_text(step.title) + self._px(6)
        self._pen.draw(self._painter, QPointF(x, base), step.note, p, p.muted)
        if item.term is not None:
            self._draw_result(item.term, item.term.result, columns, base)
            self._draw_bar(item.term, step.role, columns, item.top + item.height / 2)

    def draw_term(self, item: Item) -> None:
        """Draw a line: its label, its expression, its result, and its bar."""
        p, columns, term = self._palette, item.columns, item.term
        assert term is not None
        high = float(self._px(20))
        base = item.top + high / 2 + self._px(4.5)
        if term.is_total and term.result and not term.expression:
            self._draw_rule(item)
        if term.label:
            label = self._pen.elide(term.label, columns.label - columns.left, term.is_current)
            ink = p.ink if term.is_current or not term.is_muted else p.muted
            self._pen.draw_text(self._painter, QPointF(columns.left, base), label, ink, term.is_current)
        if is_above(term, columns):
            base += high
        for written in break_expression(term, columns, self._pen):
            x = max(columns.left, columns.expression - self._pen.measure(written))
            if stands_left(term):
                x = columns.left
            if term.label and columns.parts:
                x = columns.parts - self._pen.measure(written)
            self._pen.draw(self._painter, QPointF(x, base), written, p, p.ink)
            base += high
        base = item.top + item.height - high / 2 + self._px(4.5)
        self._draw_result(term, write_result(term), columns, base)
        self._draw_bar(term, item.step.role, columns, base - self._px(4.5))

    def _draw_rule(self, item: Item) -> None:
        """Draw the line above a sum."""
        columns = item.columns
        self._painter.setPen(QPen(QColor(self._palette.hairline), 1))
        y = item.top + 0.5
        self._painter.drawLine(QPointF(columns.left, y), QPointF(columns.bar[1] or columns.result, y))

    def _draw_result(self, term: Term, text: str, columns: Columns, base: float) -> None:
        strong = term.is_total or term.is_current
        x = columns.result - self._pen.measure_text(text, strong)
        ink = self._palette.muted if term.is_muted else self._palette.ink
        self._pen.draw_text(self._painter, QPointF(x, base), text, ink, strong)

    def _draw_bar(self, term: Term, role: str, columns: Columns, middle: float) -> None:
        """Draw the bar of a line, from the zero that all lines share; a part on the pale bar of its whole."""
        left, right = columns.bar
        if right <= left or not math.isfinite(term.amount) or not columns.most > columns.least:
            return
        p, thick = self._palette, self._px(9)
        unit = (right - left) / (columns.most - columns.least)  # finite, as both ends are
        if not math.isfinite(unit) or unit == 0:
            return
        zero = left - columns.least * unit
        colour = p.role(role) if role != "neutral" else p.muted
        self._painter.setPen(Qt.PenStyle.NoPen)
        if math.isfinite(term.whole):
            self._fill(zero, zero + term.whole * unit, middle, thick, p.control)
        pale = not (term.is_total or term.is_current or math.isfinite(term.whole))
        self._fill(zero, zero + term.amount * unit, middle, thick, p.make_paler(colour) if pale else colour)
        if columns.least < 0 < columns.most:
            self._painter.setPen(QPen(QColor(p.hatch), 1))
            self._painter.drawLine(QPointF(zero, middle - thick), QPointF(zero, middle + thick))

    def _fill(self, start: float, end: float, middle: float, thick: float, colour: str) -> None:
        self._painter.setBrush(QColor(colour))
        low, wide = min(start, end), max(abs(end - start), 1.0)
        self._painter.drawRoundedRect(QRectF(low, middle - thick / 2, wide, thick), min(2, wide / 2), 2)
