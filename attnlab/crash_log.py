"""Keeps what the interpreter can still say when the process crashes: ``crashes.log``, beside ``errors.log``."""

import faulthandler
import os
import time
from collections.abc import Callable

from attnlab.fault_log import CRASHES, log_path, shorten, versions


def watch_crashes() -> Callable[[], None]:
    """Have the stacks of all threads written to ``crashes.log`` in a crash. Returns what ends this.

    Nothing happens where faulthandler is on already, as under pytest, or the log cannot be written. A start that does
    not crash leaves no trace in the log.
    """
    if faulthandler.is_enabled():
        return lambda: None
    try:
        path = log_path(CRASHES)
        path.parent.mkdir(parents=True, exist_ok=True)
        shorten(path)
        file = path.open("ab")
    except OSError:
        return lambda: None
    begun = file.seek(0, os.SEEK_END)
    file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {versions()}, process {os.getpid()}\n".encode())
    file.flush()
    after = file.tell()
    faulthandler.enable(file)

    def end() -> None:
        faulthandler.disable()
        if file.seek(0, os.SEEK_END) == after:  # nothing happened, here or in a second window
            file.truncate(begun)
        file.close()

    return end
