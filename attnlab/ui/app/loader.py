"""Loads torch, the mathematics and the first file in a thread, so that the window is on screen first."""

import gc
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from attnlab.ui.base.jobs import Lane, run

if TYPE_CHECKING:
    from attnlab.document.first import First
    from attnlab.document.scene import Scene
    from attnlab.files.source import Source

_MODULES = (
    "attnlab.compute.engine",
    "attnlab.attention.edits",
    "attnlab.attention.edits.token_edits",
    "attnlab.attention.examples.presets",
    "attnlab.document.first",
)
"""Modules that the first numbers need. None defines a Qt class: that could crash the program in a thread."""
END_S = 0.5
"""How long a closing window waits for the thread."""
REST_MS, AT_ONCE = 20, 24
"""The pause between two steps of loading, for the window, and how many Qt names each step loads."""


class _Uncollected:
    """Stops garbage collection while any window loads: a script may open several at once."""

    def __init__(self) -> None:
        self._loading: list[object] = []
        self._enabled = False

    def begin(self, who: object) -> None:
        """Collect no garbage until ``end`` is called with the same object."""
        if not self._loading:
            self._enabled = gc.isenabled()
            gc.disable()
        self._loading.append(who)

    def end(self, who: object) -> None:
        """Restore garbage collection if it was on before and no other window loads; may be called twice."""
        if who in self._loading:
            self._loading.remove(who)
            if self._enabled and not self._loading:
                gc.enable()


_uncollected = _Uncollected()


class Loader(QObject):
    """Emits ``loaded`` once everything that the first numbers need is loaded, with "" or a sentence on what failed.

    ``first`` is then what the window opens with: files are read here too, since a large one takes a while. ``later``
    are steps to take once the first numbers are shown.
    """

    loaded = Signal(str)

    def __init__(self, source: "Source | Scene", parent: QObject | None = None, *, later: Iterable[None] = ()) -> None:
        super().__init__(parent)
        self._source = source
        self.first: First | None = None
        self._lane = Lane("loader", self)
        self.later = LaterSteps(later, self)
        self._stopping = False

    def start(self) -> None:
        """Begin loading. No garbage is collected until ``go_on`` or ``stop``.

        A widget collected by this thread would crash the program, and garbage collection takes a seventh of torch's
        import without finding anything.
        """
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # otherwise torch's threads spin while the window paints
        _uncollected.begin(self)
        run(self._load, on_done=self.loaded.emit, on_failed=self.loaded.emit, doing="starting", lane=self._lane)

    def go_on(self) -> None:
        """Load the remaining modules, once the first numbers are shown."""
        _uncollected.end(self)
        if not self._stopping:
            self.later.start()

    def stop(self) -> None:
        """Stop loading, and wait briefly; may be called before the start, and twice."""
        self._stopping = True
        self.later.stop()
        self._lane.close()
        if self._lane.join(END_S):  # otherwise the thread still runs and must not collect widgets
            _uncollected.end(self)

    def _load(self) -> str:
        """Load the modules, in the thread; return "" or a sentence that says what is wrong."""
        problem = _torch_missing()
        if problem:
            return problem
        try:
            with sources_unread():
                for name in _MODULES:
                    importlib.import_module(name)
        except ModuleNotFoundError as error:
            if (error.name or "attnlab").startswith("attnlab"):
                raise
            return f"A part is missing ({error}); “attnlab doctor” names the command that installs it."
        if not self._stopping:
            from attnlab.document.first import load_first_scene

            self.first = load_first_scene(self._source)
        return ""


def _torch_missing() -> str:
    """Import torch and prepare it; return "", or one sentence that says what is wrong."""
    try:
        with sources_unread():
            _ = importlib.import_module("torch").Tensor  # a partial installation can be imported, but is empty
    except Exception as error:  # noqa: BLE001  # a broken torch raises anything, and the window waits for an answer
        said = str(error) if isinstance(error, ImportError | OSError) else f"{type(error).__name__}: {error}"
        return f"torch could not be loaded: {said.rstrip('.')}. “attnlab doctor” says what is missing."
    importlib.import_module("attnlab.compute.engine").prepare()
    return ""


class LaterSteps(QObject):
    """Prepares what the user may soon need, in small steps in the window's thread, as most of it defines Qt classes."""

    done = Signal()

    def __init__(self, steps: Iterable[None], parent: QObject) -> None:
        super().__init__(parent)
        self._steps = chain(_import_steps(), steps)
        self._timer = QTimer(self)
        self._timer.setInterval(REST_MS)
        self._timer.timeout.connect(self._on_timeout)

    def start(self) -> None:
        """Start loading; ``done`` is emitted when everything is loaded."""
        self._timer.start()

    def stop(self) -> None:
        """Stop loading; may be called twice."""
        self._timer.stop()

    @Slot()
    def _on_timeout(self) -> None:
        if next(self._steps, "end") == "end":
            self.stop()
            self.done.emit()


def _import_steps() -> Iterator[None]:
    """Load a little with each step: first the Qt names that pyqtgraph copies, which are created on first use."""
    for qt in (QtCore, QtGui, QtWidgets):
        names = iter(dir(qt))
        while some := tuple(islice(names, AT_ONCE)):
            for name in some:
                getattr(qt, name, None)
            yield
    with sources_unread(), suppress(ImportError):  # long rows are then shown by bars alone
        importlib.import_module("attnlab.ui.widgets.charts.profile")


@contextmanager
def sources_unread() -> Iterator[None]:
    """WORKAROUND PYSIDE-2029: stop PySide from searching the source of each module that this thread imports.

    The sources of torch's 800 modules stay in memory, 38 MB, and take a seventh of the time of its import.
    """
    feature: Any = sys.modules.get("__feature__")
    if not hasattr(feature, "_mod_uses_pyside"):
        yield
        return
    here = threading.get_ident()
    with _lock:  # several windows may load at once, each in a thread of its own
        if not _importing:
            _look.append(feature._mod_uses_pyside)
            feature._mod_uses_pyside = _uses_pyside
        _importing.append(here)
    try:
        yield
    finally:
        with _lock:
            _importing.remove(here)
            if not _importing:
                feature._mod_uses_pyside = _look.pop()


_lock = threading.Lock()
_importing: list[int] = []
"""The threads whose imports PySide does not read, and PySide's original function for reading them."""
_look: list[Callable[[ModuleType], bool]] = []


def _uses_pyside(module: ModuleType) -> bool:
    known = threading.get_ident() in _importing and not module.__name__.startswith("attnlab")
    look = _look[-1:]  # gone if the last import ends at this moment
    return bool(look[0](module)) if look and not known else False
