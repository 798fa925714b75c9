"""Large maps are shown through a window that follows the chosen row, a click and a drag; cells keep their places."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.figures.map_data import MapData
from attnlab.figures.scales import find_scale
from attnlab.pretrained.model import read_model
from attnlab.ui.base.theme import px
from attnlab.ui.models.map_window import MOST, SHOWN, Window, find_window
from attnlab.ui.widgets.maps.map_sheet import MapSheet
from tests.ui.models.reader import ModelReader

TEXT = "Shall I compare thee to a summer's day? Thou art more lovely"


def test_small_maps_are_whole_and_large_ones_are_cut_around_the_row() -> None:
    assert find_window(MOST, 7, -1, None) == Window(0, MOST - 1, 0, 6)
    assert find_window(100, 100, -1, None) == Window(76, 99, 76, 99)
    assert find_window(100, 100, 50, None) == Window(38, 61, 38, 61)
    assert find_window(100, 20, 3, None) == Window(0, SHOWN - 1, 0, 19)
    assert find_window(100, 100, 50, (52, 10)) == Window(38, 61, 0, SHOWN - 1)
    assert find_window(100, 100, 3, (90, 10)).query == 76
    assert not find_window(100, 100, 0, None).covers((100, 100))


@pytest.mark.parametrize(("first", "labelled"), [(0, False), (24, True)])
def test_keys_that_are_other_tokens_than_the_queries_have_labels(qtbot: QtBot, first: int, labelled: bool) -> None:
    sheet, words = MapSheet(), [f"word{i}" for i in range(48)]
    qtbot.addWidget(sheet)
    sheet.resize(px(490), px(320))
    labels = tuple(words[:24]), tuple(words[first : first + 24])
    maps = np.full((1, 24, 24), 0.1, np.float32)
    sheet.show_maps(MapData(maps, "probability", find_scale(maps, "probability"), None, *labels))
    assert sheet.grid is not None
    assert (sheet.grid.column_space > 0) is labelled


def test_the_window_moves_on_the_whole_map_and_cells_keep_their_places(reader: ModelReader) -> None:
    reader.open("characters", TEXT)
    card, large = reader.models.targets, reader.models.head
    assert card.whole.isVisible()
    assert large.about.text() == f"tokens 36 to 59 of {len(TEXT)}"
    card.whole.grab()
    start, end = (card.whole.cell_rect(0, *cell).center().toPoint() for cell in ((50, 50), (20, 12)))
    reader.drag(card.whole, start, ((end - start).x(), (end - start).y()))
    assert large.window_shown == Window(8, 31, 0, 23)
    assert large.about.text() == "queries 8–31, keys 0–23"
    layer, head = reader.place
    whole = read_model("characters").run(TEXT).attention(layer)[head].numpy()
    np.testing.assert_array_equal(reader.in_map(), whole[8:32, 0:24])
    large.sheet.grab()
    QTest.mouseClick(large.sheet, Qt.MouseButton.LeftButton, pos=large.sheet.cell_rect(0, 5, 3).center().toPoint())
    reader.wait()
    assert reader.models.session.view.row == 13
    assert reader.models.targets.asked.text() == f"“{TEXT[13]}” looks at"
    weight = float(whole[13].max())
    assert reader.models.targets.bars.meters[0].text == f"{weight:.4f}"
    card.profile.grab()
    assert card.profile.name_cell(6) == f"{TEXT[6]}, token 6, {whole[13, 6]:.4f}"
    QTest.mouseClick(card.profile, Qt.MouseButton.LeftButton, pos=card.profile.locate_cell(40).center().toPoint())
    assert large.window_shown == Window(1, 24, 28, 51)
    assert card.profile.isVisible()
    assert not card.arcs.isVisible()
    reader.key(Qt.Key.Key_Escape)
    assert large.window_shown == Window(36, 59, 36, 59)
