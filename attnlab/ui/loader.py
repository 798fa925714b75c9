"""Loads torch and the mathematics in a thread, so that the window is on screen first."""

import importlib
import threading

from PySide6.QtCore import QObject, Signal

_MODULES = (
    "torch",
    "attnlab.compute.service",
    "attnlab.attention.edits",
    "attnlab.attention.sentences",
    "attnlab.attention.presets",
    "attnlab.files.session",
)
_LATER = ("attnlab.ui.widgets.profile",)  # what a person may ask for soon, and would wait for


class Loader(QObject):
    """Announces ``loaded`` once everything that the first numbers need has been imported; "" or what went wrong."""

    loaded = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = threading.Thread(target=self._load, name="attnlab-loader")

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Wait for the end; may be called before the start."""
        if self._thread.ident is not None:
            self._thread.join()

    def _load(self) -> None:
        try:
            for name in _MODULES:
                importlib.import_module(name)
            importlib.import_module("attnlab.compute.engine").prepare()
        except (ImportError, OSError) as error:
            self.loaded.emit(f"torch could not be loaded: {error}. “attnlab doctor” says what is missing.")
        else:
            self.loaded.emit("")
            for name in _LATER:
                importlib.import_module(name)
