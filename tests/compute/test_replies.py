"""Replies keep their order: of those computed while the window was busy only the newest is delivered, once.

The computation is real; it is only delayed, to control whether the window or the worker is first.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from attnlab.attention import edits
from attnlab.attention.examples.presets import preset
from attnlab.attention.experiment import Experiment
from attnlab.attention.stages.trace import Trace
from attnlab.compute import service as module
from attnlab.compute.engine import compute
from attnlab.compute.service import ComputeService, Reply, Request
from tests.patience import PATIENCE_S


class Held:
    """A service whose worker waits before each computation until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real = module.answer
        self._begun: dict[int, threading.Event] = {}
        self._free: dict[int, threading.Event] = {}
        self.all_free = False

        def answer(request: Request, stopped: Callable[[], bool] = lambda: False) -> Reply:
            self._event(self._begun, request.id).set()
            if not self.all_free:
                assert self._event(self._free, request.id).wait(PATIENCE_S)
            return real(request, stopped)

        monkeypatch.setattr(module, "answer", answer)
        self.service = ComputeService()
        self.replies: list[Reply] = []
        self.service.computed.connect(self.replies.append)

    def _event(self, events: dict[int, threading.Event], number: int) -> threading.Event:
        return events.setdefault(number, threading.Event())

    def ask(self, e: Experiment, dtype: str = "float32", **more: Any) -> int:
        return self.service.request(e, more.get("device", "cpu"), dtype, more.get("stages"), more.get("mean", False))

    def begun(self, number: int) -> None:
        """Wait until a computation has begun, so that the reply before it has been posted."""
        assert self._event(self._begun, number).wait(PATIENCE_S)

    def has_begun(self, number: int) -> bool:
        return self._event(self._begun, number).is_set()

    def let_go(self, number: int) -> None:
        self._event(self._free, number).set()

    def ids(self) -> list[int]:
        return [reply.request.id for reply in self.replies]


@pytest.fixture
def held(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held(monkeypatch)
    yield made
    made.all_free = True
    for number in range(1, made.service.newest + 1):
        made.let_go(number)
    made.service.stop()


def numbered(number: int) -> Experiment:
    return edits.set_block(preset("journey"), "W_q", 0, 0, [[float(number)]])


def numbers(reply: Reply) -> np.ndarray:
    assert reply.trace is not None
    return reply.trace.array("weights")


def test_only_the_newest_waiting_reply_is_delivered(held: Held, qtbot: QtBot) -> None:
    for number in range(1, 5):
        assert held.ask(numbered(number)) == number
        held.begun(number)  # so the replies before are posted, and the window has looked at none
        assert held.ids() == []
        if number < 4:
            held.let_go(number)
    QCoreApplication.processEvents()
    assert held.ids() == [3]
    assert held.replies[0].request.experiment.weights.W_q[0, 0] == 3
    np.testing.assert_array_equal(numbers(held.replies[0]), compute(numbered(3)).array("weights"))
    held.let_go(4)
    qtbot.waitUntil(lambda: held.ids() == [3, 4])
    np.testing.assert_array_equal(numbers(held.replies[1]), compute(numbered(4)).array("weights"))


def test_a_reply_is_delivered_once(held: Held, qtbot: QtBot) -> None:
    for number in (1, 2):
        held.ask(numbered(number))
        held.let_go(number)
        qtbot.waitUntil(lambda number=number: held.ids()[-1:] == [number])
        QCoreApplication.processEvents()
    assert held.ids() == [1, 2]


def test_the_newest_request_replaces_the_waiting_one(held: Held, qtbot: QtBot) -> None:
    held.ask(numbered(1))
    held.begun(1)
    for number in range(2, 6):
        held.ask(numbered(number))
    held.let_go(1)
    qtbot.waitUntil(lambda: held.ids() == [1])  # else the fifth may take its place on the way to the window
    held.begun(5)
    assert [held.has_begun(number) for number in range(1, 6)] == [True, False, False, False, True]
    held.let_go(5)
    qtbot.waitUntil(lambda: held.ids()[-1:] == [5])
    assert held.service.newest == 5
    assert held.ids() == [1, 5]


def test_each_reply_belongs_to_its_request(held: Held, qtbot: QtBot) -> None:
    asked: list[tuple[Experiment, str, frozenset[str] | None, bool]] = [
        (numbered(1), "float32", None, False),
        (numbered(2), "float64", frozenset({"scores"}), True),
        (numbered(3), "bfloat16", frozenset(), False),
    ]
    for number, (e, dtype, stages, mean) in enumerate(asked, 1):
        held.ask(e, dtype, stages=stages, mean=mean)
        held.let_go(number)
        qtbot.waitUntil(lambda number=number: held.ids()[-1:] == [number])
        reply = held.replies[-1]
        assert reply.request == Request(number, e, "cpu", dtype, stages, mean)
        assert reply.trace is not None
        assert reply.trace.experiment is e
        assert str(reply.trace.dtype) == f"torch.{dtype}"


def test_errors_are_ordered_like_replies(held: Held, qtbot: QtBot) -> None:
    held.ask(numbered(1), device="abacus")
    held.begun(1)
    held.ask(numbered(2))
    held.let_go(1)
    held.begun(2)
    held.ask(numbered(3), device="abacus")
    held.let_go(2)
    held.begun(3)
    QCoreApplication.processEvents()
    assert [(reply.request.id, reply.error) for reply in held.replies] == [(2, "")]
    held.let_go(3)
    qtbot.waitUntil(lambda: held.ids() == [2, 3])
    assert held.replies[-1].trace is None
    assert "abacus" in held.replies[-1].error


# What a reply says


@pytest.mark.parametrize(
    ("sums", "gap"),
    [((1.0, 1.0), 0.0), ((0.5, 1.0), 0.5), ((1.0, 1.25), 0.25), ((0.25, 1.5), 0.75), ((0.75, 2.0), 1.0)],
)
def test_the_gap_is_that_of_the_row_sum_furthest_from_1(sums: tuple[float, float], gap: float) -> None:
    assert Reply(Request(1, preset("journey")), None, row_sums=sums).largest_gap == gap


@pytest.mark.parametrize("name", ["mask-after-softmax", "sigmoid", "journey"])
def test_row_sums_are_those_of_the_weights_that_mix_the_values(name: str) -> None:
    reply = module.answer(Request(1, preset(name), dtype="float64"))
    assert reply.trace is not None
    stage = "zeroed" if "zeroed" in reply.trace else "weights"
    sums = reply.trace.array(stage).sum(-1)
    for head, query in reply.empty_rows:  # which have nothing to share out
        sums[head, query] = 1
    assert reply.row_sums == pytest.approx((sums.min(), sums.max()))


@pytest.mark.parametrize(("mean", "ready"), [(True, ["weights", "masked", "scores"]), (False, ["weights"])])
def test_the_mean_of_the_heads_is_computed_in_the_worker(
    mean: bool, ready: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = module.answer(Request(1, preset("multi-head-8"), mean=mean))
    assert reply.trace is not None
    trace = reply.trace

    class NotReadyError(Exception):
        pass

    def computes(self: Trace, name: str) -> None:
        raise NotReadyError(name)

    wanted = {name: trace.array(name).mean(0) for name in ("weights", "masked", "scores") if name in trace}
    monkeypatch.setattr(Trace, "array", computes)
    for name, expected in wanted.items():
        if name in ready:
            np.testing.assert_allclose(trace.mean(name), expected)
        else:
            with pytest.raises(NotReadyError):
                trace.mean(name)
