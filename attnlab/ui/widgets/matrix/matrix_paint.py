"""Paints the visible part of a matrix table: tinted cells with their numbers, headers, outlines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QStaticText

from attnlab.figures.palette import DARK_INK, LEVELS, LIGHT_INK, Palette, choose_dark_text, colour_map
from attnlab.ui.widgets.matrix.matrix_grid import GAP, GROUP_GAP, Grid
from attnlab.ui.widgets.matrix.matrix_selection import Selection
from attnlab.ui.widgets.numbers.number_format import format_cell

RADIUS = 3
PADDING = 6
"""Between a number and its cell's right edge."""
LEFT_PADDING = 3
"""The least margin left of a number."""
_KEPT_TEXTS = 4096
_KEPT_CELLS = 1024
_NON_FINITE = -1
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that one painting of the table depends on, except caches."""

    grid: Grid
    values: NDArray[np.floating]
    limit: float
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    selection: Selection | None
    focused: bool
    refused: bool
    highlights: Mapping[str, tuple[Sequence[int], Sequence[int]]]
    exposed: QRect
    """The part of the viewport to paint."""


def tabular(font: QFont) -> QFont:
    """Return the font with tabular digits, if it has them."""
    digits = QFont(font)
    digits.setFeature(QFont.Tag("tnum"), 1)
    return digits


def scale_font(font: QFont, factor: float) -> QFont:
    """Return the font scaled, whether its size is in points or pixels."""
    other = QFont(font)
    if font.pointSizeF() > 0:
        other.setPointSizeF(font.pointSizeF() * factor)
    else:
        other.setPixelSize(max(1, round(font.pixelSize() * factor)))
    return other


class MatrixPainter:
    """Paints a Look; caches texts and cell backgrounds."""

    def __init__(self, palette: Palette, font: QFont) -> None:
        self._palette = palette
        self._font = tabular(font)
        self._caption_font = scale_font(font, 11 / 13)
        self._metrics = QFontMetricsF(self._font)
        self._digit = max(self._metrics.horizontalAdvance(character) for character in "0−")
        self._point = self._metrics.horizontalAdvance(".")
        self._texts: dict[str, tuple[QStaticText, float]] = {}
        self._cells: dict[int, QPixmap] = {}
        self._cell_key: tuple[int, int, float] = (0, 0, 0.0)
        self._dark_text = choose_dark_text("diverging", palette).tolist()
        self._colours = [QColor.fromRgb(int(entry)) for entry in colour_map("diverging", palette)]

    def minimum_cell(self) -> tuple[int, int]:
        """Return the smallest cell with room for four decimals: width and height in pixels, gap included."""
        return self._cell_of(7), int(np.ceil(self._metrics.height())) + 10 + GAP

    def narrow_cell(self) -> int:
        """Return the width of a cell with room for three decimals, used if all columns then fit."""
        return self._cell_of(6)

    def _cell_of(self, characters: int) -> int:
        """Return the width of a cell for a number of characters, one of them a decimal point."""
        return int(np.ceil((characters - 1) * self._digit + self._point)) + PADDING + LEFT_PADDING + GAP

    def caption_height(self) -> int:
        """Return the height of the heads' captions."""
        return int(QFontMetricsF(self._caption_font).height()) + 4

    def label_width(self, labels: Iterable[str]) -> float:
        """Return the width of the widest label; labels are measured up to 64 characters."""
        return max((self._metrics.horizontalAdvance(_one_line(label)) for label in labels), default=0.0)

    def paint(self, painter: QPainter, look: Look) -> None:
        """Paint the whole viewport."""
        grid = look.grid
        painter.fillRect(QRect(0, 0, grid.width, grid.height), QColor(self._palette.surface))
        painter.setFont(self._font)
        if look.values.size:
            painter.setClipRect(grid.body())
            self._paint_cells(painter, look)
            self._paint_boundaries(painter, grid)
            self._paint_outlines(painter, look)
        if look.exposed.top() < grid.header_height:
            self._paint_column_headers(painter, look)
        if look.exposed.left() < grid.header_width:
            self._paint_row_headers(painter, look)
        painter.setClipping(False)

    def _paint_cells(self, painter: QPainter, look: Look) -> None:
        grid = look.grid
        rows, columns = grid.find_exposed_rows(look.exposed), grid.find_exposed_columns(look.exposed)
        window = look.values[rows.start : rows.stop, columns.start : columns.stop].astype(np.float64)
        levels = _levels(window, look.limit).tolist()
        values = window.tolist()
        characters = self._characters(grid.cell_width - GAP - PADDING - LEFT_PADDING)
        down = (grid.cell_height - GAP - self._metrics.height()) / 2
        right = grid.cell_width - GAP - PADDING
        lefts = [grid.column_x(column) for column in columns]
        dark, light, bad = QPen(QColor(DARK_INK)), QPen(QColor(LIGHT_INK)), QPen(QColor(self._palette.bad))
        for i, row in enumerate(rows):
            y = grid.row_y(row)
            for x, value, level in zip(lefts, values[i], levels[i], strict=True):
                painter.drawPixmap(x, y, self._cell(level, grid, painter))
                painter.setPen(bad if level == _NON_FINITE else dark if self._dark_text[level] else light)
                text, width = self._text(format_cell(value, characters))
                painter.drawStaticText(QPointF(x + right - width, y + down), text)

    def _characters(self, width: float) -> int:
        """Return how many characters of a number certainly fit, one of them a decimal point."""
        return max(int((width - self._point) / self._digit + 0.01) + 1, 3)

    def _text(self, text: str) -> tuple[QStaticText, float]:
        kept = self._texts.get(text)
        if kept is None:
            if len(self._texts) >= _KEPT_TEXTS:
                self._texts.clear()
            static = QStaticText(text)
            static.setTextFormat(Qt.TextFormat.PlainText)
            static.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
            static.prepare(font=self._font)
            kept = self._texts[text] = (static, static.size().width())
        return kept

    def _cell(self, level: int, grid: Grid, painter: QPainter) -> QPixmap:
        """Return the background of a cell: a rounded rectangle in the level's colour, cached for the present size."""
        ratio = painter.device().devicePixelRatioF()
        key = (grid.cell_width, grid.cell_height, ratio)
        if key != self._cell_key or len(self._cells) > _KEPT_CELLS:
            self._cells.clear()
            self._cell_key = key
        kept = self._cells.get(level)
        if kept is None:
            kept = self._cells[level] = self._draw_cell(level, grid, ratio)
        return kept

    def _draw_cell(self, level: int, grid: Grid, ratio: float) -> QPixmap:
        width, height = grid.cell_width - GAP, grid.cell_height - GAP
        pixmap = QPixmap(round(width * ratio), round(height * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(self._palette.surface))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        area = QRectF(0, 0, width, height)
        painter.setBrush(QColor(self._palette.control) if level == _NON_FINITE else self._colours[level])
        painter.drawRoundedRect(area, RADIUS, RADIUS)
        if level == _NON_FINITE:
            painter.setBrush(QBrush(QColor(self._palette.hatch), Qt.BrushStyle.BDiagPattern))
            painter.drawRoundedRect(area, RADIUS, RADIUS)
        painter.end()
        return pixmap

    def _paint_boundaries(self, painter: QPainter, grid: Grid) -> None:
        if not grid.group:
            return
        bottom = min(grid.height, grid.row_y(grid.rows))
        painter.setPen(QPen(QColor(self._palette.muted), 1))
        for column in grid.find_visible_columns():
            if column and column % grid.group == 0:
                x = grid.column_x(column) - GROUP_GAP // 2 - GAP
                painter.drawLine(x, grid.header_height, x, bottom - 1 - GAP)

    def _paint_outlines(self, painter: QPainter, look: Look) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        grid = look.grid
        for role, (rows, columns) in look.highlights.items():
            painter.setPen(QPen(QColor(self._palette.role(role)), 2))
            for top, height in _runs(rows, grid.rows):
                for left, width in _runs(columns, grid.columns):
                    _ring(painter, grid.block(top, left, height, width))
        if look.selection is not None:
            self._paint_selection(painter, look, look.selection)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_selection(self, painter: QPainter, look: Look, selection: Selection) -> None:
        accent = QColor(self._palette.accent)
        ring = QColor(self._palette.bad) if look.refused else accent
        if not look.focused:
            accent.setAlpha(150)
            ring.setAlpha(150)
        if not selection.is_one_cell():
            painter.setPen(QPen(accent, 2))
            _ring(painter, look.grid.block(*selection.block()).adjusted(-1, -1, 1, 1))
        painter.setPen(QPen(ring, 2))
        _ring(painter, look.grid.cell(selection.row, selection.column))

    def _paint_column_headers(self, painter: QPainter, look: Look) -> None:
        grid, palette = look.grid, self._palette
        painter.setClipRect(QRect(grid.header_width, 0, grid.width - grid.header_width, grid.header_height))
        chosen = look.selection.block() if look.selection and look.focused else (0, 0, 0, 0)
        lit = {column for rows, columns in look.highlights.values() if len(rows) == grid.rows for column in columns}
        painter.setFont(self._font)
        top = grid.caption_height
        for column in grid.find_visible_columns():
            area = QRect(
                grid.column_x(column) + PADDING, top, grid.cell_width - GAP - 2 * PADDING, grid.header_height - top
            )
            current = chosen[1] <= column < chosen[1] + chosen[3] or column in lit
            painter.setPen(QColor(palette.ink if current else palette.muted))
            painter.drawText(area, int(_RIGHT), self._elide(look.column_labels[column], area.width()))
        if grid.group:
            self._paint_captions(painter, grid)
        self._paint_beyond(painter, grid)

    def _paint_beyond(self, painter: QPainter, grid: Grid) -> None:
        """Mark beside the column numbers that there are more columns to the left or right."""
        painter.setClipping(False)
        painter.setFont(self._caption_font)
        painter.setPen(QColor(self._palette.muted))
        top, high = grid.caption_height, grid.header_height - grid.caption_height
        if grid.columns_right_of_it():
            area = QRect(grid.width - PADDING, top, PADDING, high)
            painter.fillRect(area, QColor(self._palette.surface))
            painter.drawText(area, int(_RIGHT), "›")
        if grid.scroll_x > 0:
            painter.drawText(QRect(0, top, grid.header_width - 2, high), int(_RIGHT), "‹")

    def _paint_captions(self, painter: QPainter, grid: Grid) -> None:
        """Write "head 0" above each head's columns, visible while any of them is."""
        painter.setFont(self._caption_font)
        painter.setPen(QColor(self._palette.muted))
        width = QFontMetricsF(self._caption_font)
        for head in sorted({column // grid.group for column in grid.find_visible_columns()}):
            first, columns = grid.group_columns(head * grid.group)
            right = grid.column_x(first + columns - 1) + grid.cell_width - GAP
            text = f"head {head}"
            left = min(max(grid.column_x(first), grid.header_width), right - int(width.horizontalAdvance(text)) - 2)
            painter.drawText(QRect(left, 0, right - left, grid.caption_height), int(_LEFT), text)

    def _paint_row_headers(self, painter: QPainter, look: Look) -> None:
        grid, palette = look.grid, self._palette
        painter.setClipRect(QRect(0, grid.header_height, grid.header_width, grid.height - grid.header_height))
        chosen = look.selection.block() if look.selection and look.focused else (0, 0, 0, 0)
        lit = {row for rows, columns in look.highlights.values() if len(columns) == grid.columns for row in rows}
        bold = QFont(self._font)
        bold.setWeight(QFont.Weight.DemiBold)
        for row in grid.find_visible_rows():
            area = QRect(0, grid.row_y(row), grid.header_width - 8, grid.cell_height - GAP)
            current = chosen[0] <= row < chosen[0] + chosen[2] or row in lit
            painter.setFont(bold if row in lit else self._font)
            painter.setPen(QColor(palette.ink if current else palette.muted))
            painter.drawText(area, int(_LEFT), self._elide(look.row_labels[row], area.width()))

    def _elide(self, label: str, width: int) -> str:
        return self._metrics.elidedText(_one_line(label), Qt.TextElideMode.ElideRight, width)


def _one_line(label: str) -> str:
    return " ".join(label[:64].split())


def _levels(window: NDArray[np.float64], limit: float) -> NDArray[np.int_]:
    """Return the colour map index of each value, 0 being the centre, and -1 for values that are not finite."""
    finite = np.isfinite(window)
    share = np.where(finite, window, 0.0) / limit
    return np.where(finite, np.rint((np.clip(share, -1, 1) + 1) / 2 * (LEVELS - 1)), _NON_FINITE).astype(int)


def _runs(indices: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return (first, length) of each run of neighbours among sorted indices within the size."""
    runs: list[tuple[int, int]] = []
    for index in indices:
        if not 0 <= index < size:
            continue
        if runs and index == runs[-1][0] + runs[-1][1]:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((index, 1))
    return runs


def _ring(painter: QPainter, area: QRect) -> None:
    """Draw an outline 2 px wide that stays inside the area."""
    painter.drawRoundedRect(QRectF(area).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
