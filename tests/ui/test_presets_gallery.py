"""The gallery of worked examples: groups, search, thumbnails, and opening."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListWidget, QListWidgetItem, QPushButton

import attnlab
from attnlab.attention.examples.presets import PRESETS
from attnlab.ui.base.theme import font, px
from attnlab.ui.playground.title_button import TitleButton
from tests.ui.test_lens_area import open_tab

if TYPE_CHECKING:
    from tests.ui.conftest import Person

Key = Qt.Key
NAME = Qt.ItemDataRole.UserRole
GROUPS = tuple(dict.fromkeys(preset.group for preset in PRESETS.values()))


def open_gallery(person: "Person") -> QListWidget:
    person.press("Open a preset; now", QPushButton)
    assert person.playground.gallery.isVisible()
    return person.find(QListWidget, "Presets", person.playground.gallery)


def search(person: "Person") -> QLineEdit:
    return person.find(QLineEdit, "Search the presets", person.playground.gallery)


def lines(shown: QListWidget) -> list[QListWidgetItem]:
    return [shown.item(row) for row in range(shown.count())]


def names(shown: QListWidget) -> list[str]:
    return [line.data(NAME) for line in lines(shown) if line.data(NAME) is not None]


def marked(shown: QListWidget) -> str:
    return str(shown.currentItem().data(NAME))


def item(shown: QListWidget, name: str) -> QListWidgetItem:
    return next(line for line in lines(shown) if line.data(NAME) == name)


def click(person: "Person", shown: QListWidget, name: str) -> None:
    shown.scrollToItem(item(shown, name))
    person.click(shown.viewport(), shown.visualItemRect(item(shown, name)).center())


def test_every_preset_is_listed_once_under_its_group(person: "Person") -> None:
    shown = open_gallery(person)
    assert tuple(names(shown)) == attnlab.presets()
    heading = ""
    for line in lines(shown):
        if line.data(NAME) is None:
            heading = line.text()
            assert not line.flags() & Qt.ItemFlag.ItemIsSelectable
            continue
        preset = PRESETS[line.data(NAME)]
        assert (line.text(), line.toolTip(), heading) == (preset.title, preset.about, preset.group)
        assert preset.about in line.data(Qt.ItemDataRole.AccessibleTextRole)
    assert [line.text() for line in lines(shown) if line.data(NAME) is None] == list(GROUPS)
    assert marked(shown) == "journey"
    assert search(person).hasFocus()
    person.key(Key.Key_Escape)
    assert not person.playground.gallery.isVisible()


def test_tiles_are_side_by_side_under_full_width_headings(person: "Person") -> None:
    shown = open_gallery(person)
    rects = [shown.visualItemRect(line) for line in lines(shown)]
    width = shown.viewport().width()
    for line, rect in zip(lines(shown), rects, strict=True):
        assert rect.left() >= 0
        assert rect.right() < width
        if line.data(NAME) is None:
            assert rect.width() > 0.9 * width
    assert rects[1].top() == rects[2].top()
    assert rects[0].bottom() < rects[1].top()
    assert not any(one.intersects(other) for one, other in itertools.pairwise(rects))
    person.playground.gallery.hide()


def test_thumbnails_are_computed_when_they_become_visible(person: "Person") -> None:
    shown = open_gallery(person)
    asked = person.playground.gallery.missing()
    assert 4 <= len(asked) < len(attnlab.presets()) // 2
    person.wait_for(lambda: not person.playground.gallery.missing())
    pictured = [name for name in names(shown) if not item(shown, name).icon().isNull()]
    assert pictured == asked
    shown.verticalScrollBar().setValue(shown.verticalScrollBar().maximum())
    last = names(shown)[-1]
    assert last in person.playground.gallery.missing()
    person.wait_for(lambda: not item(shown, last).icon().isNull())
    person.playground.gallery.grab()
    person.playground.gallery.hide()


def test_the_pictures_are_those_of_the_weights(person: "Person") -> None:
    shown = open_gallery(person)
    shown.scrollToItem(item(shown, "causal-5x8"), QListWidget.ScrollHint.PositionAtTop)
    person.wait_for(
        lambda: not item(shown, "causal-5x8").icon().isNull() and not item(shown, "journey").icon().isNull()
    )

    def lightness(name: str, x: int, y: int) -> float:
        return item(shown, name).icon().pixmap(64, 64).toImage().pixelColor(x, y).lightnessF()

    assert item(shown, "causal-5x8").icon().pixmap(64, 64).toImage().pixelColor(58, 6).alpha() > 0  # hatched
    causal_first = lightness("causal-5x8", 6, 6)
    assert causal_first < lightness("journey", 6, 6)  # the first token can look at itself only
    person.playground.gallery.hide()


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_a_click_opens_a_preset_with_its_numbers(sit_down: Callable[..., "Person"], group: str) -> None:
    person = sit_down("the-cat-sat" if group != "Step by step" else "causal-5x8")
    for name in (name for name, preset in PRESETS.items() if preset.group == group):
        before = person.document.scene
        click(person, open_gallery(person), name)
        assert not person.playground.gallery.isVisible()
        person.settle()
        assert person.playground.lenses.place.startswith(PRESETS[name].lens or "canvas")
        open_tab(person, "Canvas")  # under a lens the canvas waits until it is seen again
        fresh = attnlab.compute(attnlab.preset(name))
        for stage in set(fresh.all_stages) & set(person.playground.canvas.cards):
            expected = fresh.array(stage)
            np.testing.assert_array_equal(person.painted(stage), expected if expected.ndim == 3 else expected[None])
        assert person.document.view.head == ("all" if attnlab.preset(name).config.n_heads > 1 else 0)
        person.undo()
        assert person.document.scene is before
        person.redo()


@pytest.mark.slow
def test_typing_finds_presets_by_name_title_and_line(person: "Person") -> None:
    shown = open_gallery(person)
    person.type("luong")
    assert names(shown) == ["luong-dot", "luong-general", "luong-concat"]
    assert lines(shown)[0].text() == "Scores and second sequences"
    assert marked(shown) == "luong-dot"
    person.type(" CONCAT")
    assert names(shown) == ["luong-concat"]
    search(person).clear()
    person.type("bahdanau")  # stands in a title
    assert names(shown) == ["additive"]
    search(person).clear()
    person.type("88.7 float32")  # in a line
    assert names(shown) == ["naive-softmax-overflow"]
    person.key(Key.Key_Return)
    person.settle()
    assert person.document.scene.preset == "naive-softmax-overflow"
    assert not person.playground.gallery.isVisible()


def test_an_empty_search_result_is_reported(person: "Person") -> None:
    shown = open_gallery(person)
    person.type("zzz")
    assert names(shown) == []
    assert person.find(QLabel, "No example", person.playground.gallery).isVisible()
    person.key(Key.Key_Return)
    assert person.playground.gallery.isVisible()  # there is nothing to open
    for _ in range(3):
        person.key(Key.Key_Backspace)
    assert tuple(names(shown)) == attnlab.presets()
    assert shown.isVisible()
    person.playground.gallery.hide()


def test_a_reopened_gallery_shows_all_presets_with_the_open_one_marked(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("saturated")
    open_gallery(person)
    person.type("causal")
    person.key(Key.Key_Escape)
    shown = open_gallery(person)
    assert search(person).text() == ""
    assert tuple(names(shown)) == attnlab.presets()
    assert marked(shown) == "saturated"
    assert shown.viewport().rect().contains(shown.visualItemRect(shown.currentItem()))
    person.playground.gallery.hide()


@pytest.mark.slow
def test_right_and_left_move_over_every_tile(person: "Person") -> None:
    shown = open_gallery(person)
    order = names(shown)
    walked = [marked(shown)]
    for _ in order[1:]:
        person.key(Key.Key_Right)
        walked.append(marked(shown))
        assert shown.viewport().rect().contains(shown.visualItemRect(shown.currentItem()).adjusted(1, 1, -1, -1))
    assert walked == order
    person.key(Key.Key_Right)
    assert marked(shown) == order[-1]
    person.key(Key.Key_Left)
    assert marked(shown) == order[-2]
    person.key(Key.Key_Home)
    assert marked(shown) == order[0]
    assert shown.verticalScrollBar().value() == 0  # its heading can be read too
    person.playground.gallery.hide()


def test_down_and_up_keep_the_column_and_end_in_the_search_field(person: "Person") -> None:
    shown = open_gallery(person)
    person.key(Key.Key_Right)
    left = shown.visualItemRect(shown.currentItem()).left()
    assert left > shown.visualItemRect(item(shown, "journey")).left()
    tops = []
    for _ in range(12):
        person.key(Key.Key_Down)
        rect = shown.visualItemRect(shown.currentItem())
        tops.append(rect.top() + shown.verticalScrollBar().value())
    assert tops == sorted(set(tops))
    first = set(names(shown)[: 2 if shown.viewport().width() < 840 else 3])
    for _ in range(12):
        person.key(Key.Key_Up)
    assert marked(shown) in first
    assert not search(person).hasFocus()
    person.key(Key.Key_Up)
    assert search(person).hasFocus()
    person.key(Key.Key_PageDown)
    page = shown.visualItemRect(shown.currentItem()).top() + shown.verticalScrollBar().value()
    assert page > shown.viewport().height() / 2
    person.playground.gallery.hide()


def test_letters_typed_over_the_tiles_go_to_the_field(person: "Person") -> None:
    shown = open_gallery(person)
    person.key(Key.Key_Down)
    assert shown.hasFocus()
    person.type("sparse")
    assert search(person).text() == "sparse"
    assert "sparsemax" in names(shown)
    person.key(Key.Key_Down)
    person.key(Key.Key_Backspace)
    assert search(person).text() == "spars"
    person.playground.gallery.hide()


def test_enter_opens_the_selected_preset(person: "Person") -> None:
    shown = open_gallery(person)
    QTest.keyClick(shown, Key.Key_Right)
    wanted = shown.currentItem().text()
    QTest.keyClick(shown, Key.Key_Return)
    assert not person.playground.gallery.isVisible()
    assert person.window.windowTitle() == f"{wanted} — attnlab"


def test_a_heading_opens_nothing(person: "Person") -> None:
    shown = open_gallery(person)
    person.click(shown.viewport(), shown.visualItemRect(shown.item(0)).center())
    assert person.playground.gallery.isVisible()
    assert marked(shown) == "journey"
    person.playground.gallery.hide()


def test_thumbnails_are_requested_once(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    open_gallery(person)
    person.wait_for(lambda: not person.playground.gallery.missing())
    person.playground.gallery.hide()
    jobs: list[object] = []
    monkeypatch.setattr(person.playground.gallery, "on_thumbnail", lambda *job: jobs.append(job))
    open_gallery(person)
    person.press("Causal")
    person.settle()
    person.wait_for(lambda: not person.playground.lane.busy)
    assert jobs == []
    person.playground.gallery.hide()


def test_thumbnails_do_not_delay_computation(person: "Person") -> None:
    open_gallery(person)
    missing = len(person.playground.gallery.missing())
    assert missing > 1
    person.playground.toggle_causal()
    person.settle()
    assert person.painted("weights")[0, 0, 1] == 0
    person.wait_for(lambda: not person.playground.gallery.missing())
    person.playground.gallery.hide()


def test_closing_the_gallery_while_it_computes_thumbnails_is_safe(person: "Person") -> None:
    open_gallery(person)
    person.playground.gallery.hide()
    assert person.window.close()


def test_another_theme_and_larger_type_keep_the_layout(person: "Person") -> None:
    person.window.change_settings(theme="dark", type_size=150)
    shown = open_gallery(person)
    person.wait_for(lambda: not person.playground.gallery.missing())
    assert tuple(names(shown)) == attnlab.presets()
    assert all(shown.visualItemRect(line).right() < shown.viewport().width() for line in lines(shown))
    tile = shown.visualItemRect(shown.currentItem())
    assert tile.height() < 150  # no higher than the longest description needs
    longest = max((item(shown, name) for name in names(shown)), key=lambda line: len(line.toolTip()))
    caption = QFontMetrics(font("caption"))
    wrapped = caption.boundingRect(0, 0, tile.width() - 100, 999, Qt.TextFlag.TextWordWrap, longest.toolTip())
    assert tile.height() >= px(18) + wrapped.height() + 12
    screen = person.playground.gallery.screen().availableGeometry()
    assert screen.contains(person.playground.gallery.geometry())
    person.playground.gallery.hide()


def test_a_preset_keeps_the_device_and_the_dtype(person: "Person") -> None:
    person.choose("Device and number format", "CPU float64")
    click(person, open_gallery(person), "the-cat-sat")
    person.settle()
    assert person.document.scene.dtype == "float64"
    assert person.painted("weights").dtype == np.float64


def test_a_changed_preset_is_marked_in_the_title(person: "Person") -> None:
    title = person.find(TitleButton, "Open a preset; now Your journey starts…")
    assert title.title() == "Your journey starts…"
    person.press("Causal")
    assert title.title() == "Your journey starts… •"
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


@pytest.mark.parametrize(("typed", "name"), [("eight", "multi-head-8"), ("rope", "rope")])
def test_enter_opens_the_example_that_is_typed(person: "Person", typed: str, name: str) -> None:
    """Above Eight heads are examples with weights and with eight heads, above RoPE one about a property."""
    shown = open_gallery(person)
    QTest.keyClicks(search(person), typed)
    assert names(shown)[0] != marked(shown) == name
    assert shown.viewport().rect().contains(shown.visualItemRect(shown.currentItem()))
    QTest.keyClick(search(person), Key.Key_Return)
    person.settle()
    assert person.document.scene.preset == name
