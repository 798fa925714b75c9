"""Tests for a display without Qt, which ends the process if there is none."""

import os
import sys


def has_display() -> bool:
    """Return whether there is a display or QT_QPA_PLATFORM is set; always True on systems other than Linux."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
