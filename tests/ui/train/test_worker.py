"""The thread that looks: the newest of each kind is done, the most urgent first, and a fault ends nothing."""

import threading
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from attnlab.errors import TrainingError
from attnlab.ui.train.worker import Refusal, Worker
from tests.patience import PATIENCE_S

KINDS = ("look", "text")


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    worker = Worker(KINDS, lambda: None)
    yield worker
    worker.stop()


def _held(worker: Worker) -> Callable[[], None]:
    """Keep the thread busy until the returned function is called."""
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> str:
        begun.set()
        go_on.wait(PATIENCE_S)
        return "held"

    worker.ask("text", hold)
    assert begun.wait(PATIENCE_S)
    return go_on.set


def test_of_each_kind_only_the_newest_is_done_and_the_most_urgent_first(worker: Worker, qtbot: QtBot) -> None:
    found: list[object] = []
    worker.answered.connect(lambda kind, result: found.append((kind, result)))
    let_go = _held(worker)
    for number in range(5):
        worker.ask("text", lambda number=number: number)  # type: ignore[misc]
        worker.ask("look", lambda number=number: 10 * number)  # type: ignore[misc]
    let_go()
    qtbot.waitUntil(lambda: len(found) == 3)
    assert found == [("text", "held"), ("look", 40), ("text", 4)]


def test_what_cannot_be_done_is_told_in_a_sentence(worker: Worker, qtbot: QtBot) -> None:
    def refuse() -> None:
        raise TrainingError("The row has 9 letters; this task needs 1 to 8.")

    with qtbot.waitSignal(worker.answered) as answered:
        worker.ask("look", refuse)
    assert answered.args is not None
    assert isinstance(answered.args[1], Refusal)
    assert answered.args[1].sentence == "The row has 9 letters; this task needs 1 to 8."


def test_a_fault_is_told_and_the_thread_goes_on(
    worker: Worker, qtbot: QtBot, capsys: pytest.CaptureFixture[str], provoked: Callable[[], list[str]]
) -> None:
    with qtbot.waitSignal(worker.answered) as answered:
        worker.ask("look", lambda: 1 // 0)
    assert [reason.partition(":")[0] for reason in provoked()] == ["ZeroDivisionError"]
    assert answered.args is not None
    assert "ZeroDivisionError" in answered.args[1].sentence
    assert "ZeroDivisionError" in capsys.readouterr().err
    with qtbot.waitSignal(worker.answered) as answered:
        worker.ask("look", lambda: 7)
    assert answered.args == ["look", 7]


def test_it_ends_while_work_waits(worker: Worker) -> None:
    let_go = _held(worker)
    worker.ask("look", lambda: pytest.fail("done after the end"))

    def let_go_when_it_is_to_end() -> None:
        with worker._wake:
            worker._wake.wait_for(lambda: worker._stopping)
        let_go()

    waiting = threading.Thread(target=let_go_when_it_is_to_end)
    waiting.start()
    worker.stop()
    worker.stop()
    waiting.join()


def test_patient_work_waits_while_other_work_keeps_coming(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.train.worker.SHARE", 1e-9)
    monkeypatch.setattr("attnlab.ui.train.worker.REST_S", 3600.0)
    worker = Worker(KINDS, lambda: None, patient=("text",))
    found: list[object] = []
    worker.answered.connect(lambda _, result: found.append(result))
    _held(worker)()
    for number in range(3):
        worker.ask("look", lambda number=number: number)  # type: ignore[misc]
        worker.ask("text", lambda: "later")
        qtbot.waitUntil(lambda number=number: number in found)  # type: ignore[misc]
    assert found == ["held", 0, 1, 2]
    assert worker.waits("text")
    worker.stop()


def test_patient_work_is_done_at_once_where_no_other_comes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.ui.train.worker.SHARE", 1e-9)
    worker = Worker(KINDS, lambda: None, patient=("text",))
    found: list[object] = []
    worker.answered.connect(lambda _, result: found.append(result))
    for number in range(3):
        worker.ask("text", lambda number=number: number)  # type: ignore[misc]
        qtbot.waitUntil(lambda number=number: number in found)  # type: ignore[misc]
    assert found == [0, 1, 2]
    worker.stop()
