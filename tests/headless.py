"""Divides the tests into those that run without Qt and those that need it, so that CI runs each of them once.

``ATTNLAB_TESTS_WITHOUT_QT=1`` together with ``-p no:pytest-qt`` hides Qt and runs the tests of rooms that never load
it (make test-headless); ``--needs-qt`` runs the others. A file with tests of both kinds is in both runs.
"""

import os
import re
from functools import cache
from pathlib import Path

WITHOUT_QT = os.environ.get("ATTNLAB_TESTS_WITHOUT_QT") == "1"
ROOMS = ("attention", "compute", "files", "lessons", "pretrained", "training")
"""The folders of tests of rooms that work without Qt, but for the thread of ``compute.service``."""

_TESTS = Path(__file__).parent
_USES_QT = re.compile(r"PySide6|qtbot|qapp\b|compute\.service")
_LOADS_QT = re.compile(r"^(from|import) (PySide6|pytestqt|attnlab\.compute\.service)\b", re.MULTILINE)


def runs_without_qt(path: Path) -> bool:
    """Return whether a folder or file has tests that run without Qt."""
    if path == _TESTS or path in _TESTS.parents:
        return True
    return _is_in_rooms(path) and not _LOADS_QT.search(_read(path))


def needs_qt(path: Path) -> bool:
    """Return whether a folder or file has tests that need Qt."""
    return path.is_dir() or not _is_in_rooms(path) or bool(_USES_QT.search(_read(path)))


def _is_in_rooms(path: Path) -> bool:
    return any(path.is_relative_to(_TESTS / room) for room in ROOMS)


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
