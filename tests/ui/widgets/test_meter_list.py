"""Rows of a label, a bar and a text: a short label is whole beside a short bar."""

import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.charts.meter_list import Meter, MeterList

pytestmark = pytest.mark.usefixtures("qapp")


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
