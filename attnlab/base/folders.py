"""The folder for the user's files: the platform's settings folder, or ATTNLAB_CONFIG_DIR."""

import os
import sys
from pathlib import Path


def config_folder() -> Path:
    """Return the folder of the settings, logs and other user files; it may not exist yet."""
    if own := os.environ.get("ATTNLAB_CONFIG_DIR"):
        return Path(own)
    if sys.platform == "win32":
        folder = Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Application Support"
    else:
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "attnlab"
