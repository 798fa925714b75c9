"""The window at small sizes: all buttons stay complete, separate and inside their bars."""

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from attnlab.attention import edits
from attnlab.document.settings import Settings
from attnlab.ui.playground.bar_message import BarMessage
from attnlab.ui.widgets.fields.pill import Pill

if TYPE_CHECKING:
    from tests.ui.conftest import Person

FIGURES = ("heads, queries, keys", "The time of the mathematics alone, from the inputs to the output")
SIZES = [(1440, 900), (1280, 800), (1100, 700), (960, 620)]


def list_seen(bar: QWidget) -> list[QAbstractButton]:
    """Return the buttons that have a place in a bar; one without room has no size."""
    return [b for b in bar.findChildren(QAbstractButton) if b.isVisible() and not b.size().isEmpty()]


def places(bar: QWidget, person: "Person") -> dict[str, QRect]:
    """Return the rectangles of a bar's buttons by name."""
    buttons = list_seen(bar)
    return {b.accessibleName() or b.text(): QRect(b.mapTo(bar, QPoint(0, 0)), b.size()) for b in buttons}


@pytest.mark.parametrize("preset", ["journey", "multi-head-8", "naive-softmax-overflow"])
def test_no_button_is_clipped_or_covered(person: "Person", preset: str, subtests: pytest.Subtests) -> None:
    person.playground.open_preset(preset)
    person.settle()
    person.playground.comparison.toggle()  # with which the bar of the lenses is at its longest
    lens_bar = person.playground.lenses.bar
    for size in SIZES:
        with subtests.test(size=size):
            person.window.resize(*size)
            person.window.grab()  # which lays out what was asked for
            person.wait_for(lambda: not lens_bar.tabs.tight)  # until the tabs without room are in the list
            for bar in (person.playground.top_bar, lens_bar, person.playground.step_bar):
                found = places(bar, person)
                assert len(found) >= 4
                for name, place in found.items():
                    assert bar.rect().contains(place), f"{name} is cut off"
                for (one, at), (other, there) in combinations(found.items(), 2):
                    assert not at.intersects(there), f"{one} and {other} lie over each other"


def test_switches_that_do_not_fit_beside_the_title_wrap_to_a_new_line(person: "Person") -> None:
    bar = person.playground.top_bar
    person.window.resize(1440, 900)
    person.wait_for(lambda: bar.title_button.geometry().right() < bar.switches.x() < bar.device.x())
    assert bar.switches.geometry().right() < bar.device.x()
    person.window.resize(1100, 700)
    person.wait_for(lambda: bar.switches.y() > bar.title_button.geometry().bottom())
    rail = person.window.rail
    assert bar.switches.x() == rail.width() + bar.title_button.x()
    assert (
        bar.switches.mapTo(person.window, QPoint(0, 0)).y() <= rail.menu_button.mapTo(person.window, QPoint(0, 0)).y()
    )
    person.window.resize(1440, 900)
    person.wait_for(lambda: bar.switches.x() > bar.title_button.geometry().right())


@pytest.mark.parametrize(
    ("size", "type_size", "lines"), [((1024, 640), 100, 2), ((1366, 768), 150, 2), ((1920, 1080), 120, 1)]
)
def test_the_rail_stands_at_the_same_height_in_every_workspace(
    sit_down: Callable[..., "Person"], size: tuple[int, int], type_size: int, lines: int
) -> None:
    person = sit_down(size=size, settings=Settings(theme="light", type_size=type_size))
    person.choose("Score", "cosine")  # which is odd, and said below the bar
    person.settle()
    window, heights = person.window, {}
    for kind in window.kinds:
        window.show_workspace(kind.name)
        window.grab()  # which lays out what was asked for
        heights[kind.name] = window.rail.menu_button.mapTo(window, QPoint(0, 0)).y()
        if kind.name == "playground":
            assert count_lines(person.playground.top_bar) == lines
            strip = person.playground.header.remarks
            assert strip.isVisible()
            assert strip.text.mapTo(window, QPoint(0, 0)).x() > window.rail.width()
    assert len(set(heights.values())) == 1, heights


