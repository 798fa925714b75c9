"""Long curves: spikes are drawn, gaps are kept, and the tool tip names the values."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.figures.text import Pen
from attnlab.ui.base.theme import font
from attnlab.ui.widgets.charts.chart_scale import (
    Scale,
    decimate,
    ends_above,
    move_beside,
    polylines,
    spread,
    tick_text,
    ticks,
    whole_ticks,
)
from attnlab.ui.widgets.charts.line_chart import LineChart
from attnlab.ui.widgets.charts.lines import Level, Line, Upright


@pytest.fixture
def chart(qtbot: QtBot) -> LineChart:
    chart = LineChart("Loss")
    qtbot.addWidget(chart)
    chart.resize(400, 160)
    chart.show()
    return chart


def test_a_spike_among_ten_thousand_points_is_drawn() -> None:
    x = np.arange(10_000.0)
    y = np.zeros(10_000)
    y[4321], y[7000] = 5.0, -3.0
    few_x, few_y = decimate(x, y, 0, 10_000, 300)
    assert len(few_x) == len(few_y) <= 600
    assert few_y.max() == 5.0
    assert few_y.min() == -3.0
    assert abs(few_x[few_y.argmax()] - 4321) < 10_000 / 300


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400), st.integers(1, 40))
def test_omitted_points_lie_between_drawn_ones(values: list[float], pixels: int) -> None:
    y = np.array(values)
    x = np.arange(float(len(y)))
    few_x, few_y = decimate(x, y, 0.0, float(len(y)), pixels)
    assert len(few_x) <= max(2 * pixels, 0)
    assert (few_y.min(), few_y.max()) == (y.min(), y.max())
    assert (np.diff(few_x) >= 0).all()


def test_non_finite_values_leave_a_gap() -> None:
    scale = Scale(QRectF(0, 0, 100, 100), 4, 0, 4)
    drawn = list(polylines(np.arange(5.0), np.array([1, np.nan, 2, np.inf, 3]), scale))
    assert len(drawn) == 3
    on_log = list(polylines(np.arange(3.0), np.array([1.0, 0.0, 2.0]), Scale(QRectF(0, 0, 9, 9), 4, 1, 4, log=True)))
    assert len(on_log) == 2


def test_ticks_are_round_and_few() -> None:
    assert ticks(0, 2.31, False, 4) == [0, 1, 2]
    assert ticks(0, 5000, False, 5) == [0, 1000, 2000, 3000, 4000, 5000]
    assert ticks(0.012, 3, True, 4) == pytest.approx([0.1, 1])
    assert [tick_text(value) for value in (0.0, 0.05, 5000.0)] == ["0", "0.05", "5,000"]
    assert [tick_text(value) for value in (-1e6, 2.5e7, 4e12)] == ["−1,000,000", "2.5e7", "4e12"]


def test_an_axis_that_counts_has_whole_numbers_only() -> None:
    assert whole_ticks(4, 8, 4) == [4, 5, 6, 7, 8]
    assert whole_ticks(0, 2, 8) == [0, 1, 2]
    assert whole_ticks(2, 3, 5) == pytest.approx([2, 3])


def test_the_tool_tip_of_a_curve_has_value_and_step(chart: LineChart) -> None:
    steps = np.arange(0.0, 101.0)
    chart.show_lines([Line("held-out", steps, steps / 100)], levels=(Level("bigram", 0.8),))
    scale = chart.scale()
    assert chart.tool_tip(QPointF(scale.x(50), scale.y(0.5))) == "held-out: 0.5 at step 50"
    assert chart.tool_tip(QPointF(scale.x(10), scale.y(0.9))) == "bigram: 0.8"
    assert (chart.accessibleName(), chart.accessibleDescription()) == ("Loss: held-out: 0 at first, 1 now", "")


def test_the_tool_tip_has_name_and_unit_of_each_curve(chart: LineChart) -> None:
    steps = np.arange(0.0, 101.0)
    lines = [Line("training", steps, np.full(101, 20.0)), Line("held-out", steps, np.full(101, 80.0))]
    chart.show_lines(lines, y_range=(0.0, 100.0), unit="%")
    scale = chart.scale()
    for name, value in (("training", 20), ("held-out", 80)):
        at = QPointF(scale.x(50), scale.y(value))
        assert chart.tool_tip(at).splitlines()[0] == f"{name}: {value}\N{NO-BREAK SPACE}% at step 50"


def test_marks_have_a_vertical_line_and_a_name(chart: LineChart) -> None:
    steps = np.arange(0.0, 101.0)
    chart.show_lines([Line("held-out", steps, steps / 100)])
    plain = chart.grab().toImage()
    chart.show_marks([Upright("edited", 40.0)])
    scale, marked = chart.scale(), chart.grab().toImage()
    x = round(scale.x(40))
    changed = [y for y in range(marked.height()) if marked.pixel(x, y) != plain.pixel(x, y)]
    assert len(changed) > 0.8 * scale.area.height()
    assert "edited at step 40" in chart.tool_tip(QPointF(x, scale.y(0.9)))
    assert "edited" not in chart.tool_tip(QPointF(scale.x(60), scale.y(0.6)))
    assert chart.accessibleName().endswith("edited at step 40")
    chart.show_marks([])
    assert chart.grab().toImage() == plain


@pytest.mark.parametrize("x", [0.0, 40.0, 100.0])
def test_the_name_of_a_mark_lies_above_the_curves(chart: LineChart, x: float) -> None:
    steps = np.arange(0.0, 101.0)
    chart.show_lines([Line("held-out", steps, np.ones(101))])
    chart.show_marks([Upright("", x)])
    bare = chart.grab().toImage()
    chart.show_marks([Upright("edited", x)])
    named, top = chart.grab().toImage(), chart.scale().area.top()
    places = [
        (x, y) for y in range(named.height()) for x in range(named.width()) if named.pixel(x, y) != bare.pixel(x, y)
    ]
    assert places
    assert max(y for _, y in places) <= top
    assert 0 < min(x for x, _ in places) < max(x for x, _ in places) < named.width() - 1  # whole


def test_a_press_selects_the_step_under_it(chart: LineChart, qtbot: QtBot) -> None:
    chart.show_lines([Line("loss", np.array([0.0, 100.0]), np.array([1.0, 0.0]))])
    with qtbot.waitSignal(chart.x_chosen) as chosen:
        QTest.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(round(chart.scale().x(25)), 60))
    assert chosen.args is not None
    assert chosen.args[0] == pytest.approx(25, abs=0.5)


@pytest.mark.parametrize("log", [False, True])
def test_empty_and_unusual_curves_can_be_painted(chart: LineChart, log: bool) -> None:
    chart.show_lines([])
    chart.grab()
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300])
    chart.show_lines([Line("odd", np.arange(6.0), odd)], log_y=log)
    chart.show_cursor(3)
    chart.grab()
    assert chart.cursor_x == 3


@pytest.mark.parametrize("log", [False, True])
def test_larger_values_are_higher_and_ends_are_at_the_ends(log: bool) -> None:
    scale = Scale(QRectF(10, 20, 300, 100), 4.0, 1.0, 100.0, log)
    assert scale.y(100.0) == pytest.approx(20)
    assert scale.y(1.0) == pytest.approx(120)
    assert scale.y(10.0) == pytest.approx(70 if log else 120 - 100 * 9 / 99)
    assert (scale.x(0.0), scale.x(2.0), scale.x(4.0)) == (10, 160, 310)
    assert [scale.value_x(scale.x(value)) for value in (0.0, 1.0, 3.5)] == pytest.approx([0.0, 1.0, 3.5])


@pytest.mark.parametrize("most", [1.0, 1e6, 1e9, 1e-7])
def test_numbers_of_the_axis_are_whole(chart: LineChart, most: float) -> None:
    chart.show_lines([Line("loss", np.arange(3.0), np.array([0.0, most / 2, most]))], x_end=1e6)
    scale = chart.scale()
    metrics = QFontMetricsF(font("tiny"))
    texts = [tick_text(value) for value in ticks(scale.low, scale.high, False, 4)]
    assert len(texts) > 1
    assert max(map(metrics.horizontalAdvance, texts)) <= scale.area.left()
    assert scale.area.width() > chart.width() / 2
    chart.grab()


@given(st.lists(st.floats(0, 100), max_size=8))
def test_labels_at_the_ends_of_curves_do_not_overlap(wanted: list[float]) -> None:
    places = spread(sorted(wanted), 12.0, 0.0, 100.0)
    assert all(after - before >= 12 - 1e-9 for before, after in pairwise(places))
    assert all(6 - 1e-9 <= place <= 94 + 1e-9 for place in places)


def test_labels_at_the_ends_of_curves_have_room(chart: LineChart) -> None:
    free = chart.scale().area.right()
    lines = [Line(f"head {i}", np.arange(3.0), np.full(3, 1.0 + i), label=f"Decoder {i}") for i in range(40)]
    chart.show_lines(lines)
    widest = QFontMetricsF(font("tiny")).horizontalAdvance("Decoder 39")
    assert chart.scale().area.right() <= min(free, chart.width() - widest)
    assert 4 <= chart.count_labels() <= 20
    chart.grab()


@pytest.mark.parametrize(("last", "above"), [(1.0, True), (0.55, False), (1.4, False)])
def test_the_name_of_a_level_avoids_a_curve_that_ends_just_above_it(last: float, above: bool) -> None:
    scale = Scale(QRectF(0, 0, 100, 100), 10, 0, 2, False)  # a pixel is 0.02
    assert ends_above(scale.y(0.8), 16, [(10, last), (2, 0.9)], scale) == above


def test_names_of_levels_that_lie_close_stand_beside_each_other() -> None:
    first, second = QRectF(60, 10, 40, 12), QRectF(70, 14, 30, 12)
    beside = move_beside(second, [first], 8)
    assert (beside.right(), beside.y()) == (52, 14)
    assert move_beside(QRectF(80, 12, 20, 12), [beside, first], 8).right() == beside.left() - 8
    assert move_beside(QRectF(70, 30, 30, 12), [beside, first], 8) == QRectF(70, 30, 30, 12)


def test_the_line_of_a_level_crosses_no_name_of_another(chart: LineChart, monkeypatch: pytest.MonkeyPatch) -> None:
    tops, draw = {}, Pen.draw

    def record(pen: Pen, x: float, y: float, text: str, *others: float) -> None:
        tops[text] = y
        draw(pen, x, y, text, *others)

    monkeypatch.setattr(Pen, "draw", record)
    levels = Level("unigram", 6.0), Level("bigram", 5.7)
    chart.show_lines([Line("held-out", np.arange(2.0), np.zeros(2))], levels=levels)
    chart.grab()
    high, scale = QFontMetricsF(font("tiny")).height(), chart.scale()
    assert 0 < scale.y(5.7) - scale.y(6.0) < high
    assert tops["unigram"] + high <= scale.y(6.0)
    assert tops["bigram"] >= scale.y(5.7)


def test_the_same_curves_are_not_drawn_again(chart: LineChart) -> None:
    x, y = np.arange(4.0), np.array([1.0, np.nan, 2.0, 3.0])
    chart.show_lines([Line("a", x, y)], x_end=10.0)
    chart.grab()
    drawn = chart._still
    assert drawn is not None
    chart.show_lines([Line("a", x.copy(), y.copy())], x_end=10.0)
    assert chart._still is drawn
    changes: list[tuple[Line, dict[str, Any]]] = [
        (Line("a", x, y + 1), {"x_end": 10.0}),
        (Line("a", x, y + 1, "key"), {"x_end": 10.0}),
        (Line("a", x, y + 1, "key"), {"x_end": 11.0}),
        (Line("a", x, y + 1, "key"), {"x_end": 11.0, "log_y": True}),
        (Line("a", x, y + 1, "key"), {"x_end": 11.0, "log_y": True, "levels": [Level("best", 2.0)]}),
    ]
    for line, settings in changes:
        before = chart.grab().toImage()
        chart.show_lines([line], **settings)
        assert chart._still is None
        assert chart.grab().toImage() != before
