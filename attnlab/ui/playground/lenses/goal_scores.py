"""The card of the goal lens that says where the score of the weight came from before the search, and now."""

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.attention.measures.contributions import Contributions, choose_largest
from attnlab.attention.stages.arithmetic import number
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.contributions_cards import LARGEST_HEIGHT, LEAST_HEIGHT, MAP_AROUND, ROW
from attnlab.ui.playground.lenses.contributions_found import MOST, describe_cut, name_matrix
from attnlab.ui.playground.lenses.goal_found import Found
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.playground.lenses.positions_parts import Card, sentence_label
from attnlab.ui.widgets.layouts.side_by_side import SideBySide
from attnlab.ui.widgets.subscripts import FormulaLabel

ABOUT = "Each cell is x_i,a · M_a,b · x_j,b, with M = {} of the head: the query’s numbers down, the key’s across."


class ScoresCard(Card):
    """The contributions to the score of the first goal's weight, before and now."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sums, self.maps, parts = [], [], []
        for words in ("before", "now"):
            label, figure = sentence_label(role="strong"), MapFigure()
            figure.setAccessibleName(f"Contributions to the score {words}")
            figure.spoken_title = f"contributions {words}"
            part = QWidget()
            column = QVBoxLayout(part)
            column.setContentsMargins(0, 0, 0, 0)
            column.addWidget(label)
            column.addWidget(figure, 1)
            self.sums.append(label)
            self.maps.append(figure)
            parts.append(part)
        self.about, self.cut = FormulaLabel(role="muted"), sentence_label(role="muted")
        self.column.addWidget(sentence_label("Where the score comes from", "title"))
        for widget in (self.about, SideBySide(*parts), self.cut):
            self.column.addWidget(widget)

    def show_found(self, found: Found) -> None:
        """Show both tables, or nothing if the scores of the layer are no sums of contributions."""
        self.setVisible(found.scores is not None)
        if found.scores is None:
            return
        self.about.setText(ABOUT.format(name_matrix(found.given)))
        down, across = choose_largest(np.abs([c.values for c in found.scores]).sum(0), MOST)
        cuts = [c.values[np.ix_(down, across)] for c in found.scores]
        scale = find_scale(np.stack(cuts), "signed")
        height = px(max(MAP_AROUND + min(len(down) * ROW, LARGEST_HEIGHT), LEAST_HEIGHT))
        for word, label, figure, c, cut in zip(
            ("Before", "Now"), self.sums, self.maps, found.scores, cuts, strict=True
        ):
            label.setText(f"{word}: {_write_sum(c)}")
            figure.setMinimumHeight(height)
            rows, columns = (
                [names[at] for at in places] for names, places in ((c.row_labels, down), (c.column_labels, across))
            )
            figure.show_map(MapData(cut[None], "signed", scale, None, rows, columns))
        whole = sum(float(np.abs(c.values).sum()) for c in found.scores)
        share = sum(float(np.abs(cut).sum()) for cut in cuts) / whole if whole else 1.0
        said = describe_cut(found.scores[0].values.shape, share)
        self.cut.setText(said)
        self.cut.setVisible(bool(said))


def _write_sum(c: Contributions) -> str:
    return (
        f"the contributions sum to {number(c.total)}" if c.values.size > 1 else f"the contribution is {number(c.total)}"
    )
