"""Writes the stacks of all threads to ``crashes.log``, beside ``errors.log``, when the process crashes."""

import faulthandler
import os
import time
from collections.abc import Callable

from attnlab.fault_log import CRASHES, log_path, shorten, versions


def watch_crashes() -> Callable[[], None]:
    """Log the stacks of all threads if the process crashes. Returns a function that stops this.

    Does nothing if faulthandler is already enabled, as under pytest, or the log cannot be written. A process that does
    not crash leaves nothing in the log.
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
