"""The lens area: each lens has a tab and real numbers, is live while visible and idle while hidden."""

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QListWidget, QPushButton, QRadioButton
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.registries.positions import sinusoidal
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.compute import cost
from attnlab.compute.precision import compare_formats, summarize
from attnlab.document.settings import Settings
from attnlab.lessons.lenses import LENSES, read_entry
from attnlab.lessons.parse import parse
from attnlab.ui.playground import lenses
from attnlab.ui.playground.lens_area import LensArea
from attnlab.ui.playground.lens_bar import CANVAS
from attnlab.ui.playground.lenses.cost_lens import CostLens
from attnlab.ui.playground.lenses.lens import Lens
from attnlab.ui.playground.lenses.positions_lens import PositionsLens
from attnlab.ui.playground.lenses.precision_lens import PrecisionLens
from attnlab.ui.playground.lenses.saturation_lens import SaturationLens
from attnlab.ui.playground.lenses.statistics_lens import StatisticsLens
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from tests.ui.conftest import Person, W

Key = Qt.Key
TITLES = {name: lens.title for name, lens in LENSES.items()}


def open_tab(person: "Person", title: str) -> None:
    bar = person.playground.lenses.bar
    if title in [tab.text() for tab in bar.tabs.buttons() if tab.isVisible()]:
        person.click(person.find(QRadioButton, title, bar.tabs))
    else:
        person.click(bar.more)
        choose_view(person, title)
    finish_jobs(person)


def choose_view(person: "Person", title: str) -> None:
    """Choose a view in the open list of those without a tab."""
    popup = person.playground.lenses.bar.more.popup()
    assert popup is not None
    person.click(person.find(QRadioButton, title, popup))


def finish_jobs(person: "Person") -> None:
    """Wait until all jobs so far are done."""
    person.wait_for(lambda: not person.playground.lane.busy)


def settle(person: "Person") -> None:
    person.settle()
    finish_jobs(person)


def lens(person: "Person", kind: "type[W]") -> "W":
    """Return the visible lens, which must be of a kind."""
    (found,) = [one for one in person.window.findChildren(Lens) if one.isVisible()]
    assert isinstance(found, kind)
    return found


def jobs(person: "Person") -> list[str]:
    """Return a list that records the name of the lens of every job from now on."""
    asked: list[str] = []
    playground, begin = person.playground, person.playground.run_for_lens

    def run(job: Any, on_done: Any, on_failed: Any, latest: Any = None) -> None:
        asked.append(on_done.func.__self__.name)
        begin(job, on_done, on_failed, latest)

    for each in (playground.lenses, *playground.lenses.findChildren(Lens)):
        each._run = run
    return asked


def read(table: NumberTable) -> dict[str, list[str]]:
    model = table.view.model()
    titles = [str(model.headerData(c, Qt.Orientation.Horizontal)).rstrip(" ↑↓") for c in range(model.columnCount())]
    return {title: [model.index(row, c).data() for row in range(model.rowCount())] for c, title in enumerate(titles)}


def change_number(person: "Person", text: str) -> None:
    person.open_table("W_q")
    person.type_number(0, 0, text)
    settle(person)


def held(person: "Person") -> Cell | None:
    """Return the selected cell."""
    return person.document.view.cell if person.document.view.pinned else None


# Tabs


def test_the_canvas_is_shown_first_and_no_lens_is_created(person: "Person") -> None:
    tabs = person.playground.lenses.bar.tabs
    assert [button.text() for button in tabs.buttons()] == ["Canvas", *TITLES.values()]
    assert tabs.value() == CANVAS
    assert person.playground.canvas.isVisible()
    assert not person.window.findChildren(Lens)


@pytest.mark.slow
def test_each_tab_opens_its_lens_and_returns(person: "Person", subtests: pytest.Subtests) -> None:
    for name, title in TITLES.items():
        if name == "cost":
            continue
        with subtests.test(name=name):
            open_tab(person, title)
            shown = next(each for each in person.window.findChildren(Lens) if each.isVisible())
            assert shown.name == name
            assert shown.accessibleName() == title
            assert not person.playground.canvas.isVisible()
            person.window.grab()
            open_tab(person, "Canvas")
            assert person.playground.canvas.isVisible()
            assert not shown.isVisible()
            person.check_every_number()
            open_tab(person, title)
            assert [each for each in person.window.findChildren(Lens) if each.isVisible()] == [shown]
            open_tab(person, "Canvas")


