"""Every worked example can be opened from the gallery, is drawn there small, and holds the numbers it promises."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton

import attnlab

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key


def open_gallery(person: "Person") -> QListWidget:
    person.press("Open a preset; now", QPushButton)
    assert person.playground.gallery.isVisible()
    return person.find(QListWidget, "Presets", person.playground.gallery)


def item(shown: QListWidget, name: str) -> QListWidgetItem:
    return next(
        shown.item(row)
        for row in range(shown.count())
        if shown.item(row).data(Qt.ItemDataRole.UserRole) == name
    )  # fmt: skip


def click(person: "Person", shown: QListWidget, name: str) -> None:
    shown.scrollToItem(item(shown, name))
    person.click(shown.viewport(), shown.visualItemRect(item(shown, name)).center())


def test_the_gallery_lists_every_preset_with_title_line_and_picture(person: "Person") -> None:
    shown = open_gallery(person)
    names = [shown.item(row).data(Qt.ItemDataRole.UserRole) for row in range(shown.count())]
    assert tuple(names) == tuple(attnlab.presets())
    person.wait_for(lambda: not person.playground.gallery.missing())
    for row in range(shown.count()):
        entry = shown.item(row)
        assert entry.text()
        assert entry.toolTip().endswith(".")
        assert not entry.icon().isNull()
    assert shown.currentItem().data(Qt.ItemDataRole.UserRole) == "journey"
    person.playground.gallery.grab()
    person.key(Key.Key_Escape, widget=person.playground.gallery)
    assert not person.playground.gallery.isVisible()


def test_the_pictures_are_those_of_the_weights(person: "Person") -> None:
    shown = open_gallery(person)
    person.wait_for(lambda: not person.playground.gallery.missing())

    def lightness(name: str, x: int, y: int) -> float:
        return item(shown, name).icon().pixmap(64, 64).toImage().pixelColor(x, y).lightnessF()

    assert item(shown, "causal-5x8").icon().pixmap(64, 64).toImage().pixelColor(58, 6).alpha() > 0  # hatched
    causal_first = lightness("causal-5x8", 6, 6)
    assert causal_first < lightness("journey", 6, 6)  # the first token can look at itself only
    person.playground.gallery.hide()


@pytest.mark.parametrize("name", attnlab.presets())
def test_a_click_opens_it_with_its_numbers(sit_down: Callable[..., "Person"], name: str) -> None:
    person = sit_down("journey" if name != "journey" else "the-cat-sat")
    before = person.document.scene
    click(person, open_gallery(person), name)
    assert not person.playground.gallery.isVisible()
    person.settle()
    fresh = attnlab.compute(attnlab.preset(name))
    for stage in fresh.all_stages:
        expected = fresh[stage].numpy()
        np.testing.assert_array_equal(person.painted(stage), expected if expected.ndim == 3 else expected[None])
    assert person.document.view.head == ("all" if attnlab.preset(name).config.n_heads > 1 else 0)
    person.undo()
    assert person.document.scene is before


def test_enter_opens_what_the_arrows_chose(person: "Person") -> None:
    shown = open_gallery(person)
    QTest.keyClick(shown, Key.Key_Right)
    wanted = shown.currentItem().text()
    QTest.keyClick(shown, Key.Key_Return)
    assert not person.playground.gallery.isVisible()
    assert person.window.windowTitle() == f"{wanted} — attnlab"


def test_opening_the_gallery_again_asks_for_no_picture_twice(person: "Person") -> None:
    open_gallery(person)
    person.wait_for(lambda: not person.playground.gallery.missing())
    person.playground.gallery.hide()
    jobs: list[object] = []
    person.playground.service.job_done.connect(lambda *job: jobs.append(job))
    open_gallery(person)
    person.press("Causal")
    person.settle()  # whatever the worker had to do before this, it has done
    assert jobs == []
    person.playground.gallery.hide()


def test_pictures_do_not_make_numbers_wait(person: "Person") -> None:
    open_gallery(person)
    missing = len(person.playground.gallery.missing())
    assert missing > 1
    person.playground.toggle_causal()
    person.settle()
    assert person.painted("weights")[0, 0, 1] == 0
    person.wait_for(lambda: not person.playground.gallery.missing())
    person.playground.gallery.hide()


def test_closing_while_pictures_are_being_made_leaves_well(person: "Person") -> None:
    open_gallery(person)
    person.playground.gallery.hide()
    assert person.window.close()


def test_a_preset_keeps_the_device_and_the_dtype(person: "Person") -> None:
    person.choose("Device and number format", "CPU float64")
    click(person, open_gallery(person), "the-cat-sat")
    person.settle()
    assert person.document.scene.dtype == "float64"
    assert person.painted("weights").dtype == np.float64


def test_a_changed_preset_is_marked_in_the_title(person: "Person") -> None:
    title = person.find(QPushButton, "Open a preset; now Your journey starts…")
    assert title.text() == "Your journey starts…  ▾"
    person.press("Causal")
    assert title.text() == "Your journey starts… •  ▾"
    assert title.accessibleName() == "Open a preset; now Your journey starts…, changed"


def test_the_untrained_preset_has_identity_tables_that_can_be_edited(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey-untrained")
    np.testing.assert_array_equal(person.in_table(), np.eye(3))
    person.type_number(0, 0, "2")
    person.settle()
    w = person.experiment.weights.W_q
    assert w is not None
    assert torch.equal(w, torch.diag(torch.tensor([2.0, 1.0, 1.0])))
    assert person.experiment.weights.W_k is None


def test_the_preset_of_heads_that_must_divide_explains_itself(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("uneven-heads")
    assert "1, 2, 5" in person.type_into_pill("Heads", "4")
    person.key(Key.Key_Escape)
