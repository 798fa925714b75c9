"""The worker beside the window: newest wins, every fault is told, and it ends when it is told to."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.experiment import AttentionConfig, Experiment, Weights
from attnlab.attention.presets import preset
from attnlab.compute.service import ComputeService, Reply, Request, answer
from tests.patience import PATIENCE_S


@pytest.fixture
def service(qtbot: QtBot) -> Iterator[ComputeService]:
    made = ComputeService()
    yield made
    made.stop()


def ask(service: ComputeService, e: Experiment, device: str = "cpu", dtype: str = "float32") -> int:
    return service.request(e, device, dtype, None, False)


# One answer


def test_an_answer_holds_the_stages_as_arrays_that_cannot_be_written_into() -> None:
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
def test_what_cannot_be_computed_is_a_sentence(device: str, dtype: str, words: str) -> None:
    reply = answer(Request(1, preset("journey"), device, dtype))
    assert reply.trace is None
    assert words in reply.error
    assert reply.error.endswith(".")


def test_what_torch_says_of_a_device_that_fails_becomes_one_line() -> None:
    reply = answer(Request(1, preset("journey"), "meta"))  # a device of torch that holds no numbers
    assert reply.trace is None
    assert reply.error
    assert "\n" not in reply.error


def test_what_is_too_large_for_a_window_is_refused_before_it_fills_the_memory() -> None:
    few, many = torch.ones(1, 2), torch.ones(20_000, 2)
    refused = answer(Request(1, Experiment(("a",) * 20_000, many, Weights(few.T, few.T, few.T))))
    assert refused.trace is None
    assert "20000 queries by 20000 keys" in refused.error
    assert "GiB" in refused.error


def test_an_answer_that_nobody_waits_for_ends_between_two_stages() -> None:
    asked: list[bool] = []

    def stopped() -> bool:
        asked.append(True)
        return len(asked) == 3

    assert answer(Request(1, preset("journey")), stopped).trace is None
    assert len(asked) == 3


def test_warnings_name_what_overflowed() -> None:
    huge = torch.full((2, 2), 3e38)
    reply = answer(Request(1, Experiment(("a", "b"), huge, Weights(huge, huge, huge))))
    assert any(text.startswith("queries: 4 of 4 values are ∞ or NaN in float32") for text in reply.warnings)


def test_a_row_that_is_masked_everywhere_does_not_count_as_wrong() -> None:
    mask = torch.tensor([[True, True], [False, False]])
    reply = answer(Request(1, Experiment(("a", "b"), torch.eye(2), config=AttentionConfig(mask=mask))))
    assert reply.empty_rows == ((0, 1),)
    assert reply.largest_gap < 1e-6


# The thread


def test_the_answer_arrives_in_the_windows_thread(service: ComputeService, qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []
    service.computed.connect(lambda _: threads.append(threading.current_thread()))
    with qtbot.waitSignal(service.computed) as came:
        number = ask(service, preset("journey"))
    reply: Reply = came.args[0]
    assert reply.request.id == number == service.newest
    assert threads == [threading.main_thread()]


def test_a_newer_request_replaces_the_one_that_waits(service: ComputeService, qtbot: QtBot) -> None:
    started, go = threading.Event(), threading.Event()

    def hold() -> None:
        started.set()
        go.wait(PATIENCE_S)

    service.run("hold", hold)
    assert started.wait(PATIENCE_S)
    replies: list[Reply] = []
    service.computed.connect(replies.append)
    e = preset("journey")
    for number in range(200):
        e = edits.set_block(e, "W_q", 0, 0, [[number]])
        ask(service, e)
    go.set()
    qtbot.waitUntil(lambda: bool(replies) and replies[-1].request.id == service.newest)
    assert [reply.request.experiment for reply in replies] == [e]


def test_answers_come_in_order_and_the_last_is_the_newest(service: ComputeService, qtbot: QtBot) -> None:
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


def test_requests_go_before_jobs(service: ComputeService, qtbot: QtBot) -> None:
    started, go = threading.Event(), threading.Event()
    order: list[str] = []

    def hold() -> None:
        started.set()
        go.wait(PATIENCE_S)

    service.run("hold", hold)
    assert started.wait(PATIENCE_S)
    service.computed.connect(lambda _: order.append("request"))
    service.job_done.connect(lambda key, _: order.append(key))
    service.run("first job", lambda: None)
    service.run("second job", lambda: None)
    ask(service, preset("journey"))
    go.set()
    qtbot.waitUntil(lambda: len(order) == 4)
    assert order.index("request") < order.index("first job") < order.index("second job")


def test_every_job_hands_back_its_own_result(service: ComputeService, qtbot: QtBot) -> None:
    done: dict[object, object] = {}
    service.job_done.connect(done.__setitem__)
    for number in range(50):
        service.run(number, lambda number=number: number * number)  # type: ignore[misc]
    qtbot.waitUntil(lambda: len(done) == 50)
    assert done == {number: number * number for number in range(50)}


def test_a_job_that_raises_ends_neither_the_thread_nor_the_rest(
    service: ComputeService, qtbot: QtBot, capsys: pytest.CaptureFixture[str], provoked: Callable[[], list[str]]
) -> None:
    done: list[object] = []
    service.job_done.connect(lambda key, _: done.append(key))
    service.run("broken", lambda: 1 // 0)
    service.run("good", lambda: None)
    qtbot.waitUntil(lambda: done == ["good"])
    assert [reason.partition(":")[0] for reason in provoked()] == ["ZeroDivisionError"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_fault_of_the_programs_own_is_told_and_the_thread_goes_on(
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


def test_an_error_is_an_answer_too_and_the_next_request_is_answered(service: ComputeService, qtbot: QtBot) -> None:
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"), device="abacus")
    assert "abacus" in came.args[0].error
    with qtbot.waitSignal(service.computed) as came:
        ask(service, preset("journey"))
    assert came.args[0].trace is not None


def test_the_mean_is_ready_when_it_was_asked_for(service: ComputeService, qtbot: QtBot) -> None:
    with qtbot.waitSignal(service.computed) as came:
        service.request(preset("multi-head-8"), "cpu", "float32", frozenset({"weights", "masked"}), True)
    trace = came.args[0].trace
    np.testing.assert_allclose(trace.mean("weights"), trace.array("weights").mean(0))


def test_it_stops_in_the_middle_of_a_burst_and_may_be_stopped_twice(qtbot: QtBot) -> None:
    service = ComputeService()
    for _ in range(100):
        ask(service, preset("journey"))
    service.stop()
    service.stop()
    assert "attnlab-compute" not in [thread.name for thread in threading.enumerate()]


def test_no_gradient_and_no_state_of_torch_leaks(service: ComputeService, qtbot: QtBot) -> None:
    torch.manual_seed(5)
    before, threads, enabled = torch.get_rng_state(), torch.get_num_threads(), torch.is_grad_enabled()
    e = preset("journey")
    e = replace(e, embeddings=e.embeddings.clone().requires_grad_())
    with qtbot.waitSignal(service.computed) as came:
        ask(service, e)
    assert not came.args[0].trace["output"].requires_grad
    assert torch.equal(torch.get_rng_state(), before)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, enabled)
