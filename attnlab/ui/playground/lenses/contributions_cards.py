"""The cards of the contributions lens: the table of a score, its matrices, content and position, the output."""

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from attnlab.attention.measures.contributions import Floats
from attnlab.attention.measures.head_matrices import HeadMatrix
from attnlab.attention.stages.arithmetic import number
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px, scale
from attnlab.ui.playground.lenses.contributions_found import (
    MOST,
    Found,
    describe_blocks,
    describe_cut,
    describe_largest,
    describe_matrix,
    describe_output,
    describe_singular,
    make_table,
    name_matrix,
    name_output_matrix,
)
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.playground.lenses.positions_parts import Card, Fields, sentence_label
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable
from attnlab.ui.widgets.subscripts import FormulaLabel

LARGEST_MAP = 128
"""A larger matrix is shown by its largest rows and columns."""
MAP_AROUND, ROW, LEAST_HEIGHT, LARGEST_HEIGHT = 84, 30, 160, 380
"""Pixels at 100 %: the title, labels and colour bar of a map, one of its rows, and the ends of its height."""

USUAL_WIDTH, MOST_GROWTH = 620, 2.0
"""From the first width on, in pixels at 100 %, a map and its type grow, up to the second."""


class ScoreCard(Card):
    """The table of contributions, its largest ones in words, and the sums of its rows and columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about, self.largest = FormulaLabel(role="muted"), FormulaLabel()
        self.cut = sentence_label(role="muted")
        self.map = _make_map("contributions", "the query’s numbers down, the key’s across")
        self.rows = NumberTable("Row sums: the query’s numbers")
        self.columns = NumberTable("Column sums: the key’s numbers")
        sums = QWidget()
        column = QVBoxLayout(sums)
        column.setContentsMargins(0, 0, 0, 0)
        for table in (self.rows, self.columns):
            table.keep_to_rows(MOST)
            column.addWidget(table)
        column.addStretch(1)
        self.column.addWidget(sentence_label("Contributions to the score", "title"))
        for widget in (self.about, SideBySide(self.map, sums), self.cut, self.largest):
            self.column.addWidget(widget)

    def show_found(self, found: Found) -> None:
        """Show the contributions, or nothing where the score has none."""
        c = found.score
        self.setVisible(not isinstance(c, str))
        if isinstance(c, str):
            return
        data, share = make_table(c.values, c.row_labels, c.column_labels)
        self.map.show_map(data)
        self.about.setText(describe_matrix(found))
        _show(self.cut, describe_cut((len(c.query), len(c.key)), share))
        self.largest.setText(describe_largest(found))
        _show_sums(self.rows, "number", c.row_labels, c.query, c.values.sum(1))
        _show_sums(self.columns, "number", c.column_labels, c.key, c.values.sum(0))


class MatrixCard(Card):
    """One matrix of a head as a map, and its singular values; of a large matrix the largest rows and columns."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about, self.cut = sentence_label(role="muted"), sentence_label(role="muted")
        self.title = FormulaLabel(title, "title")
        self.map = _make_map(title, "rows down, columns across", ("row", "column"))
        self.part = _make_map(f"largest numbers of {title}", "rows down, columns across")
        self.singular = Curves(f"Singular values of {title}")
        self.singular.setMinimumHeight(px(170))
        for widget in (self.title, self.about, self.map, self.part, self.cut, self.singular):
            self.column.addWidget(widget)
        self.column.addStretch(1)

    def set_title(self, title: str) -> None:
        """Name the matrix, with what stands between its factors or without the one that the layer lacks."""
        self.title.setText(title)
        self.singular.set_title(f"Singular values of {title}")

    def show_matrix(self, matrix: HeadMatrix) -> None:
        """Show a matrix."""
        values = matrix.values
        is_finite = bool(np.isfinite(values).all())
        for part in (self.map, self.part, self.cut, self.singular):
            part.setVisible(is_finite)
        if not is_finite:
            self.about.setText(f"{len(values)} × {values.shape[1]}; its numbers are too large for float64.")
            return
        (rows, columns), is_large = values.shape, max(values.shape) > LARGEST_MAP
        self.about.setText(describe_singular(matrix))
        labels = tuple(map(str, range(rows))), tuple(map(str, range(columns)))
        data, share = make_table(values, *labels)
        _show(self.cut, describe_cut(values.shape, share, "numbers") if is_large else "")
        self.map.setVisible(not is_large)
        self.part.setVisible(is_large)
        if is_large:
            self.part.show_map(data)
        else:
            scale = find_scale(values, "signed")
            self.map.show_map(MapData(values[None], "signed", scale, None, *labels))
        kept = matrix.singular_values
        step = max(len(kept) // 12, 1)
        ticks = tuple((float(place), str(place)) for place in range(1, len(kept) + 1, step))
        curve = Curve("singular value", np.arange(1, len(kept) + 1, dtype=np.float64), kept, "attention", "bars")
        self.singular.show_curves([curve], x_label="number", y_label="size", x_ticks=ticks)


class MatricesRow(QWidget):
    """W_q W_kᵀ and W_v W_o of the head, side by side."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scores = MatrixCard("W_q W_kᵀ")
        self.output = MatrixCard("W_v W_o")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(SideBySide(self.scores, self.output))
        self.maps = [figure for card in (self.scores, self.output) for figure in (card.map, card.part)]

    def show_found(self, found: Found) -> None:
        """Show the matrices of the head."""
        self.scores.setVisible(not isinstance(found.score, str))
        self.scores.set_title(name_matrix(found.experiment))
        self.scores.show_matrix(found.scores_matrix)
        self.output.set_title(name_output_matrix(found.experiment))
        self.output.show_matrix(found.output_matrix)


class BlocksCard(Card):
    """Content against position: four sums, more with biases."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentence = sentence_label()
        self.map = _make_map("content and position", "query down, key across")
        self.column.addWidget(sentence_label("Content and position", "title"))
        text = "Each token’s vector is its embedding plus that of its position, so the score is a sum of blocks."
        for widget in (sentence_label(text, "muted"), self.map, self.sentence):
            self.column.addWidget(widget)

    def show_found(self, found: Found) -> None:
        """Show the blocks, if positions are added to the embeddings."""
        c = found.score
        self.setVisible(not isinstance(c, str) and "position" in c.query_parts)
        if isinstance(c, str) or "position" not in c.query_parts:
            return
        data = MapData(
            c.blocks[None], "signed", find_scale(c.blocks, "signed"), None, list(c.query_parts), list(c.key_parts)
        )
        self.map.show_map(data)
        self.sentence.setText(describe_blocks(c))


class OutputCard(Card):
    """What each key's token adds to one number of the output through W_v W_o."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.fields = Fields()
        about = "The column of the output, counted from 0"
        self.box = self.fields.add("column of the output", "column c", about, (0, 0), 0)
        self.fields.changed.connect(self.changed)
        self.sentence, self.cut = sentence_label(), sentence_label(role="muted")
        self.map = _make_map("contributions to the output", "keys down, their numbers across")
        self.about = FormulaLabel("", "muted")
        self.column.addWidget(sentence_label("Contributions to the output", "title"))
        for widget in (self.about, self.fields, self.map, self.cut, self.sentence):
            self.column.addWidget(widget)

    def show_found(self, found: Found) -> None:
        """Show what the keys add to the column of the output."""
        o, e = found.output, found.experiment
        factor, also = ("W_v,b,c", "") if e.weights.W_o is None else ("M_b,c", " and M is W_v W_o")
        cell = f"Each cell is A_i,j · x_j,b · {factor} of this head, where A is the map of weights{also}"
        self.about.setText(f"{cell}; one row for each key.")
        for widget in (self.map, self.cut):
            widget.setVisible(not isinstance(o, str))
        self.sentence.setText(describe_output(found))
        if isinstance(o, str):
            return
        data, share = make_table(o.values, e.key_tokens, o.column_labels)
        self.map.show_map(data)
        _show(self.cut, describe_cut((len(o.values), len(o.column_labels)), share))


@guarded
class GrowingMap(MapFigure):
    """A map whose type, cells and height grow with its width."""

    @property
    def zoom(self) -> float:
        return scale() * min(max(self.width() / px(USUAL_WIDTH), 1.0), MOST_GROWTH)

    def show_map(self, data: MapData | None) -> None:
        super().show_map(data)
        self._fit_height()

    def restyle(self) -> None:
        super().restyle()
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        """Be as high as the rows need."""
        rows = self.shape()[1] if self.data is not None else 0
        height = max(MAP_AROUND + min(rows * ROW, LARGEST_HEIGHT), LEAST_HEIGHT)
        self.setMinimumHeight(round(height * self.zoom))


def _make_map(spoken: str, title: str, names: tuple[str, str] = ("", "")) -> GrowingMap:
    figure = GrowingMap(title, names)
    figure.setAccessibleName(spoken[:1].upper() + spoken[1:])
    figure.spoken_title = spoken
    return figure


def _show(label: QLabel, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))


def _show_sums(table: NumberTable, token: str, names: tuple[str, ...], x: Floats, sums: Floats) -> None:
    table.set_columns(
        [
            Column("column", list(names), about="The column of the embedding"),
            Column(token, x, number, "The number of the token in this column"),
            Column("sum", sums, number, "The sum of its contributions"),
        ],
        names,
    )
