"""Heads are ablated and restored by one click, and show their columns."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QMouseEvent, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.table import BY_NAME
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.figures.palette import LIGHT
from attnlab.ui.base.theme import px
from attnlab.ui.playground.canvas import Canvas
from attnlab.ui.playground.card import StageCard
from attnlab.ui.playground.heads_card import HeadsCard

Key, Button = Qt.Key, Qt.MouseButton


class Reader:
    """A person at the overview of heads; requests are applied and recorded."""

    def __init__(self, qtbot: QtBot) -> None:
        self.card = HeadsCard()
        qtbot.addWidget(self.card)
        self.card.resize(300, 190)
        self.asked: list[int] = []
        self.chosen: list[object] = []
        self.card.head_ablated.connect(self._on_ablated)
        self.card.head_clicked.connect(self.chosen.append)
        self.view = View(head=1)
        self.open(preset("multi-head-causal"))
        self.card.show()
        qtbot.waitExposed(self.card)

    def open(self, e: Experiment) -> None:
        self.experiment = e
        self.card.show_trace(compute(e), self.view)

    def _on_ablated(self, head: int) -> None:
        self.asked.append(head)
        out = set(self.experiment.config.ablated) ^ {head}
        self.open(edits.configure(self.experiment, ablated=tuple(sorted(out))))

    def point(self, at: QPoint) -> None:
        there = QPointF(self.card.mapToGlobal(at))
        none = Button.NoButton
        move = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), there, none, none, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self.card, move)

    def control(self, head: int) -> QPoint:
        return self.card.control_rect(head).center().toPoint()

    def click(self, at: QPoint) -> None:
        QTest.mouseClick(self.card, Button.LeftButton, pos=at)

    def middle(self, head: int) -> QPoint:
        assert self.card.grid is not None
        x, y, width, height = self.card.grid.rect(head, None, None)
        return QPointF(x + width / 2, y + height / 2).toPoint()

    def control_is_drawn(self, head: int) -> bool:
        """Whether a head's control is drawn: pixels other than background and title."""
        rect = self.card.control_rect(head).adjusted(2, 2, -2, -2).toRect()
        image = self.card.grab().toImage()
        return _has_ink(image.copy(rect))

    def tip(self, at: QPoint) -> str:
        QToolTip.hideText()
        QApplication.sendEvent(self.card, QHelpEvent(QEvent.Type.ToolTip, at, self.card.mapToGlobal(at)))
        return QToolTip.text()


def _has_ink(image: QImage) -> bool:
    colours = {image.pixelColor(x, y).lightnessF() for x in range(image.width()) for y in range(image.height())}
    return min(colours) < 0.6


@pytest.fixture
def reader(qtbot: QtBot) -> Iterator[Reader]:
    person = Reader(qtbot)
    yield person
    QToolTip.hideText()
    person.card.hide()


# The control


def test_a_click_on_the_control_ablates_the_head_and_another_restores_it(reader: Reader) -> None:
    reader.click(reader.control(3))
    assert reader.card.ablated == (3,)
    reader.click(reader.control(5))
    assert reader.card.ablated == (3, 5)
    reader.click(reader.control(3))
    assert reader.card.ablated == (5,)
    assert reader.asked == [3, 5, 3]
    assert reader.chosen == []  # none of this chose a head


def test_the_second_click_of_a_double_click_counts(reader: Reader) -> None:
    at = reader.control(2)
    reader.click(at)
    QTest.mouseDClick(reader.card, Button.LeftButton, pos=at)
    QTest.mouseRelease(reader.card, Button.LeftButton, pos=at)
    assert reader.asked == [2, 2]


def test_a_click_on_the_map_selects_the_head(reader: Reader) -> None:
    reader.click(reader.middle(3))
    assert reader.chosen == [3]
    assert reader.asked == []


def test_a_press_released_outside_the_control_does_nothing(reader: Reader) -> None:
    QTest.mousePress(reader.card, Button.LeftButton, pos=reader.control(3))
    QTest.mouseRelease(reader.card, Button.LeftButton, pos=reader.middle(6))
    assert reader.asked == reader.chosen == []


def test_the_control_is_visible_under_the_pointer_and_on_ablated_heads(reader: Reader) -> None:
    assert not reader.control_is_drawn(0)
    reader.point(reader.middle(0))
    assert reader.control_is_drawn(0)
    QApplication.sendEvent(reader.card, QEvent(QEvent.Type.Leave))
    assert not reader.control_is_drawn(0)
    reader.click(reader.control(4))
    assert reader.control_is_drawn(4)


def test_a_control_is_large_enough_and_beside_its_head(reader: Reader) -> None:
    for size in ((300, 190), (220, 120), (460, 240)):
        reader.card.resize(*size)
        reader.card.set_zoom(1.0)
        rects = [reader.card.control_rect(head) for head in range(8)]
        assert min(min(rect.width(), rect.height()) for rect in rects) >= px(14)
        assert not any(a.intersects(b) for i, a in enumerate(rects) for b in rects[:i])
        assert reader.card.choice_at(rects[7].center()) in (None, 7)


