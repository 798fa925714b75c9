"""A run is built from its messages: curve, moments and status; a saved run can be continued."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.training.marks import Mark
from attnlab.training.messages import Checkpoint, Ended, Failed, Metric, Point, Progress, Started
from attnlab.training.process import TrainingProcess, resume
from attnlab.training.recorder import Moment
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec
from tests.training.runs import all_of, made_up_run, started, tiny


def progress(step: int, first: int = 0, *, moment: bool = True, size: int = 10) -> Progress:
    points = tuple(Point(each, 1 / (each + 1), 0.1) for each in range(first, step))
    return Progress(step, step / 10, points, (), {"w": np.full(size, step, np.float32)}, moment)


def test_a_finished_run_has_all_its_points_and_moments() -> None:
    process = started(tiny(12))
    run = Run(tiny(12), "copy")
    for message in all_of(process):
        run.take(message)
    process.stop()
    assert (run.status, run.step, run.device) == ("ended", 12, "cpu")
    assert run.parameters == run.trainable > 0
    np.testing.assert_array_equal(run.steps, np.arange(12))
    assert run.losses.shape == run.rates.shape == (12,)
    assert [metric.step for metric in run.metrics] == [0, 5, 10, 12]
    first, last = run.recorder.moments[0], run.recorder.moments[-1]
    assert (first.step, last.step) == (0, 12)
    assert math.isnan(first.loss)  # no batch was seen yet
    assert last.loss == run.losses[-1]
    assert last.metric == run.metrics[-1]
    assert run.checkpoint is not None
    assert run.checkpoint.step == 12


def test_a_long_curve_keeps_every_point_in_order() -> None:
    run = Run(RunSpec(), "long")
    for step in range(500, 5001, 500):
        run.take(progress(step, step - 500))
    np.testing.assert_array_equal(run.steps, np.arange(5000))
    np.testing.assert_allclose(run.losses, 1 / np.arange(1, 5001))


def test_the_process_is_told_of_a_larger_interval_of_moments() -> None:
    run = Run(RunSpec(), "small", limit=4 * Moment(0, {"w": np.zeros(10, np.float32)}, 0.0).bytes)
    assert [run.take(progress(step)) for step in range(7)] == 6 * [False] + [True]
    assert [moment.step for moment in run.recorder.moments] == [0, 2, 4, 6]
    assert run.recorder.interval == 2


def test_weights_between_moments_are_not_recorded() -> None:
    run = Run(RunSpec(), "few")
    run.take(progress(3, moment=False))
    assert run.recorder.moments == ()
    assert run.weights is not None
    assert run.weights_step == 3


def test_weights_that_are_not_finite_are_never_kept() -> None:
    run = Run(RunSpec(), "bad")
    run.take(progress(1))
    bad = replace(progress(2, 1), weights={"w": np.array([1, np.nan], np.float32)})
    run.take(bad)
    assert [moment.step for moment in run.recorder.moments] == [1]
    assert run.weights_step == 1


def test_a_moment_after_rewinding_has_the_loss_of_the_previous_step() -> None:
    run = Run(RunSpec(), "diverged")
    run.take(progress(0))
    points = (Point(0, 2.0, 0.1), Point(1, 1e9, 0.1))
    run.take(replace(progress(1), points=points))  # step 2 was taken back
    assert run.recorder.moments[-1].step == 1
    assert run.recorder.moments[-1].loss == 2.0


@pytest.mark.parametrize(
    ("message", "status", "sentence"),
    [
        (Started(1, 1, "cpu"), "running", ""),
        (Progress(5, 1.0), "running", ""),
        (Progress(5, 1.0, paused=True), "paused", ""),
        (Ended(5, "stopped", "Stopped."), "ended", "Stopped."),
        (Failed("It broke."), "failed", "It broke."),
    ],
)
def test_a_run_reports_its_status(message: Progress, status: str, sentence: str) -> None:
    run = Run(RunSpec(), "a")
    assert run.status == "new"
    run.take(message)
    assert (run.status, run.sentence) == (status, sentence)


def test_a_mark_is_at_its_nearest_moment() -> None:
    run = made_up_run(3)
    assert run.mark(Mark(99, "the end")) == Mark(2, "the end")
    assert run.marks == (Mark(1, "here it begins"), Mark(2, "the end"))
    run.unmark(1)
    assert run.marks == (Mark(2, "the end"),)
    assert run.recorder.marked == {2}
    assert Run(RunSpec(), "empty").mark(Mark(1, "nowhere")) is None


def test_each_step_keeps_the_heads_that_were_off_then() -> None:
    def read(run: Run) -> list[str]:
        return [run.find_spec_at(step).train.heads_off for step in (0, 10, 11, 20, 21, 30, 31)]

    run = Run(RunSpec(), "whole")
    for step, off in ((10, "decoder 1.0"), (20, ""), (30, "decoder 1.1")):
        run.step = step
        run.go_on_with(replace(run.spec, train=replace(run.spec.train, heads_off=off)))
    one, other = "decoder 1.0", "decoder 1.1"
    assert read(run) == ["", "", one, one, "", "", other]
    assert run.find_spec_at(31) is run.spec
    assert read(Run.of(run.state())) == read(run)
    assert read(run.branch(15)) == ["", "", one, other, other, other, other]
    assert read(run.branch(20)) == ["", "", one, one, other, other, other]
    run.rewind(-1)
    assert read(run) == [other] * 7


@pytest.mark.slow
def test_a_saved_run_continues_like_an_uninterrupted_one() -> None:
    run = Run(tiny(16), "broken off")
    kept = []
    for message in all_of(process := started(run.spec)):
        run.take(message)
        if isinstance(message, Checkpoint):
            kept.append(message)
    process.stop()
    losses, metrics = run.losses.copy(), run.metrics
    run.checkpoint = kept[0]
    process = resume(run)
    assert (kept[0].step, len(run.losses)) == (0, 0)
    assert [moment.step for moment in run.recorder.moments] == [0]
    process.start()
    for message in all_of(process):
        run.take(message)
    process.stop()
    np.testing.assert_array_equal(run.losses, losses)
    assert run.metrics == metrics


def test_a_restarted_process_restarts_the_curve() -> None:
    run = made_up_run(5)
    run.take(Progress(2, 0.1, (Point(1, 9.0, 0.1),), (Metric(2, 9.0, 0.5, 0.5),)))
    assert run.steps.tolist() == [0, 1]
    assert run.losses[-1] == 9.0
    assert [metric.step for metric in run.metrics] == [0, 1, 2]
    assert run.metrics[-1].loss == 9.0


def test_rewinding_forgets_later_steps() -> None:
    run = made_up_run(5)
    run.take(Failed("It broke."))
    run.mark(Mark(4, "late"))
    run.rewind(3)
    assert (run.step, run.status, run.sentence) == (3, "new", "")
    assert run.steps.tolist() == [0, 1, 2]
    assert [metric.step for metric in run.metrics] == [0, 1, 2, 3]
    assert [moment.step for moment in run.recorder.moments] == [0, 1, 2, 3]
    assert run.marks == (Mark(1, "here it begins"),)
    run.rewind(-1)
    assert (run.step, len(run.steps), run.metrics, run.recorder.moments, run.marks) == (0, 0, (), (), ())


def test_rewinding_to_a_marked_step_keeps_its_mark() -> None:
    run = made_up_run(5)
    for step in (2, 3, 4):
        run.mark(Mark(step, "mine"))
    run.rewind(3)
    assert [mark.step for mark in run.marks] == [1, 2, 3]
    assert run.recorder.marked == {1, 2, 3}


def test_a_branch_shares_earlier_steps_and_leaves_the_run_unchanged() -> None:
    run = made_up_run(5)
    branch = run.branch(2)
    assert (branch.name, branch.step) == ("made up, from step 2", 2)
    assert branch.steps.tolist() == [0, 1]
    assert [moment.step for moment in branch.recorder.moments] == [0, 1, 2]
    branch.take(Progress(3, 1.0, (Point(2, 9.0, 0.1),)))
    assert (run.name, run.step, run.losses.tolist()) == ("made up", 4, [1.0, 0.0, -1.0, -2.0])
    assert [moment.step for moment in run.recorder.moments] == [0, 1, 2, 3, 4]


def test_a_reopened_run_shows_its_newest_weights() -> None:
    run = Run.of(made_up_run(3).state())
    assert run.weights_step == 2
    assert run.weights is not None
    assert run.weights["a.b"].tolist() == [[2, 2], [2, 2]]


def test_a_moment_has_the_metric_of_its_step() -> None:
    run = made_up_run(3)
    assert [moment.metric for moment in run.recorder.moments] == list(run.metrics)
    run.take(Progress(3, 1.0, (), (), {"a.b": np.zeros((2, 2), np.float32)}, moment=True))
    assert run.recorder.moments[-1].metric is None


def test_a_mark_is_dropped_with_its_moment() -> None:
    run = Run(RunSpec(), "small", limit=3 * Moment(0, {"w": np.zeros(10, np.float32)}, 0.0).bytes)
    for step in range(5):
        run.take(progress(step))
        run.mark(Mark(step, "mine"))
    assert [moment.step for moment in run.recorder.moments] == [mark.step for mark in run.marks] == [0, 3, 4]


def test_only_the_number_of_steps_of_a_run_can_change() -> None:
    run = Run(tiny(12), "one")
    assert run.goes_with(tiny(12))
    assert run.goes_with(tiny(99))
    assert not run.goes_with(tiny(12, seed=5))
    assert not run.goes_with(tiny(12, task="reverse"))


def test_a_state_does_not_change_while_the_run_continues() -> None:
    run = made_up_run(3)
    state = run.state()
    losses = state.curve.losses.copy()
    run.take(Progress(9, 1.0, (Point(2, 7.0, 0.1),), (Metric(9, 1.0, 1.0, 1.0),)))
    run.rewind(0)
    np.testing.assert_array_equal(state.curve.losses, losses)
    assert len(state.metrics) == len(state.moments) == 3
    again = Run.of(state)
    assert again.state().metrics == state.metrics
    assert again.marks == state.marks
    assert again.recorder.marked == {1}
    np.testing.assert_array_equal(again.steps, state.curve.steps)


@pytest.mark.slow
@pytest.mark.parametrize("condition", [{"stop_loss": 99.0}, {"stop_right": 1e-9}])
def test_a_run_ended_by_a_condition_ends_again_until_the_condition_changes(
    condition: dict[str, float],
) -> None:
    spec = tiny(30, warmup=0)
    run = Run(spec, "conditions")

    def train(process: TrainingProcess) -> Ended:
        process.start()
        messages = all_of(process)
        process.stop()
        for message in messages:
            run.take(message)
        assert isinstance(messages[-1], Ended)
        return messages[-1]

    train(TrainingProcess(replace(spec, train=replace(spec.train, steps=10))))
    run.spec = replace(spec, train=replace(spec.train, **condition))
    first = train(resume(run))
    again = train(resume(run))
    assert again == first
    assert (first.step, len(run.steps)) == (10, 10)
    assert [metric.step for metric in run.metrics] == [0, 5, 10]
    run.spec = spec
    assert train(resume(run)).reason == "steps"
    assert run.steps.tolist() == list(range(30))


@pytest.mark.slow
def test_a_reopened_run_too_large_to_record_shows_its_checkpoint() -> None:
    process = started(tiny(12))
    run = Run(tiny(12), "large", limit=1)
    for message in all_of(process):
        run.take(message)
    process.stop()
    assert run.recorder.moments == ()
    assert run.recorder.refused
    again = Run.of(run.state(), limit=1)
    assert again.weights_step == 12
    assert run.weights is not None
    assert again.weights is not None
    assert again.weights.keys() == run.weights.keys()
    for name, array in run.weights.items():
        np.testing.assert_array_equal(again.weights[name], array)


def test_a_suggested_mark_never_replaces_the_users_mark() -> None:
    run = Run(RunSpec(), "marked")
    for step in range(1, 5):
        run.take(progress(step, step - 1))
    run.toggle_mark(2)
    run.suggest([Mark(2, "loss falls", suggested=True), Mark(3, "head 0 turns sharp", suggested=True)])
    assert [(mark.step, mark.suggested) for mark in run.marks] == [(2, False), (3, True)]
    run.suggest([Mark(4, "head 1 turns sharp", suggested=True)])
    assert [(mark.step, mark.suggested) for mark in run.marks] == [(2, False), (4, True)]
    run.toggle_mark(2)
    assert [mark.step for mark in run.marks] == [4]


def test_a_mark_suggested_beside_the_users_mark_does_not_replace_it_either() -> None:
    run = Run(RunSpec(), "marked")
    for step in (10, 20, 30):
        run.take(progress(step, step - 1))
    run.mark(Mark(20, "edited: decoder 1"))
    run.suggest([Mark(21, "loss falls", suggested=True)])  # the nearest moment is that of step 20
    run.suggest([])
    assert [mark.title for mark in run.marks] == ["edited: decoder 1"]
