"""The cost lens: what is measured, when it starts, and what the lens shows."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.edits import token_edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment, Weights
from attnlab.compute import cost
from attnlab.compute.engine import devices
from attnlab.compute.service import Request, answer
from attnlab.document.document import View
from attnlab.figures.palette import DARK
from attnlab.ui.base.line_pen import find_pen
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses import cost_lens
from attnlab.ui.playground.lenses.cost_lens import CostLens, TimeBars, size_text
from attnlab.ui.widgets.charts.curves import Curve, Curves
from tests.ui.lenses.beside import Beside

MANY_HEADS = preset("multi-head-8")


class Window(QObject):
    """A window that runs a lens's jobs in the background, and passes on the results."""

    def __init__(self) -> None:
        super().__init__()
        self.service = Beside()
        self.lens = CostLens(self.service.run)
        self.jobs: list[object] = []
        self.hides_after = 0
        self.service.job_done.connect(self._on_job_done)

    @Slot(object, object)
    def _on_job_done(self, key: object, _result: object) -> None:
        self.jobs.append(key)
        if len(self.jobs) == self.hides_after:
            self.lens.hide()

    def show(self, e: Experiment, dtype: str = "float32") -> None:
        trace = answer(Request(1, e, "cpu", dtype)).trace
        assert trace is not None
        self.lens.show_trace(trace, View(head=0))

    def done(self) -> bool:
        return self.lens.button.isEnabled() and self.lens.state.text().startswith("Measured for")


