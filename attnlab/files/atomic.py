"""Writes files whole or not at all: to a temporary file in the same folder, then renamed over the old one."""

import os
import secrets
from pathlib import Path

from attnlab.errors import FileError


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a crash leaves either the old one or the new one, never half of one.

    A link is followed, the old file's permissions are kept, and what is no ordinary file (a pipe) is written directly.

    Raises:
        FileError: it cannot be written; the sentence names the path and the reason.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file() and not target.is_dir():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def unwritable(path: str | os.PathLike[str], reason: Exception | str) -> FileError:
    """Return the error that says that a path cannot be written, and why."""
    return FileError(f"{os.fspath(path)} cannot be written: {why(reason)}.")


def why(reason: Exception | str) -> str:
    """Return the system's reason in its own words, without numbers and paths."""
    text = (reason.strerror or str(reason)) if isinstance(reason, OSError) else str(reason)
    return text.rstrip(".") or type(reason).__name__


def _replace(target: Path, data: bytes) -> None:
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(0, f"there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):  # renaming over it would not ask
        raise PermissionError(0, "it is write-protected")
    temporary = target.with_name(f".attnlab-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where the system lets a folder be opened."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder that may be written but not read; the file itself is safe
        return
    try:
        os.fsync(handle)
    except OSError:  # some network folders cannot
        pass
    finally:
        os.close(handle)
