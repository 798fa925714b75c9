"""Loads torch, the mathematics and what is opened first in a thread, so that the window is on screen first."""

import gc
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from attnlab.document.first import First
    from attnlab.document.scene import Scene
    from attnlab.files.source import Source

_MODULES = (
    "torch",
    "attnlab.compute.service",
    "attnlab.attention.edits",
    "attnlab.attention.sentences",
    "attnlab.attention.presets",
    "attnlab.document.first",
)
_LATER = ("attnlab.ui.widgets.profile",)  # what a person may ask for soon, and would wait for


class Loader(QObject):
    """Announces ``loaded`` once everything that the first numbers need is there; "" or what went wrong.

    ``first`` is then what the window opens with: a file is read here too, since a large one takes its time.
    """

    loaded = Signal(str)

    def __init__(self, source: "Source | Scene", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._source = source
        self.first: First | None = None
        self._thread = threading.Thread(target=self._load, name="attnlab-loader")
        self._go_on = threading.Event()
        self._stopping = self._collected = False

    def start(self) -> None:
        """Begin. Until ``go_on`` or ``stop`` no garbage is collected.

        A widget that this thread collected would crash the program, and a seventh of torch's import is looking for
        garbage that is not there.
        """
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # or torch's threads spin while the window paints
        self._collected = gc.isenabled()
        gc.disable()
        self._thread.start()

    def go_on(self) -> None:
        """Load the rest too: the first numbers are shown, and nobody waits."""
        self._let_collect()
        self._go_on.set()

    def stop(self) -> None:
        """Wait for the end; may be called before the start, and twice."""
        self._stopping = True
        self._go_on.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._let_collect()

    def _let_collect(self) -> None:
        """Leave garbage to Python again, if it was before, once."""
        if self._collected:
            gc.enable()
        self._collected = False

    def _load(self) -> None:
        problem = "Something went wrong inside attnlab; the terminal it was started from says what."
        try:
            problem = _imported()
            if not problem and not self._stopping:
                from attnlab.document.first import first_scene

                self.first = first_scene(self._source)
        finally:  # after a fault of the program's own too: the window waits for an answer
            self.loaded.emit(problem)
        if not problem:
            self._go_on.wait()
        for name in _LATER if not (problem or self._stopping) else ():
            with suppress(ImportError):  # a long row is then shown by its bars alone
                importlib.import_module(name)


def _imported() -> str:
    """Import what is needed, and prepare torch; return "", or one sentence that says what is wrong."""
    try:
        with _sources_unread():
            for name in _MODULES:
                importlib.import_module(name)
        importlib.import_module("attnlab.compute.engine").prepare()
    except Exception as error:  # noqa: BLE001  # a broken torch raises anything, and the window waits for an answer
        said = str(error) if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: {error}"
        return f"torch could not be loaded: {said.rstrip('.')}. “attnlab doctor” says what is missing."
    return ""


@contextmanager
def _sources_unread() -> Iterator[None]:
    """WORKAROUND PYSIDE-2029: keep PySide from reading what this thread imports, to look for its own name in there.

    The sources of torch's 800 modules stay in memory, 38 MB, and take a seventh of the time of its import.
    """
    feature: Any = sys.modules.get("__feature__")
    look = getattr(feature, "_mod_uses_pyside", None)
    if look is None:
        yield
        return
    here = threading.get_ident()

    def uses_pyside(module: ModuleType) -> bool:
        known = threading.get_ident() == here and not module.__name__.startswith("attnlab")
        return False if known else bool(look(module))

    feature._mod_uses_pyside = uses_pyside
    try:
        yield
    finally:
        feature._mod_uses_pyside = look
