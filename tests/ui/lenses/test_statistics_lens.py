"""The statistics lens shows live statistics of every row of weights and of every stage."""

import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

import attnlab
from attnlab.attention.stages.arithmetic import number
from attnlab.attention.stages.explain import Cell
from attnlab.attention.stages.trace import Trace
from attnlab.document.document import View
from attnlab.document.settings import Settings
from attnlab.ui.base.theme import px
from attnlab.ui.playground.lenses.statistics_lens import StatisticsLens
from attnlab.ui.playground.tab_button import TabButton
from attnlab.ui.widgets.numbers.number_table import NumberTable

if TYPE_CHECKING:
    from tests.ui.conftest import Person


@pytest.fixture(scope="module")
def trace() -> Trace:
    return attnlab.compute(attnlab.preset("multi-head-causal"))


@pytest.fixture
def lens(qtbot: QtBot, trace: Trace) -> Iterator[StatisticsLens]:
    made = StatisticsLens(lambda key, job: None)
    made.resize(1100, 760)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.show_trace(trace, View(head="all"))
    yield made
    made.close()


def read(table: NumberTable) -> dict[str, list[str]]:
    model = table.view.model()
    titles = [str(model.headerData(c, Qt.Orientation.Horizontal)).rstrip(" ↑↓") for c in range(model.columnCount())]
    return {title: [model.index(row, c).data() for row in range(model.rowCount())] for c, title in enumerate(titles)}


