"""Painting a mask on the cards, by mouse or key, while the cards do not move."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.explain import Cell
from attnlab.compute.engine import compute
from attnlab.document.document import View
from attnlab.figures.layout import Limits, arrange
from attnlab.ui.playground.brush import list_crossed
from attnlab.ui.playground.canvas import Canvas

Key, Button, Mod = Qt.Key, Qt.MouseButton, Qt.KeyboardModifier


class Painter:
    """A person with a mouse at a canvas; records the canvas's signals."""

    def __init__(self, qtbot: QtBot) -> None:
        self.canvas = Canvas()
        qtbot.addWidget(self.canvas)
        self.canvas.resize(1100, 760)
        self.painted: list[tuple[Cell, int]] = []
        self.hovered: list[Cell | None] = []
        self.clicked: list[Cell] = []
        self.view = View()
        self.canvas.mask_painted.connect(lambda cell, stroke: self.painted.append((cell, stroke)))
        self.canvas.cell_hovered.connect(self.hovered.append)
        self.canvas.cell_clicked.connect(self.clicked.append)
        self.show("journey")
        self.canvas.show()
        qtbot.waitExposed(self.canvas)

    def show(self, what: str | Experiment, view: View | None = None) -> None:
        self.experiment = preset(what) if isinstance(what, str) else what
        self.view = view or self.view
        self.canvas.show_trace(compute(self.experiment), self.view)

    def hold(self, stage: str, row: int, column: int) -> None:
        self.view = replace(self.view, cell=Cell(stage, row, column, 0), pinned=True)
        self.canvas.show_view(self.view)

    def at(self, stage: str, row: int, column: int, index: int = 0) -> QPoint:
        return self.canvas.cards[stage].cell_rect(row, column, index).center().toPoint()

    def move(self, stage: str, at: QPoint, button: Qt.MouseButton = Button.LeftButton) -> None:
        card = self.canvas.cards[stage]
        there = QPointF(card.mapToGlobal(at))
        event = QMouseEvent(QEvent.Type.MouseMove, QPointF(at), there, Button.NoButton, button, Mod.NoModifier)
        QApplication.sendEvent(card, event)

    def press(self, stage: str, at: QPoint, button: Qt.MouseButton = Button.LeftButton) -> None:
        QTest.mousePress(self.canvas.cards[stage], button, pos=at)

    def release(self, stage: str, at: QPoint, button: Qt.MouseButton = Button.LeftButton) -> None:
        QTest.mouseRelease(self.canvas.cards[stage], button, pos=at)

    def stroke(self, stage: str, *points: QPoint, button: Qt.MouseButton = Button.LeftButton) -> None:
        self.press(stage, points[0], button)
        for point in points[1:]:
            self.move(stage, point, button)
        self.release(stage, points[-1], button)

    def key(self, stage: str, key: Qt.Key) -> None:
        QTest.keyClick(self.canvas.cards[stage], key)

    def places(self) -> list[tuple[int, int]]:
        return [(cell.row, cell.column) for cell, _ in self.painted]

    def picture(self, stage: str) -> QImage:
        return self.canvas.cards[stage].grab().toImage()


@pytest.fixture
def painter(qtbot: QtBot) -> Iterator[Painter]:
    """A person before the preset "journey", the brush in hand."""
    person = Painter(qtbot)
    person.canvas.set_painting(True)
    yield person
    person.canvas.hide()


# The brush


def test_a_press_paints_a_cell_and_a_drag_each_cell_once(painter: Painter) -> None:
    painter.stroke("weights", *(painter.at("weights", 2, column) for column in (1, 2, 3, 2, 1)))
    assert painter.painted == [(Cell("weights", 2, column, 0), 1) for column in (1, 2, 3)]


def test_a_fast_drag_skips_no_cell(painter: Painter) -> None:
    painter.stroke("scores", painter.at("scores", 0, 0), painter.at("scores", 5, 3))
    assert painter.places()[0] == (0, 0)
    assert painter.places()[-1] == (5, 3)
    steps = [abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(painter.places())]
    assert set(steps) <= {1, 2}  # 2 where the line goes through a corner
    assert {row for row, _ in painter.places()} == set(range(6))


