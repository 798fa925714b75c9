"""The page of the rotation: the matrix that shifts every position by φ, one pair of columns on its circle, errors."""

import math
from collections.abc import Callable, Hashable
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from attnlab.attention.stages.arithmetic import number
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import TO_ONE
from attnlab.ui.playground.lenses.positions_circle import LENGTH, Circle, Turn, later, pair_text, turn
from attnlab.ui.playground.lenses.positions_map import MapFigure
from attnlab.ui.playground.lenses.positions_parts import Card, Fields, Page, sentence_label
from attnlab.ui.widgets.layouts.side_by_side import SideBySide


class RotationPage(Page):
    """Shows R(φ), its effect on one pair of columns, and its error."""

    name = "rotation"
    title = "Rotation"
    about = "One fixed rotation moves the encoding of every position by φ"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        fields = self.fields = Fields()
        self.d_model = fields.add("d_model", "d<sub>model</sub>", "d_model: columns, 2 to 1024", (2, 1024), 128)
        self.offset = fields.add("φ", "φ", "φ: the shift in positions, 0 to 1000", (0, 1000), 10)
        self.pair = fields.add("pair", "pair i", "", (0, 63), 4)
        self.position = fields.add("t", "t", "t: the position that is shifted, 0 to 1000", (0, 1000), 5)
        self._fit_pairs()
        self.fields.changed.connect(self._on_changed)
        self.law, self.error = sentence_label(), sentence_label(role="strong")
        self.caption = sentence_label(role="muted")
        self.map, self.circle = MapFigure(), Circle()
        self.map.setAccessibleName("The first rows and columns of R(φ)")
        self.map.spoken_title = "rotation matrix"
        self._column.addWidget(self.fields)
        told = QVBoxLayout()
        told.setSpacing(4)
        for label in (self.law, self.error):
            told.addWidget(label)
        self._column.addLayout(told)
        self._titles = [
            sentence_label("The first rows and columns of R(φ)", "title"),
            sentence_label("One pair of columns on its circle", "title"),
        ]
        cards = [Card(), Card()]
        for card, title, content in zip(cards, self._titles, (self.map, self.circle), strict=True):
            card.column.addWidget(title)
            card.column.addWidget(content, 1)
        cards[1].column.addWidget(self.caption)
        self._column.addWidget(SideBySide(*cards), 1)
        self.law.setText("PE(t + φ) = PE(t) · R(φ), with the same matrix for every position t.")

    def describe_request(self) -> Hashable:
        return self.d_model.value(), self.position.value(), self.offset.value(), self.pair.value()

    def job(self) -> Callable[[], Turn]:
        return partial(turn, self.d_model.value(), self.position.value(), self.offset.value(), self.pair.value())

    def show_result(self, result: Turn) -> None:
        size = len(result.block)
        labels = [f"{'cos' if i % 2 else 'sin'} {i // 2}" for i in range(size)]
        self.map.show_map(MapData(result.block[None], "signed", TO_ONE, None, labels, labels))
        wide = result.d_model // 2 * 2
        cut = f"The first {size} of {wide} rows and columns of R({result.offset})"
        self._titles[0].setText(cut if size < wide else f"R({result.offset})")
        self._titles[1].setText(f"Columns {2 * result.pair} and {2 * result.pair + 1}: sine across, cosine up")
        lone = f" Column {wide} is a sine without a cosine and is left out." if wide < result.d_model else ""
        self.error.setText(
            f"The largest error over positions 0 to {LENGTH} is {number(result.float32)} in float32 "
            f"and {number(result.float64)} in float64.{lone}"
        )
        self.circle.show_turn(result)
        self.caption.setText(
            f"Pair {result.pair} turns by ω·φ = {number(result.omega)} · {result.offset} = {number(result.angle)} rad, "
            f"{_turns(result.angle)}: from ({pair_text(result.before)}) at t = {result.position} "
            f"to ({pair_text(result.after)}) at {later(result)}."
        )

    @Slot()
    def _on_changed(self) -> None:
        self._fit_pairs()
        self.changed.emit()

    def _fit_pairs(self) -> None:
        most = self.d_model.value() // 2 - 1
        self.pair.setMaximum(most)
        self.pair.setToolTip(f"pair i: columns 2i and 2i + 1, i from 0 to {most}; they rotate by ω = 10000^(−2i/d)")


def _turns(angle: float) -> str:
    """Return an angle in whole turns and degrees."""
    whole, rest = divmod(math.degrees(angle), 360)
    turns = f"{whole:.0f} turn{'s' if whole > 1 else ''} and " if whole else ""
    return f"{turns}{rest:.1f}°"
