"""Writes files whole or not at all: to a temporary file in the same folder, then renamed over the old one."""

import contextlib
import errno
import os
import stat
import time
from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.base.printable import printable

_TEMPORARY, _STALE_S = ".attnlab-{}.tmp", 86_400
_UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EBADF)
"""What a file system answers that cannot flush to the disk when told to."""
_IN_USE = (5, 32)
"""What Windows answers where another program, such as a virus scanner, has the file open for a moment."""
_PAUSES_S = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)


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


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, whole or not at all; a lone surrogate, as in odd tokens and file names, becomes "?".

    Raises:
        FileError: it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def is_temporary(name: str) -> bool:
    """Return whether a file name is that of a file being written, or left half-written by a killed program."""
    start, end = _TEMPORARY.split("{}")
    return name.startswith(start) and name.endswith(end)


def unwritable(path: str | os.PathLike[str], reason: Exception | str) -> FileError:
    """Return the error that says that a path cannot be written, and why."""
    return FileError(f"{shown(path)} cannot be written: {why(reason)}.")


def shown(name: str | os.PathLike[str]) -> str:
    """Return a path or a name from a file as it may stand in a sentence: control characters are spelt out."""
    return printable(os.fsdecode(name))


def why(reason: Exception | str) -> str:
    """Return the system's reason in its own words on one line, without numbers and paths."""
    text = (reason.strerror or str(reason)) if isinstance(reason, OSError) else str(reason)
    text = shown(text.strip())
    return (text if len(text) <= 1000 else f"{text[:1000]}…").rstrip(".") or type(reason).__name__


def _replace(target: Path, data: bytes) -> None:
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(0, f"there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):  # renaming over it would not ask
        raise PermissionError(0, "it is write-protected")
    old = target.stat() if target.exists() else None
    temporary = target.with_name(_TEMPORARY.format(os.urandom(8).hex()))
    try:
        _write(temporary, data, old)
        _rename(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):  # the folder may be gone; the first error says what happened
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)
    _sweep(target.parent)


def _rename(temporary: Path, target: Path) -> None:
    """Replace one file by another; on Windows, retry for about a second while the old one is in use."""
    for pause in _PAUSES_S:
        try:
            temporary.replace(target)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _IN_USE:
                raise
            time.sleep(pause)
        else:
            return
    temporary.replace(target)


def _write(path: Path, data: bytes, old: os.stat_result | None) -> None:
    """Write a new file down to the disk, with the permissions of an old one; never readable for more than that one."""
    mode = 0o666 if old is None else stat.S_IMODE(old.st_mode)
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(data)
        file.flush()
        try:
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in _UNABLE:
                raise
    if old is not None:
        _give(path, old)


def _give(path: Path, old: os.stat_result) -> None:
    new = path.stat()
    if os.name == "posix" and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with contextlib.suppress(OSError):  # only some may give files away
            os.chown(path, old.st_uid, old.st_gid)
    if stat.S_IMODE(path.stat().st_mode) != stat.S_IMODE(old.st_mode):  # asked, as some file systems refuse any change
        path.chmod(stat.S_IMODE(old.st_mode))


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


def _sweep(folder: Path) -> None:
    """Remove what programs that were killed while writing here left behind a day ago or earlier."""
    with contextlib.suppress(OSError):
        for path in folder.glob(_TEMPORARY.format("*")):
            if time.time() - path.lstat().st_mtime > _STALE_S:
                path.unlink()
