"""The saturation lens: its points follow the experiment, its curves the seed, its sentence both."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.measures.saturation import measure_random, measure_trace
from attnlab.compute.service import Request, answer
from attnlab.document.document import View
from attnlab.figures.palette import DARK
from attnlab.ui.base.themed import dress
from attnlab.ui.playground.lenses.saturation_lens import SaturationLens
from attnlab.ui.widgets.charts.curves import Curve, Curves
from tests.ui.lenses.beside import Beside


class Window(QObject):
    """A window that runs a lens's jobs in the background, and passes on the results."""

    def __init__(self) -> None:
        super().__init__()
        self.service = Beside()
        self.lens = SaturationLens(self.service.run)
        self.arrived = 0
        self.service.job_done.connect(self._on_job_done)

    @Slot(object, object)
    def _on_job_done(self, _key: object, _result: object) -> None:
        self.arrived += 1

    def show(self, e: Experiment, view: View | None = None, dtype: str = "float64") -> None:
        trace = answer(Request(1, e, "cpu", dtype)).trace
        assert trace is not None
        self.lens.show_trace(trace, view or View(head=0))


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Window]:
    made = Window()
    qtbot.addWidget(made.lens)
    made.lens.resize(760, 560)
    made.lens.show()
    yield made
    made.service.stop()


def curve(plot: Curves, name: str) -> Curve:
    return next(each for each in plot.curves if each.name == name)


def drawn(window: Window, name: str = "here") -> Callable[[], bool]:
    return lambda: any(each.name == name for each in window.lens.gradient.curves)


def test_both_plots_show_random_numbers_and_the_experiment_with_and_without_the_scale(
    window: Window, qtbot: QtBot
) -> None:
    e = preset("journey")
    window.show(e)
    qtbot.waitUntil(drawn(window))
    random = measure_random(6, 123)
    trace = answer(Request(1, e, "cpu", "float64")).trace
    assert trace is not None
    own = measure_trace(trace).mean
    for plot, what in ((window.lens.spread, "spread"), (window.lens.gradient, "gradient")):
        for name, which in (("random", "raw"), ("random ÷ √d_k", "scaled")):
            assert curve(plot, name).y == [getattr(getattr(pair, which), what) for pair in random]
        assert (curve(plot, "here").x, curve(plot, "here").y) == ([2], [getattr(own.raw, what)])
        assert curve(plot, "here ÷ √d_k").y == [getattr(own.scaled, what)]
    assert curve(window.lens.spread, "√d_k").y == [d_k**0.5 for d_k in curve(window.lens.spread, "random").x]


def of_softmax(scores: NDArray[np.floating]) -> tuple[float, float]:
    """Return the mean norm of the Jacobian diag(p) − p pᵀ, and the mean largest weight, of rows of scores."""
    rows = [np.exp(row) / np.exp(row).sum() for row in scores]
    norms = [np.linalg.norm(np.diag(p) - np.outer(p, p)) for p in rows]
    return float(np.mean(norms)), float(np.mean([p.max() for p in rows]))


@pytest.mark.parametrize("times", [1, 3])
def test_the_sentence_contains_the_numbers(window: Window, qtbot: QtBot, times: int) -> None:
    e = preset("journey")
    e = replace(e, embeddings=times * e.embeddings)
    window.show(e)
    qtbot.waitUntil(drawn(window))
    text = window.lens.text.text()
    scores = answer(Request(1, e, "cpu", "float64")).trace
    assert scores is not None
    spread = scores.array("scores").std()
    assert text.startswith(f"d_k = 2: the scores have standard deviation {spread:.2f}, ÷ √d_k {spread / 2**0.5:.2f}. ")
    raw, scaled = map(of_softmax, (scores.array("scores")[0], scores.array("scores")[0] / 2**0.5))
    assert raw != scaled
    told = [f"{number:.2{'f' if number >= 0.1 else 'g'}}" for number in (raw[0], scaled[0], raw[1], scaled[1])]
    assert "A row’s gradient is {}, scaled {}; its largest weight is {}, scaled {}.".format(*told) in text
    assert re.search(
        r"d_k = 512 have standard deviation 2\d\.\d\d and gradient 0\.0\d+; ÷ √d_k they have standard deviation [01]\.",
        text,
    )


