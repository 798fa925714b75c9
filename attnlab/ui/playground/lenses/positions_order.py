"""The page of the order: the open experiment's map, the map of its shuffled tokens, that one unshuffled, and the
difference."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from attnlab.attention import edits
from attnlab.attention.measures.order import OrderBlindness, measure_order_blindness, random_order, shuffle
from attnlab.attention.registries.positions import POSITIONS
from attnlab.attention.stages.table import BY_NAME, kind_of
from attnlab.base.errors import AttnlabError
from attnlab.compute.engine import check_size
from attnlab.figures.map_data import MapData
from attnlab.figures.scales import Scale, find_scale
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.theme import px
from attnlab.ui.base.themed import FollowsTheme
from attnlab.ui.playground.lenses.positions_map import MapFigure, MapRow, number_alike
from attnlab.ui.playground.lenses.positions_parts import Card, Page, sentence_label
from attnlab.ui.widgets.layouts.flow_layout import FlowLayout

if TYPE_CHECKING:
    from torch import Tensor

    from attnlab.attention.experiment import Experiment

TITLES = ("original", "tokens shuffled", "put back in order", "difference")
ROOMY = 190
"""The least height of a map, in pixels at 100 %: with larger type its cells are as wide as their numbers need."""
BLIND = 1e-9
"""The rounding error of float64: a smaller difference counts as 0."""
EDIT, EDIT_SHORT = "Shuffle the tokens of the experiment", "Shuffle tokens"
ONE_TOKEN = "One token has only one order; add a second word to shuffle them."
Blindness = tuple[tuple[str, OrderBlindness], ...]


def sentence(scheme: str, seen: OrderBlindness) -> str:
    """Return the result of a shuffling in words, for a scheme of positions."""
    blind = seen.largest < BLIND
    title = _name_state(scheme)
    where = " in any head" if seen.experiment.n_heads > 1 else ""
    text = f"{title}: the largest difference{where} is {'0.0000' if blind else _decimals(seen.largest)}: "
    if scheme == "none" and blind:
        return (
            text
            + "attention ignores the order"
            + ("; the mask goes with its tokens." if seen.experiment.masked else ".")
        )
    if scheme == "none":
        cause = "the mask" if _mask_sees(seen) else "something else in this layer"
        return text + f"attention ignores the order, but {cause} depends on it."
    if blind:
        return text + "with these numbers the positions make no difference."
    return text + "attention depends on the order" + (", by its positions and its mask." if _mask_sees(seen) else ".")


def _name_state(scheme: str) -> str:
    return "Without positions" if scheme == "none" else f"With {POSITIONS[scheme].title} positions"


def _mask_sees(seen: OrderBlindness) -> bool:
    """Return whether the mask hides other pairs of tokens when they are shuffled."""
    hidden, other = seen.experiment.hidden(), seen.shuffled.hidden()
    return hidden is not None and other is not None and not bool(seen.restore_order(other).equal(hidden))


def _decimals(value: float) -> str:
    return "NaN" if value != value else f"{value:.4f}" if value >= 5e-5 else f"{value:.1e}".replace("-", "−")


@guarded
class OrderPage(FollowsTheme, Page):
    """Shows both rows of maps; the button requests the same shuffling as an edit."""

    shuffle_requested = Signal(object)
    """A function from the experiment to the shuffled one."""
    name = "order"
    title = "Order"
    about = "Shuffle the tokens of the open experiment, and see whether its map changes with them"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._experiment: Experiment | None = None
        self._head: int | str = 0
        self._seed = 0
        self._result: Blindness | str = "The tokens are being shuffled…"
        self._column.addLayout(self._make_head())
        self.sentences = [sentence_label(role="strong") for _ in range(2)]
        self.rows = [[MapFigure(title) for title in TITLES] for _ in range(2)]
        for figure in (*self.rows[0], *self.rows[1]):
            figure.least_height = ROOMY
        number_alike(figure for row in self.rows for figure in row)
        self._cards = [Card(), Card()]
        for card, label, maps in zip(self._cards, self.sentences, self.rows, strict=True):
            card.column.addWidget(label)
            card.column.addWidget(MapRow(maps), 1)
            self._column.addWidget(card, 1)
        self.show_result(self._result)
        self.reveal()  # it says itself that it waits

    def _make_head(self) -> QVBoxLayout:
        self.shuffle = QPushButton("Shuffle")
        self.shuffle.setToolTip("Compare with another order of the tokens; the experiment does not change")
        self.shuffle.clicked.connect(self._on_shuffle_clicked)
        self.edit = QPushButton(EDIT)
        self.edit.setAccessibleName(EDIT)
        self.edit.setToolTip("Put the tokens of the open experiment in the order shown here; undo restores it")
        self.edit.clicked.connect(self._on_edit_clicked)
        self.caption = sentence_label(role="muted")
        buttons = QWidget()
        row = FlowLayout(buttons)
        row.addWidget(self.shuffle)
        row.addWidget(self.edit)
        head = QVBoxLayout()
        head.setSpacing(4)
        head.addWidget(buttons)
        head.addWidget(self.caption)
        return head

    def show_experiment(self, e: "Experiment", head: int | str) -> None:
        """Set the open experiment; its maps are shown when they have been computed."""
        self._experiment = e
        self.show_head(head)

    def show_head(self, head: int | str) -> None:
        """Show another head; "all" shows the mean."""
        if head != self._head:
            self._head = head
            self.show_result(self._result)

    def describe_request(self) -> Hashable:
        return None if self._experiment is None else (self._experiment, self._seed)

    def job(self) -> Callable[[], Blindness | str]:
        assert self._experiment is not None
        return partial(_measure_blindness, self._experiment, self._seed)

    def show_result(self, result: Blindness | str) -> None:
        self._result = result
        told = isinstance(result, str)
        for button in (self.shuffle, self.edit):
            button.setEnabled(not told or result != ONE_TOKEN)
        self._cards[1].setVisible(not told)
        for figure in self.rows[0]:
            figure.setVisible(not told)
        if isinstance(result, str):
            self.sentences[0].setText(result)
            self.caption.setText("")
            return
        self._caption(result[0][1])
        left = [float(np.abs(_one(seen.difference, self._head)).max()) for _, seen in result]
        end = max([largest for largest in left if largest >= BLIND], default=1.0)
        for (scheme, seen), label, figures in zip(result, self.sentences, self.rows, strict=True):
            label.setText(sentence(scheme, seen))
            label.setToolTip(f"The largest difference of the output is {_decimals(seen.largest_output)}.")
            for figure, data in zip(figures, _maps(seen, self._head, end), strict=True):
                figure.show_map(data)
                figure.say_state(_name_state(scheme)[:1].lower() + _name_state(scheme)[1:])

    def _caption(self, seen: OrderBlindness) -> None:
        heads = seen.experiment.n_heads
        which = (
            "" if heads == 1 else f", head {self._head}" if isinstance(self._head, int) else f", mean of {heads} heads"
        )
        self.caption.setText(f"order {self._seed}{which}, float64")

    def restyle(self) -> None:
        """Write the button's full text if it fits, which is nearly always."""
        room = self.viewport().width() - 32 - 2 * px(16)
        self.edit.setText(EDIT if self.edit.fontMetrics().horizontalAdvance(EDIT) <= room else EDIT_SHORT)

    @Slot()
    def _on_shuffle_clicked(self) -> None:
        self._seed += 1
        self.changed.emit()

    @Slot()
    def _on_edit_clicked(self) -> None:
        self.shuffle_requested.emit(partial(shuffle, seed=self._seed))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.restyle()


