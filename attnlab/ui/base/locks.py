"""Locks on files that several programs of one user may write."""

from pathlib import Path

from PySide6.QtCore import QLockFile


def try_lock(path: Path) -> QLockFile | None:
    """Return the lock of a file, None if a running program holds it; the lock of a killed program does not count."""
    lock = QLockFile(str(path.with_suffix(".lock")))
    lock.setStaleLockTime(0)  # valid at any age while its process runs
    return lock if lock.tryLock(0) else None
