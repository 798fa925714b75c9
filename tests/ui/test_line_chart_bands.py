"""A band of a chart lies between its edges, and is read aloud."""

import numpy as np
from pytestqt.qtbot import QtBot

from attnlab.ui.widgets.charts.bands import Band
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.lines import Line


def test_a_band_is_drawn_between_its_edges_and_below_the_curves(qtbot: QtBot) -> None:
    chart = LineChart("Loss")
    qtbot.addWidget(chart)
    chart.resize(400, 200)
    steps = np.array([0.0, 100.0])
    chart.show_lines([Line("mine", steps, np.array([1.0, 1.0]))], x_end=100)
    chart.show_bands([Band("seeds 0 to 4", steps, np.array([2.0, 2.0]), np.array([4.0, 4.0]), "value")])
    chart.show()
    qtbot.waitExposed(chart)
    scale, picture = chart.scale(), chart.grab().toImage()
    assert scale.high > 4  # the band counts for the range of y
    ground = picture.pixelColor(round(scale.x(51)), round(scale.y(1.5)))
    inside = [picture.pixelColor(round(scale.x(51)), round(scale.y(y))) for y in (2.7, 3.3)]
    assert inside[0] == inside[1] != ground
    assert picture.pixelColor(round(scale.x(51)), round(scale.y(4.1))) == ground
    assert "seeds 0 to 4: from 2 to 4 now" in chart.accessibleName()
    chart.show_bands([])
    assert chart.grab().toImage().pixelColor(round(scale.x(51)), 20) == ground
