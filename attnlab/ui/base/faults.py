"""Reports unexpected errors: ``report(error)`` from any thread logs the error and shows one sentence in the window.

``install`` also reports the errors that Python itself would print: those in slots, threads and clean-up. A test that
provokes a fault must take it with ``attnlab.base.fault_log.take``; a test that leaves one fails.
"""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import attnlab
from attnlab.base.crash_log import watch_crashes
from attnlab.base.fault_log import report
from attnlab.ui.base.fault_relay import show_faults

__all__ = ["install", "report", "show_faults"]

_OURS = str(Path(attnlab.__file__).parent) + os.sep


def install(*, only_ours: bool = False) -> Callable[[], None]:
    """Report errors that would reach Python's own hooks, and log crashes. Returns a function that restores the hooks.

    With ``only_ours``, only errors of calls that began in attnlab are reported: a script or a notebook that shows a
    window handles its own.
    """
    before, thread_before, unraisable_before = sys.excepthook, threading.excepthook, sys.unraisablehook

    def ours(error: BaseException | None) -> bool:
        return isinstance(error, Exception) and (not only_ours or _begins_here(error.__traceback__))

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        report(error) if ours(error) else before(kind, error, where)

    def thread_hook(told: threading.ExceptHookArgs) -> None:
        if told.exc_value is not None and ours(told.exc_value):
            report(told.exc_value, f"working in the thread {told.thread.name}" if told.thread else "")
        else:
            thread_before(told)

    def unraisable_hook(told: "sys.UnraisableHookArgs") -> None:
        if told.exc_value is not None and ours(told.exc_value):
            report(told.exc_value, "cleaning up")
        else:
            unraisable_before(told)

    sys.excepthook, threading.excepthook, sys.unraisablehook = hook, thread_hook, unraisable_hook
    stop_watching = watch_crashes()

    def restore() -> None:
        if sys.excepthook is hook:  # another hook set since then stays
            sys.excepthook = before
        if threading.excepthook is thread_hook:
            threading.excepthook = thread_before
        if sys.unraisablehook is unraisable_hook:
            sys.unraisablehook = unraisable_before
        stop_watching()

    return restore


def _begins_here(where: TracebackType | None) -> bool:
    """Return whether the outermost call is attnlab's, ignoring the frames of ``threading``."""
    while where is not None and where.tb_frame.f_code.co_filename == threading.__file__:
        where = where.tb_next
    return where is not None and where.tb_frame.f_code.co_filename.startswith(_OURS)