def test_every_press_begins_a_new_gesture_on_any_card(painter: Painter) -> None:
    painter.stroke("weights", painter.at("weights", 0, 0))
    painter.stroke("weights", painter.at("weights", 0, 0))
    painter.stroke("scores", painter.at("scores", 0, 0), painter.at("scores", 0, 1))
    assert [stroke for _, stroke in painter.painted] == [1, 2, 3, 3]


def test_the_second_press_of_a_double_click_paints(painter: Painter) -> None:
    at = painter.at("weights", 4, 4)
    painter.stroke("weights", at)
    QTest.mouseDClick(painter.canvas.cards["weights"], Button.LeftButton, pos=at)
    assert painter.painted == [(Cell("weights", 4, 4, 0), 1), (Cell("weights", 4, 4, 0), 2)]


def test_a_stroke_may_begin_beside_the_map_and_leave_the_card(painter: Painter) -> None:
    first = painter.at("weights", 3, 0)
    painter.stroke("weights", first - QPoint(40, 0), first, first - QPoint(400, 0))
    assert painter.painted == [(Cell("weights", 3, 0, 0), 1)]


def test_a_cell_is_painted_once_on_any_heads_map(painter: Painter) -> None:
    painter.show("multi-head-causal", View(head="all"))
    painter.stroke("weights", painter.at("weights", 1, 0, 2), painter.at("weights", 1, 0, 2))
    painter.stroke("weights", painter.at("weights", 0, 4, 0), painter.at("weights", 0, 4, 1))
    assert painter.painted[0] == (Cell("weights", 1, 0, 2), 1)
    second = [(cell.row, cell.column) for cell, stroke in painter.painted if stroke == 2]
    assert second == [(0, 4), (0, 0), (0, 1), (0, 2), (0, 3)]


def test_masked_cells_can_be_painted_back(painter: Painter) -> None:
    painter.show(edits.configure(painter.experiment, causal=True))
    painter.stroke("masked", painter.at("masked", 0, 5))
    painter.stroke("weights", painter.at("weights", 1, 4))
    assert painter.places() == [(0, 5), (1, 4)]


def test_painting_neither_selects_nor_pans_but_still_points(painter: Painter) -> None:
    before = painter.canvas.cards["weights"].geometry()
    painter.move("weights", painter.at("weights", 5, 0), Button.NoButton)
    painter.stroke("weights", painter.at("weights", 1, 1), painter.at("weights", 4, 1))
    assert painter.clicked == []
    assert painter.canvas.cards["weights"].geometry() == before
    assert painter.hovered == [Cell("weights", 5, 0, 0), Cell("weights", 4, 1, 0)]


def test_the_middle_button_still_pans(painter: Painter) -> None:
    painter.canvas.zoom_at(1.3, QPointF(painter.canvas.rect().center()))
    before = painter.canvas.cards["weights"].pos()
    at = painter.at("weights", 1, 1)
    painter.stroke("weights", at, at + QPoint(30, 20), button=Button.MiddleButton)
    assert painter.canvas.cards["weights"].pos() - before == QPoint(30, 20)
    assert painter.painted == []
    assert painter.clicked == []


def test_cards_of_other_stages_are_not_painted(painter: Painter) -> None:
    painter.stroke("queries", painter.at("queries", 1, 1))
    assert painter.painted == []
    assert painter.clicked == [Cell("queries", 1, 1, 0)]


def test_after_painting_a_click_selects_again(painter: Painter) -> None:
    painter.canvas.set_painting(False)
    assert not painter.canvas.painting
    painter.stroke("weights", painter.at("weights", 1, 1))
    assert painter.painted == []
    assert painter.clicked == [Cell("weights", 1, 1, 0)]


def test_ending_painting_ends_the_stroke(painter: Painter) -> None:
    painter.press("weights", painter.at("weights", 0, 0))
    painter.canvas.set_painting(False)
    painter.move("weights", painter.at("weights", 0, 3))
    assert painter.places() == [(0, 0)]