def test_pills_drop_clear_labels_before_the_bar_takes_two_lines(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    bar = person.playground.top_bar
    person.window.resize(1366, 768)
    person.wait_for(lambda: bar.width() == 1366)
    pills = [b for b in list_seen(bar.switches) if isinstance(b, Pill)]
    assert bar.title_button.geometry().right() < bar.switches.x() < bar.device.x()
    short = {pill.accessibleName() for pill in pills if pill.isVisible() and pill.width() < pill.sizeHint().width()}
    without_label = {"Scale: 1/√d_k", "Show: all heads", "Weights: softmax"}
    assert short == without_label | {"Mask: none", "Positions: none", "Block: none"}
    rows = {pill.y() for pill in pills if pill.isVisible()}
    assert len(rows) == 1
    narrow = bar.switches.shown_heads.grab().toImage()
    person.window.resize(1920, 1080)
    person.wait_for(lambda: all(pill.width() == pill.sizeHint().width() for pill in pills if pill.isVisible()))
    assert bar.switches.shown_heads.grab().toImage().width() > narrow.width()


def count_lines(bar: QWidget) -> int:
    """Return in how many lines a bar's visible buttons stand."""
    middles = sorted(b.mapTo(bar, b.rect().center()).y() for b in list_seen(bar))
    return 1 + sum(b - a > 16 for a, b in pairwise(middles))


@pytest.mark.parametrize(("size", "type_size"), [((1366, 768), 200), ((1024, 640), 250)])
def test_the_bar_has_two_lines_at_most_and_a_list_of_what_has_no_room(
    sit_down: Callable[..., "Person"], size: tuple[int, int], type_size: int
) -> None:
    person = sit_down("multi-head-causal", size=size, settings=Settings(theme="light", type_size=type_size))
    person.window.grab()  # which lays out what was asked for
    bar, switches = person.playground.top_bar, person.playground.top_bar.switches
    assert count_lines(bar) == 2
    left_out = [pill for pill in switches.pills.values() if pill.size().isEmpty()]
    assert left_out
    person.click(switches.more)
    popup = switches.more.popup()
    assert popup is not None
    assert {f"{pill.label}: {pill.value_text()}" for pill in left_out} <= {row.text() for row in popup.rows()}
    person.click(next(row for row in popup.rows() if row.text() == "Score: dot"))
    assert switches.more.popup() is None
    choices = switches.pills["score"].popup()
    assert choices is not None
    assert choices.isVisible()
    assert choices.geometry().left() < person.window.geometry().right()
    person.click(next(row for row in choices.rows() if row.text() == "cosine"))
    person.settle()
    assert person.experiment.config.score == "cosine"
    person.click(switches.more)
    popup = switches.more.popup()
    assert popup is not None
    assert "Score: cosine" in [row.text() for row in popup.rows()]
    popup.close()


@pytest.mark.slow
def test_what_has_no_room_is_reached_by_keyboard_and_palette(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1024, 640), settings=Settings(theme="light", type_size=250))
    person.window.grab()
    switches = person.playground.top_bar.switches
    assert switches.pills["score"].size().isEmpty()
    switches.more.setFocus()
    person.key(Qt.Key.Key_Return, widget=switches.more)
    popup = switches.more.popup()
    assert popup is not None
    person.key(Qt.Key.Key_Down)
    person.key(Qt.Key.Key_Return)
    (opened,) = [pill for pill in switches.by_name.values() if pill.popup() is not None]
    assert opened.label == "Score"
    person.key(Qt.Key.Key_Escape)
    assert opened.popup() is None
    person.window.show_palette()
    person.type("score cosine")
    person.key(Qt.Key.Key_Return)
    person.settle()
    assert person.experiment.config.score == "cosine"
    person.window.resize(1920, 1080)
    person.window.change_settings(type_size=100)
    person.wait_for(lambda: not switches.pills["score"].size().isEmpty() and switches.more.size().isEmpty())


def test_the_list_of_what_has_no_room_shows_that_a_setting_is_changed(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1024, 640), settings=Settings(theme="light", type_size=250))
    person.window.grab()
    more = person.playground.top_bar.switches.more
    assert person.playground.top_bar.switches.pills["normalizer"] in more.list_pills()
    usual, width = more.grab().toImage(), more.width()
    assert more.accessibleDescription() == "Opens a list of choices"
    person.document.edit("Temperature 0.5", lambda e: edits.configure(e, temperature=0.5))
    person.settle()
    assert more.accessibleDescription() == "Opens a list of choices; Weights: temperature 0.5"
    assert more.grab().toImage() != usual
    assert more.width() == width
    person.document.undo()
    person.settle()
    assert more.grab().toImage() == usual


def test_a_first_edit_moves_nothing_in_the_bar(person: "Person") -> None:
    bar = person.playground.top_bar
    person.wait_for(lambda: bar.title_button.geometry().right() < bar.switches.x() < bar.device.x())
    before, drawn = places(bar, person), bar.title_button.grab().toImage()
    assert bar.title_button.title() == "Your journey starts…"
    person.type_number(0, 0, "0.5")
    person.settle()
    assert bar.title_button.title() == "Your journey starts… •"
    assert bar.title_button.accessibleName().endswith(", changed")
    person.window.grab()  # which lays out what was asked for
    after = {name.replace(", changed", ""): place for name, place in places(bar, person).items()}
    assert after == before
    assert bar.title_button.grab().toImage() != drawn  # the dot can be seen