def test_an_ablated_head_is_faded_and_described(reader: Reader) -> None:
    assert reader.tip(reader.middle(5)) == ""
    before = reader.card.grab().toImage().pixelColor(reader.middle(6))
    reader.click(reader.control(6))
    after = reader.card.grab().toImage().pixelColor(reader.middle(6))
    assert after.lightnessF() > before.lightnessF()
    assert reader.card.accessibleName() == "Heads: 8, showing 1, head 6 off"
    assert reader.tip(reader.control(6)) == "Switch head 6 on  (Delete)"
    assert reader.tip(reader.control(5)).startswith("Switch head 5 off")


def test_a_single_head_cannot_be_ablated(reader: Reader) -> None:
    reader.view = View(head=0)
    reader.open(preset("journey"))
    for x in range(0, reader.card.width(), 6):
        for y in range(0, reader.card.height(), 6):
            assert reader.card.control_at(QPointF(x, y)) is None
    QTest.keyClick(reader.card, Key.Key_Delete)
    assert reader.asked == []


@pytest.mark.parametrize("key", [Key.Key_Delete, Key.Key_X])
def test_a_key_ablates_the_visible_head(reader: Reader, key: Qt.Key) -> None:
    QTest.keyClick(reader.card, key)
    QTest.keyClick(reader.card, key)
    assert reader.asked == [1, 1]
    reader.view = View(head="mean")
    reader.open(reader.experiment)
    QTest.keyClick(reader.card, key)
    assert reader.asked == [1, 1]


def test_the_canvas_emits_the_ablated_head(qtbot: QtBot) -> None:
    canvas = Canvas()
    qtbot.addWidget(canvas)
    canvas.resize(1100, 760)
    canvas.show_trace(compute(preset("multi-head-causal")), View(head="all"))
    with qtbot.waitSignal(canvas.head_ablated) as said:
        QTest.mouseClick(canvas.heads, Button.LeftButton, pos=canvas.heads.control_rect(2).center().toPoint())
    assert said.args == [2]


# Whose columns


def titles(stage: str, e: Experiment) -> tuple[str, ...]:
    card = StageCard(BY_NAME[stage])
    card.show_trace(compute(e), View(head="all"))
    assert card.data is not None
    return tuple(card.data.titles)


def test_small_multiples_name_the_columns_of_each_head(qapp: QApplication) -> None:
    e = preset("multi-head-causal")
    for stage in ("queries", "keys", "values"):
        assert titles(stage, e)[0] == "head 0 · columns 0–7"
        assert titles(stage, e)[3] == "head 3 · columns 24–31"
    assert titles("weights", e)[3] == "head 3"


def test_heads_that_share_keys_have_the_same_columns(qapp: QApplication) -> None:
    e = edits.configure(preset("journey"), n_heads=2)
    assert titles("queries", e) == ("head 0 · column 0", "head 1 · column 1")
    whole = preset("multi-head-causal")
    w, narrow = whole.weights, 2 * whole.d_k
    weights = type(w)(w.W_q, w.W_k[:, :narrow], w.W_v[:, :narrow], w.W_o)
    shared = Experiment(whole.tokens, whole.embeddings, weights, replace(whole.config, n_kv_heads=2))
    assert titles("queries", shared)[3] == "head 3 · columns 24–31"
    assert titles("keys", shared)[3] == "head 3 · columns 0–7"
    assert titles("values", shared)[4] == "head 4 · columns 8–15"


def merged(width: int, qtbot: QtBot) -> StageCard:
    card = StageCard(BY_NAME["merged"])
    qtbot.addWidget(card)
    card.resize(width, 260)
    card.show_trace(compute(preset("multi-head-causal")), View(head="all"))
    return card


def test_adjacent_heads_are_separated_and_named_if_they_fit(qtbot: QtBot) -> None:
    card = merged(900, qtbot)
    assert card.data is not None
    assert card.data.column_group == 8
    assert card.data.group_labels == tuple(f"head {i}" for i in range(8))
    assert card.grid is not None
    assert card.grid.column_space > 0
    image = card.grab().toImage()
    line = [
        image.pixelColor(int(card.cell_rect(2, c).left()) - 1, int(card.cell_rect(2, c).center().y())).name()
        for c in (7, 8, 9, 16)
    ]
    assert [colour.upper() == LIGHT.hatch for colour in line] == [False, True, False, True]
    above = card.cell_rect(0, 0).united(card.cell_rect(0, 7)).translated(0, -card.cell_rect(0, 0).height())
    assert _has_ink(image.copy(above.adjusted(0, above.height() - 14, 0, 0).toRect()))
    spaces = [made.grid.column_space for width in (300, 130) if (made := merged(width, qtbot)).grid is not None]
    assert spaces == [card.grid.column_space, 0]  # "0" to "7" fit where "head 0" does not; then there is room for none


def test_columns_too_narrow_for_a_line_have_none(qtbot: QtBot) -> None:
    def hatched(card: StageCard) -> int:
        image = QImage(card.size(), QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(QColor("white"))
        painter = QPainter(image)
        card.render(painter, QPoint())
        painter.end()
        y = int(card.cell_rect(2, 0).center().y())
        return sum(image.pixelColor(x, y).name().upper() == LIGHT.hatch for x in range(image.width()))

    assert hatched(merged(900, qtbot)) == 7
    narrow = merged(180, qtbot)
    assert narrow.grid is not None
    assert narrow.grid.cell_width < 3
    assert hatched(narrow) == 0