def test_in_a_narrow_window_the_bar_wraps(qtbot: QtBot) -> None:
    area = LensArea(lambda *_: None)
    qtbot.addWidget(area)
    bar = area.bar
    area.show_pin(True, "present")
    area.resize(240, 500)
    area.show()
    qtbot.waitUntil(bar.more.isVisible)
    shown = [bar.more, bar.strips, bar.pin, *bar.tabs.buttons()[: bar.tabs.count_shown()], *bar.looks.buttons()]

    def find_places() -> list[QRect]:
        return [QRect(widget.mapTo(area, QPoint()), widget.size()) for widget in shown]

    qtbot.waitUntil(lambda: all(place.left() >= 0 and place.right() < 240 for place in find_places()))
    places = find_places()
    assert all(widget.isVisible() for widget in shown)
    assert all(place.bottom() <= area.canvas.mapTo(area, QPoint()).y() for place in places)
    assert all(not one.intersects(other) for one, other in combinations(places, 2))


def test_tabs_that_do_not_fit_in_a_line_are_in_a_list(person: "Person") -> None:
    bar = person.playground.lenses.bar
    person.window.resize(1920, 1080)
    person.wait_for(lambda: bar.tabs.count_shown() == len(TITLES) + 1)
    assert bar.more.isHidden()
    person.window.resize(1100, 700)
    person.wait_for(bar.more.isVisible)
    count = bar.tabs.count_shown()
    assert {tab.isVisible() for tab in bar.tabs.buttons()[:count]} == {True}
    assert not any(tab.isVisible() for tab in bar.tabs.buttons()[count:])
    assert bar.height() < 2 * bar.tabs.height()  # one line
    assert not bar.tabs.tight
    assert bar.more.list_entries() == list(TITLES.values())[count - 1 :]
    open_tab(person, "Precision")
    assert lens(person, PrecisionLens).isVisible()
    assert bar.more.accessibleName() == "More views: Precision"
    assert not any(tab.isChecked() for tab in bar.tabs.buttons()[:count])
    assert bar.tabs.count_shown() == count  # naming the view changes no tab
    person.window.resize(1920, 1080)
    person.wait_for(bar.more.isHidden)
    assert [tab.text() for tab in bar.tabs.buttons() if tab.isChecked()] == ["Precision"]
    open_tab(person, "Canvas")


def test_a_long_title_takes_no_second_row_if_it_fits_alone(sit_down: "Callable[..., Person]") -> None:
    """In a small window with large type the link of the first steps took a row of its own in some lenses."""
    person = sit_down(size=(1024, 640), settings=Settings(type_size=175))
    area = person.playground.lenses
    for name in ("masks", "contributions", "sensitivity"):
        area.open_lens(name)
        person.settle()
        assert person.playground.first_steps_place.link.isVisible()
        person.wait_for(lambda: area.bar.height() < 2 * area.bar.tabs.height())
        assert area.bar.more.value_text().lower() == name


def test_a_view_without_a_tab_is_opened_with_the_keyboard(person: "Person") -> None:
    bar = person.playground.lenses.bar
    person.window.resize(1100, 700)
    person.wait_for(bar.more.isVisible)
    bar.tabs.setFocus()
    person.key(Key.Key_Tab)
    assert bar.more.hasFocus()
    person.key(Key.Key_Space)
    person.key(Key.Key_Return)
    finish_jobs(person)
    assert person.playground.lenses.current == list(TITLES)[bar.tabs.count_shown() - 1]
    open_tab(person, "Canvas")


def test_the_tabs_can_be_walked_with_the_keyboard(person: "Person") -> None:
    tabs = person.playground.lenses.bar.tabs
    tabs.setFocus()
    person.key(Key.Key_Right)
    assert lens(person, Lens).name == "arrows"
    person.key(Key.Key_Right)
    assert lens(person, Lens).name == "statistics"
    person.key(Key.Key_Left)
    person.key(Key.Key_Left)
    assert person.playground.canvas.isVisible()
    finish_jobs(person)


