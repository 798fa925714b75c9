"""The cards of the goal lens: the weights before and after, what changed, and other ways to the same goal."""

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.attention.stages.arithmetic import number
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.base.theme import px
from attnlab.ui.playground.input_tables import row_labels, title
from attnlab.ui.playground.lenses.goal_found import Found, Way, list_moved, write_move
from attnlab.ui.playground.lenses.goal_map import GoalMap
from attnlab.ui.playground.lenses.positions_map import number_alike
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.playground.lenses.sensitivity_maps import DerivativeMap
from attnlab.ui.playground.lenses.table_maps import TableMap, lay_out_tables
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.numbers.number_model import Column
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.attention.measures.sensitivity import Floats


class WeightsCards(QWidget):
    """The weights of a head before the search and now, on one scale."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.now, self.before = GoalMap("", "weight now"), DerivativeMap("", "weight before")
        parts = (
            ("Weights now", "Click a weight to hold it; drag it up or down to say what it should be.", self.now),
            ("Before the search", "In the same colours.", self.before),
        )
        cards = []
        for text, about, figure in parts:
            card = Card()
            card.column.addWidget(sentence_label(text, "title"))
            card.column.addWidget(sentence_label(about, "muted"))
            card.column.addSpacing(px(8))
            card.column.addWidget(figure, 1)
            cards.append(card)
        number_alike((self.now, self.before))
        self._before_card = cards[1]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(SideBySide(*cards))

    def show_weights(
        self, e: "Experiment", now: MapData, before: "Floats | None", marks: list[tuple[int, int]]
    ) -> None:
        """Show the present weights [1, T_q, T_k], and those before the last search if they are known."""
        self.now.show_weights(now, marks)
        self._before_card.setVisible(before is not None)
        if before is not None:
            self.before.fit_height(*before.shape[1:])
            self.before.show_map(MapData(before, now.kind, now.scale, now.masked, e.tokens, e.key_tokens))


class ChangesCard(Card):
    """What a search changed: a map of each table, and the numbers that moved most."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sentence = sentence_label()
        self.moved = NumberTable("The numbers that moved most")
        self.maps: dict[str, TableMap] = {}
        self._row: QWidget | None = None
        self.column.addWidget(sentence_label("What changed", "title"))
        self.column.addWidget(self.sentence)
        self.column.addWidget(self.moved)

    def show_found(self, found: Found, sentence: str) -> None:
        """Show a result that was reached."""
        self.sentence.setText(sentence)
        moves = [write_move(found.given, at, change) for at, change in list_moved(found.reached)]
        names = [move[0] for move in moves]
        before, after, change = (np.array([move[place] for move in moves]) for place in (1, 2, 3))
        self.moved.set_columns(
            [
                Column("number", names, about="Table, row and column, counted from 0"),
                Column("before", before, number),
                Column("after", after, number),
                Column("change", change, number),
            ],
            names,
        )
        self.moved.keep_to_rows(max(len(moves), 1))
        if self._row is not None:
            self.column.removeWidget(self._row)
            self._row.deleteLater()
        self.maps = {name: TableMap(title(name), f"change of {title(name)}") for name in found.reached.changes}
        for name, figure in self.maps.items():
            changes = found.reached.changes[name]
            columns = [str(column) for column in range(changes.shape[1])]
            figure.show_derivatives(changes[None], row_labels(found.given, name), columns)
        number_alike(self.maps.values())
        self._row = lay_out_tables(self.maps.values())
        self.column.addWidget(self._row)


class WaysCard(Card):
    """What other choices of what may change would need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table = NumberTable("Other ways there")
        self.start = sentence_label("From the numbers before the goal was reached:", role="muted")
        self.refused = sentence_label(role="muted")
        self.column.addWidget(self.start)
        self.column.addWidget(self.table)
        self.column.addWidget(self.refused)

    def show_ways(self, ways: list[Way], *, before: bool) -> None:
        """Show the ways that reach the goals, and those that do not in one sentence; ``before`` if they start from the
        numbers before the goal was reached."""
        self.start.setVisible(before)
        reached = [(way.name, way.result) for way in ways if not isinstance(way.result, str) and way.result.is_reached]
        names = [name for name, _ in reached]
        lengths = np.array([result.length for _, result in reached])
        others = np.array([result.others_moved for _, result in reached])
        self.table.set_columns(
            [
                Column("what may change", names),
                Column("change", lengths, number, "The length of all changes together"),
                Column("other rows move by", others, number, "The largest movement of a weight in another row"),
            ],
            names,
        )
        self.table.keep_to_rows(max(len(names), 1))
        missing = [way.name for way in ways if way.name not in names]
        self.refused.setText(f"Not reached by: {', '.join(missing)}." if missing else "")
        self.refused.setVisible(bool(missing))


def make_map(
    e: "Experiment", weights: "Floats", kind: str, masked: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]] | None"
) -> MapData:
    """Return the map of one head's weights [T_q, T_k]."""
    values = weights[None]
    return MapData(values, kind, find_scale(values, kind, masked), masked, e.tokens, e.key_tokens)
