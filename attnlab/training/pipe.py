"""The pipe between a window and the process that trains, with threads so that nobody has to wait for it."""

import os
import pickle
import queue
import sys
import threading
import time
from multiprocessing.connection import Connection

from attnlab.training.messages import Failed, Message


def inherited(handle: int) -> Connection:
    """Return the end of a pipe that this process was started with."""
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    return Connection(handle)


NO_ROOM = "The training ran out of memory when it was to send its weights; a smaller model would do."


class Inbox:
    """Commands in the order in which they came. The process ends when nobody is left who could send any."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._commands: queue.SimpleQueue[object] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def next(self, wait: bool) -> object | None:
        """Return the next command, None when there is none and it is not to be waited for.

        Raises:
            MemoryError, OSError: it could not be read.
        """
        try:
            command = self._commands.get(block=wait)
        except queue.Empty:
            return None
        if isinstance(command, MemoryError | OSError):
            raise command
        return command

    def _read(self) -> None:
        try:
            while True:
                self._commands.put(self._connection.recv())
        except (EOFError, ConnectionError):
            os._exit(0)  # the window is gone, however it ended: nobody is there to train for
        except (MemoryError, OSError) as error:  # of weights that are too large
            self._commands.put(error)


class Outbox:
    """Messages on their way out, written by a thread of their own, so that a reader who is slow holds up nobody."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._waiting: list[Message] = []
        self._writing = False
        self.packing_s = 0.0
        """Seconds that making bytes of messages has taken so far."""
        threading.Thread(target=self._write, name="messages", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a message is still on its way: another had better wait and say more."""
        return self._writing or bool(self._waiting)

    def post(self, message: Message) -> None:
        """Send a message after those that wait, without waiting."""
        with self._changed:
            self._waiting.append(message)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until everything is written."""
        with self._changed:
            self._changed.wait_for(lambda: not self.busy)

    def _write(self) -> None:
        try:
            self._write_all()
        finally:
            os._exit(1)  # whatever ended this thread: a process of which nobody hears any more would stay for ever

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._writing = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: bool(self._waiting))
                message = self._waiting.pop(0)
                self._writing = True
            begun = time.thread_time()
            try:
                packed = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
                self.packing_s += time.thread_time() - begun
                self._connection.send_bytes(packed)
            except OSError:
                os._exit(0)
            except MemoryError:
                self._connection.send(Failed(NO_ROOM))
                return


class Sender:
    """Commands on their way to a process, written by a thread of their own: one that hangs reads none."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="training commands", daemon=True)
        self._thread.start()

    def send(self, command: object) -> None:
        """Send a command after those that wait, without waiting; to a process that has ended, nothing."""
        self._waiting.put(command)

    def close(self) -> None:
        """End the thread; the process is gone by now, and what waits is for nobody. May be called twice."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (command := self._waiting.get()) is not None:
            try:
                self._connection.send(command)
            except OSError:  # it has ended, and whoever reads from it says so
                continue
