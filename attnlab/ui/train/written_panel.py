"""What was expected beside what the model predicts, token by token: what is wrong is underlined."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.figures.palette import LIGHT, Palette
from attnlab.figures.text import Pen
from attnlab.ui.theme import font, plain_tip, px

SPACE = 4
"""Pixels at 100 % between two tokens."""


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """One example: what was read, what was expected and what was predicted, "" where nothing is asked.

    Where it is not ``exact``, as of numbers, nothing is right or wrong, but near or far.
    """

    source: tuple[str, ...]
    expected: tuple[str, ...]
    predicted: tuple[str, ...]
    exact: bool = True

    @property
    def gap(self) -> int:
        """Pixels between two tokens: none within a text, whose blanks are tokens."""
        return 0 if " " in self.expected else px(SPACE)

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What was asked and what came, place by place, where something was asked."""
        longest = max(len(self.expected), len(self.predicted))
        expected = self.expected + ("",) * (longest - len(self.expected))
        predicted = self.predicted + ("",) * (longest - len(self.predicted))
        return tuple((e, p) for e, p in zip(expected, predicted, strict=True) if e)


class WrittenPanel(QWidget):
    """Shows rows of tokens: the expected muted at the left, the predicted in ink at the right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._palette = LIGHT
        self._rows: tuple[WrittenRow, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Expected and predicted")

    @property
    def rows(self) -> tuple[WrittenRow, ...]:
        """What is shown."""
        return self._rows

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, and the present size of type."""
        self._palette = palette
        self.updateGeometry()
        self.update()

    def show_rows(self, rows: Sequence[WrittenRow]) -> None:
        """Show other examples."""
        if len(rows) != len(self._rows):
            self.updateGeometry()
        self._rows = tuple(rows)
        self.setAccessibleDescription("; ".join(map(_told, self._rows)))
        self.update()

    def tool_tip(self, at: QPointF) -> str:
        """Return what the tool tip says at a point: the whole of a row."""
        index = int(at.y() // self._height())
        if not 0 <= index < len(self._rows):
            return ""
        row = self._rows[index]
        read = f"read: {' '.join(row.source)}\n" if row.source else ""
        return f"{read}{_told(row)}"

    def _height(self) -> int:
        return px(26)

    def sizeHint(self) -> QSize:
        return QSize(px(200), max(len(self._rows), 1) * self._height())

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tool_tip(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(text) if text else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        p, half = self._palette, self.width() / 2 - px(6)
        pen, metrics = Pen(painter, font("text")), QFontMetricsF(font("text"))
        for index, row in enumerate(self._rows):
            middle = (index + 0.5) * self._height()
            expected, predicted = [e for e, _ in row.pairs], [p or "∅" for _, p in row.pairs]
            shown, _ = _fitting(expected, half, row.gap, pen)
            x = 0.0
            painter.setPen(QColor(p.muted))
            for token in shown:
                pen.draw(x, middle, token)
                x += pen.width(token) + row.gap
            shown, wide = _fitting(predicted, half, row.gap, pen)
            x = self.width() - wide
            for place, token in enumerate(shown):
                wrong = row.exact and place < len(expected) and token != "…" and predicted[place] != expected[place]
                painter.setPen(QColor(p.key_ink if wrong else p.ink))
                pen.draw(x, middle, token)
                if wrong:
                    under = middle + metrics.ascent() / 2 + px(2)
                    painter.setPen(QPen(QColor(p.key_ink), 1.5))
                    painter.drawLine(QPointF(x, under), QPointF(x + max(pen.width(token), px(5)), under))
                x += pen.width(token) + row.gap
        if not self._rows:
            painter.setPen(QColor(p.muted))
            pen.draw(0, self._height() / 2, "Shown when the model has learned a little")
        painter.end()


def _fitting(tokens: list[str], width: float, gap: int, pen: Pen) -> tuple[list[str], float]:
    """Return the tokens that fit, ended by … where not all of them do, and how wide they are."""
    shown: list[str] = []
    wide = 0.0
    for place, token in enumerate(tokens):
        step = pen.width(token) + (gap if shown else 0)
        more = pen.width("…") + gap if place < len(tokens) - 1 else 0
        if wide + step + more > width:
            return [*shown, "…"], wide + pen.width("…") + gap
        shown.append(token)
        wide += step
    return shown, wide


def _told(row: WrittenRow) -> str:
    wrong = sum(e != p for e, p in row.pairs)
    verdict = (f"{wrong} wrong" if wrong else "all right") if row.exact else ""
    expected, predicted = (" ".join(texts) for texts in zip(*row.pairs, strict=True)) if row.pairs else ("", "")
    return f"expected: {expected}\npredicted: {predicted}\n{verdict}".rstrip()