@pytest.fixture
def window(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    monkeypatch.setattr(cost, "MOST_RUNS", 1)
    made = Window()
    qtbot.addWidget(made.lens)
    made.lens.resize(760, 560)
    made.lens.show()
    yield made
    made.service.stop()


def texts(window: Window) -> list[str]:
    return [label.text() for label in window.lens.findChildren(QLabel) if label.isVisible() and label.text()]


def curve(plot: Curves, name: str = "cpu") -> Curve:
    return next(each for each in plot.curves if each.name == name)


def test_it_measures_every_device_and_size_when_first_shown(window: Window, qtbot: QtBot) -> None:
    window.show(preset("journey"))
    assert not window.lens.button.isEnabled()
    assert window.lens.state.text().startswith("Measuring T = 6")
    for plot in (window.lens.milliseconds, window.lens.bytes):
        assert not plot.plot.getAxis("left").isVisible(), "there is nothing to read there yet"
    qtbot.waitUntil(window.done)
    assert window.lens.state.text() == "Measured for T = 6, 1 head, d_k = 2, 9 stages in float32."
    for device in devices():
        assert device in texts(window)
        assert list(curve(window.lens.bytes, device).x) == [4, 8, 16, 32, 64, 128, 256, 512]
        assert all(ms > 0 for ms in curve(window.lens.milliseconds, device).y)
    assert len(set(window.jobs)) == len(window.jobs) == 1 + 9 * len(devices())  # each a job of its own


def test_bytes_equal_those_of_the_engine(window: Window, qtbot: QtBot) -> None:
    e = preset("journey")
    window.show(e)
    qtbot.waitUntil(window.done)
    written = cost.measure(e).bytes
    assert size_text(written) in texts(window)
    assert curve(window.lens.bytes, "here, cpu").y == [written / 1024]
    at_64 = cost.measure(token_edits.resize_tokens(e, 64)).bytes
    assert curve(window.lens.bytes).y[4] == at_64 / 1024
    small, large = (round(1024 * float(kib)) for kib in curve(window.lens.bytes).y[-2:])
    assert window.lens.growth.text() == (
        f"From T = 256 to 512, the stages use {large / small:.2f} times the memory: "
        f"{size_text(small)} → {size_text(large)}. The maps alone become 4 times as large, with T²."
    )


def test_loops_and_matrix_product_are_shown_with_their_difference(window: Window, qtbot: QtBot) -> None:
    window.show(preset("journey"), dtype="float64")
    qtbot.waitUntil(window.done)
    text = window.lens.loops.text()
    found = re.match(
        r"Loops [\d.]+ ms, matrix product [\d.]+ ms: ([\d.]+) times (?:faster|slower); largest difference (\S+)\. ",
        text,
    )
    assert found is not None, text
    assert float(found[2].replace("−", "-")) < 1e-12
    assert text.endswith("On the CPU, without masks, 1 head of 6 × 6 tokens.")
    loops, product = re.findall(r"([\d.]+ ms)", text)
    bars = window.lens.bars
    assert bars.isVisible()
    assert [bars.row_text(row) for row in range(2)] == [loops, product]


def test_loops_over_a_part_are_labelled_as_such(window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "MOST_PRODUCTS", 3 * 10 * 10 * 16)
    window.show(MANY_HEADS)
    qtbot.waitUntil(window.done)
    assert "3 heads of 10 × 10 tokens (not the whole experiment: " in window.lens.loops.text()


def test_another_shape_makes_the_measurement_stale_until_requested(window: Window, qtbot: QtBot) -> None:
    e = preset("journey")
    window.show(e)
    qtbot.waitUntil(window.done)
    jobs, state = len(window.jobs), window.lens.state.text()
    window.show(edits.scale(e, "W_q", 2.0))
    assert window.lens.state.text() == state
    window.show(token_edits.resize_tokens(e, 9))
    assert window.lens.state.text() == (
        f"{state} It is now T = 9, 1 head, d_k = 2, 9 stages in float32: press Measure to update the numbers."
    )
    assert window.done()
    assert len(window.jobs) == jobs
    qtbot.mouseClick(window.lens.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.done() and len(window.jobs) > jobs)
    assert window.lens.state.text() == "Measured for T = 9, 1 head, d_k = 2, 9 stages in float32."
    assert curve(window.lens.bytes, "here, cpu").x == [9]


def test_the_current_dtype_is_measured(window: Window, qtbot: QtBot) -> None:
    window.show(preset("journey"), dtype="float64")
    qtbot.waitUntil(window.done)
    assert size_text(cost.measure(preset("journey"), "cpu", "float64").bytes) in texts(window)


def test_measuring_stops_when_hidden_and_restarts_when_shown(window: Window, qtbot: QtBot) -> None:
    e = preset("journey")
    window.show(e)
    window.hides_after = 2
    qtbot.waitUntil(window.lens.isHidden)
    window.service.mark("last")
    qtbot.waitUntil(lambda: "last" in window.jobs)
    assert len(window.jobs) == 4  # the third was under way
    assert window.lens.bytes.curves == ()
    window.lens.show()
    window.show(e)
    qtbot.waitUntil(window.done)
    assert len(curve(window.lens.bytes).x) == 8


def test_a_failing_device_is_reported_in_its_row(window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost_lens, "devices", lambda: ("cuda:88", "cpu"))
    window.show(preset("journey"))
    qtbot.waitUntil(window.done)
    assert any(text.startswith("The device 'cuda:88' is missing") for text in texts(window))
    assert [each.name for each in window.lens.bytes.curves] == ["cpu", "here, cpu"]


def test_the_curve_ends_at_the_token_limit_of_a_window(
    window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "BUDGET", 100_000)
    window.show(preset("journey"))
    qtbot.waitUntil(window.done)
    assert list(curve(window.lens.bytes).x) == [4, 8, 16, 32, 64]


def test_with_a_second_sequence_only_the_queries_grow(window: Window, qtbot: QtBot) -> None:
    e, w = preset("journey"), preset("journey").weights
    both = Experiment(e.tokens, e.embeddings, Weights(w.W_q, w.W_k, w.W_v), e.config, ("a", "b"), e.embeddings[:2])
    window.show(both)
    qtbot.waitUntil(window.done)
    assert window.lens.state.text().startswith("Measured for T_q = 6, T_k = 2, ")
    assert window.lens.growth.text().endswith("The maps alone become twice as large, as T_k stays the same.")


@pytest.mark.parametrize(
    ("count", "text"), [(696, "696 B"), (1024, "1.00 KiB"), (3 << 19, "1.50 MiB"), (1 << 31, "2.00 GiB")]
)
def test_bytes_have_a_unit(count: int, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize("width", [420, 760])
def test_nothing_is_cut_off(width: int, window: Window, qtbot: QtBot) -> None:
    window.lens.resize(width, 560)
    dress(window.lens, DARK)
    window.show(MANY_HEADS)
    qtbot.waitUntil(window.done)
    lens = window.lens
    for widget in (lens.state, lens.button, lens.loops, lens.milliseconds, lens.bytes):
        assert widget.mapTo(lens, widget.rect().topRight()).x() <= width


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.07, "0.0700 ms"), (5, "5.00 ms"), (12.34, "12.3 ms"), (99.97, "100 ms"), (4321, "4321 ms")],
)
def test_times_have_three_digits(qtbot: QtBot, milliseconds: float, text: str) -> None:
    bars = TimeBars()
    qtbot.addWidget(bars)
    bars.show_times({"double loop": milliseconds})
    assert bars.row_text(0) == text


@pytest.mark.parametrize("milliseconds", [0.0629, 4321.0])
def test_no_bar_lies_under_its_time(qtbot: QtBot, milliseconds: float) -> None:
    bars = TimeBars()
    qtbot.addWidget(bars)
    bars.resize(420, 60)
    bars.show_times({"double loop": milliseconds, "matrix product": milliseconds / 4})
    bars.show()
    image, row = bars.viewport().grab().toImage(), bars.row_rect(0)
    assert bars.row_text(0).endswith(" ms")
    middle = row.center().y()
    fill = image.pixelColor(row.right() // 2, middle)
    end = max(x for x in range(row.width()) if image.pixelColor(x, middle) == fill)
    text = find_pen(bars.type_role).measure(bars.row_text(0))
    assert end < row.right() - text - 4
