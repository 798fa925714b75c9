"""Keeps unsaved work beside the settings, so that closing the window or a power cut does not lose it."""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from attnlab.document.settings import settings_path
from attnlab.errors import AttnlabError
from attnlab.files.session import save_scene
from attnlab.ui.playground.file_keeper import read_scene

if TYPE_CHECKING:
    from attnlab.ui.playground.workspace import Playground

WAIT_MS = 2000
NOTE = "Unsaved work of last time is kept: File, Bring back the last unsaved work."
LABEL = "Bring back unsaved work"


class Recovery(QObject):
    """Writes what is changed to ``current.attnlab``; what a former window left there becomes ``last.attnlab``."""

    def __init__(self, playground: "Playground") -> None:
        super().__init__(playground)
        self._playground = playground
        folder = settings_path().parent
        self._current, self.last = folder / "current.attnlab", folder / "last.attnlab"
        self._brought = self._complained = False
        with contextlib.suppress(OSError):  # none was left, or the folder cannot be written
            os.replace(self._current, self.last)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self.keep)
        playground.document.history_changed.connect(self._on_history_changed)

    def there(self) -> bool:
        """Tell whether there is unsaved work of a former window."""
        return self.last.is_file()

    def bring_back(self) -> bool:
        """Open the unsaved work as one step that can be undone; it is kept until it is saved."""
        document = self._playground.document
        try:
            scene = read_scene(self.last)
        except AttnlabError as error:
            self._playground.step_bar.show_message(str(error))
            return False
        document.open(LABEL, scene)
        self._brought = True
        return True

    @Slot()
    def keep(self) -> None:
        """Write the scene if it is not saved anywhere, else remove what was written."""
        self._timer.stop()
        document = self._playground.document
        if document.modified:
            self._write(self._current)
            return
        _remove(self._current)
        if self._brought and document.path is not None:
            _remove(self.last)
            self._brought = False

    def stop(self) -> None:
        """Keep what there is, and write no more."""
        self.keep()
        self._playground.document.history_changed.disconnect(self._on_history_changed)

    def _write(self, path: Path) -> None:
        scene = self._playground.document.scene
        view = {"title": scene.title, "preset": scene.preset, "device": scene.device, "dtype": scene.dtype}
        try:
            with contextlib.suppress(OSError):  # what follows says why
                path.parent.mkdir(parents=True, exist_ok=True)
            save_scene(scene.experiment, path, view)
        except AttnlabError as error:
            if not self._complained:
                self._complained = True
                self._playground.step_bar.show_message(f"Unsaved work cannot be kept. {error}")

    @Slot()
    def _on_history_changed(self) -> None:
        if not self._timer.isActive():  # a long drag is kept too
            self._timer.start()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
