"""Expected tokens beside the model's predictions: wrong ones are underlined."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Signal
from PySide6.QtGui import QAccessible, QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.base.spoken_text import speak_text
from attnlab.figures.text import Pen
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_words import has_spaces
from attnlab.ui.train.paired_text import HEAD as TEXT_HEAD
from attnlab.ui.train.paired_text import pair_tokens

SPACE, GAP, HEAD = 4, 12, 18
"""Pixels at 100 % between two tokens, between two columns, and of the line with the headings."""


@dataclass(frozen=True, slots=True)
class PredictionRow:
    """One example: source, expected and predicted tokens, "" where nothing is asked.

    If it is not ``exact``, as for numbers, predictions are not right or wrong, but near or far. ``reads`` says what the
    model reads before each token, see :class:`attnlab.training.look.Written`.
    """

    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]
    exact: bool = True
    reads: str = "row"

    @property
    def is_text(self) -> bool:
        """Whether the tokens are those of a running text, which have its spaces in them."""
        return has_spaces(self.expected)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The expected and predicted tokens at each place where one was asked for."""
        longest = max(len(self.expected), len(self.predicted))
        expected = self.expected + ("",) * (longest - len(self.expected))
        predicted = self.predicted + ("",) * (longest - len(self.predicted))
        return tuple((e, p) for e, p in zip(expected, predicted, strict=True) if e)


