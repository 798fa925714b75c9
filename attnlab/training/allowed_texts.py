"""Which texts on this computer a run may read: those that the user chose or allowed, not any that a run names.

A run may come from a stranger. Its path may name a private file, or a server that would learn who opened the run.
"""

import json
import os
from pathlib import Path

from attnlab.base.errors import FileError
from attnlab.base.folders import config_folder
from attnlab.files.atomic import format_name, write_bytes
from attnlab.files.bounded import read_bytes
from attnlab.files.sessions import session_json

MOST, LIMIT = 200, 1 << 20
"""How many texts are remembered, and the size limit of the file that lists them, in bytes."""
_allowed: set[str] = set()


def is_allowed(text: str) -> bool:
    """Return whether the user chose or allowed the text at a path, without accessing the path."""
    return not text or _resolve(text) in _allowed or _resolve(text) in _read_remembered()


def allow(text: str, *, remember: bool = True) -> None:
    """Let runs read the text at a path from now on, or until the program ends if that cannot be remembered."""
    path = _resolve(text)
    _allowed.add(path)
    known = _read_remembered()
    if not remember or path in known:
        return
    try:
        _find_file().parent.mkdir(parents=True, exist_ok=True)
        write_bytes(_find_file(), json.dumps([*known, path][-MOST:], ensure_ascii=True, indent=1).encode())
    except (OSError, FileError):
        return


def write_question(text: str) -> str:
    """Return the sentence that tells the user which unapproved text a run names."""
    return f"The run learns from the text {format_name(text)}, which you have not chosen on this computer."


def _find_file() -> Path:
    return config_folder() / "texts.json"


def _resolve(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text))


def _read_remembered() -> list[str]:
    try:
        found = session_json.parse(read_bytes(_find_file(), LIMIT, "the list of texts"))
    except (FileError, ValueError, RecursionError):
        return []
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []
