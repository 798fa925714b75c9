"""Finds Qt classes created outside the window's thread, which crashes 1 of 150 starts."""

import builtins
import importlib.abc
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

_ROOTS = ("PySide6", "pyqtgraph")
made: list[str] = []
"""Classes made outside the first thread, each with where it was made. The reader clears the list."""


def watch() -> None:
    """Start watching; once for a process, permanently."""
    from PySide6.QtCore import QObject

    meta, build = type(QObject), builtins.__build_class__

    def build_class(*args: Any, **kwargs: Any) -> Any:
        cls = build(*args, **kwargs)
        if type(cls) is meta and _beside():
            _note(f"class {cls.__module__}.{cls.__qualname__}")
        return cls

    builtins.__build_class__ = build_class
    sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """An import finder that finds nothing, but records the Qt modules that are imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name.partition(".")[0] in _ROOTS and _beside():
            _note(f"module {name}")


def _beside() -> bool:
    return threading.current_thread() is not threading.main_thread()


def _note(what: str) -> None:
    frames = [
        each for each in traceback.extract_stack() if "importlib" not in each.filename and each.filename != __file__
    ]
    ours = [each for each in frames if "attnlab" in each.filename or "tests" in each.filename]
    at = (ours or frames)[-1]
    made.append(f"{what} in the thread {threading.current_thread().name}, by {at.filename}:{at.lineno}")
