"""Rows of a label, a bar and a text: a short label is whole beside a short bar."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.ui.base.theme import apply_theme
from attnlab.ui.widgets.charts.meter_list import Meter, MeterList


@pytest.fixture(autouse=True)
def typeface(qapp: QApplication) -> None:
    """Use the program's typeface, as another one may be wider."""
    apply_theme(qapp, "light", 100)


@pytest.mark.parametrize("width", [140, 180, 400])
def test_a_short_label_is_whole_at_every_width(qtbot: QtBot, width: int) -> None:
    pictures = []
    for wide in (width, 800):
        meters = MeterList("Targets")
        qtbot.addWidget(meters)
        meters.show_meters([Meter("3 others", 0.5, "0.0605")])
        meters.resize(wide, 40)
        meters.show()
        pictures.append(meters.viewport().grab(QRect(0, 0, 58, 22)).toImage())
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("grows", [False, True])
def test_no_row_is_cut_at_the_lower_end(qtbot: QtBot, grows: bool) -> None:
    meters = MeterList("Targets", most=3, grows=grows)
    qtbot.addWidget(meters)
    meters.show_meters([Meter(str(place), 0.5, "0.5") for place in range(9)])
    meters.show()
    qtbot.waitExposed(meters)
    high = meters.row_rect(0).height()
    for height in (3 * high, 5 * high - 4, 5 * high):
        meters.resize(200, height)
        shown = meters.viewport().height()
        assert shown == (high * (height // high) if grows else 3 * high)
        for _ in meters.meters:
            QTest.keyClick(meters, Qt.Key.Key_Down)
        assert meters.row_rect(8).bottom() == shown - 1
        for _ in meters.meters:
            QTest.keyClick(meters, Qt.Key.Key_Up)
        assert meters.row_rect(0).top() == 0
