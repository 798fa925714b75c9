"""Processes for tests on Linux: forked from one that has loaded torch and Qt, where new ones would load them again.

Loading both takes one to three seconds of processor time; some two hundred tests train and fifty start programs. A
forked process runs the same code, and its parent sees the same: its number, its exit code, what it wrote. Only how it
came to be differs, which ``tests/training/test_process.py`` tests with the real start of a training. Tests of
how a process starts or ends start a real one with :mod:`subprocess`.
"""

import contextlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from attnlab.training import process
from tests.headless import WITHOUT_QT
from tests.patience import PATIENCE_S

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
            self._read()
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
                raise subprocess.TimeoutExpired("a forked process", timeout or 0.0)
            self._read()
        if self._status >= 0:
            os.close(self._status)
            self._status = -1
        return int(self._words.split(b"\n")[1])

    def _read(self) -> None:
        """Read on; ChildProcessError if the process that waits for this one has ended, as no more will come."""
        words = os.read(self._status, 64)
        if not words:
            raise ChildProcessError("A forked process has lost the one that waits for it.")
        self._words += words

    def __del__(self) -> None:
        """Close the pipe of a process that nobody waited for."""
        if self._status >= 0:
            os.close(self._status)


def start_process(end: int, errors: IO[bytes]) -> Forked:
    """Fork a training process that reads its order from the pipe ``end``; as ``process._start_process``."""
    with open(os.devnull, "r+b") as silence:
        environ = dict(os.environ) | {"OMP_WAIT_POLICY": "PASSIVE"}
        return _fork({"environ": environ, "folder": os.getcwd()}, (silence, silence, errors), end)


def run_python(
    *arguments: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float = PATIENCE_S,
) -> subprocess.CompletedProcess[str]:
    """Run ``python -c CODE …`` or ``python -m MODULE …`` as a program; return its exit code and what it wrote.

    Where processes cannot be forked, a new one is started. After ``timeout`` seconds it is killed: TimeoutExpired.
    """
    words = [str(argument) for argument in arguments]
    if not AVAILABLE:
        return subprocess.run(
            [sys.executable, *words],
            env=env,
            cwd=cwd,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    given = {"environ": dict(os.environ if env is None else env), "folder": str(cwd or os.getcwd()), "words": words}
    with open(os.devnull, "rb") as silence, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        forked = _fork(given, (silence, out, err))
        try:
            code = forked.wait(timeout)
        except BaseException:  # after Ctrl+C too, which does not reach a process in a session of its own
            forked.kill()
            forked.wait()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read().decode(), err.read().decode())


def _fork(given: dict[str, Any], streams: Sequence[IO[bytes]], *handles: int) -> Forked:
    """Fork a process with three standard streams that inherits the handles."""
    reading, writing = os.pipe()
    try:
        text = json.dumps(given | {"path": sys.path}).encode()
        assert len(text) < _LONGEST
        socket.send_fds(_open_server(), [text], [writing, *(stream.fileno() for stream in streams), *handles])
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
    for name in ("attnlab.training.child", "attnlab.training.trainer", *(() if WITHOUT_QT else ("PySide6.QtWidgets",))):
        import_module(name)  # and torch with them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    with socket.socket(fileno=handle) as connection:
        while True:
            text, handles, _, _ = socket.recv_fds(connection, _LONGEST, 5)
            if not text:
                return
            if os.fork() == 0:
                connection.close()
                return _keep(json.loads(text), *handles)
            for each in handles:
                os.close(each)


def _keep(given: dict[str, Any], status: int, *handles: int) -> None:
    """Fork the process, tell its number, wait for it, and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        os.close(status)
        return _become(given, *handles)
    for each in handles:
        os.close(each)
    os.write(status, f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(status, f"{code}\n".encode())
    os._exit(0)


def _become(given: dict[str, Any], *handles: int) -> None:
    """Become the process that a test asked for, with the surroundings that it has there."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for place, handle in enumerate(handles[:3]):
        os.dup2(handle, place)
        os.close(handle)
    os.environ.clear()
    os.environ.update(given["environ"])
    sys.path[:] = given["path"]
    os.chdir(given["folder"])
    _run_program(*given["words"]) if "words" in given else _train(handles[3])


def _train(end: int) -> None:
    from attnlab.training import child

    try:
        child.main(end)
    except BaseException:  # noqa: BLE001  # as Python does at its end, which a forked training must not reach
        sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
        os._exit(1)


def _run_program(option: str, program: str, *arguments: str) -> None:
    """Run a program as Python runs its main program; the process ends as any does when its main program returns."""
    sys.path[:0] = ["", *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv[:] = [option, *arguments]
    if option == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), main.__dict__)
