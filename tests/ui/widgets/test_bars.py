"""Bars show their values, and can be walked, hovered and clicked."""

import math
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from attnlab.base.number_text import four_decimals
from attnlab.figures.palette import DARK, LIGHT, Palette
from attnlab.ui.base.themed import dress
from attnlab.ui.widgets.charts.bars import MOST_ROWS, BarList, lengths

Key, Button = Qt.Key, Qt.MouseButton
WORDS = ("Your", "journey", "starts", "with", "one", "step")
WEIGHTS = (0.2526, 0.3791, 0.3683, 0.0, 0.0, 0.0)
MASKED = (False, False, False, True, True, True)


@pytest.fixture
def bars(qtbot: QtBot) -> Iterator[BarList]:
    window = QWidget()
    window.resize(340, 400)
    made = BarList(window)
    made.setGeometry(10, 10, 300, 300)
    made.set_bars(WORDS, WEIGHTS, MASKED, 1, "Row of “starts”")
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield made
    window.close()


def _length(bars: BarList, row: int, colour: str | None = None) -> int:
    """Return the number of pixels of the bar in the middle of a row."""
    image: QImage = bars.viewport().grab().toImage()
    y = bars.row_rect(row).center().y() + 1
    wanted = QColor(colour) if colour else None
    return sum(image.pixelColor(x, y) == wanted for x in range(image.width()))


def test_numbers_are_at_the_right_and_masked_bars_say_so(bars: BarList) -> None:
    assert [bars.row_text(i) for i in range(6)] == ["0.2526", "0.3791", "0.3683", "masked", "masked", "masked"]
    assert bars.accessibleName() == "Row of “starts”"


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_current_bar_has_the_colour_of_the_role_and_lengths_follow_the_values(
    bars: BarList, palette: Palette
) -> None:
    dress(bars, palette)
    longest = _length(bars, 1, palette.attention)
    assert longest > 100
    assert _length(bars, 0, palette.attention) == 0
    bars.set_bars(WORDS, WEIGHTS, MASKED, 0)
    assert _length(bars, 0, palette.attention) == pytest.approx(longest * 0.2526 / 0.3791, abs=3)
    assert _length(bars, 1, palette.attention) == 0
    bars.set_role("key")
    assert _length(bars, 0, palette.key) > 50


def test_a_click_emits_the_index_of_the_bar(bars: BarList, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bars.bar_clicked) as clicked:
        QTest.mouseClick(bars.viewport(), Button.LeftButton, pos=bars.row_rect(4).center())
    assert clicked.args == [4]


def test_keys_walk_and_choose(bars: BarList) -> None:
    chosen: list[int] = []
    bars.bar_clicked.connect(chosen.append)
    bars.setFocus()
    for key in (Key.Key_Down, Key.Key_Return, Key.Key_End, Key.Key_Space, Key.Key_Home, Key.Key_Up, Key.Key_Return):
        QTest.keyClick(bars, key)
    assert chosen == [2, 5, 0]
    assert bars.accessibleDescription() == "Your: 0.2526, 1 of 6"


def test_the_tool_tip_has_the_exact_value(bars: BarList) -> None:
    bars.set_bars(("a<b",), (1 / 3,))
    at = bars.row_rect(0).center()
    QApplication.sendEvent(bars.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, bars.viewport().mapToGlobal(at)))
    assert "a&lt;b" in QToolTip.text()
    assert repr(1 / 3) in QToolTip.text()
    QToolTip.hideText()


def test_hovering_marks_the_row(bars: BarList) -> None:
    before = bars.viewport().grab().toImage()
    QTest.mouseMove(bars.viewport(), bars.row_rect(2).center())
    assert bars.viewport().grab().toImage() != before


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0000"),
        (-0.8, "−0.8000"),
        (1.7, "1.7000"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (1e-9, "1.0e−9"),
        (123456.0, "1.2e5"),
        (1e38, "1.0e38"),
        (0.00005, "0.0001"),
        (-0.0, "0.0000"),
    ],
)
def test_every_number_is_written_in_a_short_form(value: float, text: str) -> None:
    assert four_decimals(value) == text


