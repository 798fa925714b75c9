"""The training process as its parent sees it: start it, send commands, poll its messages, and end it within a time.

The child is the interpreter with one line of code, or the frozen program with a hidden argument, and inherits a pipe.
Python's own ``multiprocessing`` would import the parent's main file again: a script without a guard would start anew, a
notebook has no such file, and a window might open twice; it also keeps a helper process. None of that is needed here:
everything that the child needs comes through the pipe. The child ends when the pipe is closed, and so when the parent
dies, however it dies.

Two threads wait for the child: one reads its messages and reports how it ended, one writes commands.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from contextlib import ExitStack
from multiprocessing.connection import Connection, Pipe
from typing import IO, Any

from attnlab.base.fault_log import report
from attnlab.training.child import Order
from attnlab.training.messages import Arrays, Checkpoint, Command, Ended, Failed, Message, Progress, Stop
from attnlab.training.pipe import Sender
from attnlab.training.run import Run
from attnlab.training.specs import RunSpec

END_S = 0.15
"""Seconds that a process has to end by itself, so that stopping takes at most 200 ms."""
_MOST_WAITING = 64
"""The maximum number of messages waiting to be polled; then the child waits too, and puts more into one message."""
_LINE = "import sys; sys.path[:] = sys.argv[2:]; from attnlab.training.child import main; main(int(sys.argv[1]))"
_DETAILS = 1 << 15
"""Bytes of its standard error that are kept: a crash begins with its cause, followed by the stack of every thread."""


class TrainingProcess:
    """Trains a run in a process of its own: from its beginning, from a checkpoint, or with given weights.

    ``interval`` is the number of steps between recorded moments. ``digest`` is that of the text learned so far: a
    different text is refused. With ``measure`` the held-out examples are evaluated before the first step. The run
    pauses after ``pause_after`` steps, unless it is None. With ``exact`` small models have moments of exactly the
    multiples of ``interval``. All methods must be called from one thread; only :meth:`stop` waits without being asked.
    """

    def __init__(
        self,
        spec: RunSpec,
        checkpoint: Checkpoint | None = None,
        weights: Arrays | None = None,
        *,
        interval: int = 1,
        digest: str = "",
        measure: bool = False,
        pause_after: int | None = None,
        exact: bool = False,
    ) -> None:
        self._order = Order(spec, checkpoint, weights, interval, digest, measure, pause_after, exact)
        self._messages: deque[Message] = deque()
        self._changed = threading.Condition()
        self._popen: subprocess.Popen[bytes] | None = None
        self._sender: Sender | None = None
        self._reader: threading.Thread | None = None
        self._killer: threading.Timer | None = None
        self._ending = self._told_end = False
        self._kept = checkpoint.step if checkpoint else -1
        self._step = max(self._kept, 0)

    def start(self) -> None:
        """Start the process; if it cannot be started, the next poll returns ``Failed``."""
        with ExitStack() as passed, ExitStack() as kept:
            try:
                ours, theirs = Pipe()
                kept.enter_context(ours)
                passed.enter_context(theirs)
                errors = kept.enter_context(tempfile.TemporaryFile())
                self._popen = _start_process(theirs.fileno(), errors)
            except OSError as error:
                self._messages.append(Failed(f"The training process cannot be started: {error.strerror or error}."))
                return
            kept.pop_all()  # the reading thread closes them
        self._sender = Sender(ours)
        self._sender.send(self._order)
        self._reader = threading.Thread(
            target=self._read, args=(self._popen, ours, errors, self._sender), name="training messages", daemon=True
        )
        self._reader.start()

    @property
    def alive(self) -> bool:
        """Whether the process runs; its last messages may still wait to be polled."""
        return self._reader is not None and self._reader.is_alive()

    @property
    def pid(self) -> int:
        """The process id, 0 if it was never started."""
        return self._popen.pid if self._popen else 0

    def send(self, command: Command) -> None:
        """Send a command; it is dropped if the process has ended."""
        if self._sender is not None:
            self._sender.send(command)

    def poll(self, wait: float = 0.0) -> tuple[Message, ...]:
        """Return the messages since the last poll; the very last is Ended or Failed.

        Without any, wait for one for up to ``wait`` seconds.
        """
        with self._changed:
            self._changed.wait_for(lambda: bool(self._messages), wait)
            messages = tuple(self._messages)
            self._messages.clear()
            self._changed.notify_all()
        return messages

    def end(self, wait: float = END_S) -> None:
        """Ask the process to stop, and kill it if it has not after ``wait`` seconds; returns at once.

        If called again, the new time counts.
        """
        if not self.alive:
            return
        assert self._popen is not None
        self.send(Stop())
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._killer is not None:
            self._killer.cancel()
        self._killer = threading.Timer(wait, self._popen.kill)
        self._killer.daemon = True
        self._killer.start()

    def stop(self, wait: float = END_S) -> None:
        """End the process as :meth:`end` does, and wait until it and its threads have ended; its messages remain."""
        self.end(wait)
        if self._reader is not None:
            self._reader.join()
        if self._killer is not None:  # it may have been made after the reading thread looked for it
            self._killer.cancel()
            self._killer.join()
            self._killer = None
        if self._sender is not None:
            self._sender.close()
            self._sender = None

    def _read(self, popen: subprocess.Popen[bytes], connection: Connection, errors: IO[bytes], sender: Sender) -> None:
        """Receive messages until there are no more, then report how the process ended."""
        with errors, connection:
            try:
                while True:
                    self._take(connection.recv())
            except (EOFError, OSError, MemoryError):  # also when it is killed within a message
                code = _await_end(popen)
            except Exception as error:  # noqa: BLE001  # the session must learn how it ended, after any error
                report(error, "listening to the training")
                popen.kill()
                code = _await_end(popen)
            sender.close()  # before the connection, which it may be writing to
            if self._killer is not None:
                self._killer.cancel()
            if not self._told_end:
                self._take(self._judge(code, _read_last_words(errors)))

    def _take(self, message: Message) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._ending or len(self._messages) < _MOST_WAITING)
            self._messages.append(message)
            self._changed.notify_all()
        if isinstance(message, Progress):
            self._step = message.step
        elif isinstance(message, Checkpoint):
            self._kept = message.step
        self._told_end = isinstance(message, Ended | Failed)

    def _judge(self, code: int, words: str) -> Ended | Failed:
        """Return the end of a process that did not report it itself."""
        kept = f"its state at step {self._kept:,} is kept" if self._kept >= 0 else "it had kept nothing yet"
        if self._ending:
            told = f"after step {self._step:,}; {kept}" if self._step or self._kept >= 0 else "before the first step"
            return Ended(self._step, "stopped", f"Stopped {told}.")
        return Failed(f"The training process {_describe_cause(code)} after step {self._step:,}; {kept}.", words)


def resume(run: Run) -> TrainingProcess:
    """Return a process, not started yet, that continues a run from its checkpoint; the run forgets all later steps.

    A run without a checkpoint starts again from the same initial weights.
    """
    run.rewind(run.checkpoint.step if run.checkpoint else -1)
    return TrainingProcess(run.spec, run.checkpoint, interval=run.recorder.interval, digest=run.digest)


def _start_process(end: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start the training process: a terminal's Ctrl+C does not reach it, and it inherits only its end of the pipe."""
    frozen = getattr(sys, "frozen", False)
    command = [sys.executable, *(("train", "--child", str(end)) if frozen else ("-c", _LINE, str(end), *sys.path))]
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}  # threads that spin would starve the window
    options: dict[str, Any] = {"pass_fds": (end,), "start_new_session": True}
    if sys.platform == "win32":
        os.set_handle_inheritable(end, True)
        flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        inherit = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [end]})
        options = {"startupinfo": inherit, "creationflags": flags}
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment, **options
    )


def _await_end(popen: subprocess.Popen[bytes]) -> int:
    """Return the exit code of a process that has closed its pipe, which happens only when it ends."""
    try:
        return popen.wait(1.0)
    except subprocess.TimeoutExpired:
        popen.kill()
        return popen.wait()


def _describe_cause(code: int) -> str:
    if code == -signal.SIGTERM or (hasattr(signal, "SIGKILL") and code == -signal.SIGKILL):
        return f"was killed (signal {-code}), perhaps because memory ran out,"
    if code < 0:
        return f"crashed (signal {-code}, {signal.strsignal(-code) or 'without a name'})"
    return f"ended without a message (exit code {code})"


def _read_last_words(errors: IO[bytes]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - _DETAILS))
    return errors.read().decode("utf-8", "replace").strip()
