"""Opens files that are files, never a pipe to wait for, and reads them no further than they may be long."""

import os
import stat
from typing import IO

from attnlab.errors import FileError
from attnlab.files.atomic import why


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open an ordinary file to be read.

    Raises:
        OSError, ValueError: as :func:`open`; and for a pipe, a device or a socket, at once, whoever writes to it.
    """
    return open(path, "rb", opener=_ordinary)


def read_bytes(path: str | os.PathLike[str], limit: int, who: str) -> bytes:
    """Return what is in a file of at most ``limit`` bytes, whole MiB; ``who`` may have so many: "an exercise".

    Raises:
        FileError: it is not there, cannot be read, is no ordinary file, or is larger.
    """
    name = os.fspath(path)
    try:
        with open_file(path) as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"{name} cannot be read: {why(error)}.") from None
    if len(data) > limit:
        raise FileError(f"{name} is larger than the {limit >> 20} MiB that {who} may have.")
    return data


def _ordinary(name: str, flags: int) -> int:
    """Open without waiting, and look at what was opened: a look before could be at something else."""
    handle = os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # which Python itself refuses
        return handle
    os.close(handle)
    raise OSError(0, "it is a pipe or a device, no file")
