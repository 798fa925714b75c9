"""Which texts of this machine a run may read: those that a person chose or allowed, not any that a run names.

A run may come from anybody, and the path in it may be that of a private file, or of a server that learns who looks.
"""

import json
import os
from pathlib import Path

from attnlab.errors import FileError
from attnlab.files import session_json
from attnlab.files.atomic import shown, write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.folders import config_folder

MOST, LIMIT = 200, 1 << 20
"""How many texts are remembered, and bytes that the file of their paths may have."""
_allowed: set[str] = set()


def is_allowed(text: str) -> bool:
    """Tell whether a person chose or allowed the text of a path; nothing at the path is touched."""
    return not text or _full(text) in _allowed or _full(text) in _remembered()


def allow(text: str, *, remember: bool = True) -> None:
    """Let runs read the text of a path from now on; where that cannot be remembered, as long as the program runs."""
    path = _full(text)
    _allowed.add(path)
    known = _remembered()
    if not remember or path in known:
        return
    try:
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_bytes(_file(), json.dumps([*known, path][-MOST:], ensure_ascii=True, indent=1).encode())
    except (OSError, FileError):
        return


def question(text: str) -> str:
    """Return what a person is asked, or told, before a text is read that a run names."""
    return f"The run learns from the text {shown(text)}, which you have not chosen on this computer."


def _file() -> Path:
    return config_folder() / "texts.json"


def _full(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def _remembered() -> list[str]:
    try:
        found = session_json.parse(read_bytes(_file(), LIMIT, "the list of texts"))
    except (FileError, ValueError, RecursionError):
        return []
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []
