"""The smallest window with the largest type: probe, answer and maps scroll together, and nothing is squeezed."""

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from tests.ui.train.pupil import Pupil, tiny


def is_seen(part: QWidget, room: QWidget) -> bool:
    """Whether the whole of a part is inside its room, on the screen."""
    return QRect(QPoint(), room.size()).contains(QRect(part.mapTo(room, QPoint()), part.size()))


def test_the_whole_scrolls_in_a_low_window_and_the_maps_get_its_height(pupil: Pupil) -> None:
    pupil.begin(tiny())
    maps = pupil.trainer.maps
    bar, room = maps.whole.verticalScrollBar(), maps.whole.viewport()
    pupil.window.resize(1440, 900)
    pupil.wait_for(lambda: bar.maximum() == 0 and maps.whole.height() > 500)
    pupil.window.change_settings(type_size=200)
    pupil.window.resize(720, 480)
    pupil.wait_for(lambda: bar.maximum() > 0 and maps.stack.height() == room.height())
    probe = maps.head.probe
    pupil.wait_for(lambda: is_seen(probe, room) and probe.height() >= probe.sizeHint().height())
    assert not is_seen(maps.stack, room)
    bar.setValue(bar.maximum())
    assert is_seen(maps.stack, room)
    bar.setValue(0)
    maps.open_map(0)
    pupil.wait_for(lambda: is_seen(maps.stack, room))  # the map, not what is above it
    maps.close_map()
    pupil.window.resize(1440, 900)
    pupil.wait_for(lambda: bar.maximum() == 0)
