"""The inspection thread: the newest request of each kind runs, the most urgent first, and errors are reported."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from attnlab.base.errors import TrainingError
from attnlab.ui.train.model_worker import ModelWorker
from tests.patience import PATIENCE_S

KINDS = {"look": "looking", "text": "writing"}


class Asked:
    """Sends requests to a worker, and records its replies."""

    def __init__(self, worker: ModelWorker) -> None:
        self.worker = worker
        self.found: list[tuple[str, object]] = []
        self.refused: list[tuple[str, str]] = []

    def ask(self, kind: str, job: Callable[[], object]) -> None:
        self.worker.ask(
            kind, job, lambda found: self.found.append((kind, found)), lambda why: self.refused.append((kind, why))
        )

    def hold(self) -> Callable[[], None]:
        """Keep the thread busy until the returned function is called."""
        begun, go_on = threading.Event(), threading.Event()

        def hold() -> str:
            begun.set()
            go_on.wait(PATIENCE_S)
            return "held"

        self.ask("text", hold)
        assert begun.wait(PATIENCE_S)
        return go_on.set


@pytest.fixture
def asked(qtbot: QtBot) -> Iterator[Asked]:
    worker = ModelWorker(KINDS, lambda: None)
    yield Asked(worker)
    worker.stop()
    assert worker.join(PATIENCE_S)


def test_only_the_newest_request_of_each_kind_runs_and_the_most_urgent_first(asked: Asked, qtbot: QtBot) -> None:
    let_go = asked.hold()
    for number in range(5):
        asked.ask("text", partial(int, number))
        asked.ask("look", partial(int, 10 * number))
    let_go()
    qtbot.waitUntil(lambda: len(asked.found) == 3)
    assert asked.found == [("text", "held"), ("look", 40), ("text", 4)]


def test_preparation_runs_once_in_the_thread(qtbot: QtBot) -> None:
    prepared: list[threading.Thread] = []
    asked = Asked(ModelWorker(KINDS, lambda: prepared.append(threading.current_thread())))
    for _ in range(2):
        asked.ask("look", threading.current_thread)
        qtbot.waitUntil(lambda: not asked.worker.has_job("look"))
    assert prepared == [thread for _, thread in asked.found[:1]]
    asked.worker.stop()


def test_a_failed_request_is_reported_in_a_sentence(asked: Asked, qtbot: QtBot) -> None:
    def refuse() -> None:
        raise TrainingError("The input has 9 letters; this task needs 1 to 8.")

    asked.ask("look", refuse)
    qtbot.waitUntil(lambda: bool(asked.refused))
    assert asked.refused == [("look", "The input has 9 letters; this task needs 1 to 8.")]


def test_an_unexpected_error_is_reported_and_the_thread_continues(
    asked: Asked, qtbot: QtBot, capsys: pytest.CaptureFixture[str], provoked: Callable[[], list[str]]
) -> None:
    asked.ask("look", lambda: 1 // 0)
    qtbot.waitUntil(lambda: bool(asked.refused))
    assert [reason.partition(":")[0] for reason in provoked()] == ["ZeroDivisionError"]
    assert asked.refused[0][1].startswith("Something went wrong inside attnlab while looking: ZeroDivisionError")
    assert "ZeroDivisionError" in capsys.readouterr().err
    asked.ask("look", lambda: 7)
    qtbot.waitUntil(lambda: asked.found == [("look", 7)])


def test_the_worker_ends_without_completing_waiting_requests(asked: Asked) -> None:
    let_go = asked.hold()
    asked.ask("look", lambda: pytest.fail("done after the end"))
    asked.worker.stop()
    asked.worker.stop()
    assert not asked.worker.join(0)
    let_go()
    assert asked.worker.join(PATIENCE_S)
    assert asked.found == []


def test_low_priority_requests_wait_for_others(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.train.model_worker.SHARE", 1e-9)
    monkeypatch.setattr("attnlab.ui.train.model_worker.REST_S", 3600.0)
    asked = Asked(ModelWorker(KINDS, lambda: None, patient=("text",)))
    asked.hold()()
    for number in range(3):
        asked.ask("look", partial(int, number))
        asked.ask("text", lambda: "later")
        qtbot.waitUntil(lambda number=number: ("look", number) in asked.found)  # type: ignore[misc]
    assert asked.found == [("text", "held"), ("look", 0), ("look", 1), ("look", 2)]
    assert asked.worker.has_job("text")
    asked.worker.stop()


def test_low_priority_kinds_take_turns(qtbot: QtBot) -> None:
    """While a run was played, new texts to write kept the examples at those of the moment where it began."""
    kinds = {**KINDS, "examples": "computing"}
    asked = Asked(ModelWorker(kinds, lambda: None, patient=("text", "examples")))
    let_go = asked.hold()
    asked.ask("text", partial(int, 1))
    asked.ask("examples", partial(int, 2))
    let_go()
    qtbot.waitUntil(lambda: len(asked.found) == 3)
    assert asked.found == [("text", "held"), ("examples", 2), ("text", 1)]
    asked.worker.stop()


def test_low_priority_requests_run_at_once_if_there_are_no_others(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ui.train.model_worker.SHARE", 1e-9)
    asked = Asked(ModelWorker(KINDS, lambda: None, patient=("text",)))
    for number in range(3):
        asked.ask("text", partial(int, number))
        qtbot.waitUntil(lambda number=number: ("text", number) in asked.found)  # type: ignore[misc]
    assert asked.found == [("text", number) for number in range(3)]
    asked.worker.stop()
