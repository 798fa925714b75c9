"""The curves: each has the name, the numbers and the unit of its run."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from attnlab.figures.diagram.scene import Polyline
from attnlab.figures.palette import PALETTES, parse_rgb
from attnlab.ui.train.curves_panel import CurvesPanel, RunCurves
from attnlab.ui.train.run_views import find_axis_end
from attnlab.ui.widgets.charts.chart_legend import list_entries
from attnlab.ui.widgets.charts.plot_scene import draw_plot, read_plot
from tests.ui.train.pupil import Pupil, tiny


def test_each_line_has_the_numbers_and_the_unit_of_its_own_run(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps = np.array([0.0, 10.0])
    mine = RunCurves("this run", steps, np.array([3.0, 2.0]), steps, np.array([3.5, 2.5]), np.array([0.25, 0.75]))
    other = RunCurves("seed 1", steps, np.array([9.0, 8.0]), steps, np.array([6.0, 5.0]), np.array([0.5, 0.9]))
    panel.show_curves(mine, [other], end=20.0)
    panel.resize(400, 400)
    panel.show()
    qtbot.waitExposed(panel)
    assert [(line.name, *line.y) for line in panel.loss.lines] == [
        ("seed 1, held-out", 6.0, 5.0),
        ("training", 3.0, 2.0),
        ("held-out", 3.5, 2.5),
    ]
    assert [(line.name, *line.y) for line in panel.right.lines] == [("seed 1, correct", 50, 90), ("correct", 25, 75)]
    scale = panel.right.scale()
    for name, value in (("seed 1, correct", 90), ("correct", 75)):
        tip = panel.right.tool_tip(QPointF(scale.x(10.0), scale.y(value)))
        assert f"{name}: {value}\N{NO-BREAK SPACE}% at step 10" in tip.splitlines()


def test_charts_one_above_another_share_the_place_of_a_step(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    panel.resize(330, 600)
    panel.show()
    qtbot.waitExposed(panel)
    steps = np.array([0.0, 2000.0])
    for losses in (np.array([3.0, 2.0]), np.array([3.0, 2e-4])):  # the labels of the second are the widest
        run = RunCurves("this run", steps, losses, steps, losses, np.array([0.25, 0.75]))
        panel.show_curves(run, end=2000.0)
        panel.scale_button.setChecked(True)
        assert panel.loss.scale().area.left() == panel.right.scale().area.left()
        assert panel.loss.scale().x(1000.0) == panel.right.scale().x(1000.0)
        for chart in (panel.loss, panel.right):
            before = chart.grab().toImage()
            chart.restyle()
            assert chart.grab().toImage() == before  # it was drawn again when the other's labels had moved it


def test_accuracy_against_length_is_that_of_the_moment_shown(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps, none = np.array([0.0, 10.0]), np.zeros(2)
    lengths = (((2, 0.5), (4, 0.25)), ((2, 1.0), (4, 0.75)))
    mine = RunCurves("this run", steps, none, steps, none, none, lengths)
    other = RunCurves("without attention", steps, none, steps, none, none, (((2, 0.9), (6, 0.1)),) * 2)
    panel.show_curves(mine, [other], end=20.0)
    panel.resize(400, 600)
    panel.show()
    qtbot.waitExposed(panel)

    def shown() -> list[tuple[object, ...]]:
        return [(line.name, *line.x, *line.y) for line in panel.lengths.lines]

    assert shown() == [("without attention, correct", 2, 6, 90, 10), ("correct", 2, 4, 100, 75)]
    panel.show_cursor(5.0)
    assert shown()[1] == ("correct", 2, 4, 50, 25)
    scale = panel.lengths.scale()
    assert "correct: 25\N{NO-BREAK SPACE}% at length 4" in panel.lengths.tool_tip(QPointF(scale.x(4.0), scale.y(25.0)))
    panel.show_curves(RunCurves("this run", steps, none, steps, none, none))
    assert not panel.lengths.isVisible()


def test_the_axis_of_lengths_spans_the_lengths_that_exist(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps, none = np.array([0.0]), np.zeros(1)
    several = tuple((length, 0.5) for length in range(4, 9))
    panel.show_curves(RunCurves("this run", steps, none, steps, none, none, (several,)))
    panel.resize(400, 600)
    panel.show()
    qtbot.waitExposed(panel)
    assert list(panel.lengths.x_range) == [4, 8]
    longer = RunCurves("longer rows", steps, none, steps, none, none, (((3, 0.5), (12, 0.5)),))
    panel.show_curves(RunCurves("this run", steps, none, steps, none, none, (several,)), [longer])
    assert list(panel.lengths.x_range) == [3, 12]
    panel.show_curves(RunCurves("this run", steps, none, steps, none, none, (((6, 0.5),),)))
    assert not panel.lengths.isVisible()  # one point is no curve


def test_six_layers_have_six_looks_also_in_the_legend(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps = np.array([0.0, 10.0])
    layers = ["embedding", "encoder 1", "encoder 2", "decoder 1", "decoder 2", "output"]
    panel.show_curves(RunCurves("this run", steps, steps, steps, steps, steps, gradients=dict.fromkeys(layers, steps)))
    entries = list_entries(panel.gradients)
    assert [entry.name for entry in entries] == layers
    assert len({(entry.colour, entry.is_dashed) for entry in entries}) == 6
    assert not {"accent", "query"} <= {entry.colour for entry in entries}  # two blues
    plotted = draw_plot(read_plot(panel.gradients, "Gradients"), 400.0)
    dashed = [shape for shape in plotted.shapes if isinstance(shape, Polyline) and shape.dashed]
    assert {shape.ink for shape in dashed} == {entry.colour for entry in entries if entry.is_dashed}
    assert len(dashed) == 2  # the curve and its sample


@pytest.mark.parametrize("name", PALETTES)
def test_the_loss_of_batches_is_grey_and_that_of_held_out_examples_has_a_hue(name: str, qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps = np.array([0.0, 10.0])
    panel.show_curves(RunCurves("this run", steps, steps, steps, steps, steps))
    hues = {}
    for line in panel.loss.lines:
        rgb = parse_rgb(getattr(PALETTES[name], line.colour))
        hues[line.name] = max(rgb) - min(rgb)
    assert hues["training"] < 40
    assert hues["held-out"] > 100


def _two_runs(panel: CurvesPanel) -> None:
    steps = np.arange(0.0, 101.0)
    mine = RunCurves("this run", steps, steps, steps, steps, steps / 100)
    other = RunCurves("seed 1", steps, steps, steps, 2 * steps, steps / 200)
    panel.show_curves(mine, [other], end=100.0)
    panel.resize(400, 600)
    panel.show()


def test_the_legend_names_every_curve_overlaid_runs_and_bands_too(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    _two_runs(panel)
    qtbot.waitExposed(panel)
    loss, right, lengths = panel.legends
    assert loss.names == ["held-out", "training", "seed 1, held-out"]
    assert right.names == ["correct", "seed 1, correct"]
    assert lengths.names == []
    steps = np.array([0.0, 100.0])
    panel.show_range("seeds 0 to 4", (steps, steps, steps + 1), None)
    assert loss.names[-1] == "seeds 0 to 4"
    texts = [label.text() for label in loss.findChildren(QLabel) if label.isVisible()]
    assert texts == loss.names
    panel.show_curves(RunCurves("this run", steps, steps, steps, steps, steps))
    assert right.names == []  # one curve, which the heading names


def test_every_heading_is_apart_from_the_legend_above_it(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps, lengths = np.array([0.0, 10.0]), (((4, 0.5), (8, 0.25)),) * 2
    runs = [RunCurves(name, steps, steps, steps, steps, steps / 10, lengths) for name in ("this run", "seed 1")]
    panel.show_curves(runs[0], runs[1:], end=10.0)
    panel.resize(330, 700)
    panel.show()
    qtbot.waitExposed(panel)
    gaps = []
    for text, legend in zip(("Held-out tokens correct", "Correct by length"), panel.legends, strict=False):
        heading = next(each for each in panel.findChildren(QLabel) if each.text() == text)
        gaps.append(heading.y() + heading.contentsRect().top() - legend.geometry().bottom())
    assert gaps[0] == gaps[1] > 10


def test_both_charts_show_the_same_steps_and_a_button_shows_all(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    _two_runs(panel)
    qtbot.waitExposed(panel)
    assert not panel.all_button.isVisible()
    panel.right.setFocus()
    QTest.keyClick(panel.right, Qt.Key.Key_Plus)
    assert panel.loss.stretch is not None
    assert panel.right.stretch == panel.loss.stretch
    QTest.mouseClick(panel.all_button, Qt.MouseButton.LeftButton)
    assert panel.loss.stretch is panel.right.stretch is None
    assert not panel.all_button.isVisible()


def test_the_gradients_of_the_layers_are_shown_in_place_of_the_loss_and_named(qtbot: QtBot) -> None:
    panel = CurvesPanel()
    qtbot.addWidget(panel)
    steps, none = np.array([0.0, 50.0, 100.0]), np.zeros(3)
    norms = {"embedding": np.array([np.nan, 0.5, 0.25]), "decoder 1": np.array([np.nan, 2.0, 1.0])}
    mine = RunCurves("this run", steps, none, steps, none, none, gradients=norms)
    panel.show_curves(mine, [RunCurves("seed 1", steps, none, steps, none, none, gradients=norms)], end=100.0)
    panel.resize(400, 600)
    panel.show()
    qtbot.waitExposed(panel)
    assert panel.loss.isVisible()
    assert not panel.gradients.isVisible()
    QTest.mouseClick(panel.switch.buttons()[1], Qt.MouseButton.LeftButton)
    assert panel.gradients.isVisible()
    assert not panel.loss.isVisible()
    assert panel.legends[0].names == []
    assert panel.gradient_legend.names == ["embedding", "decoder 1"]  # this run's only
    scale = panel.gradients.scale()
    assert "decoder 1: 2 at step 50" in panel.gradients.tool_tip(QPointF(scale.x(50.0), scale.y(2.0))).splitlines()
    with qtbot.waitSignal(panel.step_chosen) as chosen:
        at = QPointF(scale.x(50.0), scale.y(1.0)).toPoint()
        QTest.mouseClick(panel.gradients, Qt.MouseButton.LeftButton, pos=at)
    assert chosen.args is not None
    assert chosen.args[0] == pytest.approx(50, abs=1)
    panel.scale_button.click()
    assert panel.gradients.scale().low > 0  # logarithmic
    QTest.mouseClick(panel.switch.buttons()[0], Qt.MouseButton.LeftButton)
    assert panel.loss.isVisible()
    assert not panel.gradient_legend.isVisible()


def test_the_axis_of_a_long_run_grows_in_few_jumps_up_to_the_planned_steps() -> None:
    ends = [find_axis_end(step, 30_000) for step in range(30_001)]
    assert list(dict.fromkeys(ends)) == [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000]
    assert all(step <= end <= max(100, 2.5 * step) for step, end in enumerate(ends))
    assert find_axis_end(0, 60) == find_axis_end(60, 60) == 60


@pytest.mark.slow
def test_the_curves_of_a_long_run_fill_their_charts_from_the_start_but_keep_the_zoom(pupil: Pupil) -> None:
    pupil.begin(tiny(steps=100_000))
    curves, course = pupil.trainer.curves, pupil.trainer.maps.chart.chart
    assert curves.loss.x_end == 100  # where an overlaid run has room too
    pupil.trainer.start()
    pupil.wait_for_step(30)
    pupil.trainer.session.pause()
    pupil.wait_for(lambda: pupil.trainer.session.state == "paused")
    pupil.wait_for(lambda: course.x_end == curves.loss.x_end)
    before = pupil.run.step
    assert before <= curves.loss.x_end <= max(100, 2.5 * before)
    assert curves.right.x_end == curves.loss.x_end
    curves.loss.zoom(2.0, 0.0)
    zoomed = curves.loss.stretch
    assert zoomed is not None
    pupil.trainer.start()
    pupil.wait_for_step(round(curves.loss.x_end) + 1)
    pupil.trainer.session.pause()
    pupil.wait_for(lambda: pupil.trainer.session.state == "paused")
    assert curves.loss.x_end >= pupil.run.step > before
    assert curves.loss.stretch == curves.right.stretch == zoomed
    curves.show_all()
    assert curves.loss.x_range == curves.right.x_range == (0.0, curves.loss.x_end)
    pupil.trainer.session.stop()
    pupil.wait_for(lambda: not pupil.trainer.session.alive)