def test_a_stroke_without_a_release_ends_at_the_next_move(painter: Painter) -> None:
    painter.press("weights", painter.at("weights", 0, 0))
    painter.move("weights", painter.at("weights", 0, 3), Button.NoButton)
    painter.move("weights", painter.at("weights", 0, 4), Button.LeftButton)
    assert painter.places() == [(0, 0)]


def test_cards_that_can_be_painted_are_marked(painter: Painter) -> None:
    for stage, painted in (("scores", True), ("weights", True), ("queries", False), ("context", False)):
        card = painter.canvas.cards[stage]
        brush, said = painter.picture(stage), card.accessibleName()
        assert (card.cursor().shape() == Qt.CursorShape.CrossCursor) == painted
        assert ("Painting the mask" in said) == painted
        painter.canvas.set_painting(False)
        assert (painter.picture(stage) != brush) == painted
        assert card.cursor().shape() == Qt.CursorShape.ArrowCursor
        assert "Painting the mask" not in card.accessibleName()
        painter.canvas.set_painting(True)


# Cards that come and go


def test_cards_do_not_move_while_painting(painter: Painter) -> None:
    def mask(cell: Cell, stroke: int) -> None:
        allowed = torch.ones(6, 6, dtype=torch.bool)
        allowed[cell.row, cell.column] = False
        painter.show(edits.configure(painter.experiment, mask=allowed))

    painter.canvas.mask_painted.connect(mask)
    cards = painter.canvas.cards
    before = cards["weights"].geometry()
    painter.press("weights", painter.at("weights", 2, 2))
    assert cards["weights"].data is not None
    assert cards["weights"].data.masked is not None  # it shows what was painted at once
    assert cards["weights"].geometry() == before
    assert cards["masked"].isHidden()
    painter.release("weights", painter.at("weights", 2, 2))
    assert cards["masked"].isVisible()
    assert cards["weights"].geometry() != before


def test_a_stroke_continues_when_its_card_is_enlarged(painter: Painter) -> None:
    painter.press("weights", painter.at("weights", 0, 0))
    painter.canvas.zoom_at(1.5, QPointF(0, 0))
    painter.move("weights", painter.at("weights", 5, 5))
    assert painter.places() == [(0, 0), (5, 5)]


# The keyboard


@pytest.mark.parametrize("key", [Key.Key_Space, Key.Key_M])
def test_a_key_paints_the_selected_cell_as_one_gesture(painter: Painter, key: Qt.Key) -> None:
    painter.key("weights", key)
    assert painter.painted == []
    painter.hold("weights", 3, 2)
    painter.key("weights", key)
    painter.key("weights", key)
    painter.key("scores", key)
    assert painter.painted == [(Cell("weights", 3, 2, 0), 1), (Cell("weights", 3, 2, 0), 2)]
    painter.canvas.set_painting(False)
    painter.key("weights", key)
    assert len(painter.painted) == 2


# The way of the brush

length = st.floats(0, 300, allow_nan=False)


@given(a=st.tuples(length, length), b=st.tuples(length, length), count=st.integers(1, 5), rows=st.integers(1, 40))
def test_a_line_crosses_every_cell_that_contains_one_of_its_points(
    a: tuple[float, float], b: tuple[float, float], count: int, rows: int
) -> None:
    grid = arrange((10, 10, 250, 200), rows, 7, count, Limits(40, 30, 20, 10), True)
    met = list_crossed(grid, a, b)
    assert len(set(met)) == len(met)
    along = [grid.hit(a[0] + (b[0] - a[0]) * i / 50, a[1] + (b[1] - a[1]) * i / 50) for i in range(1, 50)]
    edge = 1e-6  # a point on the edge of a cell may be held to be in either
    for i, hit in enumerate(along, 1):
        x, y = a[0] + (b[0] - a[0]) * i / 50, a[1] + (b[1] - a[1]) * i / 50
        inside = hit is not None and {hit} == {grid.hit(x + dx, y + dy) for dx in (-edge, edge) for dy in (-edge, edge)}
        assert not inside or hit in met
