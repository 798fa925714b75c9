"""Reads the user's files: regular files only, up to a limit, never blocking on a pipe."""

import os
import stat
from typing import IO

from attnlab.base.errors import FileError
from attnlab.files.atomic import format_name, make_read_error


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file for reading.

    Raises:
        OSError, ValueError: as :func:`open`; also for a pipe, a device or a socket, without waiting.
    """
    return open(path, "rb", opener=_open_ordinary)


def read_bytes(path: str | os.PathLike[str], limit: int, who: str) -> bytes:
    """Return the contents of a file of at most ``limit`` bytes (whole MiB); ``who``, "an exercise", is for the error.

    Raises:
        FileError: it does not exist, cannot be read, is not a regular file, or is larger.
    """
    name = format_name(path)
    try:
        with open_file(path) as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise make_read_error(path, error) from None
    if len(data) > limit:
        raise FileError(f"{name} is larger than the {limit >> 20} MiB that {who} may have.")
    return data


def _open_ordinary(name: str, flags: int) -> int:
    """Open without blocking. Check before, because opening can start a device, and after, in case the file changed."""
    _check_mode(os.stat(name).st_mode)
    handle = os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    try:
        _check_mode(os.fstat(handle).st_mode)
    except OSError:
        os.close(handle)
        raise
    return handle


def _check_mode(mode: int) -> None:
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # Python's own error for a folder says so
        raise OSError(0, "it is a pipe or a device, not a file")