def test_a_bar_is_laid_out_correctly_at_once(person: "Person") -> None:
    bar = person.playground.top_bar
    for width, beside in ((1100, False), (1440, True), (700, False), (1440, True)):
        bar.resize(width, bar.heightForWidth(width))  # as a layout around it does: no event is waited for
        assert (bar.switches.y() < bar.title_button.geometry().bottom()) is beside
        assert bar.rect().contains(bar.switches.geometry())


def test_a_longer_title_moves_the_switches(person: "Person") -> None:
    person.window.resize(1240, 800)
    person.playground.open_preset("the-cat-sat")
    person.settle()
    bar = person.playground.top_bar
    person.wait_for(lambda: bar.switches.y() < bar.title_button.geometry().bottom())
    person.playground.open_preset("masks-source-for-target")
    person.settle()
    person.wait_for(lambda: bar.switches.y() > bar.title_button.geometry().bottom())


def test_a_table_of_four_columns_is_not_clipped(person: "Person") -> None:
    person.playground.open_preset("the-cat-sat")
    person.settle()
    person.window.resize(1440, 900)
    person.window.grab()  # which lays out what was asked for
    grid = person.table.grid()
    assert grid.columns == 4
    assert not person.table.horizontalScrollBar().isVisible()
    assert all(grid.cell(0, column).right() < grid.width for column in range(4))


def test_long_warnings_are_elided_with_the_full_text_in_the_tool_tip(person: "Person") -> None:
    person.playground.open_preset("naive-softmax-overflow")
    person.settle()
    person.window.resize(1440, 900)
    person.window.grab()
    message = next(
        label for label in person.playground.step_bar.findChildren(QWidget) if label.objectName() == "message"
    )
    assert person.message().startswith("weights: 14 of 36 values are ∞ or NaN in float32.")
    assert message.toolTip() == person.message()


def test_the_reason_of_a_failed_save_is_read_in_the_bar_with_large_type(person: "Person") -> None:
    person.window.change_settings(type_size=150)
    person.window.resize(1366, 768)
    person.window.grab()
    bar, reason = person.playground.step_bar, "cannot be written: Permission denied."
    bar.show_message(f"/home/me/{'lectures/' * 12}session.attnlab {reason}")
    (message,) = bar.findChildren(BarMessage)
    person.wait_for(lambda: message.visible_text.endswith(reason))


def test_the_hint_of_painting_is_read_beside_the_steps_with_large_type(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1024, 640), settings=Settings(theme="dark", type_size=170))
    person.window.actions_list.run("paint-mask")
    (message,) = person.playground.step_bar.findChildren(BarMessage)
    person.wait_for(lambda: message.visible_text == person.message() != "")
    assert person.playground.step_bar.progress.isVisible()
    person.key(Qt.Key.Key_Escape)
    assert not person.playground.canvas.painting
    assert person.message() == "", "the hint goes with the painting"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_titles_of_heads_end_before_the_card_does(person: "Person", size: tuple[int, int]) -> None:
    person.playground.open_preset("head-ablated")
    person.settle()
    canvas = person.playground.canvas
    before = canvas.size()
    person.window.resize(*size)
    person.wait_for(lambda: canvas.size() != before or size == SIZES[0])
    for stage in ("queries", "keys", "values"):
        picture = canvas.cards[stage].grab().toImage()
        middle = range(picture.height() // 4, picture.height() * 3 // 4)
        rim = {picture.pixelColor(picture.width() - 3, y).name() for y in middle}
        assert len(rim) == 1, f"something of {stage} runs into its edge"


@pytest.mark.parametrize(("width", "told"), [(1100, 3), (760, 1)])
def test_the_status_of_the_last_computation_is_not_clipped(person: "Person", width: int, told: int) -> None:
    person.window.resize(width, 560)
    bar = person.playground.step_bar
    person.wait_for(lambda: bar.mapTo(person.window, bar.rect().bottomRight()).x() == width - 1)
    figures = [label for label in bar.findChildren(QLabel) if "rows sum" in label.text() or label.toolTip() in FIGURES]
    shown = [label for label in figures if label.isVisible()]
    person.wait_for(lambda: all(label.width() >= label.sizeHint().width() for label in shown))
    assert len(shown) == told
    assert shown[-1].text() == "✓ rows sum to 1"


def test_the_check_of_the_row_sums_is_brief_where_words_have_no_room(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("journey", size=(1024, 640), settings=Settings(theme="light", type_size=250))
    sums = person.playground.step_bar.figures.sums
    person.wait_for(lambda: sums.text() == "✓ Σ = 1")
    person.window.grab()
    assert sums.width() >= sums.sizeHint().width()
    assert sums.accessibleName() == "✓ rows sum to 1"
    person.window.change_settings(type_size=100)
    person.wait_for(lambda: sums.text() == "✓ rows sum to 1")
