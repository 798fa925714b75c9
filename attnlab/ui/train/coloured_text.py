"""A text in which the background of each token shows the probability that the model gave to it."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from attnlab.base.spoken_text import speak_token
from attnlab.figures.palette import mix
from attnlab.figures.text import Pen
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import draw_focus_ring, font, plain_tip, px
from attnlab.ui.base.themed import FollowsTheme, palette_of
from attnlab.ui.train.answer_words import format_share, show_sign
from attnlab.ui.widgets.walked_list import WalkedList

MOST_LINES, LINE, AIR = 3, 22, 2
"""The most lines seen at once, the height of a line and the air beside a token, in pixels at 100 %."""
DEEPEST = 0.5
"""How much of the colour the background of a token of probability 1 has; more would hide the token."""


@dataclass(frozen=True, slots=True)
class ColouredToken:
    """A token with its probability, NaN if the model was not asked for it, and the token that was likelier, or ""."""

    token: str
    probability: float
    likelier: str = ""

    @property
    def is_asked(self) -> bool:
        """Whether the model predicted this token."""
        return self.probability == self.probability


@guarded
class ColouredText(FollowsTheme, WalkedList):
    """Shows tokens in lines; ``token_chosen`` carries the index of the one that is clicked."""

    token_chosen = Signal(int)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._tokens: tuple[ColouredToken, ...] = ()
        self._places: tuple[QRectF, ...] = ()
        self._most = MOST_LINES

    @property
    def tokens(self) -> tuple[ColouredToken, ...]:
        """The tokens shown."""
        return self._tokens

    def show_tokens(self, tokens: Sequence[ColouredToken]) -> None:
        """Show another text."""
        before = [each.token for each in self._tokens]
        self._tokens = tuple(tokens)
        self._cursor = min(self._cursor, max(len(self._tokens) - 1, 0))
        if [each.token for each in self._tokens] != before:
            self._hovered = None
            self._lay_out()
        self.viewport().update()

    def set_most_lines(self, lines: int) -> None:
        """Show at most so many lines at once; one alone is scrolled by the wheel and the keys, without a bar."""
        if lines != self._most:
            self._most = lines
            self._lay_out()

    def restyle(self) -> None:
        """Lay out the tokens for the size of type."""
        self._lay_out()

    def _lay_out(self) -> None:
        measure, places = QFontMetricsF(font("text")).horizontalAdvance, []
        x, y, room, line = 0.0, 0.0, float(self.viewport().width()), px(LINE)
        for each in self._tokens:
            wide = measure(show_sign(each.token)) + 2 * px(AIR)
            if x and x + wide > room:
                x, y = 0.0, y + line
            places.append(QRectF(x, y, wide, line))
            x += wide
        self._places = tuple(places)
        lines = int(y // line) + 1 if places else 0
        policy = Qt.ScrollBarPolicy
        scrolls = lines > self._most > 1
        self.setVerticalScrollBarPolicy(policy.ScrollBarAlwaysOn if scrolls else policy.ScrollBarAlwaysOff)
        self.setFixedHeight(line * min(lines, self._most))
        bar = self.verticalScrollBar()
        bar.setRange(0, max(0, lines - self._most) * line)
        bar.setSingleStep(line)
        bar.setPageStep(self._most * line)

    def _place(self, index: int) -> QRectF:
        return self._places[index].translated(0, -self.verticalScrollBar().value())

    def count_cells(self) -> int:
        return len(self._tokens)

    def name_cell(self, place: int) -> str:
        each = self._tokens[place]
        told = f"probability {format_share(each.probability)}" if each.is_asked else "not predicted"
        likelier = f", {speak_token(each.likelier)} was likelier" if each.likelier else ""
        return f"{self.accessibleName()}, {speak_token(each.token)}, {told}{likelier}"

    def locate_cell(self, place: int) -> QRectF:
        return self._place(place)

    def item_at(self, point: QPoint) -> int | None:
        at = QPointF(point) + QPointF(0, self.verticalScrollBar().value())
        return next((index for index, place in enumerate(self._places) if place.contains(at)), None)

    def show_tip(self, at: int, event: QHelpEvent) -> None:
        each = self._tokens[at]
        lines = [f"{show_sign(each.token)}: {each.probability:.4f}" if each.is_asked else "not predicted"]
        lines += [f"likelier: {show_sign(each.likelier)}"] if each.likelier else []
        QToolTip.showText(event.globalPos(), plain_tip("\n".join(lines)), self.viewport(), self._place(at).toRect())

    def walk_to(self, index: int) -> None:
        self._cursor = index
        bar, place = self.verticalScrollBar(), self._places[index]
        bar.setValue(max(min(bar.value(), int(place.top())), int(place.bottom()) - self.height()))
        self.token_chosen.emit(index)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        at = self.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and at is not None:
            self._cursor = at
            self.token_chosen.emit(at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        p, painter = palette_of(self), QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        visible, air, rim, seen = event.rect(), px(AIR), px(1), []
        for index, each in enumerate(self._tokens):
            place = self._place(index)
            if place.bottom() > visible.top() and place.top() < visible.bottom():
                seen.append((each, place.adjusted(0.5, rim, -0.5, -rim)))
        painter.setPen(Qt.PenStyle.NoPen)
        for each, inside in seen:
            if each.is_asked:
                painter.setBrush(QColor(mix(p.surface, p.good, DEEPEST * each.probability)))
                painter.drawRoundedRect(inside, 3, 3)
        painter.setBrush(QColor(p.bad))
        for each, inside in seen:
            if each.likelier:
                painter.drawRect(QRectF(inside.x() + air, inside.bottom() - 1.75, inside.width() - 2 * air, 1.5))
        pen = Pen(painter, font("text"))
        for asked, colour in ((True, p.ink), (False, p.muted)):
            painter.setPen(QColor(colour))
            for each, inside in seen:
                if each.is_asked is asked:
                    pen.draw(inside.x() + air - 0.5, inside.center().y(), show_sign(each.token))
        if self._tokens and self.hasFocus():
            draw_focus_ring(painter, self._place(self._cursor).adjusted(0.5, rim, -0.5, -rim), p, 3)
        painter.end()
