"""Work in slices in the window's thread: it can wait for calls in other threads, and reports its end once."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from attnlab.base import fault_log
from attnlab.base.errors import AttnlabError
from attnlab.ui.base.slices import Call, Drawing, Slices, draw, draw_now
from tests.patience import PATIENCE_S

Steps = Iterator[Call[Any] | None]


class Told:
    """Records the results."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.failed: list[str] = []
        self.steps: list[int] = []


@pytest.fixture
def owner(qapp: object) -> QObject:
    return QObject()


@pytest.fixture
def told() -> Told:
    return Told()


def begin(steps: Steps, owner: QObject, told: Told) -> Drawing:
    return draw(
        steps,
        owner,
        on_done=told.done.append,
        on_failed=told.failed.append,
        progress=told.steps.append,
        doing="drawing a test",
    )


def test_slices_run_in_the_windows_thread_and_calls_in_another(owner: QObject, told: Told, qtbot: QtBot) -> None:
    where: list[threading.Thread] = []

    def steps() -> Steps:
        where.append(threading.current_thread())
        yield None
        beside = yield Call(threading.current_thread)
        where.append(threading.current_thread())
        assert isinstance(beside, threading.Thread)
        yield None
        return beside

    drawing = begin(steps(), owner, told)
    assert not told.steps  # nothing happens at once
    qtbot.waitUntil(lambda: drawing.done)
    assert where == [threading.main_thread()] * 2
    assert told.done[0] is not threading.main_thread()
    assert (told.steps, told.failed) == ([1, 2, 3], [])


def test_a_call_can_be_started_before_it_is_waited_for(owner: QObject, told: Told, qtbot: QtBot) -> None:
    go = threading.Event()

    def steps() -> Steps:
        early = Call(go.wait, PATIENCE_S)
        first = yield Call(lambda: 1)
        assert not early.ended
        go.set()
        second = yield early
        return first, second, early.ended

    drawing = begin(steps(), owner, told)
    qtbot.waitUntil(lambda: drawing.done)
    assert told.done == [(1, True, True)]


def test_an_error_of_a_call_is_raised_where_it_is_awaited(owner: QObject, told: Told, qtbot: QtBot) -> None:
    def steps() -> Steps:
        try:
            yield Call(int, "x")
        except ValueError as error:
            return str(error)

    drawing = begin(steps(), owner, told)
    qtbot.waitUntil(lambda: drawing.done)
    assert told.done == ["invalid literal for int() with base 10: 'x'"]
    assert fault_log.take() == []


@pytest.mark.parametrize("beside", [False, True])
def test_an_attnlab_error_is_passed_as_its_sentence(beside: bool, owner: QObject, told: Told, qtbot: QtBot) -> None:
    closed: list[str] = []

    def refuse() -> None:
        raise AttnlabError("This cannot be drawn.")

    def steps() -> Steps:
        try:
            yield None
            yield Call(refuse) if beside else refuse()
        finally:
            closed.append("closed")

    drawing = begin(steps(), owner, told)
    qtbot.waitUntil(lambda: drawing.done)
    assert (told.done, told.failed, closed) == ([], ["This cannot be drawn."], ["closed"])
    assert fault_log.take() == []


@pytest.mark.parametrize("beside", [False, True])
def test_an_unexpected_error_is_reported_once(beside: bool, owner: QObject, told: Told, qtbot: QtBot) -> None:
    def steps() -> Steps:
        yield None
        yield Call(lambda: 1 // 0) if beside else 1 // 0  # type: ignore[misc]

    drawing = begin(steps(), owner, told)
    qtbot.waitUntil(lambda: drawing.done)
    (fault,) = fault_log.take()
    assert fault.reason.startswith("ZeroDivisionError")
    assert told.failed == [fault.sentence]
    assert "while drawing a test" in fault.sentence


def test_a_cancelled_drawing_closes_its_resources_at_once(owner: QObject, told: Told, qtbot: QtBot) -> None:
    closed: list[str] = []
    began, go = threading.Event(), threading.Event()

    def hang() -> None:
        began.set()
        assert go.wait(PATIENCE_S)

    def steps() -> Steps:
        try:
            yield Call(hang)
        finally:
            closed.append("closed")

    drawing = begin(steps(), owner, told)
    qtbot.waitUntil(began.is_set)
    drawing.cancel()
    assert closed == ["closed"]
    assert drawing.done
    go.set()
    qtbot.waitUntil(lambda: "attnlab-job" not in [each.name for each in threading.enumerate()])
    assert (told.done, told.failed) == ([], [])


def test_a_drawing_ends_with_its_owner(told: Told, qtbot: QtBot) -> None:
    closed: list[str] = []

    def steps() -> Steps:
        try:
            while True:
                yield None
        finally:
            closed.append("closed")

    owner = QObject()
    begin(steps(), owner, told)
    qtbot.waitUntil(lambda: bool(told.steps))
    owner.deleteLater()
    qtbot.waitUntil(lambda: closed == ["closed"])
    assert told.done == []


def test_the_result_of_a_call_without_an_owner_is_dropped(told: Told, qtbot: QtBot) -> None:
    go = threading.Event()
    calls: list[Call[bool]] = []

    def steps() -> Steps:
        calls.append(Call(go.wait, PATIENCE_S))
        yield calls[0]

    owner = QObject()
    begin(steps(), owner, told)
    qtbot.waitUntil(lambda: told.steps == [1])
    with qtbot.waitSignal(owner.destroyed):
        owner.deleteLater()
    go.set()
    qtbot.waitUntil(lambda: calls[0]._job.done)  # and a fault that was reported fails the test
    assert (told.done, told.failed) == ([], [])


def test_without_a_window_all_slices_run_at_once(qapp: object) -> None:
    def steps() -> Steps:
        yield None
        found = yield Call(int, "7")
        try:
            yield Call(int, "x")
        except ValueError:
            return found

    assert draw_now(steps()) == 7


def test_a_newer_drawing_of_an_owner_replaces_the_older_one(owner: QObject, qtbot: QtBot) -> None:
    slices = Slices(owner)
    done: list[str] = []
    stopped: list[int] = []
    slices.finished.connect(done.append)
    slices.stopped.connect(lambda: stopped.append(1))

    def steps(count: int) -> Steps:
        for _ in range(count):
            yield None
        if count == 2:
            raise AttnlabError("Two is refused.")

    with qtbot.waitSignal(slices.progressed):
        slices.start(steps(10**9), doing="drawing a test")
    slices.start(steps(2), doing="drawing a test")
    assert stopped == [1]
    with qtbot.waitSignal(slices.finished):
        assert slices.running
    assert done == ["Two is refused."]
    assert not slices.running
    with qtbot.waitSignal(slices.finished):
        slices.start(steps(0), doing="drawing a test")
    assert done[-1] == ""
    slices.stop()
    assert stopped == [1]
