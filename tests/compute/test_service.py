"""The compute thread: the newest request wins, every error is reported, and stopping ends it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.compute import service as service_module
from attnlab.compute.service import ComputeService, Reply, Request, answer
from attnlab.ui.base.jobs import Lane, run
from tests.patience import PATIENCE_S


@pytest.fixture
def service(qtbot: QtBot) -> Iterator[ComputeService]:
    made = ComputeService()
    yield made
    made.stop()


def ask(service: ComputeService, e: Experiment, device: str = "cpu", dtype: str = "float32") -> int:
    return service.request(e, device, dtype, None, False)


# One answer


def test_a_reply_has_read_only_arrays_of_the_stages() -> None:
    reply = answer(Request(1, preset("causal-5x8")))
    assert reply.trace is not None
    assert reply.trace.stages[-1] == "output"
    assert reply.elapsed_ms > 0
    assert (reply.error, reply.warnings, reply.empty_rows) == ("", (), ())
    assert reply.largest_gap < 1e-6
    with pytest.raises(ValueError, match="read-only"):
        reply.trace.array("weights")[0, 0, 0] = 1


@pytest.mark.parametrize(
    ("device", "dtype", "words"),
    [("cuda:99", "float32", "cuda:99"), ("abacus", "float32", "abacus"), ("cpu", "float8", "float8")],
)
def test_a_failed_computation_is_reported_in_a_sentence(device: str, dtype: str, words: str) -> None:
    reply = answer(Request(1, preset("journey"), device, dtype))
    assert reply.trace is None
    assert words in reply.error
    assert reply.error.endswith(".")


def test_a_device_error_of_torch_is_reported_in_one_line() -> None:
    reply = answer(Request(1, preset("journey"), "meta"))  # a device of torch that holds no numbers
    assert reply.trace is None
    assert reply.error
    assert "\n" not in reply.error


def test_a_layer_too_large_for_a_window_is_refused_before_computing() -> None:
    few, many = torch.ones(1, 2), torch.ones(20_000, 2)
    refused = answer(Request(1, Experiment(("a",) * 20_000, many, Weights(few.T, few.T, few.T))))
    assert refused.trace is None
    assert "20,000 queries by 20,000 keys" in refused.error
    assert "GiB" in refused.error


def test_a_superseded_computation_stops_between_two_stages() -> None:
    asked: list[bool] = []

    def stopped() -> bool:
        asked.append(True)
        return len(asked) == 3

    assert answer(Request(1, preset("journey")), stopped).trace is None
    assert len(asked) == 3


def test_warnings_name_the_stages_that_overflowed() -> None:
    huge = torch.full((2, 2), 3e38)
    reply = answer(Request(1, Experiment(("a", "b"), huge, Weights(huge, huge, huge))))
    assert any(text.startswith("queries: 4 of 4 values are ∞ or NaN in float32") for text in reply.warnings)


def test_a_fully_masked_row_gives_no_warning() -> None:
    mask = torch.tensor([[True, True], [False, False]])
    reply = answer(Request(1, Experiment(("a", "b"), torch.eye(2), config=AttentionConfig(mask=mask))))
    assert reply.empty_rows == ((0, 1),)
    assert reply.largest_gap < 1e-6


# The thread


def test_replies_arrive_in_the_windows_thread(service: ComputeService, qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []
    service.computed.connect(lambda _: threads.append(threading.current_thread()))
    with qtbot.waitSignal(service.computed) as came:
        number = ask(service, preset("journey"))
    reply: Reply = came.args[0]
    assert reply.request.id == number == service.newest
    assert threads == [threading.main_thread()]


class Held:
    """Replaces ``answer``: each request waits until it is released."""

    def __init__(self) -> None:
        self.began, self._through = threading.Semaphore(0), threading.Semaphore(0)

    def answer(self, request: Request, stopped: Callable[[], bool]) -> Reply:
        self.began.release()
        assert self._through.acquire(timeout=PATIENCE_S)
        return answer(request, stopped)

    def wait(self) -> None:
        assert self.began.acquire(timeout=PATIENCE_S)

    def let_through(self, count: int = 1) -> None:
        self._through.release(count)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    made = Held()
    monkeypatch.setattr(service_module, "answer", made.answer)
    return made


def test_a_newer_request_replaces_the_waiting_one(service: ComputeService, held: Held, qtbot: QtBot) -> None:
    replies: list[Reply] = []
    service.computed.connect(replies.append)
    e = preset("journey")
    ask(service, e)
    held.wait()
    for number in range(200):
        e = edits.set_block(e, "W_q", 0, 0, [[number]])
        ask(service, e)
    held.let_through(2)
    qtbot.waitUntil(lambda: bool(replies) and replies[-1].request.id == service.newest)
    assert replies[-1].request.experiment is e
    assert {reply.request.id for reply in replies} <= {1, 201}


def test_a_newer_reply_replaces_one_that_was_not_delivered(service: ComputeService, held: Held, qtbot: QtBot) -> None:
    """Two replies arrived while the window was busy: only the newer is shown."""
    replies: list[Reply] = []
    service.computed.connect(replies.append)
    ask(service, preset("journey"))
    held.wait()
    ask(service, preset("causal-5x8"))
    held.let_through()
    held.wait()  # so the first is answered
    ask(service, preset("the-cat-sat"))
    held.let_through()
    held.wait()  # and the second; the window has shown neither
    assert replies == []
    QCoreApplication.sendPostedEvents(service)
    assert [reply.request.id for reply in replies] == [2]
    held.let_through()
    qtbot.waitUntil(lambda: len(replies) == 2)
    assert [reply.request.id for reply in replies] == [2, 3]


def test_replies_arrive_in_order_and_the_last_is_the_newest(service: ComputeService, qtbot: QtBot) -> None:
    replies: list[Reply] = []
    service.computed.connect(replies.append)
    for number in range(300):
        ask(service, preset("the-cat-sat"), dtype="float64" if number % 2 else "float32")
        if number % 7 == 0:
            QCoreApplication.processEvents()
    qtbot.waitUntil(lambda: bool(replies) and replies[-1].request.id == service.newest)
    ids = [reply.request.id for reply in replies]
    assert ids == sorted(set(ids))
    assert ids[-1] == 300


@pytest.fixture
def lane(service: ComputeService) -> Iterator[Lane]:
    made = Lane("between", around=service.between)
    yield made
    made.close()
    assert made.join(PATIENCE_S)


def nothing(_: object) -> None:
    pass


def test_jobs_wait_for_requests(service: ComputeService, held: Held, qtbot: QtBot) -> None:
    order: list[str] = []
    service.computed.connect(lambda _: order.append("request"))
    inside = threading.Event()

    @contextmanager
    def between() -> Iterator[None]:
        with service.between():
            inside.set()
            yield

    lane = Lane("between", around=between)
    ask(service, preset("journey"))
    held.wait()
    for name in ("first job", "second job"):
        run(str, name, on_done=order.append, on_failed=nothing, lane=lane, doing="testing")
    waiting = service._wake._waiters  # type: ignore[attr-defined]  # the lane alone: the compute thread computes
    qtbot.waitUntil(lambda: bool(waiting) or inside.is_set())
    assert not inside.is_set()
    ask(service, preset("journey"))
    held.let_through()
    held.wait()  # the second request goes first
    assert not inside.is_set()
    held.let_through()
    qtbot.waitUntil(lambda: order[-1:] == ["second job"])
    assert [each for each in order if each != "request"] == ["first job", "second job"]
    lane.close()
    assert lane.join(PATIENCE_S)


def test_a_request_waits_for_a_job_that_has_just_begun(
    service: ComputeService, lane: Lane, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "PATIENCE_S", PATIENCE_S)
    began, go = threading.Event(), threading.Event()
    order: list[str] = []

    def job() -> None:
        began.set()
        assert go.wait(PATIENCE_S)
        order.append("job")

    def answered(request: Request, stopped: Callable[[], bool]) -> Reply:
        order.append("request")
        return answer(request, stopped)

    monkeypatch.setattr(service_module, "answer", answered)
    run(job, on_done=nothing, on_failed=nothing, lane=lane, doing="testing")
    assert began.wait(PATIENCE_S)
    with qtbot.waitSignal(service.computed):
        ask(service, preset("journey"))
        go.set()
    assert order == ["job", "request"]


def test_a_slow_job_does_not_delay_requests(service: ComputeService, lane: Lane, qtbot: QtBot) -> None:
    began, go = threading.Event(), threading.Event()

    def job() -> None:
        began.set()
        assert go.wait(PATIENCE_S)

    run(job, on_done=nothing, on_failed=nothing, lane=lane, doing="testing")
    assert began.wait(PATIENCE_S)
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"))
    assert came.args[0].trace is not None
    go.set()


def test_a_hundred_jobs_and_requests_all_finish(service: ComputeService, lane: Lane, qtbot: QtBot) -> None:
    done: list[int] = []
    for number in range(100):
        run(int, number, on_done=done.append, on_failed=nothing, lane=lane, doing="testing")
        ask(service, preset("journey"))
    with qtbot.waitSignal(service.computed, check_params_cb=lambda reply: reply.request.id == 100):
        pass
    qtbot.waitUntil(lambda: len(done) == 100)
    assert done == list(range(100))


def test_an_unexpected_error_is_reported_and_the_thread_continues(
    service: ComputeService, qtbot: QtBot, capsys: pytest.CaptureFixture[str], provoked: Callable[[], list[str]]
) -> None:
    with qtbot.waitSignal(service.computed) as came:
        service.request(None, "cpu", "float32", None, False)  # type: ignore[arg-type]
    reply: Reply = came.args[0]
    assert reply.trace is None
    assert reply.error.startswith("Something went wrong inside attnlab while computing: AttributeError: ")
    assert [reason.partition(":")[0] for reason in provoked()] == ["AttributeError"]
    assert "Traceback" in capsys.readouterr().err
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"))
    assert came.args[0].trace is not None


def test_after_an_error_the_next_request_is_answered(service: ComputeService, qtbot: QtBot) -> None:
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"), device="abacus")
    assert "abacus" in came.args[0].error
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"))
    assert came.args[0].trace is not None


def test_the_mean_is_computed_if_requested(service: ComputeService, qtbot: QtBot) -> None:
    with qtbot.waitSignal(service.computed) as came:
        service.request(preset("multi-head-8"), "cpu", "float32", frozenset({"weights", "masked"}), True)
    trace = came.args[0].trace
    np.testing.assert_allclose(trace.mean("weights"), trace.array("weights").mean(0))


def test_the_service_stops_during_a_burst_and_may_be_stopped_twice(qtbot: QtBot) -> None:
    service = ComputeService()
    for _ in range(100):
        ask(service, preset("journey"))
    service.stop()
    service.stop()
    assert "attnlab-compute" not in [thread.name for thread in threading.enumerate()]


def test_stopping_does_not_wait_for_a_computation_that_hangs(
    qtbot: QtBot, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "END_S", 0.0)
    service = ComputeService()
    replies: list[Reply] = []
    service.computed.connect(replies.append)
    ask(service, preset("journey"))
    held.wait()
    service.stop()  # returns, though the thread goes on
    (thread,) = [each for each in threading.enumerate() if each.name == "attnlab-compute"]
    assert thread.daemon  # the process may end without it
    held.let_through()
    thread.join(PATIENCE_S)
    QCoreApplication.sendPostedEvents(service)
    assert replies == []


def test_the_worker_leaks_no_gradient_and_no_state_of_torch(service: ComputeService, qtbot: QtBot) -> None:
    torch.manual_seed(5)
    before, threads, enabled = torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()
    e = preset("journey")
    e = replace(e, embeddings=e.embeddings.clone().requires_grad_())
    with qtbot.waitSignal(service.computed) as came:
        ask(service, e)
    assert not came.args[0].trace["output"].requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, enabled)
