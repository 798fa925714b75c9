"""Where a person's own files lie: the platform's folder for settings, or that of ATTNLAB_CONFIG_DIR."""

import os
import sys
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of settings and of what lies beside them; it need not exist yet."""
    if own := os.environ.get("ATTNLAB_CONFIG_DIR"):
        return Path(own)
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "attnlab"