def click_header(table: NumberTable, title: str) -> None:
    header, section = table.view.horizontalHeader(), list(read(table)).index(title)
    at = QPoint(header.sectionViewportPosition(section) + 20, header.height() // 2)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)


def look(lens: StatisticsLens, text: str) -> None:
    (button,) = (b for b in lens.findChildren(TabButton) if b.text() == text)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_every_row_of_every_head_is_listed(lens: StatisticsLens, trace: Trace) -> None:
    rows, weights = read(lens.rows), trace.array("weights").astype(np.float64)
    heads, queries, _ = weights.shape
    assert len(rows["head"]) == heads * queries
    line = 3 * queries + 4
    row = weights[3, 4].tolist()
    tokens = trace.experiment.tokens
    assert (rows["head"][line], rows["query"][line]) == ("3", tokens[4])
    assert rows["largest"][line] == number(max(row))
    assert rows["strongest"][line] == tokens[row.index(max(row))]
    entropy = -sum(w * math.log(w) for w in row if w > 0)
    assert rows["entropy"][line] == number(entropy)
    assert rows["effective"][line] == number(math.exp(entropy))
    assert rows["distance"][line] == number(sum(w * abs(4 - j) for j, w in enumerate(row)))


def test_it_follows_the_visible_head(lens: StatisticsLens, trace: Trace) -> None:
    lens.show_view(View(head=2))
    assert set(read(lens.rows)["head"]) == {"2"}
    lens.show_view(View(head="mean"))
    assert set(read(lens.rows)["head"]) == {"mean"}
    assert read(lens.rows)["largest"] == [number(w) for w in trace.mean("weights").max(-1)]


def test_stages_are_described(lens: StatisticsLens, trace: Trace) -> None:
    stages = read(lens.stages)
    at = stages["stage"].index("Scores")
    scores = trace.array("scores")
    assert stages["shape"][at] == "8×5×5"
    assert (stages["smallest"][at], stages["largest"][at]) == (number(scores.min()), number(scores.max()))
    assert set(stages["NaN"]) == set(stages["∞"]) == {"0"}


def test_heads_are_means_of_their_rows(lens: StatisticsLens, trace: Trace) -> None:
    look(lens, "Heads")
    assert lens.heads.isVisible()
    assert not lens.rows.isVisible()
    shown = read(lens.heads)
    largest = trace.array("weights").astype(np.float64).max(-1)
    assert shown["largest"] == [number(sum(row) / len(row)) for row in largest.tolist()]
    look(lens, "Rows")
    assert lens.rows.isVisible()


def test_order_and_selection_survive_an_update(lens: StatisticsLens) -> None:
    click_header(lens.rows, "entropy")
    click_header(lens.rows, "entropy")
    lens.rows.view.selectRow(1)
    chosen = lens.rows.list_selected_rows()
    other = attnlab.compute(attnlab.preset("multi-head-causal"), dtype="bfloat16")
    lens.show_trace(other, View(head="all"))
    entropies = [float(text.replace("−", "-")) for text in read(lens.rows)["entropy"]]
    assert entropies == sorted(entropies, reverse=True)
    assert lens.rows.list_selected_rows() == chosen


@pytest.mark.parametrize("type_size", [100, 150])
@pytest.mark.parametrize("preset", ["multi-head-8", "journey"])
def test_every_column_is_visible(sit_down: Callable[..., "Person"], type_size: int, preset: str) -> None:
    person = sit_down(preset, settings=Settings(theme="light", type_size=type_size))
    person.window.resize(1280, 800)
    person.playground.lenses.open_lens("statistics")
    (lens,) = person.window.findChildren(StatisticsLens)
    for name, tables in (("Rows", (lens.rows, lens.stages)), ("Heads", (lens.heads, lens.stages))):
        look(lens, name)
        for table in tables:
            person.wait_for(lambda view=table.view: view.horizontalScrollBar().maximum() == 0)
            metrics, header, model = table.view.fontMetrics(), table.view.horizontalHeader(), table.view.model()
            assert header.length() <= table.view.viewport().width()
            for section in range(model.columnCount()):
                cells = [model.index(row, section).data() for row in range(model.rowCount())]
                numbers = [line for cell in cells for line in cell.split("\n") if re.fullmatch(r"[−\d.e]+", line)]
                assert max(map(metrics.horizontalAdvance, numbers), default=0) + 2 * px(8) < header.sectionSize(section)


def test_large_type_folds_the_explanation_until_a_row_is_activated(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8", size=(1366, 768), settings=Settings(theme="light", type_size=175))
    area, explain = person.playground.lenses, person.playground.explain
    assert explain.isVisible()
    area.open_lens("statistics")
    (lens,) = person.window.findChildren(StatisticsLens)
    person.wait_for(lambda: not explain.isVisible())
    person.wait_for(lambda: lens.rows._model.lines == 1)
    assert lens.stages._model.lines == 1
    area.open_lens("canvas")
    person.wait_for(explain.isVisible)
    area.open_lens("statistics")
    person.wait_for(area.bar.explain.isVisible)
    lens.rows.view.selectRow(7)
    QTest.keyClick(lens.rows.view, Qt.Key.Key_Return)
    person.wait_for(explain.isVisible)
    person.settle()
    cell = person.document.view.cell
    assert cell is not None
    assert (cell.stage, cell.row) == ("weights", 7)


def test_long_tables_stand_beside_each_other_where_there_is_room(sit_down: Callable[..., "Person"]) -> None:
    person = sit_down("multi-head-8", size=(1920, 1080), settings=Settings(theme="light"))
    person.playground.lenses.open_lens("statistics")
    (lens,) = person.window.findChildren(StatisticsLens)

    def stand(*, beside: bool) -> bool:
        rows, heads, stages = (
            QRect(table.mapTo(lens, QPoint()), table.size()) for table in (lens.rows, lens.heads, lens.stages)
        )
        upper = rows if lens.rows.isVisible() else heads
        return stages.left() > upper.right() if beside else stages.top() > upper.bottom()

    person.wait_for(lambda: stand(beside=True))
    assert lens.rows.width() >= lens.rows.measure_width()
    assert lens.stages.width() >= lens.stages.measure_width()
    look(lens, "Heads")  # all eight lines have room above the stages
    person.wait_for(lambda: stand(beside=False))
    look(lens, "Rows")
    person.wait_for(lambda: stand(beside=True))
    person.window.change_settings(type_size=175)  # too wide for both
    person.wait_for(lambda: stand(beside=False))
    person.window.change_settings(type_size=100)
    person.wait_for(lambda: stand(beside=True))


def test_activating_a_row_selects_its_strongest_weight(lens: StatisticsLens, trace: Trace, qtbot: QtBot) -> None:
    click_header(lens.rows, "distance")
    lens.rows.view.selectRow(7)
    (row,) = lens.rows.list_selected_rows()
    head, query = divmod(row, trace.experiment.T_q)
    with qtbot.waitSignal(lens.cell_clicked) as came:
        QTest.keyClick(lens.rows.view, Qt.Key.Key_Return)
    strongest = int(trace.array("weights")[head, query].argmax())
    assert came.args == [Cell("weights", query, strongest, head)]


def test_no_table_is_cut_while_the_other_is_half_empty(lens: StatisticsLens) -> None:
    lens.show_trace(attnlab.compute(attnlab.preset("journey")), View())
    lens.resize(720, 620)
    lens.grab()
    for table in (lens.rows, lens.stages):
        assert table.view.verticalScrollBar().maximum() == 0
    lens.resize(720, 420)
    lens.grab()
    assert lens.split.sizes()[0] == pytest.approx(lens.split.sizes()[1] * 1.5, rel=0.1)
    lens.split.moveSplitter(120, 1)
    lens.resize(720, 620)
    lens.grab()
    assert lens.split.sizes()[0] < 250  # the line stays where it was dragged
