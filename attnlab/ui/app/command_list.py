"""The list of the command palette: which actions match a query, and how each line is drawn."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from attnlab.figures.palette import Palette
from attnlab.figures.subscripts import draw_piece, places
from attnlab.ui.app.command_words import WORDS
from attnlab.ui.base.actions import Action, ActionList
from attnlab.ui.base.fuzzy import Match, close
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import font, mix_disabled, px
from attnlab.ui.base.themed import palette_of

_Index = QModelIndex | QPersistentModelIndex
_BY_SECTION = 20.0  # actions that match by their section only come after those that match by title
_BY_WORD = 6.0  # a match by another word ranks like one in the middle of a title
_MOST_LISTED = 30  # an action with more parts lists only those whose own name the query matches
_ELSEWHERE = 6.0  # among matches that differ in length only, those that leave the visible workspace come last


@dataclass(frozen=True, slots=True)
class Found:
    """One line of the palette: an action, perhaps with one of its parts, and the letters that match the query."""

    id: str
    title: str
    section: str
    shortcut: str
    enabled: bool
    places: tuple[int, ...] = ()
    part: str = ""


def search(actions: ActionList, query: str) -> list[Found]:
    """Return the actions that match a query, the best first and disabled ones last.

    Of those that match equally well, the ones that stay in the visible workspace come first.
    """
    ranked: list[tuple[bool, float, int, Found]] = []
    for order, action in enumerate(a for a in actions if a.in_palette and a.current_title()):
        enabled, cost = action.is_enabled(), _ELSEWHERE if query.strip() and action.on.is_elsewhere() else 0.0
        fit = _fit(action, query)
        if fit is not None:
            title, hit = fit
            found = Found(action.id, title, action.section, actions.shortcut_text(action.id), enabled, hit.places)
            ranked.append((not enabled, cost - hit.score, order, found))
        for part, title, hit in _fit_parts(action, query):
            found = Found(action.id, title, action.section, "", enabled, hit.places, part)
            ranked.append((not enabled, cost - hit.score, order, found))
    return [found for *_, found in sorted(ranked, key=lambda entry: entry[:3])]


def _fit(action: Action[Any], query: str) -> tuple[str, Match] | None:
    """Return how a query matches an action, and the text to show; None without a match.

    It may match the title, a name in what the action opens, another word for it, or its section; the first one counts.
    """
    title = action.current_title()
    if (hit := close(query, title)) is not None:
        return title, hit
    parts = action.current_parts() if action.choose is None else []
    inside = [f"{title.rstrip('…')}: {part}" for part in parts]
    hits = [(each, hit) for each in inside if (hit := close(query, each)) is not None]
    if hits:
        return max(hits, key=lambda each: each[1].score)
    if (hit := _find_word(action, query)) is not None:
        return title, hit
    section, _, rest = query.strip().partition(" ")
    if action.section.lower().startswith(section.lower()) and (hit := close(rest, title)) is not None:
        return title, Match(hit.score - _BY_SECTION, hit.places)
    return None


def _find_word(action: Action[Any], query: str) -> Match | None:
    """Return a match with one of an action's other words that begins with a query; None without one."""
    wanted = query.strip().lower()
    words = [word for word in WORDS.get(action.id, "").split() if wanted and word.startswith(wanted)]
    hits = [hit for word in words if (hit := close(wanted, word)) is not None]
    return Match(max(hit.score for hit in hits) - _BY_WORD, ()) if hits else None


def _fit_parts(action: Action[Any], query: str) -> list[tuple[str, str, Match]]:
    """Return the parts of an action that can be chosen and match a query, each with its line; none without a query."""
    if action.choose is None or not query.strip():
        return []
    title, parts = action.current_title().rstrip("…"), action.current_parts()
    lines = [(part, f"{title}: {part}") for part in parts]
    hits = [(part, line, hit) for part, line in lines if (hit := close(query, line)) is not None]
    return [each for each in hits if len(parts) <= _MOST_LISTED or each[2].places[-1] > len(title)]


@guarded
class CommandModel(QAbstractListModel):
    """The actions found, for the list view."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.found: list[Found] = []

    def show(self, found: list[Found]) -> None:
        """Replace the lines."""
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.found)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        found = self.found[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return found.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            state = "" if found.enabled else ", not available now"
            return ", ".join(part for part in (found.title, found.section, found.shortcut) if part) + state
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        usable = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usable if index.isValid() and self.found[index.row()].enabled else Qt.ItemFlag.NoItemFlags


@guarded
class CommandDelegate(QStyledItemDelegate):
    """Draws a line: the title with the matching letters highlighted, its section, its shortcut at the right."""

    lowers_indices = True

    def __init__(self, model: CommandModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        found, p = self._model.found[index.row()], palette_of(option.widget)
        rect = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected and found.enabled:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(p.control))
            painter.drawRoundedRect(rect, 6, 6)
        muted = QColor(p.muted if found.enabled else mix_disabled(p))
        right = rect.right() - px(10)
        if found.shortcut:
            right = self._shortcut(painter, rect, right, found.shortcut, muted, p) - px(12)
        end = self._title(painter, rect, right, found, p)
        painter.setFont(font("caption"))
        painter.setPen(muted)
        left = end + px(10)
        section = painter.fontMetrics().elidedText(
            found.section, Qt.TextElideMode.ElideRight, max(0, round(right - left))
        )
        painter.drawText(QRectF(left, rect.y(), right - left, rect.height()), Qt.AlignmentFlag.AlignVCenter, section)
        painter.restore()

    def _shortcut(
        self, painter: QPainter, rect: QRectF, right: float, text: str, colour: QColor, palette: Palette
    ) -> float:
        painter.setFont(font("caption"))
        width = painter.fontMetrics().horizontalAdvance(text) + px(12)
        box = QRectF(right - width, rect.center().y() - px(9), width, px(18))
        painter.setPen(QPen(QColor(palette.hatch), 1))
        painter.setBrush(QColor(palette.surface))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(colour)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        return box.left()

    def _title(self, painter: QPainter, rect: QRectF, right: float, found: Found, palette: Palette) -> float:
        """Draw the title in runs of matching and other letters; return its right end."""
        x = rect.x() + px(10)
        ink = QColor(palette.ink if found.enabled else mix_disabled(palette))
        for run, met, low in _break_into_runs(found):
            if x >= right:
                break
            face = font("strong" if met else "text")
            painter.setPen(QColor(palette.accent) if met and found.enabled else ink)
            shown = QFontMetrics(face).elidedText(run, Qt.TextElideMode.ElideRight, max(1, int(right - x)))
            x = draw_piece(painter, x, rect.center().y(), shown, face, low=low)
        return x

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(px(200), px(32))


def _break_into_runs(found: Found) -> Iterator[tuple[str, bool, bool]]:
    """Yield the pieces of a title that are drawn alike: whether their letters match, and whether they are lowered."""
    for begin, end, low in places(found.title):
        for met, run in groupby(range(begin, end), key=lambda at: at in found.places):
            yield "".join(found.title[at] for at in run), met, low
