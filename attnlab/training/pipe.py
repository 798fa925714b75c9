"""The pipe between the window and the training process, with threads that read and write it in the background."""

import os
import pickle
import queue
import sys
import threading
import time
from multiprocessing.connection import Connection

from attnlab.training.messages import Failed, Message


def open_inherited(handle: int) -> Connection:
    """Return the connection for the pipe handle that this process inherited."""
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    return Connection(handle)


NO_ROOM = "The training ran out of memory while sending its weights; try a smaller model."


class Inbox:
    """Commands in the order of arrival. The process ends when the other end of the pipe is closed."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._commands: queue.SimpleQueue[object] = queue.SimpleQueue()
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def next(self, wait: bool) -> object | None:
        """Return the next command; without ``wait``, None if there is none.

        Raises:
            MemoryError, OSError: the command could not be read.
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
            os._exit(0)  # the window has ended
        except (MemoryError, OSError) as error:  # the weights in a command were too large
            self._commands.put(error)


class Outbox:
    """Messages to send, written by a thread of their own, so that a slow reader does not delay the training."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._changed = threading.Condition()
        self._waiting: list[Message] = []
        self._writing = False
        self.packing_s = 0.0
        """Seconds spent on pickling messages so far."""
        threading.Thread(target=self._write, name="messages", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a message is still being sent; the next one should wait and hold more."""
        return self._writing or bool(self._waiting)

    def post(self, message: Message) -> None:
        """Queue a message and return at once."""
        with self._changed:
            self._waiting.append(message)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until all messages are written."""
        with self._changed:
            self._changed.wait_for(lambda: not self.busy)

    def _write(self) -> None:
        try:
            self._write_all()
        finally:
            os._exit(1)  # whatever ended this thread: without it the process could not report and would run for ever

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
    """Commands to a process, written by a thread of their own, because a process that hangs reads none."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="training commands", daemon=True)
        self._thread.start()

    def send(self, command: object) -> None:
        """Queue a command and return at once; commands to a process that has ended are dropped."""
        self._waiting.put(command)

    def close(self) -> None:
        """End the thread after the process has ended; waiting commands are dropped. May be called twice."""
        self._waiting.put(None)
        self._thread.join()

    def _write(self) -> None:
        while (command := self._waiting.get()) is not None:
            try:
                self._connection.send(command)
            except OSError:  # the process has ended; the reading thread reports it
                continue
