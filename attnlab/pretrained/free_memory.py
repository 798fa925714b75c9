"""The memory that is free on this machine, so that a model that cannot fit is refused before it is read."""

import ctypes
import os
import re
import sys


def available_bytes() -> int | None:
    """Return the bytes that programs can still take without swapping; None if the system does not tell.

    Linux counts its file cache as available. macOS tells only the whole memory.
    """
    if sys.platform == "win32":
        return _windows_bytes()
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"MemAvailable: +([0-9]+) kB", file.read())
        if found:
            return int(found[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def format_gib(count: int) -> str:
    """Return bytes in GiB or MiB, "1.5 GiB"."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


class _MemoryStatus(ctypes.Structure):
    """Windows' MEMORYSTATUSEX."""

    _fields_ = (
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        *((name, ctypes.c_ulonglong) for name in ("total", "free", "total_page", "free_page", "total_virtual")),
        ("free_virtual", ctypes.c_ulonglong),
        ("free_extended", ctypes.c_ulonglong),
    )


def _windows_bytes() -> int | None:
    status = _MemoryStatus()
    status.length = ctypes.sizeof(status)
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009  # only Windows has it
    return int(status.free) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