@given(st.lists(st.tuples(st.floats(), st.booleans()), max_size=20))
def test_bars_stay_inside_their_area(rows: list[tuple[float, bool]]) -> None:
    values, masked = [v for v, _ in rows], [m for _, m in rows]
    for (start, end), value, hidden in zip(lengths(values, masked), values, masked, strict=True):
        assert 0 <= start <= end <= 1
        if hidden or not math.isfinite(value):
            assert start == end


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=9))
def test_a_greater_value_has_a_longer_bar(values: list[float]) -> None:
    made = lengths(values, [False] * len(values))
    longest = max(range(len(values)), key=lambda i: abs(values[i]))
    assert max(end - start for start, end in made) == pytest.approx(made[longest][1] - made[longest][0])


def test_negative_bars_grow_to_the_left(bars: BarList) -> None:
    made = lengths((-1.0, 1.0), (False, False))
    assert made == [(0.0, 0.5), (0.5, 1.0)]
    bars.set_bars(("a", "b", "c", "d"), (-1.0, 2.0, math.nan, math.inf), None, 0)
    assert 20 < _length(bars, 0, LIGHT.attention) < 100


def test_512_bars_scroll_and_the_current_one_is_visible(bars: BarList) -> None:
    few = bars.height()
    bars.set_bars([f"t{i}" for i in range(512)], [i / 512 for i in range(512)], None, 300)
    assert few < bars.height() <= (MOST_ROWS + 1) * bars.row_rect(0).height()
    assert bars.viewport().rect().contains(bars.row_rect(300))
    bars.setFocus()
    QTest.keyClick(bars, Key.Key_End)
    assert bars.viewport().rect().contains(bars.row_rect(511))
    clicked: list[int] = []
    bars.bar_clicked.connect(clicked.append)
    QTest.mouseClick(bars.viewport(), Button.LeftButton, pos=bars.row_rect(511).center())
    assert clicked == [511]


def test_the_current_bar_is_visible_from_the_start(qtbot: QtBot) -> None:
    made = BarList()
    qtbot.addWidget(made)
    made.set_bars([f"t{i}" for i in range(512)], [0.5] * 512, None, 40)
    made.show()
    assert made.viewport().rect().contains(made.row_rect(40))


def test_new_values_of_the_same_row_do_not_scroll(bars: BarList) -> None:
    labels = [f"t{i}" for i in range(512)]
    bars.set_bars(labels, [0.5] * 512, None, 0)
    bars.verticalScrollBar().setValue(2000)
    bars.set_bars(labels, [0.25] * 512, None, 0)
    assert bars.verticalScrollBar().value() == 2000


def test_an_empty_list_is_painted(bars: BarList) -> None:
    bars.set_bars((), ())
    assert bars.height() == 0
    bars.setFocus()
    QTest.keyClick(bars, Key.Key_Down)
    QTest.mouseClick(bars.window(), Button.LeftButton, pos=QPoint(5, 5))


def test_labels_of_every_kind_leave_room_for_the_bars(bars: BarList) -> None:
    bars.set_bars(("", "x" * 5000, "שלום", "🙂"), (0.1, 0.2, 0.3, 0.4), None, 3)
    assert _length(bars, 3, LIGHT.attention) > 60


def test_lists_of_different_lengths_are_refused(bars: BarList) -> None:
    with pytest.raises(ValueError, match=re.escape("2 labels, 1 values and 2 masks")):
        bars.set_bars(("a", "b"), (1.0,))


@pytest.mark.parametrize("x", [20, 500], ids=["no room at the left", "room at the left"])
def test_the_tool_tip_of_a_bar_covers_no_bar(qtbot: QtBot, x: int) -> None:
    bars = BarList()
    qtbot.addWidget(bars)
    bars.set_bars([f"token {i}" for i in range(8)], [0.125] * 8, [False] * 8, None, "Row")
    bars.setGeometry(x, 100, 240, 300)
    bars.show()
    place = bars.row_rect(2).center()
    event = QHelpEvent(QEvent.Type.ToolTip, place, bars.viewport().mapToGlobal(place))
    QApplication.sendEvent(bars.viewport(), event)
    tip = next(each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel") and each.isVisible())
    assert "token 2" in QToolTip.text()
    assert not tip.geometry().intersects(QRect(bars.viewport().mapToGlobal(QPoint()), bars.viewport().size()))
    assert abs(tip.geometry().center().y() - event.globalPos().y()) < tip.height()
    QToolTip.hideText()