def test_the_command_palette_opens_a_lens(person: "Person") -> None:
    person.key(Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    person.type("lens precision")
    person.key(Key.Key_Return)
    finish_jobs(person)
    assert lens(person, Lens).name == "precision"
    assert person.playground.lenses.bar.tabs.value() == "precision"
    open_tab(person, "Canvas")


def test_the_canvas_shows_what_was_edited_and_held_under_a_lens(person: "Person") -> None:
    open_tab(person, "Statistics")
    change_number(person, "4")
    person.document.select(Cell("weights", 1, 0, 0), pin=True)
    change_number(person, "-3")
    open_tab(person, "Canvas")
    card = person.playground.canvas.cards["weights"]
    expected = attnlab.compute(person.experiment).array("weights")
    assert card.data is not None
    assert np.array_equal(card.data.values, expected)
    assert card.current_cell == expected.shape[2]
    person.undo()
    settle(person)
    assert np.array_equal(card.data.values, attnlab.compute(person.experiment).array("weights"))


# What each shows


def test_statistics_are_those_of_the_weights_and_follow_an_edit(person: "Person") -> None:
    open_tab(person, "Statistics")
    for text in ("", "4", "-3"):
        if text:
            change_number(person, text)
        rows = read(lens(person, StatisticsLens).rows)
        weights = attnlab.compute(person.experiment).array("weights")[0].astype(np.float64)
        assert rows["query"] == list(person.experiment.tokens)
        assert rows["sum"] == [number(row.sum()) for row in weights]
        assert rows["largest"] == [number(row.max()) for row in weights]
        assert rows["strongest"] == [person.experiment.tokens[int(row.argmax())] for row in weights]
        assert rows["entropy"] == [number(-(row * np.log(row)).sum()) for row in weights]
    open_tab(person, "Canvas")


def test_activating_a_row_of_statistics_selects_its_cell(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    open_tab(person, "Statistics")
    table = lens(person, StatisticsLens).rows
    weights = person.playground.reply.trace.array("weights") if person.playground.reply is not None else None
    assert weights is not None
    queries = weights.shape[1]
    table.view.selectRow(2 * queries + 3)
    table.view.setFocus()
    person.key(Key.Key_Return, widget=table.view)
    strongest = int(weights[2, 3].argmax())
    assert held(person) == Cell("weights", 3, strongest, 2)
    texts = [label.text() for label in person.playground.explain.findChildren(QLabel) if label.isVisible()]
    assert number(float(weights[2, 3, strongest])) in texts
    open_tab(person, "Canvas")
    assert held(person) == Cell("weights", 3, strongest, 2)
    person.key(Key.Key_Escape)
    assert held(person) is None


def test_statistics_can_be_sorted_by_click_and_copied_with_every_digit(person: "Person") -> None:
    open_tab(person, "Statistics")
    table = lens(person, StatisticsLens).rows
    header, section = table.view.horizontalHeader(), list(read(table)).index("largest")
    at = QPoint(header.sectionViewportPosition(section) + 20, header.height() // 2)
    person.click(header.viewport(), at)
    largest = [float(text) for text in read(table)["largest"]]
    assert largest == sorted(largest)
    table.view.setFocus()
    person.key(Key.Key_A, Qt.KeyboardModifier.ControlModifier, table.view)
    person.press("Copy Rows of weights", QAbstractButton)
    lines = [line.split("\t") for line in table.text().splitlines()]
    assert [float(line[section]) for line in lines[1:]] == pytest.approx(largest, abs=6e-5)
    assert max(len(line[section]) for line in lines[1:]) > 8
    open_tab(person, "Canvas")


def test_precision_is_measured_and_follows_an_edit(person: "Person") -> None:
    open_tab(person, "Precision")
    first = lens(person, PrecisionLens).sentence.text()
    assert first == summarize(compare_formats(person.experiment))
    change_number(person, "30")
    second = lens(person, PrecisionLens).sentence.text()
    assert second == summarize(compare_formats(person.experiment))
    assert second != first
    open_tab(person, "Canvas")


def test_saturation_shows_the_standard_deviation_of_the_scores_and_follows_an_edit(person: "Person") -> None:
    open_tab(person, "Saturation")
    told = []
    for text in ("", "20"):
        if text:
            change_number(person, text)
        trace = attnlab.compute(person.experiment)
        raw, scaled = (trace.array(name).astype(np.float64).std() for name in ("scores", "scaled"))
        told.append(lens(person, SaturationLens).text.text())
        spread = [
            float(found) for found in re.findall(r"standard deviation (\d+\.\d+), ÷ √d_k (\d+\.\d+)", told[-1])[0]
        ]
        assert spread == [pytest.approx(raw, rel=0.05), pytest.approx(scaled, rel=0.05)]
        assert told[-1].startswith("d_k = 2:")
    assert told[0] != told[1]
    open_tab(person, "Canvas")


def test_positions_are_shown_and_tokens_can_be_shuffled(person: "Person") -> None:
    open_tab(person, "Positions")
    shown = lens(person, PositionsLens)
    assert shown.encoding.map.data is not None
    np.testing.assert_array_equal(shown.encoding.map.data.values[0], sinusoidal(100, 128).numpy()[:50])
    person.press("Positions: Order")
    finish_jobs(person)
    said = [label.text() for label in shown.order.sentences if label.isVisible()]
    assert said[0].startswith("Without positions: the largest difference is 0.0000")
    steps, tokens = len(person.history()), person.experiment.tokens
    person.press("Shuffle the tokens of the experiment")
    settle(person)
    assert person.history()[steps:] == ["Shuffle the tokens"]
    assert person.experiment.tokens != tokens
    assert sorted(person.experiment.tokens) == sorted(tokens)
    open_tab(person, "Canvas")


def test_cost_is_measured_when_visible(person: "Person", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "MOST_RUNS", 1)
    open_tab(person, "Cost")
    shown = lens(person, CostLens)
    person.wait_for(lambda: shown.state.text().startswith("Measured for"))
    assert shown.state.text() == "Measured for T = 6, 1 head, d_k = 2, 9 stages in float32."
    texts = [label.text() for label in shown.findChildren(QLabel) if label.isVisible()]
    assert "cpu" in texts
    assert any(re.fullmatch(r"[\d.e+-]+ ms", text) for text in texts)
    assert shown.loops.text().startswith("Loops ")
    done = jobs(person)
    change_number(person, "2")
    assert not done
    open_tab(person, "Canvas")


# Hidden lenses cost nothing


@pytest.mark.slow
def test_a_hidden_lens_is_not_computed(person: "Person") -> None:
    for title in ("Statistics", "Precision", "Saturation", "Positions", "Canvas"):
        open_tab(person, title)
    statistics, precise = (person.window.findChild(kind) for kind in (StatisticsLens, PrecisionLens))
    assert isinstance(statistics, StatisticsLens)
    assert isinstance(precise, PrecisionLens)
    rows, sentence = read(statistics.rows), precise.sentence.text()
    done = jobs(person)
    change_number(person, "40")
    person.press("Causal")
    settle(person)
    assert not done
    assert read(statistics.rows) == rows
    assert precise.sentence.text() == sentence
    open_tab(person, "Statistics")
    assert not done
    now = read(statistics.rows)
    assert now != rows
    assert now["largest"][0] == "1.0000"  # the first row sees itself alone
    open_tab(person, "Precision")
    assert done == ["precision"]
    assert precise.sentence.text() == summarize(compare_formats(person.experiment))
    open_tab(person, "Canvas")


def test_only_the_visible_lens_receives_changes(person: "Person") -> None:
    open_tab(person, "Precision")
    open_tab(person, "Saturation")
    done = jobs(person)
    change_number(person, "3")
    assert set(done) == {"saturation"}
    open_tab(person, "Canvas")


def test_without_a_lens_the_trace_has_only_the_stages(person: "Person") -> None:
    change_number(person, "3")
    assert person.playground.reply is not None
    trace = person.playground.reply.trace
    assert trace is not None
    assert set(trace._arrays) == {*trace.all_stages, "weights/mean"}
    assert not person.window.findChildren(Lens)


# Together with the rest


@pytest.mark.parametrize(("name", "title"), [("saturated", "saturation"), ("order-blind", "positions")])
def test_a_preset_opens_through_its_lens(person: "Person", name: str, title: str) -> None:
    open_preset(person, name)
    assert lens(person, Lens).name == title
    assert person.playground.lenses.bar.tabs.value() == title
    open_preset(person, "journey")
    assert person.playground.canvas.isVisible()
    assert person.playground.lenses.bar.tabs.value() == CANVAS


def test_a_window_opened_on_a_preset_opens_its_lens(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("saturated-scaled")
    finish_jobs(person)
    assert lens(person, Lens).name == "saturation"
    assert lens(person, SaturationLens).text.text().startswith("d_k = ")
    open_tab(person, "Canvas")


def open_preset(person: "Person", name: str) -> None:
    person.press("Open a preset; now", QPushButton)
    shown = person.find(QListWidget, "Presets", person.playground.gallery)
    lines = [shown.item(row) for row in range(shown.count())]
    line = next(line for line in lines if line.data(Qt.ItemDataRole.UserRole) == name)
    shown.scrollToItem(line)
    person.click(shown.viewport(), shown.visualItemRect(line).center())
    settle(person)


def test_the_brush_returns_to_the_canvas(person: "Person") -> None:
    open_tab(person, "Statistics")
    person.playground.mask.toggle()
    assert person.playground.canvas.isVisible()
    assert person.playground.lenses.bar.tabs.value() == CANVAS
    person.key(Key.Key_Escape)
    assert not person.playground.canvas.painting


def test_an_open_lens_follows_undo(person: "Person") -> None:
    open_tab(person, "Statistics")
    before = read(lens(person, StatisticsLens).rows)
    person.press("Causal")
    settle(person)
    assert read(lens(person, StatisticsLens).rows) != before
    QTest.keyClick(person.window, Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle(person)
    assert read(lens(person, StatisticsLens).rows) == before
    open_tab(person, "Canvas")


def test_a_lens_describes_the_visible_head(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-causal")
    open_tab(person, "Statistics")
    person.choose("Show", "head 3")
    assert set(read(lens(person, StatisticsLens).rows)["head"]) == {"3"}
    person.choose("Show", "all heads")
    assert len(read(lens(person, StatisticsLens).rows)["head"]) == 8 * person.experiment.T_q
    open_tab(person, "Canvas")


def test_figures_and_comparison_are_disabled_while_a_lens_is_open(person: "Person") -> None:
    person.press("Pin")
    person.press("Both")
    open_tab(person, "Statistics")
    change_number(person, "8")
    bar = person.playground.lenses.bar
    present, *others = bar.looks.buttons()
    assert present.isChecked(), "the table shows the current state"
    figures = person.find(QPushButton, "Figures on the cards")
    assert not figures.isEnabled()
    assert "no cards" in figures.toolTip()
    assert not any(button.isEnabled() for button in others)
    open_tab(person, "Backward")
    assert all(button.isEnabled() for button in others)
    open_tab(person, "Canvas")
    assert bar.looks.value() == "both"
    person.press("Difference")
    now, then = attnlab.compute(person.experiment), attnlab.compute(attnlab.preset("journey"))
    np.testing.assert_array_equal(person.painted("scores"), now.array("scores") - then.array("scores"))
    person.press("Present")


def test_a_new_lens_is_one_module(sit_down: Callable[..., "Person"], monkeypatch: pytest.MonkeyPatch) -> None:
    added = Path(__file__).parents[1] / "added" / "lenses"
    monkeypatch.setattr(lenses, "__path__", [*lenses.__path__, str(added)])
    entry = read_entry((added / "token_count_lens.py").read_text(encoding="utf-8"))
    monkeypatch.setitem(LENSES, "token_count", entry)
    person = sit_down()
    open_tab(person, "Token count")
    assert person.find(QLabel, "6 tokens").isVisible()
    person.playground.lenses.open_lens("canvas")
    person.window.show_palette()
    person.type("lens token")
    person.key(Key.Key_Return)
    assert person.playground.lenses.current == "token_count"
    lesson = parse(
        "---\ntitle: Tokens\n---\n\n## Count\n\n```state\npreset: journey\nlens: token_count\n```\n", "tokens"
    )
    assert (lesson.problems, lesson.steps[0].lens) == ((), "token_count")


def test_only_the_chosen_view_has_a_ring(person: "Person") -> None:
    bar = person.playground.lenses.bar
    person.window.resize(1100, 700)
    person.wait_for(bar.more.isVisible)
    person.click(bar.tabs.buttons()[0])
    assert bar.tabs.buttons()[0].hasFocus()
    open_tab(person, "Precision")
    assert person.window.focusWidget() is bar.more
    open_tab(person, "Canvas")
