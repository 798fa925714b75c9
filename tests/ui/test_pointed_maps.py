"""Maps on a sheet and in cards give the same cell under the pointer, and the clicked map."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.figures.map_data import MapData
from attnlab.figures.scales import TO_ONE
from attnlab.training.look import LayerMaps
from attnlab.ui.train.maps_view import MapsView
from attnlab.ui.widgets.maps.map_sheet import MapSheet

TOKENS = ("a", "", "c")
WEIGHTS = np.random.default_rng(0).random((2, 3, 3)).astype(np.float32)
HIDDEN = np.triu(np.ones((3, 3), bool), 1)


def sheet() -> MapSheet:
    sheet = MapSheet()
    sheet.show_maps(MapData(WEIGHTS, "probability", TO_ONE, HIDDEN, TOKENS, TOKENS, ("head 0", "head 1")))
    return sheet


def cards() -> MapsView:
    view = MapsView()
    view.show_maps([LayerMaps("decoder 1", WEIGHTS, HIDDEN, TOKENS, TOKENS)])
    return view


def place(maps: MapSheet | MapsView, row: int, column: int) -> QPointF:
    """Return where a cell of the second map lies."""
    if isinstance(maps, MapsView):
        return QRectF(*maps.cards[1].grid.rect(0, row, column)).center()
    return maps.cell_rect(1, row, column).center()


def point(maps: MapSheet | MapsView, at: QPointF) -> None:
    button, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    move = QMouseEvent(QEvent.Type.MouseMove, at, maps.mapToGlobal(at), button, button, keys)
    QApplication.sendEvent(maps, move)


@pytest.mark.parametrize("make", [sheet, cards])
def test_pointing_at_a_cell_and_leaving_it_is_emitted(qtbot: QtBot, make: Callable[[], MapSheet | MapsView]) -> None:
    maps = make()
    qtbot.addWidget(maps)
    maps.resize(560, 420)
    with qtbot.waitExposed(maps):
        maps.show()
    pointed: list[object] = []
    maps.cell_pointed.connect(pointed.append)
    for row, column, told in ((2, 1, f"c → ∅: {WEIGHTS[1, 2, 1]!s}"), (0, 2, "a → c: masked")):
        point(maps, place(maps, row, column))
        assert pointed[-1] == (1, row, column)
        assert maps.cell_text((1, row, column)) == told
        assert maps.tool_tip(place(maps, row, column)).endswith(told)
    QApplication.sendEvent(maps, QEvent(QEvent.Type.Leave))
    assert pointed[-1] is None
    assert len(pointed) == 3


@pytest.mark.parametrize("make", [sheet, cards])
def test_after_resizing_cells_are_found_where_they_are_drawn(
    qtbot: QtBot, make: Callable[[], MapSheet | MapsView]
) -> None:
    maps = make()
    qtbot.addWidget(maps)
    maps.resize(400, 300)
    with qtbot.waitExposed(maps):
        maps.show()
    before = place(maps, 2, 2)
    maps.resize(900, 600)
    qtbot.waitUntil(lambda: place(maps, 2, 2) != before, timeout=20_000)
    assert maps.cell_at(place(maps, 2, 2)) == (1, 2, 2)
    clicked = maps.map_opened if isinstance(maps, MapsView) else maps.map_clicked
    with qtbot.waitSignal(clicked, timeout=20_000) as told:
        QTest.mouseClick(maps, Qt.MouseButton.LeftButton, pos=place(maps, 2, 2).toPoint())
    assert told.args == [1]
