"""Unexpected errors: counted, written to ``errors.log`` and passed to listeners. Needs neither Qt nor torch.

An ``AttnlabError`` is a sentence for the user and is shown where it happens; any other error is a fault of the program
and is reported here. The window's part, the bar with "Copy details", is :mod:`attnlab.ui.base.faults`.
"""

import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attnlab import __version__
from attnlab.base.folders import config_folder

ERRORS, CRASHES = "errors.log", "crashes.log"
MOST_BYTES = 256 * 1024
"""The maximum size of a log; a larger one is cut to its newest half of this size."""
_LONGEST = 300
_MOST_KINDS = 200

Listener = Callable[["Fault"], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """An unexpected error, as text only, so that the objects of its traceback can be freed.

    ``reason`` is its type and message, ``place`` its type and innermost line, ``times`` how often it happened there.
    """

    reason: str
    doing: str
    details: str
    place: str
    times: int = 1

    @property
    def sentence(self) -> str:
        """The sentence for the user."""
        doing = f" while {self.doing}" if self.doing else ""
        end = "" if self.reason.endswith((".", "!", "?", "…")) else "."
        return f"Something went wrong inside attnlab{doing}: {self.reason}{end}"


class RemoteError(Exception):
    """An error of another process: its type and message, and its traceback as a note."""


_lock = threading.RLock()
_listeners: list[Listener] = []
_counts: dict[str, int] = {}
_untaken: list[Fault] = []


def report(error: BaseException, doing: str = "") -> Fault:
    """Log an unexpected error, call the listeners and return the fault. Works in any thread and never raises.

    ``doing`` completes "Something went wrong inside attnlab while …". Faults at the same place are counted, and only
    the 1st, 10th, 100th… is written to the log and to standard error.
    """
    with _lock:
        fault = _count(error, doing)
        if str(fault.times).rstrip("0") == "1":
            _print(fault)
            append(ERRORS, _entry(fault))
        listeners = tuple(_listeners)
    for listener in listeners:
        try:
            listener(fault)
        except Exception:  # noqa: BLE001  # a fault in a listener must not hide the one reported
            _print(_make_fault(sys.exc_info()[1] or error, "reporting a fault", 1))
    return fault


def report_remote(details: str, doing: str = "") -> Fault:
    """Report an error of another process by its traceback, whose last line is its type and message."""
    lines = [line for line in details.splitlines() if line.strip()]
    error = RemoteError(lines[-1] if lines else "an error without a traceback")
    error.add_note(details)
    return report(error, doing)


def reason_of(error: BaseException) -> str:
    """Return an error's type and message on one line, bounded, without control characters."""
    try:
        text = " ".join("".join(c if c.isprintable() else " " for c in str(error)[: 4 * _LONGEST]).split())
    except Exception:  # noqa: BLE001  # the error's own __str__ may fail
        text = ""
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    if text and isinstance(error, RemoteError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def listen(listener: Listener) -> Callable[[], None]:
    """Call a function with each fault, in the thread that reports it. Returns a function that stops this."""
    with _lock:
        _listeners.append(listener)

    def end() -> None:
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)

    return end


def take() -> list[Fault]:
    """Return the faults reported since the last call; forget them and their counts.

    For tests: each test takes the faults that it provokes, and fails if any are left.
    """
    with _lock:
        faults = list(_untaken)
        _untaken.clear()
        _counts.clear()
        return faults


def log_path(name: str = ERRORS) -> Path:
    """Return the path of a log, in the settings folder."""
    return config_folder() / name


def append(name: str, text: str) -> None:
    """Add a text to a log and limit the log's size; do nothing if it cannot be written."""
    try:
        path = log_path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shorten(path)
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError:
        return


def shorten(path: Path) -> None:
    """Cut a log that is larger than ``MOST_BYTES`` to its newest ``MOST_BYTES`` / 2 bytes.

    Raises:
        OSError: it cannot be read or written.
    """
    if not path.is_file() or path.stat().st_size <= MOST_BYTES:
        return
    with path.open("rb") as file:
        file.seek(-MOST_BYTES // 2, os.SEEK_END)
        newer = file.read(MOST_BYTES)
    path.write_bytes(newer.partition(b"\n")[2])


def versions() -> str:
    """Return one line: the versions of attnlab, Python, the system and the main packages."""
    from importlib import metadata  # not at the start: loading it takes 25 ms

    parts = [f"attnlab {__version__}", f"Python {platform.python_version()}", platform.platform()]
    for name in ("PySide6-Essentials", "torch", "pyqtgraph", "numpy"):
        try:
            parts.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            parts.append(f"no {name}")
    return ", ".join(parts)


def _count(error: BaseException, doing: str) -> Fault:
    key = _place(error)
    if key not in _counts and len(_counts) >= _MOST_KINDS:
        _counts.clear()
    _counts[key] = times = _counts.get(key, 0) + 1
    fault = _make_fault(error, doing, times)
    if len(_untaken) < _MOST_KINDS:
        _untaken.append(fault)
    return fault


def _make_fault(error: BaseException, doing: str, times: int) -> Fault:
    try:
        lines = "".join(traceback.format_exception(error, limit=-50))
    except Exception:  # noqa: BLE001  # an error whose own methods fail
        lines = reason_of(error)
    return Fault(reason_of(error), doing, f"{versions()}\n{lines[-MOST_BYTES // 8 :]}", _place(error), times)


def _place(error: BaseException) -> str:
    """Return the type and the innermost line of an error, the key by which faults are counted."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}" if at is not None else reason_of(error)
    return f"{type(error).__qualname__} {where}"


def _entry(fault: Fault) -> str:
    times = f" ({fault.times} times)" if fault.times > 1 else ""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S')} {fault.sentence}{times}\n{fault.details}\n"


def _print(fault: Fault) -> None:
    """Write the traceback to standard error, if there is one: a packaged program may have none."""
    if sys.stderr is not None:
        try:
            sys.stderr.write(fault.details.partition("\n")[2])
        except (OSError, ValueError):
            return
