"""Training at every size of window and type: maps keep their labels and fill the room, nothing covers the probe."""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.ui.base.fonts import face
from attnlab.ui.base.theme import font, px
from attnlab.ui.train.course_card import make_head_lines
from attnlab.ui.train.map_cards import (
    GAP,
    LARGEST_CELL,
    MOST_LABELS,
    MOST_PER_LINE,
    NARROW,
    PAD,
    WIDE,
    Shape,
    place_cards,
)
from attnlab.ui.widgets.maps.map_layout import LABEL_SIZE
from tests.ui.layout_faults import find_layout_faults
from tools.gallery_window import settle

if TYPE_CHECKING:
    from tests.ui.train.conftest import Student

LABEL = 9
pytestmark = pytest.mark.usefixtures("qapp")


@given(
    st.integers(1, 6), st.integers(1, 8), st.integers(1, 40), st.integers(1, 40), st.integers(300, 3800), st.integers()
)
def test_cards_fill_their_width_and_keep_their_labels(
    layers: int, heads: int, rows: int, columns: int, width: int, height: int
) -> None:
    shape = Shape(heads, rows, columns, 20, 14, LABEL)
    cards, total = place_cards([shape] * layers, width, height % 2000)
    assert [(card.layer, card.head) for card in cards] == [(la, h) for la in range(layers) for h in range(heads)]
    tops = [card.rect.top() for card in cards]
    widest_line = max(tops, key=tops.count)
    across = tops.count(widest_line)
    if across > max(MOST_PER_LINE, width // px(WIDE)):
        assert total <= height % 2000
        assert cards[0].rect.width() >= px(NARROW)
    assert max(card.rect.right() for card in cards) in range(width - across, width)
    for card in cards:
        assert card.grid.x + card.grid.columns * card.grid.cell_width <= card.rect.right() + 1
        assert card.rect.bottom() < total
    if max(rows, columns) <= MOST_LABELS and width >= 2 * px(PAD) + shape.left + LABEL * columns:
        assert cards[0].grid.cell_height >= LABEL


def test_maps_that_fit_fill_the_height() -> None:
    shapes = [Shape(4, 13, 13, 16, 14, LABEL)] * 2
    flat, low = place_cards(shapes, 1100, 500)
    tall, high = place_cards(shapes, 1100, 900)
    assert low <= 500 < high <= 900
    assert flat[0].grid.cell_width < tall[0].grid.cell_width <= px(LARGEST_CELL)


def test_five_maps_share_a_line_where_two_lines_are_too_high() -> None:
    shapes = [Shape(1, 13, 13, 40, 14, LABEL)] * 5
    cards, high = place_cards(shapes, 980, 240)
    assert high <= 240
    assert len({card.rect.top() for card in cards}) == 1
    cards, high = place_cards(shapes, 980, 800)  # in two lines they are larger
    assert len({card.rect.top() for card in cards}) == 2


def test_many_small_maps_share_lines_where_that_makes_them_much_larger() -> None:
    shapes = [Shape(4, 6, 6, 16, 14, LABEL)] * 6
    cards, high = place_cards(shapes, 1220, 560)
    assert high <= 560
    assert len({card.rect.top() for card in cards}) == 3  # two layers of four heads in each
    assert cards[0].grid.cell_width >= 16
    cards, high = place_cards(shapes, 1220, 1000)  # there a layer in a line is hardly smaller
    assert len({card.rect.top() for card in cards}) == 6


def test_maps_that_are_no_larger_in_two_lines_share_one() -> None:
    cards, high = place_cards([Shape(4, 8, 8, 60, 30, LABEL)], 660, 297)
    assert len({card.rect.top() for card in cards}) == 1
    assert high < 150


def test_maps_too_many_for_the_height_are_as_many_per_line_as_keep_their_labels() -> None:
    cards, total = place_cards([Shape(4, 24, 24, 16, 14, LABEL)] * 6, 800, 500)
    assert total > 500
    assert len({card.rect.left() for card in cards}) == 2  # three cards of 252 pixels fit, but four heads are not 3 + 1
    assert 2 * cards[0].rect.width() + px(GAP) == 800


@pytest.mark.slow
def test_labels_of_maps_follow_the_size_of_type(student: "Student") -> None:
    view, window = student.ws.maps.view, student.window
    letter = view.data[0].row_labels[0]
    for type_size in (100, 175, 250):
        window.change_settings(type_size=type_size)
        QApplication.processEvents()
        width = QFontMetricsF(font("tiny")).horizontalAdvance(letter)
        assert all(card.grid.label_width - 6 >= width for card in view.cards)
        assert all(card.grid.cell_height >= font("tiny", 0.86).pixelSize() for card in view.cards)


def test_answering_rows_of_the_maps_are_bold(student: "Student") -> None:
    data = student.ws.maps.view.data[0]
    start = next(row for row, label in enumerate(data.row_labels) if label.startswith("⟨→"))
    assert sorted(data.bold_rows) == list(range(start, len(data.row_labels)))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(800, 600), (1024, 640), (1366, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("type_size", [100, 175])
def test_nothing_covers_the_probe(student: "Student", size: tuple[int, int], type_size: int) -> None:
    maps, window = student.ws.maps, student.window
    window.change_settings(type_size=type_size)
    window.resize(*size)
    student.wait_for(lambda: window.width() == size[0])
    window.grab()
    probe = _place(maps.head.probe, maps)
    assert probe.width() >= px(110)
    for other in (maps.head.gradients, maps.head.step):
        assert not other.isVisible() or not probe.intersects(_place(other, maps))
        assert not other.isVisible() or _place(other, maps).right() <= maps.width()


@pytest.mark.slow
def test_settings_take_the_place_of_the_maps_where_both_have_no_room(student: "Student") -> None:
    ws, window = student.ws, student.window
    window.change_settings(type_size=175)
    window.resize(800, 600)
    student.wait_for(lambda: window.width() == 800 and ws.header.settings.isVisible())
    settle(window)
    assert ws.maps.isVisible()
    assert not ws.settings.isVisible()
    assert find_layout_faults(window) == []
    QTest.mouseClick(ws.header.settings, Qt.MouseButton.LeftButton)
    settle(window)
    assert ws.settings.isVisible()
    assert not ws.maps.isVisible()
    assert find_layout_faults(window) == []
    student.ready()
    student.press(ws.header.main)  # who starts wants to see it learn
    student.wait_for(ws.maps.isVisible)
    ws.session.stop()
    student.wait_for(lambda: not ws.session.alive)
    QTest.mouseClick(ws.header.settings, Qt.MouseButton.LeftButton)
    window.resize(1366, 768)
    student.wait_for(lambda: ws.maps.isVisible() and ws.settings.isVisible())


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1024, 640), (1366, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_an_enlarged_map_keeps_its_room_with_large_type(student: "Student", size: tuple[int, int]) -> None:
    ws, window = student.ws, student.window
    window.change_settings(type_size=175)
    window.resize(*size)
    student.wait_for(lambda: window.width() == size[0])
    settle(window)
    ws.maps.view.setFocus()
    ws.maps.open_map(0)
    large = ws.maps.large_map
    settle(window)
    first, last = (large.sheet.locate_cell(place) for place in (0, large.sheet.count_cells() - 1))
    cells = first.united(last).toAlignedRect()
    student.wait_for(lambda: large.sheet.visibleRegion().boundingRect().contains(cells))
    assert cells.height() >= px(80)
    large.area.verticalScrollBar().setValue(0)  # its tools are above
    QTest.mouseClick(large.back, Qt.MouseButton.LeftButton)
    assert ws.maps.overview.isVisible()


def enlarge_type(student: "Student", height: int) -> None:
    """Show type of 150 % in a window of a laptop's width."""
    student.window.change_settings(type_size=150)
    student.window.resize(1366, height)
    student.wait_for(lambda: student.window.height() == height)
    settle(student.window)


@pytest.mark.slow
def test_an_enlarged_map_keeps_its_title_where_the_map_is_seen_whole_below_it(student: "Student") -> None:
    enlarge_type(student, 749)
    student.ws.maps.open_map(0)
    large = student.ws.maps.large_map
    settle(student.window)
    assert large.sheet.grid is not None
    bar = large.sheet.place_bar(large.sheet.grid).toAlignedRect()
    student.wait_for(lambda: large.sheet.visibleRegion().boundingRect().contains(bar))
    assert large.area.verticalScrollBar().maximum() > 0, "there is space below the map"
    title = large.title
    student.wait_for(lambda: title.visibleRegion().boundingRect() == title.rect())


@pytest.mark.slow
def test_the_labels_of_the_rows_of_an_enlarged_map_do_not_touch(student: "Student") -> None:
    ws = student.ws
    enlarge_type(student, 768)
    assert not ws.maps.answer.is_folded
    ws.maps.open_map(0)
    sheet = ws.maps.large_map.sheet
    bold = QFont(face("caption", sheet.zoom * LABEL_SIZE))
    bold.setBold(True)
    ink = QFontMetricsF(bold).tightBoundingRect("⟨ (writes “a”)").height()
    student.wait_for(lambda: sheet.grid is not None and sheet.grid.rows == 13 and sheet.grid.cell_height >= ink + 2)
    ws.maps.close_map()
    assert not ws.maps.answer.is_folded


@pytest.mark.slow
def test_the_type_of_an_enlarged_map_grows_with_its_room(student: "Student") -> None:
    sheet, zooms = student.ws.maps.large_map.sheet, []
    student.ws.maps.open_map(0)
    for size in ((1024, 640), (3840, 2160)):
        student.window.resize(*size)
        student.window.grab()  # which lays out what was asked for
        grid, data = sheet.grid, sheet.data
        assert grid is not None
        assert data is not None
        zooms.append(sheet.zoom)
        bold = QFont(face("caption", sheet.zoom * LABEL_SIZE))
        bold.setBold(True)
        widest = max(QFontMetricsF(bold).horizontalAdvance(data.row_labels[row]) for row in data.bold_rows)
        assert widest <= grid.label_width - 6, "labels of answering rows are whole"
        assert QRect(sheet.rect()).contains(QRect(*(int(each) for each in grid.rect(0, None, None))))
    assert zooms[0] == 1
    assert zooms[1] > 1.8


@pytest.mark.slow
def test_no_tool_covers_another_beside_the_settings(student: "Student") -> None:
    student.window.change_settings(type_size=150)
    student.window.resize(800, 600)
    student.wait_for(lambda: student.window.width() == 800)
    student.ws.maps.setMaximumWidth(350)  # as narrow as beside the settings
    student.window.grab()
    check_tools(student)
    student.ws.maps.setMaximumWidth(16_777_215)
    student.window.resize(1366, 768)
    student.wait_for(student.ws.maps.head.step.isVisible)


def check_tools(student: "Student") -> None:
    maps = student.ws.maps
    head = maps.head
    QApplication.processEvents()  # lays out again what was hidden while it was resized
    student.window.grab()
    tools = [each for each in (head.probe, head.pages, head.gradients, head.step, head.mean) if each.isVisible()]
    for tool in tools:
        assert _place(tool, maps).right() <= maps.width()
    for one, other in combinations(tools, 2):
        assert not _place(one, maps).intersects(_place(other, maps)), f"{one} and {other}"


@pytest.mark.slow
def test_generated_text_and_the_entropies_are_seen_at_once(student: "Student") -> None:
    ws, window = student.ws, student.window
    for size, seen in (((1366, 768), (ws.text.text, ws.maps.answer)), ((1440, 900), (ws.maps.answer, ws.maps.chart))):
        window.resize(*size)
        student.wait_for(lambda high=size[1]: bool(ws.text.text.text()) and window.height() == high)  # type: ignore[misc]
        window.grab()
        for each in seen:
            bottom = each.mapTo(window, QPoint(0, each.height())).y()
            assert bottom <= window.height() - ws.footer.height()


def test_each_curve_of_entropy_has_the_name_of_its_head_or_layer() -> None:
    steps, names = np.arange(3.0), [f"Decoder {layer} · head {head}" for layer in range(1, 7) for head in range(4)]
    few = make_head_lines(names[:8], steps, np.ones((3, 8)), 8)
    assert [line.label for line in few][::4] == ["Decoder 1 h0", "Decoder 2 h0"]
    assert [line.colour for line in few][:4] == [few[0].colour] * 4
    many = make_head_lines(names, steps, np.ones((3, 24)), 8)
    assert [line.label for line in many if line.label] == [f"Decoder {layer}" for layer in range(1, 7)]
    assert len({line.colour for line in many}) == 6


def _place(widget: QWidget, above: QWidget) -> QRect:
    return QRect(widget.mapTo(above, QPoint(0, 0)), widget.size())
