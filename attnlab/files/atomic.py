"""Writes files atomically: to a temporary file in the same folder, which is then renamed over the old one."""

import contextlib
import errno
import os
import stat
import time
from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.base.printable import escape

_TEMPORARY, _STALE_S = ".attnlab-{}.tmp", 86_400
_UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EBADF)
"""Errors of file systems that do not support flushing to disk."""
_IN_USE = (5, 32)
"""Errors of Windows if another program, such as a virus scanner, has the file open for a moment."""
_PAUSES_S = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a crash leaves either the old one or the new one, never a partial file.

    Links are followed, the old file's permissions are kept, and a pipe or other special file is written directly.

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
        raise make_write_error(path, error) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, atomically; a lone surrogate, as in odd tokens and file names, becomes "?".

    Raises:
        FileError: it cannot be written.
    """
    write_bytes(path, text.encode("utf-8", "replace"))


def is_temporary(name: str) -> bool:
    """Return whether a file name is that of a temporary file, perhaps left by a killed program."""
    start, end = _TEMPORARY.split("{}")
    return name.startswith(start) and name.endswith(end)


def make_write_error(path: str | os.PathLike[str], reason: Exception | str) -> FileError:
    """Return the error for a path that cannot be written, with the reason."""
    return FileError(f"{format_name(path)} cannot be written: {format_reason(reason)}.")


def make_read_error(path: str | os.PathLike[str], reason: Exception) -> FileError:
    """Return the error for a path that cannot be read, with the reason: there may be no such file."""
    if isinstance(reason, FileNotFoundError):
        return FileError(f"{describe_missing(path)}.")
    return FileError(f"{format_name(path)} cannot be read: {format_reason(reason)}.")


def describe_missing(path: str | os.PathLike[str]) -> str:
    """Return what is said of a missing file, without a full stop."""
    return f"There is no file {format_name(path)}"


def format_name(name: str | os.PathLike[str]) -> str:
    """Return a path, or a name from a file, safe for a sentence: control characters are spelt out."""
    return escape(os.fsdecode(name))


def format_reason(reason: Exception | str) -> str:
    """Return the system's own text for an error on one line, without numbers and paths."""
    text = (reason.strerror or str(reason)) if isinstance(reason, OSError) else str(reason)
    text = format_name(text.strip())
    return (text if len(text) <= 1000 else f"{text[:1000]}…").rstrip(".") or type(reason).__name__


def _replace(target: Path, data: bytes) -> None:
    if target.is_dir():
        raise IsADirectoryError(0, "it is a folder")
    if not target.parent.is_dir():
        raise FileNotFoundError(0, f"there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):  # renaming would ignore this
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
    """Write a new file and flush it to disk, with the permissions of the old file from the start."""
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
        with contextlib.suppress(OSError):  # only some users may change a file's owner
            os.chown(path, old.st_uid, old.st_gid)
    if stat.S_IMODE(path.stat().st_mode) != stat.S_IMODE(old.st_mode):  # some file systems refuse any change
        path.chmod(stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Flush the folder, so that the new name survives a power cut, if the system can open folders."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # the folder may be writable but not readable; the file itself is safe
        return
    try:
        os.fsync(handle)
    except OSError:  # some network folders cannot
        pass
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove temporary files of killed programs that are more than a day old."""
    with contextlib.suppress(OSError):
        for path in folder.glob(_TEMPORARY.format("*")):
            if time.time() - path.lstat().st_mtime > _STALE_S:
                path.unlink()
