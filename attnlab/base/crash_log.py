"""Writes the stacks of all threads to ``crashes.log``, beside ``errors.log``, when the process crashes."""

import faulthandler
import os
import platform
import time
from collections.abc import Callable

from attnlab import __version__
from attnlab.base.fault_log import CRASHES, log_path, shorten


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
    file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {_versions()}, process {os.getpid()}\n".encode())
    file.flush()
    after = file.tell()
    faulthandler.enable(file)

    def end() -> None:
        faulthandler.disable()
        if file.seek(0, os.SEEK_END) == after:  # nothing happened, here or in a second window
            file.truncate(begun)
        file.close()

    return end


def _versions() -> str:
    """Return the versions that can be read in no time: this line is written before the window is painted."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"attnlab {__version__}, Python {platform.python_version()}, {system}"
