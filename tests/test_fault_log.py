"""Unexpected errors are counted, logged within a limit, and shown; an unwritable log changes nothing."""

import threading
from collections.abc import Callable
from pathlib import Path

from attnlab.base import fault_log
from attnlab.base.fault_log import ERRORS, MOST_BYTES, Fault, listen, report

Provoked = Callable[[], list[str]]


def fail(message: str = "far away") -> BaseException:
    try:
        raise IndexError(message)
    except IndexError as error:
        return error


def test_a_fault_has_one_sentence_versions_and_a_traceback(config_dir: Path, provoked: Provoked) -> None:
    fault = report(fail(), "printing the sheet")
    assert fault.sentence == "Something went wrong inside attnlab while printing the sheet: IndexError: far away."
    assert "PySide6" in fault.details
    assert "torch" in fault.details
    assert "in fail" in fault.details
    text = (config_dir / ERRORS).read_text(encoding="utf-8")
    assert fault.sentence in text
    assert "in fail" in text
    assert provoked() == ["IndexError: far away"]


def test_repeated_faults_are_counted_and_logged_ever_more_rarely(config_dir: Path, provoked: Provoked) -> None:
    told: list[Fault] = []
    end = listen(told.append)
    for _ in range(250):
        report(fail())
    end()
    report(fail())
    assert [fault.times for fault in told] == list(range(1, 251))
    assert (config_dir / ERRORS).read_text(encoding="utf-8").count("in fail") == 3  # the 1st, 10th and 100th
    provoked()
    assert report(fail()).times == 1
    provoked()


def test_the_log_keeps_its_newer_half(config_dir: Path, provoked: Provoked) -> None:
    (config_dir / ERRORS).write_text("an old line\n" * (MOST_BYTES // 6), encoding="utf-8")
    report(fail("the newest"))
    text = (config_dir / ERRORS).read_text(encoding="utf-8")
    assert MOST_BYTES // 3 < len(text) < MOST_BYTES
    assert text.startswith("an old line\n")
    assert "the newest" in text
    provoked()


def test_an_unwritable_log_is_no_fault(config_dir: Path, provoked: Provoked) -> None:
    (config_dir / ERRORS).mkdir()
    assert report(fail()).times == 1
    assert provoked() == ["IndexError: far away"]


def test_control_characters_are_escaped_in_the_log(provoked: Provoked) -> None:
    fault = report(fail("\x1b[2J red\nand " + "x" * 10_000))
    assert fault.sentence.startswith("Something went wrong inside attnlab: IndexError: [2J red and xxx")
    assert len(fault.sentence) < 400
    provoked()


def test_an_error_whose_text_fails_is_reported_by_its_name(provoked: Provoked) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

    report(MuteError())
    assert provoked() == ["MuteError"]


def test_a_fault_keeps_no_object_alive_and_may_come_from_any_thread(provoked: Provoked) -> None:
    threads = [threading.Thread(target=report, args=(fail(),)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(fault.times for fault in fault_log.take()) == list(range(1, 9))


def test_a_failing_listener_hides_neither_the_fault_nor_its_own_error(provoked: Provoked) -> None:
    told: list[Fault] = []
    ends = [listen(lambda _: [][0]), listen(told.append)]
    report(fail())
    for end in ends:
        end()
    assert len(told) == 1
    provoked()
