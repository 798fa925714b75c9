"""The precision lens measures each dtype in the background, and shows only the newest result."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from shiboken6 import delete

import attnlab
from attnlab.attention import edits
from attnlab.compute.precision import compare_formats, format_difference, summarize
from attnlab.document.document import View
from attnlab.ui.playground.lenses.precision_lens import PrecisionLens
from attnlab.ui.playground.tab_button import TabButton
from tests.ui.lenses.beside import Beside


@pytest.fixture
def service(qtbot: QtBot) -> Iterator[Beside]:
    made = Beside()
    yield made
    made.stop()


@pytest.fixture
def lens(qtbot: QtBot, service: Beside) -> Iterator[PrecisionLens]:
    made = PrecisionLens(service.run)
    made.resize(700, 500)
    qtbot.addWidget(made)
    made.show()
    yield made
    made.close()


def column(lens: PrecisionLens, section: int) -> list[str]:
    model = lens.table.view.model()
    return [model.index(row, section).data() for row in range(model.rowCount())]


def test_results_appear_in_the_table_and_the_sentence(lens: PrecisionLens, service: Beside, qtbot: QtBot) -> None:
    e = attnlab.preset("causal-5x8")
    with qtbot.waitSignal(service.job_done):
        lens.show_trace(attnlab.compute(e), View())
        assert lens.sentence.text() == "Computing in four number formats …"
    found = compare_formats(e)
    assert lens.sentence.text() == summarize(found)
    assert column(lens, 0) == [d.title for d in found if d.format == "float32"]
    assert column(lens, 2) == [format_difference(d.absolute) for d in found if d.format == "bfloat16"]
    (relative,) = (b for b in lens.findChildren(TabButton) if b.text() == "Relative")
    QTest.mouseClick(relative, Qt.MouseButton.LeftButton)
    assert column(lens, 3) == [format_difference(d.relative) for d in found if d.format == "float16"]


def test_a_closed_lens_receives_no_result(service: Beside, qtbot: QtBot) -> None:
    lens = PrecisionLens(service.run)
    lens.show_trace(attnlab.compute(attnlab.preset("journey")), View())
    delete(lens)  # as at the end of a presentation
    with qtbot.waitSignal(service.job_done, check_params_cb=lambda key, _: key == "end"):
        service.mark("end")  # and a fault that was reported fails the test


def test_a_result_overtaken_by_an_edit_is_dropped(lens: PrecisionLens, service: Beside, qtbot: QtBot) -> None:
    keys: list[object] = []
    service.job_done.connect(lambda key, _: keys.append(key))
    e = attnlab.preset("journey")
    for value in range(20):
        e = edits.set_block(e, "W_q", 0, 0, [[value]])
        lens.show_trace(attnlab.compute(e), View())
    qtbot.waitUntil(lambda: not service.lane.busy)
    assert column(lens, 1) == [format_difference(d.absolute) for d in compare_formats(e) if d.format == "float32"]
    assert keys == ["precision"]  # nineteen did not begin, or nobody heard of them
    assert lens.sentence.text() == summarize(compare_formats(e))


def test_the_same_experiment_is_measured_once(lens: PrecisionLens, service: Beside, qtbot: QtBot) -> None:
    e = attnlab.preset("journey")
    keys: list[object] = []
    service.job_done.connect(lambda key, _: keys.append(key))
    with qtbot.waitSignal(service.job_done):
        lens.show_trace(attnlab.compute(e), View())
    lens.show_trace(attnlab.compute(e, dtype="float64"), View(head="mean"))
    with qtbot.waitSignal(service.job_done):
        service.mark("end")
    assert keys == ["precision", "end"]


def test_overflowing_scores_are_reported(lens: PrecisionLens, service: Beside, qtbot: QtBot) -> None:
    e = attnlab.preset("random-4x8")
    large = attnlab.Experiment(e.tokens, np.asarray(e.embeddings) * 100, e.weights, e.config)
    with qtbot.waitSignal(service.job_done):
        lens.show_trace(attnlab.compute(large), View())
    assert "float16 " in lens.sentence.text()
    assert "overflows in Scores" in lens.sentence.text()
