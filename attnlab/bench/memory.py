"""The memory used by this process; imports nothing large, so that measuring changes little."""

import os


def measure_resident_mb() -> float:
    """Return megabytes: the current use on Linux, the peak on macOS and other Unixes."""
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if os.uname().sysname == "Darwin" else 1024)
