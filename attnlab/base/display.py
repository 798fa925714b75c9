"""Whether a window can be shown on this machine, found out without Qt, which ends the process where it cannot."""

import os
import sys


def has_display() -> bool:
    """Tell whether there is a display, or a platform of Qt that was chosen by hand; off Linux there always is one."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
