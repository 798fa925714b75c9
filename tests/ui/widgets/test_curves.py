"""Several curves in one plot: their places, the tool tip, and the behaviour of the mouse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QScrollArea, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.charts.curve_axes import log_ticks
from attnlab.ui.widgets.charts.curves import Curve, Curves
from attnlab.ui.widgets.layouts.side_by_side import SideBySide

X = [1.0, 2.0, 4.0, 8.0]
RISING = Curve("rising", X, [1.0, 2.0, 4.0, 8.0], "query")
FALLING = Curve("falling", X, [8.0, 4.0, 2.0, 1.0], "key", "dashed")
HERE = Curve("here", [2.0], [6.0], "attention", "points")


@pytest.fixture
def curves(qtbot: QtBot) -> Curves:
    widget = Curves("Growth")
    qtbot.addWidget(widget)
    widget.resize(420, 300)
    widget.show_curves([RISING, FALLING, HERE], x_label="d_k", y_label="spread")
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def place(curves: Curves, x: float, y: float) -> QPoint:
    """Return the place of a point of the axes, in pixels of the plot."""
    return curves.plot.getViewBox().mapViewToScene(QPointF(x, y)).toPoint()


def colours_at(curves: Curves, x: float, y: float) -> set[str]:
    """Return the colours painted around a point of the axes."""
    image, at = curves.plot.grab().toImage(), place(curves, x, y)
    ratio = image.devicePixelRatio()
    around = [(dx, dy) for dx in range(-1, 2) for dy in range(-1, 2)]
    return {
        image.pixelColor(int((at.x() + dx) * ratio), int((at.y() + dy) * ratio)).name().upper() for dx, dy in around
    }


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_points_and_lines_have_their_place_and_colour(curves: Curves, palette: object) -> None:
    assert isinstance(palette, type(LIGHT))
    dress(curves, palette)
    assert palette.attention.upper() in colours_at(curves, 2, 6)
    assert palette.query.upper() in colours_at(curves, 6, 6)
    assert colours_at(curves, 7.5, 4) == {palette.surface.upper()}


def test_the_tool_tip_has_the_nearest_numbers(curves: Curves) -> None:
    at = place(curves, 2.1, 5.9)
    QApplication.sendEvent(curves.plot.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, curves.mapToGlobal(at)))
    assert QToolTip.text() == "here\nd_k 2: 6"
    assert curves.tool_tip(place(curves, 4, 4).toPointF()) == "rising\nd_k 4: 4"
    assert curves.tool_tip(QPointF(-5, -5)) == ""
    QToolTip.hideText()


def test_a_tool_tip_uses_the_texts_of_the_axis_and_a_true_minus_sign(curves: Curves) -> None:
    bars = Curve("PE", [0, 1], [-0.25, 0.5], "query", "bars")
    curves.show_curves([bars], x_label="", y_label="", x_ticks=[(0, "sin"), (1, "cos")])
    assert curves.tool_tip(place(curves, 0, -0.2).toPointF()).split("\n") == ["PE", " sin: −0.25"]


def test_nan_leaves_a_gap_and_has_no_tool_tip(curves: Curves) -> None:
    gap = Curve("gap", X, [1.0, float("nan"), float("inf"), 2.0], "query")
    curves.show_curves([gap], x_label="x", y_label="y")
    curves.grab()
    assert {curves.tool_tip(place(curves, x, 1).toPointF()) for x in (2, 3, 7)} == {"gap\nx 1: 1", "gap\nx 8: 2"}


def test_a_logarithmic_axis_omits_zero_and_tool_tips_have_the_value(curves: Curves) -> None:
    curves.show_curves(
        [Curve("T²", [1, 10, 100], [0, 10, 1000], "key")], x_label="T", y_label="", log_x=True, log_y=True
    )
    assert curves.tool_tip(place(curves, 2, 3).toPointF()) == "T²\nT 100: 1000"
    assert curves.tool_tip(place(curves, 1.1, 1.1).toPointF()) == "T²\nT 10: 10"


@pytest.mark.parametrize("style", ["line", "points", "bars", "dashed"])
def test_an_empty_plot_is_painted(curves: Curves, style: str) -> None:
    for x, y in (((), ()), ((1.0,), (float("nan"),))):
        curves.show_curves([Curve("none", x, y, "key", style)], x_label="x", y_label="y", log_y=True)  # type: ignore[arg-type]
        curves.grab()
        assert curves.tool_tip(curves.plot.rect().center().toPointF()) == ""
        assert curves.accessibleName().endswith(": none: no values")


def test_bars_of_two_curves_are_side_by_side_on_zero(curves: Curves) -> None:
    two = [Curve("a", [0, 1], [1, 2], "query", "bars"), Curve("b", [0, 1], [2, 1], "key", "bars")]
    curves.show_curves(two, x_label="x", y_label="y")
    assert LIGHT.query.upper() in colours_at(curves, -0.2, 0.5)
    assert LIGHT.key.upper() in colours_at(curves, 0.2, 1.5)
    assert LIGHT.query.upper() not in colours_at(curves, -0.2, 1.5)
    assert curves.plot.getViewBox().viewRange()[1][0] == 0


def test_showing_other_numbers_reuses_the_items(curves: Curves) -> None:
    before = list(curves.plot.items_shown)
    for factor in range(2, 6):
        curves.show_curves(
            [Curve(c.name, c.x, [factor * y for y in c.y], c.role, c.style) for c in (RISING, FALLING, HERE)],
            x_label="d_k",
            y_label="spread",
        )
    assert list(curves.plot.items_shown) == before
    curves.show_curves([RISING], x_label="d_k", y_label="spread")
    assert len(curves.plot.items_shown) == 1
    assert colours_at(curves, 6, 6) >= {LIGHT.query.upper()}


def test_a_plot_describes_its_name_and_every_curve(curves: Curves) -> None:
    told = "rising: 4 points, 1 to 8; falling: 4 points, 1 to 8; here: 6 at 2"
    assert (curves.accessibleName(), curves.accessibleDescription()) == (f"Growth: {told}", "")
    names = [child.accessibleName() for child in curves.findChildren(QWidget) if child.isVisible()]
    assert [name for name in names if name] == ["Growth", "rising", "falling", "here"]


def test_the_legend_is_above_the_plot(curves: Curves) -> None:
    curves.resize(240, 300)
    QApplication.processEvents()
    keys = [c for c in curves.findChildren(QWidget) if c.accessibleName() in ("rising", "falling", "here")]
    lowest = max(key.mapTo(curves, key.rect().bottomLeft()).y() for key in keys)
    assert lowest < curves.plot.y()
    assert all(key.mapTo(curves, key.rect().topRight()).x() <= curves.width() for key in keys)


def test_the_mouse_moves_nothing_and_the_wheel_scrolls_the_parent(qtbot: QtBot) -> None:
    area, body, curves = QScrollArea(), QWidget(), Curves()
    qtbot.addWidget(area)
    QVBoxLayout(body).addWidget(curves)
    body.setMinimumHeight(900)
    area.setWidgetResizable(True)
    area.setWidget(body)
    area.resize(420, 300)
    curves.show_curves([RISING], x_label="x", y_label="y")
    area.show()
    qtbot.waitExposed(area)
    before, port = curves.plot.getViewBox().viewRange(), curves.plot.viewport()
    middle = QPoint(200, 150)
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(port, middle + QPoint(60, 40))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=middle + QPoint(60, 40))
    QTest.mouseClick(port, Qt.MouseButton.RightButton, pos=middle)
    QTest.wheelEvent(area.windowHandle(), QPointF(middle), QPoint(0, -120))
    qtbot.waitUntil(lambda: area.verticalScrollBar().value() > 0)
    assert curves.plot.getViewBox().viewRange() == before
    assert QApplication.activePopupWidget() is None


def test_a_logarithmic_axis_has_ticks_between_powers_of_ten_if_few() -> None:
    assert [text for _, text in log_ticks(-2.1, 3.1)[0]] == ["0.01", "0.1", "1", "10", "100", "1,000"]
    assert [text for _, text in log_ticks(0, 1)[0]] == ["1", "2", "5", "10"]
    assert all(np.log10(float(text)) == pytest.approx(at) for at, text in log_ticks(-1, 1)[0])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=6), st.booleans(), st.booleans())
def test_any_numbers_can_be_painted(qapp: QApplication, values: list[float], log_x: bool, log_y: bool) -> None:
    widget = Curves()
    x = list(range(len(values)))
    shown = (
        Curve("a", x, values, "key"),
        Curve("b", values, x, "query", "points"),
        Curve("c", x, values, "value", "bars"),
    )
    widget.show_curves(
        shown,
        x_label="x",
        y_label="y",
        log_x=log_x,
        log_y=log_y,
    )
    widget.grab()
    assert ": a: " in widget.accessibleName()
    widget.deleteLater()


def test_the_largest_floats_have_an_axis() -> None:
    powers, texts = zip(*log_ticks(290, 330)[0], strict=True)
    assert max(powers) <= 308
    assert all(texts)


def test_two_plots_are_side_by_side_if_they_fit(qtbot: QtBot) -> None:
    one, other = Curves(), Curves()
    both = SideBySide(one, other)
    qtbot.addWidget(both)
    both.show()
    for width, beside in ((420, False), (900, True), (500, False)):
        both.resize(width, 600)
        QApplication.processEvents()
        assert (other.y() == one.y()) is beside
        assert (other.x() == one.x()) is not beside


def test_a_plot_creates_no_hidden_menus(curves: Curves) -> None:
    """Every change of theme would restyle them: pyqtgraph's have 62 widgets for each plot."""
    below = curves.plot.findChildren(QWidget)
    assert len(below) <= 12, [type(widget).__name__ for widget in below]
    assert not curves.plot.findChildren(QMenu)
