"""The recorder stays within its memory limit, and keeps the first, last and marked moments."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.training.models.kinds import count_parameters
from attnlab.training.recorder import Moment, Recorder
from attnlab.training.tasks import make_data, make_spec


def moment(step: int, numbers: int = 100) -> Moment:
    return Moment(step, {"w": np.full(numbers, step, np.float32)}, 1.0)


SIZE = moment(0).bytes

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 300), st.integers(0, 400)),
        st.tuples(st.just("mark"), st.integers(0, 300), st.just(0)),
        st.tuples(st.just("unmark"), st.integers(0, 300), st.just(0)),
        st.tuples(st.just("forget"), st.integers(0, 300), st.just(0)),
    ),
    max_size=80,
)


@given(ACTIONS, st.integers(1, 20))
def test_the_recorder_never_exceeds_its_limit(actions: list[tuple[str, int, int]], moments: int) -> None:
    recorder = Recorder(moments * SIZE)
    for action, step, numbers in actions:
        if action == "add":
            latest = step > max((each.step for each in recorder.moments), default=-1)
            recorder.add(moment(step, numbers))
            if latest and moment(step, numbers).bytes <= recorder.limit:
                assert recorder.moments[-1].step == step
        elif action == "mark":
            recorder.mark(step)
        elif action == "unmark":
            recorder.unmark(step)
        else:
            recorder.forget_after(step)
        kept = [each.step for each in recorder.moments]
        assert kept == sorted(set(kept))
        assert recorder.marked <= set(kept)
        assert recorder.bytes == sum(each.bytes for each in recorder.moments) <= recorder.limit


@given(st.lists(st.integers(0, 400), min_size=3, max_size=60, unique=True), st.integers(4, 12), st.data())
def test_first_last_and_marked_moments_are_kept(steps: list[int], moments: int, data: st.DataObject) -> None:
    steps = sorted(steps)
    recorder = Recorder(moments * SIZE)
    marked = set[int]()
    for step in steps:
        recorder.add(moment(step))
        if len(marked) < moments - 3 and data.draw(st.booleans()):
            recorder.mark(step)
            marked.add(step)
        kept = {each.step for each in recorder.moments}
        assert {steps[0], step, *marked} <= kept
        assert recorder.marked == marked


@given(st.integers(3, 70), st.integers(1, 1200), st.booleans())
def test_the_room_is_filled_with_evenly_spaced_moments(moments: int, steps: int, prompt: bool) -> None:
    """No part has more than twice as many as another; a few more where moments come of steps that are not due."""
    recorder = Recorder(moments * SIZE + SIZE // 2)
    for step in range(steps + 1):
        if not prompt or step % recorder.interval == 0 or step == steps:
            recorder.add(moment(step))
    kept = [each.step for each in recorder.moments]
    assert (kept[0], kept[-1]) == (0, steps)
    assert len(kept) >= min(moments - 1, steps + 1)  # of many, some are dropped at once
    gaps = np.diff(kept)[:-1]  # without that before the last one, which has to stay
    if len(gaps):
        assert max(gaps.max(), kept[-1] - kept[-2]) <= (2 if prompt else 5) * gaps.min()


@given(st.integers(4, 70), st.lists(st.integers(1, 60) | st.just(1), min_size=1, max_size=400))
def test_a_long_gap_is_one_in_which_no_moment_came(moments: int, gaps: list[int]) -> None:
    """Otherwise it is at most 1.5 times the steps between the neighbours of the moment that is dropped next."""
    recorder = Recorder(moments * SIZE + SIZE // 2)
    for step in (0, *np.cumsum(gaps).tolist()):
        recorder.add(moment(step))
    kept = np.diff([each.step for each in recorder.moments])[:-1]
    if len(kept) > 2:
        assert kept.max() <= 1.5 * max(*gaps, (kept[1:] + kept[:-1]).min())


def test_few_moments_of_fifty_steps_are_spread_over_all_of_them() -> None:
    for moments, steps in ((3, [0, 32, 50]), (4, [0, 16, 32, 50]), (7, [0, 8, 16, 24, 32, 40, 50])):
        recorder = Recorder(moments * SIZE)
        for step in range(51):
            if step % recorder.interval == 0 or step == 50:
                recorder.add(moment(step))
        assert [each.step for each in recorder.moments] == steps


def test_a_smaller_limit_leaves_evenly_spaced_moments() -> None:
    recorder = Recorder(3000 * SIZE)
    for step in range(3000):
        recorder.add(moment(step))
    recorder.set_limit(20 * SIZE)
    kept = [each.step for each in recorder.moments]
    assert len(kept) == 20
    gaps = np.diff(kept)[:-1]
    assert gaps.max() <= 2 * gaps.min()


def test_kept_moments_of_ten_thousand_steps_are_evenly_spaced() -> None:
    recorder = Recorder(64 * SIZE)
    for step in range(10_001):
        if step % recorder.interval == 0:
            recorder.add(moment(step))
    kept = [each.step for each in recorder.moments]
    assert kept[0] == 0
    assert kept[-1] >= 10_000 - recorder.interval
    assert recorder.interval == 128
    assert set(np.diff(kept)) == {128, 256}
    assert len(kept) >= 63
    assert recorder.bytes <= recorder.limit


def test_counted_bytes_equal_the_actual_size() -> None:
    recorder = Recorder(10 * SIZE)
    large = np.zeros(10**6, np.float32)
    recorder.add(Moment(1, {"w": large[:10], "v": np.ones((3, 3), np.float32)}, 1.0))
    weights = recorder.moments[0].weights
    assert all(array.base is None for array in weights.values())  # nothing holds on to the large one
    held = sum(sys.getsizeof(array) + sys.getsizeof(name) for name, array in weights.items())
    assert held <= recorder.bytes


@pytest.mark.parametrize(("step", "nearest"), [(-5, 0), (0, 0), (14, 10), (15, 10), (16, 20), (99, 20)])
def test_the_moment_nearest_to_a_step_is_found(step: int, nearest: int) -> None:
    recorder = Recorder()
    assert recorder.find_nearest(step) is None
    for each in (0, 10, 20):
        recorder.add(moment(each))
    assert recorder.find_nearest(step).step == nearest  # type: ignore[union-attr]


def test_a_moment_replaces_one_of_the_same_step() -> None:
    recorder = Recorder()
    for numbers in (100, 100, 200):
        recorder.add(moment(5, numbers))
    assert [each.step for each in recorder.moments] == [5]
    assert recorder.bytes == moment(5, 200).bytes


def test_continuing_from_a_step_drops_later_moments() -> None:
    recorder = Recorder()
    for step in (0, 10, 20, 30):
        recorder.add(moment(step))
        recorder.mark(step)
    recorder.forget_after(20)
    assert [each.step for each in recorder.moments] == [0, 10, 20]
    assert recorder.marked == {0, 10, 20}
    assert recorder.bytes == 3 * SIZE
    recorder.forget_after(19)
    assert [each.step for each in recorder.moments] == [0, 10]


def test_with_too_many_marks_the_oldest_is_dropped() -> None:
    recorder = Recorder(4 * SIZE)
    for step in range(6):
        recorder.add(moment(step))
        recorder.mark(step)
    assert [each.step for each in recorder.moments] == [0, 3, 4, 5]
    assert recorder.marked == {0, 3, 4, 5}


def test_a_moment_of_exactly_the_limit_is_kept() -> None:
    recorder = Recorder(2 * SIZE)
    for step in (0, 1):
        recorder.add(moment(step))
    assert [each.step for each in recorder.moments] == [0, 1]
    alone = Recorder(SIZE)
    alone.add(moment(3))
    assert (alone.refused, alone.bytes) == ("", SIZE)


def test_a_moment_larger_than_the_limit_is_not_kept_and_drops_no_other() -> None:
    recorder = Recorder(2 * SIZE)
    recorder.add(moment(0))
    assert recorder.refused == ""
    recorder.add(moment(1, numbers=1000))
    assert [each.step for each in recorder.moments] == [0]
    small = Recorder(1 << 20)
    small.add(moment(0, numbers=4 << 20))
    assert small.refused == "This model is too large to record: 16 MiB a moment, limit 1 MiB."


def test_half_of_the_fifty_steps_of_the_largest_task_are_kept() -> None:
    recorder, spec = Recorder(), make_spec("sum")
    parameters, _ = count_parameters(spec.model, make_data(spec))
    for step in range(51):
        recorder.add(moment(step, parameters))
    assert len(recorder.moments) > 25