@guarded
class PredictionsPanel(HasCells, FollowsTheme, QWidget):
    """Shows rows of tokens under headings: source and expected muted, predicted in ink at the right.

    If three columns do not fit, the source is on a line of its own above the other two. Running texts are on a line of
    their own, with each prediction below its token.
    """

    cells_role, cell_role = QAccessible.Role.List, QAccessible.Role.ListItem
    described = Signal(str)
    """A sentence about the rows: what the model reads before each token, and how many are right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[PredictionRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Expected and predicted")

    @property
    def rows(self) -> tuple[PredictionRow, ...]:
        """The rows shown."""
        return self._rows

    def restyle(self) -> None:
        """Measure the rows for the size of type."""
        self._settle()
        self.updateGeometry()

    def show_rows(self, rows: Sequence[PredictionRow]) -> None:
        """Show other examples."""
        before = len(self._rows), self._asks
        self._rows = tuple(rows)
        self.described.emit(describe_rows(self._rows))
        if before != (len(self._rows), self._asks):
            self.updateGeometry()
        self._settle()
        self.setAccessibleDescription("; ".join(map(_describe_row, self._rows)))
        self.update()

    @property
    def heads(self) -> tuple[str, ...]:
        """The headings of the columns."""
        if not self._rows:
            return ()
        if self._texts:
            return (TEXT_HEAD,)
        if self._stacked:
            return "asked / expected", "predicted"
        return ("asked", "expected", "predicted") if self._asks else ("expected", "predicted")

    def count_cells(self) -> int:
        return len(self._rows)

    def name_cell(self, place: int) -> str:
        return speak_text(self._write_row(place).replace("\n", "; "))

    def locate_cell(self, place: int) -> QRectF:
        return QRectF(0, px(HEAD) + place * self._measure_row(), self.width(), self._measure_row())

    def find_cell(self, at: QPointF) -> int | None:
        index = int((at.y() - px(HEAD)) // self._measure_row())
        return index if at.y() >= px(HEAD) and 0 <= index < len(self._rows) else None

    @property
    def current_cell(self) -> int | None:
        return None

    def tool_tip(self, at: QPointF) -> str:
        """Return the tool tip at a point: the whole row."""
        index = self.find_cell(at)
        return self._write_row(index) if index is not None else ""

    def _write_row(self, index: int) -> str:
        row = self._rows[index]
        asked = f"asked: {_join_tokens(row.source)}\n" if row.source else ""
        return f"{asked}{_describe_row(row)}"

    @property
    def _asks(self) -> bool:
        return any(row.source for row in self._rows)

    @property
    def _texts(self) -> bool:
        return any(row.is_text for row in self._rows)

    @property
    def _stacked(self) -> bool:
        """Whether the source is on a line above: three columns would cut off most of it."""
        return self._asks and self._needs > self.width()

    def _settle(self) -> None:
        """Compute the width that three columns need, with at most half of a long one left out."""
        measure = QFontMetricsF(font("text")).horizontalAdvance
        wide = [[_measure_tokens(part, px(SPACE), measure) for part in _list_columns(row)] for row in self._rows]
        needs = sum(max(column) for column in zip(*wide, strict=True)) + 2 * px(GAP) if wide else 0.0
        if needs != self._needs:
            self._needs = needs
            self.updateGeometry()

    _needs = 0.0

    def _measure_row(self) -> int:
        return px(44 if self._stacked or self._texts else 26)

    def sizeHint(self) -> QSize:
        return QSize(px(200), (px(HEAD) if self._rows else 0) + max(len(self._rows), 1) * self._measure_row())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tool_tip(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(text) if text else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(palette_of(self).muted))
        if not self._rows:
            Pen(painter, font("text")).draw(0, self._measure_row() / 2, "Shown when the model has learned a little")
        places = self._place_columns()
        small = Pen(painter, font("caption"))
        shown = places[:1] if self._texts else places[len(places) - len(self.heads) :]
        for head, (left, _) in zip(self.heads, shown, strict=True):
            small.draw(left, px(HEAD) / 2, head)
        for index, row in enumerate(self._rows):
            top = px(HEAD) + index * self._measure_row()
            if self._texts:
                self._paint_text(painter, row, top)
            else:
                self._paint_row(painter, row, top, places)
        painter.end()

    def _place_columns(self) -> list[tuple[float, float]]:
        """Return left edge and width of each column; the source first, with the whole width if it is above."""
        wide, gap = float(self.width()), px(GAP)
        if not self._asks:
            return [(0.0, wide), *_share_width(wide, 2, gap)]
        return [(0.0, wide), *_share_width(wide, 2, gap)] if self._stacked else _share_width(wide, 3, gap)

    def _paint_row(self, painter: QPainter, row: PredictionRow, top: float, places: list[tuple[float, float]]) -> None:
        pen, p = Pen(painter, font("text")), palette_of(self)
        middle, gap = top + px(13), px(SPACE)
        asked, expected, predicted = (
            _fit_tokens(part, wide, gap, pen) for part, (_, wide) in zip(_list_columns(row), places, strict=True)
        )
        painter.setPen(QColor(p.muted))
        if self._asks:
            _draw(pen, places[0][0], middle, [token for token, _ in asked], gap)
        middle += px(18) if self._stacked else 0
        _draw(pen, places[1][0], middle, [token for token, _ in expected], gap)
        right, x = _list_columns(row)[1], places[2][0]
        for token, place in predicted:
            wrong = row.exact and 0 <= place < len(right) and right[place] != _list_columns(row)[2][place]
            self._paint_prediction(painter, pen, QPointF(x, middle), token, wrong)
            x += pen.width(token) + gap

    def _paint_text(self, painter: QPainter, row: PredictionRow, top: float) -> None:
        pen = Pen(painter, font("text"))
        above, below = top + px(13), top + px(31)
        for pair in pair_tokens(row.source, row.pairs, self.width(), pen.width):
            painter.setPen(QColor(palette_of(self).muted))
            pen.draw(pair.x, above, pair.above)
            self._paint_prediction(painter, pen, QPointF(pair.x, below), pair.below, pair.wrong)

    def _paint_prediction(self, painter: QPainter, pen: Pen, at: QPointF, token: str, wrong: bool) -> None:
        p = palette_of(self)
        painter.setPen(QColor(p.key_ink if wrong else p.ink))
        pen.draw(at.x(), at.y(), token)
        if wrong:
            under = at.y() + QFontMetricsF(font("text")).ascent() / 2 + px(2)
            painter.setPen(QPen(QColor(p.key_ink), 1.5))
            painter.drawLine(QPointF(at.x(), under), QPointF(at.x() + max(pen.width(token), px(5)), under))


def describe_rows(rows: Sequence[PredictionRow]) -> str:
    """Return what the model reads before each token, and how many tokens or whole rows are right; "" without rows."""
    if not rows:
        return ""
    if not rows[0].exact:
        return "the first column at each position to predict"
    if rows[0].reads == "own":
        whole = sum(all(expected == predicted for expected, predicted in row.pairs) for row in rows)
        return f"written freely · {whole} of {len(rows)} exactly right"
    pairs = [pair for row in rows for pair in row.pairs]
    right = sum(expected == predicted for expected, predicted in pairs)
    how = "given the right tokens · " if rows[0].reads == "right" else ""
    return f"{how}{right} of {len(pairs)} right"


def _list_columns(row: PredictionRow) -> tuple[list[str], list[str], list[str]]:
    """Return the tokens of source, expected and predicted."""
    return list(row.source), [e for e, _ in row.pairs], [p or "∅" for _, p in row.pairs]


def _share_width(width: float, columns: int, gap: int) -> list[tuple[float, float]]:
    """Return left edge and width of columns of equal width."""
    each = (width - (columns - 1) * gap) / columns
    return [(i * (each + gap), each) for i in range(columns)]


def _measure_tokens(tokens: Sequence[str], gap: int, measure: Callable[[str], float]) -> float:
    return sum(map(measure, tokens)) + gap * max(len(tokens) - 1, 0)


def _draw(pen: Pen, x: float, middle: float, tokens: Sequence[str], gap: int) -> None:
    for token in tokens:
        pen.draw(x, middle, token)
        x += pen.width(token) + gap


def _fit_tokens(tokens: Sequence[str], width: float, gap: int, pen: Pen) -> list[tuple[str, int]]:
    """Return the tokens that fit, each with its place; if not all do, … of place −1 stands for those in the middle.

    Tokens are taken from both ends in turn: the ends of a row are the most informative. Those wider than half
    the room are shortened in the middle.
    """
    if _measure_tokens(tokens, gap, pen.width) <= width:
        return [(token, place) for place, token in enumerate(tokens)]
    most = width if len(tokens) == 1 else (width - gap) / 2
    tokens = [pen.elide(token, most, middle=True) if pen.width(token) > most else token for token in tokens]
    if _measure_tokens(tokens, gap, pen.width) <= width:
        return [(token, place) for place, token in enumerate(tokens)]
    first, last, room = 0, len(tokens), width - pen.width("…")
    while first < last:
        place = first if first <= len(tokens) - last else last - 1
        room -= pen.width(tokens[place]) + gap
        if room < 0:
            break
        first, last = (first + 1, last) if place == first else (first, last - 1)
    ends = [*range(first), -1, *range(last, len(tokens))]
    return [(tokens[place] if place >= 0 else "…", place) for place in ends]


def _join_tokens(tokens: Sequence[str]) -> str:
    return ("" if has_spaces(tokens) else " ").join(tokens)


def _describe_row(row: PredictionRow) -> str:
    wrong = sum(e != p for e, p in row.pairs)
    verdict = (f"{wrong} wrong" if wrong else "all correct") if row.exact else ""
    expected, predicted = map(_join_tokens, zip(*row.pairs, strict=True)) if row.pairs else ("", "")
    return f"expected: {expected}\npredicted: {predicted}\n{verdict}".rstrip()
