"""Keeps unsaved work beside the settings, so that closing the window or a power cut does not lose it."""

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from attnlab.document.settings import settings_path
from attnlab.errors import AttnlabError
from attnlab.files.session import Session, save_session
from attnlab.ui.playground.session_state import FILE

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
        self._brought: int | None = None
        self._complained = False
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
        if not self._playground.files.open_unsaved(self.last, LABEL):
            return False
        self._brought = self._playground.document.history.current.opening
        return True

    @Slot()
    def keep(self) -> bool:
        """Write what is open if it is not saved anywhere, else remove what was written; False when it cannot be."""
        self._timer.stop()
        document = self._playground.document
        if self._brought is not None and document.ever_saved(self._brought):
            _remove(self.last)
            self._brought = None
        if document.modified:
            return self._write()
        _remove(self._current)
        return True

    def stop(self) -> None:
        """Keep what there is, and write no more."""
        self.keep()
        self._playground.document.history_changed.disconnect(self._on_history_changed)

    def _session(self) -> Session:
        """Return what is open, with the file that it is of: what is brought back is saved there again."""
        session, path = self._playground.files.session(self._current.parent), self._playground.document.path
        said = {} if path is None else {FILE: str(path.absolute())}
        return replace(session, view={**session.view, **said})

    def _write(self) -> bool:
        try:
            with contextlib.suppress(OSError):  # what follows says why
                self._current.parent.mkdir(parents=True, exist_ok=True)
            save_session(self._session(), self._current)
        except AttnlabError as error:
            if not self._complained:
                self._complained = True
                self._playground.step_bar.show_message(f"Unsaved work cannot be kept. {error}")
            return False
        self._complained = False
        return True

    @Slot()
    def _on_history_changed(self) -> None:
        if not self._timer.isActive():  # a long drag is kept too
            self._timer.start()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
