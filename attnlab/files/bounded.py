"""Reads files no further than they may be long."""

import os

from attnlab.errors import FileError
from attnlab.files.atomic import why


def read_bytes(path: str | os.PathLike[str], limit: int, who: str) -> bytes:
    """Return what is in a file of at most ``limit`` bytes, whole MiB; ``who`` may have so many: "an exercise".

    Raises:
        FileError: it is not there, cannot be read, or is larger.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise FileError(f"{name} cannot be read: {why(error)}.") from None
    if len(data) > limit:
        raise FileError(f"{name} is larger than the {limit >> 20} MiB that {who} may have.")
    return data
