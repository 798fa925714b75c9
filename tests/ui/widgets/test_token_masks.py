"""Masking words in a strip of tokens: by the eye, a key and the menu."""

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attnlab.figures.palette import DARK, LIGHT, Palette, compute_contrast
from attnlab.ui.base.themed import dress
from tests.ui.widgets.token_owner import Owner

Key, Button = Qt.Key, Qt.MouseButton

# Masking


@pytest.fixture
def owner(qtbot: QtBot) -> Owner:
    return Owner(qtbot)


def test_a_click_on_the_eye_masks_the_word_and_another_unmasks_it(owner: Owner) -> None:
    owner.click_eye(1)
    owner.click_eye(3)
    assert owner.masked == {1, 3}
    owner.click_eye(1)
    assert owner.masked == {3}
    assert owner.said == [("masked", 1), ("masked", 3), ("masked", 1)]  # and nothing was selected


def test_a_double_click_on_the_eye_masks_and_unmasks_without_opening(owner: Owner) -> None:
    owner.click_eye(2)
    QTest.mouseDClick(owner.strip.viewport(), Button.LeftButton, pos=owner.eye(2))
    owner.release(owner.eye(2))
    assert owner.said == [("masked", 2), ("masked", 2)]
    assert not owner.editor().isVisible()


def test_the_eye_does_not_cover_the_middle_of_the_shortest_chip(qtbot: QtBot) -> None:
    owner = Owner(qtbot, ("a", "", "."))
    for index in range(3):
        owner.click(index)
    assert owner.said == [("clicked", 0), ("clicked", 1), ("clicked", 2)]


def test_a_press_that_leaves_the_eye_masks_nothing(owner: Owner) -> None:
    place = owner.strip.chip_rect(3)
    owner.press(owner.eye(0))
    owner.drag_to(owner.eye(0) + QPoint(12, 0))
    owner.drag_to(QPoint(place.left() + 2, place.center().y()))
    owner.release(QPoint(place.left() + 2, place.center().y()))
    assert owner.said == [("moved", 0, 2)]
    owner.press(owner.eye(1))
    owner.release(owner.strip.chip_rect(1).center() - QPoint(8, 0))
    assert owner.said[1:] == [("clicked", 1)]


def test_the_eye_appears_under_the_pointer_without_moving_words(owner: Owner) -> None:
    owner.after.setFocus()
    places, plain = [owner.strip.chip_rect(i) for i in range(7)], owner.ink(2)
    owner.point(owner.strip.chip_rect(2).center())
    assert owner.ink(2) > plain
    assert [owner.strip.chip_rect(i) for i in range(7)] == places
    QApplication.sendEvent(owner.strip.viewport(), QEvent(QEvent.Type.Leave))
    assert owner.ink(2) == plain
    owner.strip.setFocus()
    owner.key(Key.Key_Home)
    with_eye = owner.ink(0)
    owner.strip.set_masked(None)
    assert owner.ink(0) < with_eye


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_masked_word_is_crossed_out_hatched_and_described(owner: Owner, palette: Palette) -> None:
    dress(owner.strip, palette)
    place, colours = owner.strip.chip_rect(3), owner.colours_of(3)

    def longest_line() -> int:
        """Return the longest run of legible pixels in a row."""
        image, runs = owner.image(), [0]
        for y in range(place.top() + 4, place.bottom() - 4):
            for x in range(place.left() + 4, place.right() - 4):
                reads = compute_contrast(image.pixelColor(x, y).name(), palette.control) > 4.5
                runs.append(runs[-1] + 1 if reads else 0)
        return max(runs)

    assert longest_line() < 10
    owner.strip.set_masked(frozenset({3}))
    assert longest_line() > 20
    assert len(owner.colours_of(3)) > len(colours) + 3  # the hatch
    for _ in range(3):
        owner.key(Key.Key_Right)
    assert owner.strip.accessibleDescription() == "Token 4 of 6: with, masked: no query may attend to it"
    owner.strip.set_masked(frozenset())
    assert owner.strip.accessibleDescription() == "Token 4 of 6: with"


def test_a_key_masks_the_word_without_reaching_the_window(owner: Owner) -> None:
    owner.key(Key.Key_H)
    owner.key(Key.Key_Right)
    owner.key(Key.Key_H)
    owner.key(Key.Key_End)
    owner.key(Key.Key_H)  # there is no word under the plus
    assert owner.said == [("masked", 0), ("masked", 1)]
    assert owner.stolen == 0


def test_the_menu_masks_and_unmasks(owner: Owner) -> None:
    for expected in ("Mask: no query may attend to it\tH", "Unmask: queries may attend to it\tH"):
        menu = owner.strip.menu()
        action = next(action for action in menu.actions() if action.data() == "mask")
        assert action.text() == expected
        action.trigger()
        menu.close()
    assert owner.said == [("masked", 0), ("masked", 0)]


def test_tokens_that_are_not_keys_cannot_be_masked(owner: Owner) -> None:
    owner.strip.set_masked(None)
    owner.click_eye(1)
    owner.key(Key.Key_H)
    assert owner.said == [("clicked", 1)]
    menu = owner.strip.menu()
    assert not next(action for action in menu.actions() if action.data() == "mask").isEnabled()
    menu.close()