def test_points_follow_every_edit(window: Window, qtbot: QtBot) -> None:
    e = preset("journey")
    window.show(e)
    qtbot.waitUntil(drawn(window))
    before = curve(window.lens.spread, "here").y[0]
    for factor in (2.0, 3.0, 4.0):
        window.show(edits.scale(e, "W_q", factor))
    qtbot.waitUntil(lambda: curve(window.lens.spread, "here").y[0] == pytest.approx(4 * before))
    assert f"standard deviation {4 * before:.2f}," in window.lens.text.text()
    window.show(edits.resize(e, d_k=5))
    qtbot.waitUntil(lambda: curve(window.lens.spread, "here").x == [5])


def test_the_curves_depend_on_the_seed(window: Window, qtbot: QtBot) -> None:
    window.show(preset("journey"))
    qtbot.waitUntil(drawn(window))
    box = window.lens.seed
    for seed in ("7", "123"):
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, seed)
        QTest.keyClick(box, Qt.Key.Key_Return)
        expected = [pair.raw.spread for pair in measure_random(6, int(seed))]
        qtbot.waitUntil(lambda y=expected: curve(window.lens.spread, "random").y == y)  # type: ignore[misc]


def test_random_rows_have_the_length_of_the_experiments(window: Window, qtbot: QtBot) -> None:
    window.show(preset("the-cat-sat"))
    qtbot.waitUntil(drawn(window))
    assert curve(window.lens.gradient, "random").y == [pair.raw.gradient for pair in measure_random(3, 123)]


def test_a_head_is_shown_alone_and_all_heads_by_their_mean(window: Window, qtbot: QtBot) -> None:
    window.show(preset("multi-head-8"), View(head="all"))
    qtbot.waitUntil(drawn(window))
    trace = answer(Request(1, preset("multi-head-8"), "cpu", "float64")).trace
    assert trace is not None
    found = measure_trace(trace)
    assert curve(window.lens.spread, "here").y == [found.mean.raw.spread]
    assert "d_k = 8, mean of the heads: " in window.lens.text.text()
    window.lens.show_view(View(head=3))
    assert curve(window.lens.spread, "here").y == [found.heads[3].raw.spread]
    assert "d_k = 8, head 3: " in window.lens.text.text()


@pytest.mark.parametrize(
    ("scale", "name", "words"),
    [
        ("none", "here ÷ √d_k", "The experiment does not scale its scores."),
        ("sqrt_d_model", "here ÷ √d_model", "÷ √d_model "),
        (10.0, "here ÷ 10.00", "÷ 10.00 "),
    ],
)
def test_the_experiments_own_scale_is_named(
    scale: str | float, name: str, words: str, window: Window, qtbot: QtBot
) -> None:
    window.show(edits.configure(preset("journey"), scale=scale))
    qtbot.waitUntil(drawn(window, name))
    assert words in window.lens.text.text()


def test_overflowing_scores_are_reported_and_the_curves_stay(window: Window, qtbot: QtBot) -> None:
    e = edits.scale(edits.scale(preset("journey"), "W_q", 1e30), "W_k", 1e30)
    window.show(e, dtype="float32")
    qtbot.waitUntil(lambda: "NaN" in window.lens.text.text())
    window.lens.grab()
    assert len(curve(window.lens.spread, "random").y) == 10


def test_an_invalid_seed_is_refused_in_a_sentence(window: Window, qtbot: QtBot) -> None:
    window.show(preset("journey"))
    qtbot.waitUntil(drawn(window))
    box = window.lens.seed
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "many")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert "“many” does not fit here; type a whole number from 0 to 99999." in window.lens.text.text()
    assert box.value() == 123


@pytest.mark.parametrize(("width", "beside"), [(420, False), (1100, True)])
def test_plots_are_side_by_side_if_they_fit_and_nothing_is_clipped(
    width: int, beside: bool, window: Window, qtbot: QtBot
) -> None:
    window.lens.resize(width, 560)
    dress(window.lens, DARK)
    window.show(preset("journey"))
    qtbot.waitUntil(drawn(window))
    left, right = window.lens.spread, window.lens.gradient
    tops = [plot.mapTo(window.lens, plot.rect().topLeft()).y() for plot in (left, right)]
    assert (tops[0] == tops[1]) is beside
    for widget in (left, right, window.lens.seed, window.lens.text):
        assert widget.mapTo(window.lens, widget.rect().topRight()).x() <= width
