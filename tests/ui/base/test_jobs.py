"""Background jobs: each ends in its result or a sentence, delivered in the window's thread."""

import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from attnlab.base import fault_log
from attnlab.base.errors import AttnlabError
from attnlab.ui.base import jobs
from attnlab.ui.base import lane as lane_module
from attnlab.ui.base.jobs import GivenUpError, Job, Lane, Progress, run
from tests.patience import PATIENCE_S


class Told:
    """Records results of jobs, and the threads in which they arrived."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.failed: list[str] = []
        self.threads: set[threading.Thread] = set()

    def on_done(self, result: object) -> None:
        self.done.append(result)
        self.threads.add(threading.current_thread())

    def on_failed(self, sentence: str) -> None:
        self.failed.append(sentence)
        self.threads.add(threading.current_thread())


class Gate:
    """Blocks a job until it is opened."""

    def __init__(self) -> None:
        self.began, self.go = threading.Event(), threading.Event()

    def job(self, result: object = None) -> object:
        self.began.set()
        assert self.go.wait(PATIENCE_S)
        return result


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.go.set()


@pytest.fixture
def lane(qapp: object) -> Iterator[Lane]:
    made = Lane("test")
    yield made
    made.close()
    assert made.join(PATIENCE_S)


def ask(told: Told, function: object, *arguments: object, **options: object) -> Job:
    options = {"doing": "testing", **options}
    return run(function, *arguments, on_done=told.on_done, on_failed=told.on_failed, **options)  # type: ignore[arg-type]


def flush(qtbot: QtBot, lane: Lane) -> None:
    """Wait until a lane has delivered all its results."""
    qtbot.waitUntil(lambda: not lane.busy)


# What comes of a job


def test_results_arrive_in_the_windows_thread(told: Told, qtbot: QtBot) -> None:
    where: list[threading.Thread] = []

    def work(a: int, b: int) -> int:
        where.append(threading.current_thread())
        return a + b

    job = ask(told, work, 2, 3)
    assert not job.done
    qtbot.waitUntil(lambda: job.done)
    assert (told.done, told.failed) == ([5], [])
    assert told.threads == {threading.main_thread()}
    assert where[0] is not threading.main_thread()


def test_an_attnlab_error_is_passed_as_its_sentence(told: Told, qtbot: QtBot) -> None:
    def refuse() -> None:
        raise AttnlabError("This cannot be.")

    job = ask(told, refuse)
    qtbot.waitUntil(lambda: job.done)
    assert (told.done, told.failed) == ([], ["This cannot be."])
    assert told.threads == {threading.main_thread()}
    assert fault_log.take() == []


@pytest.mark.parametrize("error", [ZeroDivisionError("by nothing"), SystemExit(3), KeyboardInterrupt(), MemoryError()])
def test_an_unexpected_error_is_reported_and_passed_on(error: BaseException, told: Told, qtbot: QtBot) -> None:
    def fail() -> None:
        raise error

    job = ask(told, fail, doing="adding up")
    qtbot.waitUntil(lambda: job.done)
    (fault,) = fault_log.take()
    assert fault.doing == "adding up"
    assert type(error).__name__ in fault.reason
    assert told.failed == [fault.sentence]
    assert "while adding up" in fault.sentence


def test_an_error_in_a_callback_is_reported_and_the_lane_continues(told: Told, lane: Lane, qtbot: QtBot) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    run(int, on_done=fail, on_failed=told.on_failed, lane=lane, doing="counting")
    ask(told, int, lane=lane)
    qtbot.waitUntil(lambda: told.done == [0])
    assert not lane.busy
    assert [fault.doing for fault in fault_log.take()] == ["counting"]


# Order


def test_jobs_of_a_lane_run_in_order_and_one_at_a_time(told: Told, lane: Lane, qtbot: QtBot) -> None:
    at_once: list[int] = []
    inside = 0

    def work(number: int) -> int:
        nonlocal inside
        inside += 1
        at_once.append(inside)
        inside -= 1
        return number

    for number in range(200):
        ask(told, work, number, lane=lane)
    qtbot.waitUntil(lambda: len(told.done) == 200)
    assert told.done == list(range(200))
    assert set(at_once) == {1}


def test_jobs_without_a_lane_run_concurrently(told: Told, gate: Gate, qtbot: QtBot) -> None:
    held = ask(told, gate.job, "held")
    quick = ask(told, lambda: "quick")
    qtbot.waitUntil(lambda: quick.done)
    assert told.done == ["quick"]
    gate.go.set()
    qtbot.waitUntil(lambda: held.done)
    assert told.done == ["quick", "held"]


def test_an_order_chooses_among_waiting_jobs(told: Told, gate: Gate, qtbot: QtBot) -> None:
    class ByKind:
        def __init__(self) -> None:
            self.noted: list[str] = []

        def next(self, waiting: list[Job]) -> tuple[Job | None, float | None]:
            return min(waiting, key=lambda job: job.kind), None

        def note(self, job: Job, seconds: float) -> None:
            assert seconds >= 0
            self.noted.append(job.kind)

    order = ByKind()
    lane = Lane("sorted", order=order)
    ask(told, gate.job, "first", lane=lane, kind="z")
    assert gate.began.wait(PATIENCE_S)
    for kind in "cab":
        ask(told, lambda kind=kind: kind, lane=lane, kind=kind)
    gate.go.set()
    qtbot.waitUntil(lambda: len(told.done) == 4)
    assert told.done == ["first", "a", "b", "c"]
    assert order.noted == ["z", "a", "b", "c"]
    lane.close()


def test_a_lanes_context_manager_is_entered_for_each_job(told: Told, qtbot: QtBot) -> None:
    from contextlib import contextmanager

    inside: list[str] = []

    @contextmanager
    def around() -> Iterator[None]:
        inside.append(threading.current_thread().name)
        yield
        inside.append("left")

    lane = Lane("guarded", around=around)
    ask(told, lambda: list(inside), lane=lane)
    ask(told, lambda: list(inside), lane=lane)
    qtbot.waitUntil(lambda: len(told.done) == 2)
    name = "attnlab-guarded"
    assert told.done == [[name], [name, "left", name]]
    lane.close()


# Newest wins, and giving up


def test_the_newest_job_with_a_key_replaces_the_others(told: Told, lane: Lane, gate: Gate, qtbot: QtBot) -> None:
    key = ("look", object())
    old = ask(told, gate.job, "running", lane=lane, latest=key)
    assert gate.began.wait(PATIENCE_S)
    waiting = ask(told, lambda: "waiting", lane=lane, latest=key)
    other = ask(told, lambda: "other", lane=lane, latest="another key")
    newest = ask(told, lambda: "newest", lane=lane, latest=key)
    gate.go.set()
    qtbot.waitUntil(lambda: newest.done and other.done)
    flush(qtbot, lane)
    assert told.done == ["other", "newest"]
    assert (old.done, waiting.done) == (True, True)


def test_a_reused_id_does_not_pass_results_to_another_owner(told: Told, lane: Lane, gate: Gate, qtbot: QtBot) -> None:
    """The key of a finished or cancelled job is no longer valid."""
    first = ask(told, gate.job, "first", lane=lane, latest=7)
    assert gate.began.wait(PATIENCE_S)
    first.cancel()
    second = Told()
    ask(second, lambda: "second", lane=lane, latest=7)
    gate.go.set()
    qtbot.waitUntil(lambda: second.done == ["second"])
    assert (told.done, told.failed) == ([], [])
    assert jobs._newest == {}


def test_a_cancelled_job_does_not_start_or_its_result_is_dropped(
    told: Told, lane: Lane, gate: Gate, qtbot: QtBot
) -> None:
    running = ask(told, gate.job, "running", lane=lane)
    assert gate.began.wait(PATIENCE_S)
    began: list[int] = []
    waiting = ask(told, began.append, 1, lane=lane)
    running.cancel()
    waiting.cancel()
    assert running.done
    assert waiting.done
    gate.go.set()
    flush(qtbot, lane)
    assert (told.done, told.failed, began) == ([], [], [])


def test_only_a_waiting_job_can_be_withdrawn(told: Told, lane: Lane, gate: Gate, qtbot: QtBot) -> None:
    running = ask(told, gate.job, "running", lane=lane)
    assert gate.began.wait(PATIENCE_S)
    waiting = ask(told, lambda: "waiting", lane=lane)
    assert not running.withdraw()
    assert waiting.withdraw()
    gate.go.set()
    flush(qtbot, lane)
    assert told.done == ["running"]


# Progress


def test_progress_arrives_in_the_windows_thread_up_to_the_last_step(told: Told, qtbot: QtBot) -> None:
    seen: list[int] = []
    threads: set[threading.Thread] = set()

    def tell(done: int) -> None:
        seen.append(done)
        threads.add(threading.current_thread())

    def work(progress: Progress, steps: int) -> str:
        for _ in range(steps):
            progress.step()
        return "all"

    ask(told, work, 500, progress=tell)
    qtbot.waitUntil(lambda: told.done == ["all"])
    assert seen == sorted(seen)
    assert len(seen) <= 500
    assert threads <= {threading.main_thread()}


def test_a_job_that_reports_progress_notices_its_cancellation(told: Told, gate: Gate, qtbot: QtBot) -> None:
    ended: list[str] = []

    def work(progress: Progress) -> None:
        progress.step()
        gate.job()
        try:
            progress.step()
        except GivenUpError:
            ended.append("given up")
            raise

    seen: list[int] = []
    job = ask(told, work, progress=seen.append)
    assert gate.began.wait(PATIENCE_S)
    job.cancel()
    gate.go.set()
    qtbot.waitUntil(lambda: ended == ["given up"])
    assert (told.done, told.failed, seen) == ([], [], [])
    assert fault_log.take() == []


# The end


def test_closing_does_not_wait_for_a_job_that_hangs(told: Told, gate: Gate, qtbot: QtBot) -> None:
    lane = Lane("hangs")
    ask(told, gate.job, lane=lane)
    assert gate.began.wait(PATIENCE_S)
    after = ask(told, gate.job, lane=lane)
    lane.close()  # and returns, though the job goes on
    assert not lane.join(0)
    assert after.done
    assert ask(told, int, lane=lane).done  # nothing more begins
    gate.go.set()
    assert lane.join(PATIENCE_S)
    flush(qtbot, lane)
    assert (told.done, told.failed) == ([], [])


def test_a_thread_never_keeps_the_process_alive(told: Told, lane: Lane, gate: Gate) -> None:
    ask(told, gate.job, lane=lane)
    assert gate.began.wait(PATIENCE_S)
    assert [each.daemon for each in threading.enumerate() if each.name == "attnlab-test"] == [True]


def test_a_lane_closes_with_its_owner(told: Told, gate: Gate, qtbot: QtBot) -> None:
    owner = QObject()
    lane = Lane("owned", owner)
    ask(told, gate.job, lane=lane)
    assert gate.began.wait(PATIENCE_S)
    owner.deleteLater()
    qtbot.waitUntil(lambda: lane.ending)
    gate.go.set()
    assert lane.join(PATIENCE_S)
    assert told.done == []


def test_the_result_of_a_job_without_an_owner_is_dropped(told: Told, gate: Gate, qtbot: QtBot) -> None:
    owner = QObject()
    ask(told, gate.job, "late", owner=owner)
    owner.deleteLater()
    qtbot.waitUntil(lambda: not isValid(owner))
    gate.go.set()
    last = ask(told, lambda: "last")
    qtbot.waitUntil(lambda: last.done and "attnlab-job" not in [each.name for each in threading.enumerate()])
    assert told.done == ["last"]


def test_a_finishing_lane_completes_its_jobs(told: Told, gate: Gate, qtbot: QtBot) -> None:
    lane = Lane("finishes")
    ask(told, gate.job, 1, lane=lane)
    ask(told, lambda: 2, lane=lane)
    lane.finish()
    gate.go.set()
    assert lane.join(PATIENCE_S)
    qtbot.waitUntil(lambda: told.done == [1, 2])


def test_waiting_delivers_earlier_results(told: Told, lane: Lane, gate: Gate) -> None:
    ask(told, gate.job, "first", lane=lane)
    second = ask(told, lambda: "second", lane=lane)
    assert not second.wait(0)
    gate.go.set()
    assert second.wait(PATIENCE_S)
    assert told.done == ["first", "second"]


class Held:
    """An object that a job refers to, such as a widget."""


@pytest.mark.parametrize("ends", ["done", "failed", "cancelled"])
def test_a_thread_does_not_keep_its_last_job_alive(ends: str, lane: Lane, told: Told, gate: Gate, qtbot: QtBot) -> None:
    held = Held()
    died_in: list[threading.Thread] = []
    weakref.finalize(held, lambda: died_in.append(threading.current_thread()))

    def work(held: Held) -> None:
        gate.job()
        if ends == "failed":
            raise AttnlabError("No.")

    job = ask(told, work, held, lane=lane)
    assert gate.began.wait(PATIENCE_S)
    del held
    if ends == "cancelled":
        job.cancel()
    gate.go.set()
    flush(qtbot, lane)
    gc.collect()
    assert died_in == [threading.main_thread()]
    assert any(each.name == "attnlab-test" for each in threading.enumerate())  # which waits for the next


def test_leaving_closes_every_lane_and_reports_hanging_ones(
    told: Told, gate: Gate, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "END_S", 0.0)
    idle, hangs = Lane("idle"), Lane("hangs")
    ask(told, int, lane=idle)
    ask(told, gate.job, lane=hangs)
    assert gate.began.wait(PATIENCE_S)
    assert not jobs.leave()
    gate.go.set()
    monkeypatch.setattr(jobs, "END_S", PATIENCE_S)
    assert jobs.leave()
    assert not any(each.name in ("attnlab-idle", "attnlab-hangs") for each in threading.enumerate())


def test_leaving_waits_for_saves(told: Told, gate: Gate, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "END_S", 0.0)
    saving, written = Lane("saves"), list[str]()
    ask(told, gate.job, lane=saving)
    ask(told, written.append, "whole", lane=saving)
    saving.finish()
    monkeypatch.setattr(jobs, "SAVE_S", 0.0)
    assert not jobs.leave()
    assert written == []
    monkeypatch.setattr(jobs, "SAVE_S", PATIENCE_S)
    gate.go.set()
    assert jobs.leave()
    assert written == ["whole"]


def test_if_no_thread_can_start_the_job_fails_and_the_next_one_runs(
    lane: Lane, told: Told, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        job = ask(told, int, "7", lane=lane)
    assert not told.failed  # who asks has the handle first
    assert lane.join(0)
    ask(told, int, "8", lane=lane)
    qtbot.waitUntil(lambda: bool(told.done))
    assert job.done
    assert told.done == [8]
    sentence = "Something went wrong inside attnlab while testing: RuntimeError: can't start new thread."
    assert told.failed == [sentence]
    assert [fault.sentence for fault in fault_log.take()] == [sentence]


def test_a_program_that_waited_for_a_job_may_end_at_once(
    told: Told, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread does nothing with Qt once the wait is over: it would crash while Qt is unloaded."""
    is_over: list[bool] = []
    post = lane_module.post

    def look(call: Callable[[], None]) -> None:
        is_over.append(job.over.is_set())
        post(call)

    gate = threading.Event()
    monkeypatch.setattr(lane_module, "post", look)
    job = run(gate.wait, on_done=told.on_done, on_failed=told.on_failed, doing="waiting", lane=lane)
    gate.set()
    assert job.wait(PATIENCE_S)
    assert is_over == [False]
    assert told.done == [True]
