"""The steps that lead to a cell, drawn: numbered titles, lines of arithmetic, and bars."""

import math
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextDocument,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attnlab.attention.stages.arithmetic import plain
from attnlab.attention.stages.steps import Step, speak_term
from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.cells import HasCells
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.own_keys import KeepsKeys
from attnlab.ui.base.theme import draw_focus_ring, font, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.playground.rich_text import html_of
from attnlab.ui.playground.span_text import Pen
from attnlab.ui.playground.step_layout import (
    INDENT,
    Columns,
    Item,
    count_lines,
    is_one_line,
    lay_out_columns,
    place_items,
)
from attnlab.ui.playground.step_painter import StepPainter
from attnlab.ui.widgets.tip_beside import show_beside

_KEYS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Home: -(10**9), Qt.Key.Key_End: 10**9}


@guarded
class StepsView(HasCells, KeepsKeys, FollowsTheme, QWidget):
    """Draws steps below each other, as high as they need."""

    cells_role, cell_role = QAccessible.Role.List, QAccessible.Role.ListItem

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        self._steps: tuple[tuple[Step, int, str], ...] = ()
        self._shared, self._parts = 0, 0.0
        self._items: tuple[Item, ...] = ()
        self._words: dict[int, QTextDocument] = {}
        self._cursor = 0
        super().__init__(parent)
        self.restyle()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_steps(self, steps: Sequence[tuple[Step, int, str]], shared: int = 0, parts: float = 0.0) -> None:
        """Show steps, each with its number, 0 for none, and the part to show: "" for all, "head", or "foot".

        The first ``shared`` steps have the same columns and the same scale of their bars. The foot of a row has its
        sum in the column that ends at ``parts``, in pixels.
        """
        self._steps, self._shared, self._parts = tuple(steps), shared, parts
        self.setVisible(bool(steps))
        self._lay_out()

    def restyle(self) -> None:
        """Lay out the lines in the present size of type and colours."""
        self._pens = Pen(font("map"), font("map_strong")), Pen(font("title"), font("title"))
        self._lay_out()

    def _lay_out(self) -> None:
        if not self._steps or self.width() <= 0:
            self._items = ()
            return
        pen, width = self._pens[0], float(self.width())
        left = float(px(INDENT)) if any(number for _, number, _ in self._steps) else 0.0
        together = lay_out_columns([step for step, _, _ in self._steps[: self._shared]], pen, left, width)
        items: list[Item] = []
        for i, (step, number, part) in enumerate(self._steps):
            columns = together if i < self._shared else lay_out_columns([step], pen, left, width)
            columns = replace(columns, parts=left + self._parts) if part == "foot" and self._parts else columns
            items += _list_items(step, number, part, columns, self._pens, width)
        self._words.clear()
        self._items = place_items(items, self._measure_words)
        self._words = {i: self._make_document(item) for i, item in enumerate(self._items) if item.kind == "words"}
        height = int(self._items[-1].top + self._items[-1].height) + 1 if self._items else 0
        if self.minimumHeight() != height or self.maximumHeight() != height:
            self.setFixedHeight(height)
        self._cursor = min(self._cursor, max(len(self._items) - 1, 0))
        self.update()

    def _make_document(self, item: Item) -> QTextDocument:
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setDefaultFont(font("map"))
        colour = palette_of(self).ink
        document.setHtml(f'<span style="color:{colour}">{html_of(item.words, palette_of(self))}</span>')
        document.setTextWidth(self.width() - item.columns.left)
        return document

    def _measure_words(self, item: Item) -> float:
        return self._make_document(item).size().height() + px(2)

    def count_cells(self) -> int:
        return len(self._items)

    def name_cell(self, place: int) -> str:
        return speak_text(self.read_line(place))

    def read_line(self, place: int) -> str:
        """Return a line as plain text."""
        item = self._items[place]
        if item.kind == "words":
            return plain(item.words)
        if item.kind == "term":
            assert item.term is not None
            return speak_term(item.term)
        number = f"{item.number} " if item.number else ""
        note = plain(item.step.note).replace(" · ", " × ")  # speech makes a comma of a dot
        result = f": {item.term.result}" if item.term is not None else ""
        pause = "," if note and not note.startswith(("of ", "÷", "×")) else ""
        return f"{number}{item.step.title}{pause} {note}".strip() + result

    def read_lines(self) -> list[str]:
        """Return all lines as plain text, in order."""
        return [self.read_line(place) for place in range(len(self._items))]

    def locate_cell(self, place: int) -> QRectF:
        item = self._items[place]
        return QRectF(0, item.top, self.width(), item.height)

    def find_cell(self, at: QPointF) -> int | None:
        found = (i for i, item in enumerate(self._items) if item.top <= at.y() < item.top + item.height)
        return next(found, None)

    @property
    def current_cell(self) -> int | None:
        return self._cursor if self._items else None

    def keeps_key(self, event: QKeyEvent) -> bool:
        return event.key() in _KEYS

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key not in _KEYS or not self._items:
            event.ignore()
            return
        self._cursor = min(max(self._cursor + _KEYS[key], 0), len(self._items) - 1)
        self.tell_cell()
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(240), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.find_cell(QPointF(event.pos()))
            self._show_exact(place)
            return True
        return super().event(event)

    def _show_exact(self, place: int | None) -> None:
        """Show all digits of the result of a line."""
        term = self._items[place].term if place is not None else None
        if place is None or term is None or math.isnan(term.amount):
            QToolTip.hideText()
        else:
            show_beside(repr(term.amount).replace("-", "−"), self, self.locate_cell(place).toRect())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette = palette_of(self)
        draw = StepPainter(painter, palette, *self._pens)
        seen: QRect = event.rect()
        for i, item in enumerate(self._items):
            if item.top > seen.bottom() or item.top + item.height < seen.top():
                continue
            if item.kind == "words":
                painter.save()
                painter.translate(item.columns.left, item.top)
                self._words[i].drawContents(painter)
                painter.restore()
            elif item.kind == "head":
                draw.draw_head(item)
            else:
                draw.draw_term(item)
            if i == self._cursor and self.hasFocus():
                draw_focus_ring(painter, self.locate_cell(i), palette, px(4))
        painter.end()


def _list_items(
    step: Step, number: int, part: str, columns: Columns, pens: tuple[Pen, Pen], width: float
) -> list[Item]:
    """Return the lines of a step, or the part of them that is wanted."""
    items: list[Item] = []
    pen, titles = pens
    merged = is_one_line(step)
    if part != "foot":
        begin = (px(INDENT) if number else 0) + titles.measure_text(step.title) + px(6)
        end = begin + pen.measure(step.note)
        if merged:
            merged = end + px(6) <= columns.result - pen.measure_text(f"= {step.terms[0].result}", True)
        fits = end <= width
        shown = step if fits else Step(step.title, role=step.role)
        items.append(Item("head", shown, columns, number=number, term=step.terms[0] if merged else None))
        if not fits:
            items.append(Item("words", step, columns, words=step.note))
        items += [Item("words", step, columns, words=words) for words in step.before]
    if part != "head":
        items += [
            Item("term", step, columns, term=term, lines=count_lines(term, columns, pen))
            for term in (() if merged else step.terms)
        ]
        items += [Item("words", step, columns, words=words) for words in step.words]
    return items