def _measure_blindness(e: "Experiment", seed: int) -> Blindness | str:
    """Shuffle the experiment without positions, and with its own or else sinusoidal ones."""
    if e.T_q < 2:
        return ONE_TOKEN
    scheme = e.config.positions if e.config.positions != "none" else "sinusoidal"
    order = random_order(e.T_q, seed)
    try:
        check_size(e, "float64")
        return tuple(
            (name, measure_order_blindness(edits.configure(e, positions=name), order)) for name in ("none", scheme)
        )
    except AttnlabError as error:
        return str(error)


def _maps(seen: OrderBlindness, head: int | str, end: float) -> tuple[MapData, ...]:
    """Return the four maps of a shuffling; ``end`` is the end of the difference's colour scale."""
    e, other = seen.experiment, seen.shuffled
    kind = kind_of(BY_NAME[seen.stage], e)
    shown = [_one(t, head) for t in (seen.weights, seen.shuffled_weights, seen.restored_weights, seen.difference)]
    scale = find_scale(np.stack(shown[:3]), kind)
    hidden = other.hidden()
    back = None if hidden is None else seen.restore_order(hidden)
    return (
        MapData(shown[0], kind, scale, _array(e.hidden()), e.tokens, e.key_tokens),
        MapData(shown[1], kind, scale, _array(hidden), other.tokens, other.key_tokens),
        MapData(shown[2], kind, scale, _array(back), e.tokens, e.key_tokens),
        MapData(shown[3], "signed", Scale(end), None, e.tokens, e.key_tokens),
    )


def _one(maps: "Tensor", head: int | str) -> NDArray[np.float64]:
    """Return one head's map, or the mean of all, [1, T_q, T_k]."""
    array: NDArray[np.float64] = maps.numpy()
    if isinstance(head, int) and head < len(array):
        return array[head : head + 1]
    mean: NDArray[np.float64] = array.mean(0, keepdims=True)
    return mean


def _array(hidden: "Tensor | None") -> NDArray[np.bool_] | None:
    return None if hidden is None else hidden.numpy().copy()  # traces share it
