"""Training processes for tests on Linux: forked from one that has loaded torch, where a new one would load it again.

Loading torch takes two to three seconds of processor time, and some two hundred tests train. A forked process runs the
same code, through the same pipe, and its parent sees the same: its number, its exit code, what it wrote to standard
error. Only how it came to be differs, which ``tests/training/test_process.py`` tests with the real start.
"""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from typing import IO

from attnlab.training import process

LINE = "import sys; sys.path[:] = sys.argv[2:]; from tests.nursery import serve; serve(int(sys.argv[1]))"
AVAILABLE = sys.platform == "linux" and hasattr(os, "pidfd_open")
_LONGEST = 1 << 20
_server: tuple[subprocess.Popen[bytes], socket.socket] | None = None

real_start = process._start_process


class Forked:
    """What :mod:`attnlab.training.process` uses of ``subprocess.Popen``."""

    def __init__(self, status: int) -> None:
        self._status = status
        self._words = b""
        while b"\n" not in self._words:
            self._words += os.read(status, 64)
        self.pid = int(self._words.partition(b"\n")[0])

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        if self._status >= 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal; TimeoutExpired if it does not end in time."""
        due = None if timeout is None else time.monotonic() + timeout
        while self._words.count(b"\n") < 2:
            left = None if due is None else max(0.0, due - time.monotonic())
            if not select.select([self._status], [], [], left)[0]:
                raise subprocess.TimeoutExpired("a forked training", timeout or 0.0)
            self._words += os.read(self._status, 64)
        if self._status >= 0:
            os.close(self._status)
            self._status = -1
        return int(self._words.split(b"\n")[1])

    def __del__(self) -> None:
        """Close the pipe of a process that nobody waited for."""
        if self._status >= 0:
            os.close(self._status)


def start_process(end: int, errors: IO[bytes]) -> Forked:
    """Fork a training process that reads its order from the pipe ``end``; as ``process._start_process``."""
    reading, writing = os.pipe()
    try:
        given = {"environ": dict(os.environ) | {"OMP_WAIT_POLICY": "PASSIVE"}, "path": sys.path, "folder": os.getcwd()}
        text = json.dumps(given).encode()
        assert len(text) < _LONGEST
        socket.send_fds(_open_server(), [text], [end, errors.fileno(), writing])
    finally:
        os.close(writing)
    return Forked(reading)


def close() -> None:
    """End the process from which others are forked."""
    global _server
    if _server is not None:
        popen, connection = _server
        connection.close()
        popen.wait()
        _server = None


def _open_server() -> socket.socket:
    global _server
    if _server is None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for each in (ours, theirs):
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        with theirs:
            command = [sys.executable, "-c", LINE, str(theirs.fileno()), *sys.path]
            popen = subprocess.Popen(command, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        _server = popen, ours
    return _server[1]


def serve(handle: int) -> None:
    """Fork a process for each request, until the other end closes."""
    from attnlab.training import child, trainer  # noqa: F401  # and torch with them

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    with socket.socket(fileno=handle) as connection:
        while True:
            text, handles, _, _ = socket.recv_fds(connection, _LONGEST, 3)
            if not text:
                return
            if os.fork() == 0:
                connection.close()
                _keep(json.loads(text), handles)
            for each in handles:
                os.close(each)


def _keep(given: dict[str, object], handles: list[int]) -> None:
    """Fork the training, tell its number, wait for it, and tell its exit code."""
    end, errors, status = handles
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(status)
        _train(given, end, errors)
    os.close(end)
    os.close(errors)
    os.write(status, f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(status, f"{code}\n".encode())
    os._exit(0)


def _train(given: dict[str, object], end: int, errors: int) -> None:
    """Become a training process, with the surroundings of the test that asked for it."""
    from attnlab.training import child

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    silence = os.open(os.devnull, os.O_RDWR)
    for handle, place in ((silence, 0), (silence, 1), (errors, 2)):
        os.dup2(handle, place)
    os.environ.clear()
    os.environ.update(given["environ"])  # type: ignore[call-overload]
    sys.path[:] = given["path"]  # type: ignore[call-overload]
    os.chdir(given["folder"])  # type: ignore[arg-type]
    try:
        child.main(end)
    except BaseException:  # noqa: BLE001  # as Python does at its end, which a forked process must not reach
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        sys.stderr.flush()
        os._exit(1)
