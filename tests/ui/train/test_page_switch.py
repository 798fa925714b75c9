"""The line above the maps: pages are chosen at one place, and the tools of the maps stand together."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.ui.train.pupil import Pupil, tiny

SIZES = (1366, 768), (1920, 1080), (1024, 640)
VARIANTS = [(size, type_size) for type_size in (100, 150, 175) for size in SIZES][::2]
"""Each size of window and each of type, in five of their nine pairs."""

Place = tuple[tuple[int, int, int, int], ...]
Variant = tuple[tuple[int, int], int]


def locate(pupil: Pupil) -> Place:
    """Return where the segments are in the window, once it is laid out."""
    pupil.window.grab()
    QApplication.processEvents()
    pupil.window.grab()
    head = pupil.trainer.maps.head
    pupil.wait_for(lambda: head.height() == head.sizeHint().height())
    buttons = head.pages.buttons()
    return tuple(QRect(each.mapTo(pupil.window, QPoint()), each.size()).getRect() for each in buttons)


def visit_pages(pupil: Pupil) -> set[Place]:
    """Click each page and return every place that the segments had."""
    maps, places = pupil.trainer.maps, {locate(pupil)}
    for button in (*maps.head.pages.buttons()[1:], maps.head.pages.buttons()[0]):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        places.add(locate(pupil))
    return places


def visit_sizes(pupil: Pupil, places: dict[Variant, set[Place]], variants: Sequence[Variant] = VARIANTS) -> None:
    """Click each page in some sizes of window and of type, and add every place that the segments had there."""
    for size, type_size in variants:
        pupil.window.change_settings(type_size=type_size)
        pupil.window.resize(*size)
        pupil.wait_for(lambda width=size[0]: pupil.window.width() == width)
        QApplication.processEvents()
        places.setdefault((size, type_size), set()).update(visit_pages(pupil))


@pytest.mark.slow
def test_the_choice_of_a_page_never_moves(pupil: Pupil) -> None:
    pupil.begin(tiny())
    maps, session = pupil.trainer.maps, pupil.trainer.session
    pupil.wait_for(maps.head.mean.isVisible)
    places: dict[Variant, set[Place]] = {}
    visit_sizes(pupil, places)  # first, with the settings, and then without them in a narrow window
    pupil.trainer.start()
    pupil.wait_for_step(1200)
    pupil.wait_for(lambda: pupil.shown_step >= 1000)
    visit_sizes(pupil, places, VARIANTS[::2])  # each size of window, and each of type, once
    with pupil.qtbot.waitSignal(session.ended):
        session.stop()
    visit_sizes(pupil, places, VARIANTS[::2])
    assert {at: len(found) for at, found in places.items()} == dict.fromkeys(places, 1)
    assert places.keys() == set(VARIANTS)


@pytest.mark.parametrize("type_size", [100, 150])
def test_mean_stands_beside_gradients(pupil: Pupil, type_size: int) -> None:
    pupil.window.change_settings(type_size=type_size)
    pupil.window.resize(1366, 768)
    pupil.begin(tiny())
    head = pupil.trainer.maps.head
    pupil.wait_for(lambda: head.mean.isVisible() and pupil.window.width() == 1366)
    for wanted in (False, True):  # the scale of the gradients makes the line longer
        head.gradients.setChecked(wanted)
        pupil.wait_for(lambda on=wanted: head.scale.isVisible() is on)
        locate(pupil)
        mean, gradients = head.mean.geometry(), head.gradients.geometry()
        assert mean.center().y() == gradients.center().y()
        assert gradients.left() - mean.right() <= 10


@pytest.mark.slow
def test_a_page_that_is_still_computed_says_so_and_shows_no_empty_parts(pupil: Pupil) -> None:
    pupil.begin(tiny())
    maps = pupil.trainer.maps
    for page, told, parts in (
        ("model", maps.model.first, [maps.model.room]),
        ("inside", maps.inside.missing, maps.inside.cards),
    ):
        maps.show_page(page)
        assert told.isVisible()
        assert told.text().endswith("…")
        assert not any(part.isVisible() for part in parts)
        pupil.wait_for(lambda parts=parts: all(part.isVisible() for part in parts))
        assert not told.isVisible()
