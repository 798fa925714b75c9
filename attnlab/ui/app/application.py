"""Runs the desktop program: the application, its window, garbage collection, screenshots and fault reports."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QFileOpenEvent, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.base import assets, fault_log
from attnlab.base.errors import AttnlabError
from attnlab.document.settings import load_settings
from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.app.open_file import open_path
from attnlab.ui.base import faults, jobs
from attnlab.ui.base.guard import guarded
from attnlab.ui.base.themed import palette_of
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.models import MODELS

DEFAULT = Source(preset="journey")
WAIT_MS, MOST_ROUNDS = 20, 6000
"""How often a screenshot checks whether the worker is done, and how many times."""


class GarbageTimer(QObject):
    """Collects garbage in the window's thread only: a widget collected by another thread would crash the program.

    No garbage is collected before ``start``. Collections skip what is alive then, such as the modules of torch. A
    caller who froze objects keeps them frozen.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._freezes = not gc.get_freeze_count()
        gc.disable()
        self._ticks = 0
        self._timer = QTimer(self)
        self._timer.setInterval(1000)
        self._timer.timeout.connect(self._on_timeout)

    @Slot()
    def start(self) -> None:
        """Collect garbage from now on."""
        self.skip_present()
        self._timer.start()

    @Slot()
    def skip_present(self) -> None:
        """Let collections skip what is alive now too, such as modules that were loaded later."""
        if self._freezes:
            gc.collect(1)  # the old generation would take 75 ms with torch, and more in a large notebook
            gc.freeze()

    def stop(self) -> None:
        """Let Python collect garbage again."""
        self._timer.stop()
        if self._freezes:
            gc.unfreeze()
        gc.enable()

    @Slot()
    def _on_timeout(self) -> None:
        self._ticks += 1
        gc.collect(2 if self._ticks % 30 == 0 else 1)


@guarded
class Application(QApplication):
    """Emits the files that the system asks it to open: macOS sends files double-clicked in the Finder as events."""

    file_wanted = Signal(object)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.url().isLocalFile():
            self.file_wanted.emit(Path(event.file()))
            return True
        return super().event(event)


def make_application() -> QApplication:
    """Return the application; create it if there is none yet."""
    there = QApplication.instance()
    app = there if isinstance(there, QApplication) else Application(sys.argv[:1])
    app.setApplicationName("attnlab")
    app.setApplicationDisplayName("attnlab")
    QGuiApplication.setDesktopFileName("attnlab")
    icon = QPixmap()
    icon.loadFromData(assets.read_bytes("icons/attnlab.svg"))
    app.setWindowIcon(QIcon(icon))
    return app


def run(
    source: Source | None = None,
    theme: str | None = None,
    screenshot: Path | None = None,
    size: tuple[int, int] | None = None,
    on_window: Callable[[MainWindow], None] | None = None,
    lesson: tuple[str, int] | None = None,
) -> int:
    """Run the program until its window closes; with ``screenshot``, save one picture of the window and end.

    ``lesson`` is the name or the file of a lesson, and the step at which to open it, counted from 1.

    Raises:
        AttnlabError: the picture cannot be drawn or written.
    """
    if sys.platform == "win32":
        import torch  # noqa: F401  # before Qt's libraries are used, or its own fail to load: pytorch issue 166628
    app = make_application()
    settings, problems = load_settings()
    if theme is not None:
        settings = replace(settings, theme=theme)
    window = MainWindow(settings, source or DEFAULT, remember=screenshot is None)
    if size is not None:  # given by the user: ignore the screen and the size of last time
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.resize(*size)
    if isinstance(app, Application):
        app.file_wanted.connect(partial(open_path, window))
    restore = _report_faults(window)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it: Python's handler does not run in Qt
    shot = Screenshot(window, screenshot, size) if screenshot is not None else None
    if on_window is not None:
        on_window(window)
    window.show()
    window.load()
    garbage = GarbageTimer(window)
    window.ready.connect(garbage.start)
    window.starting.loader.later.done.connect(garbage.skip_present)
    for problem in problems:
        window.ready.connect(lambda text=problem: window.say(text))
    if lesson is not None:
        window.ready.connect(partial(_open_lesson, window, *lesson))
    try:
        code = app.exec()
    finally:
        garbage.stop()
        window.stop()
        restore()
        signal.signal(signal.SIGINT, interrupt)
    if shot is not None and shot.problem:
        raise AttnlabError(shot.problem)
    return code


def _open_lesson(window: MainWindow, name: str, step: int) -> None:
    """Open a lesson at a step, counted from 1."""
    if (lessons := window.workspace(LESSONS)) is not None:
        lessons.open(name, step - 1)
        window.refresh_actions()


def end(code: int) -> int:
    """Return the exit code once all threads have ended; if one hangs, end the process immediately with that code.

    Python does not wait for daemon threads, and its shutdown could crash a thread that is inside torch.
    """
    ended = jobs.leave()
    late = time.monotonic() + jobs.END_S
    for thread in threading.enumerate():
        if thread.name.startswith("attnlab-"):
            thread.join(max(0.0, late - time.monotonic()))
            ended = ended and not thread.is_alive()
    if not ended:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    return code


class Screenshot(QObject):
    """Saves a picture of a window once its first numbers are painted, then closes it.

    A dialog that asks something, such as the one that imports weights, is drawn in the middle of the window.

    With a size, the picture has exactly that many pixels, whatever the scale of the screen or QT_SCALE_FACTOR; without
    one, as many as the window has on its screen.
    """

    def __init__(self, window: MainWindow, path: Path, size: tuple[int, int] | None = None) -> None:
        super().__init__(window)
        self._window, self._path, self._size = window, path, size
        self._rounds = MOST_ROUNDS
        self.problem = ""
        window.ready.connect(self._on_ready)
        window.failed.connect(self._on_failed)

    @Slot(str)
    def _on_failed(self, problem: str) -> None:
        self.problem = self.problem or problem
        QTimer.singleShot(0, self, self._end)  # the caller finishes first

    @Slot()
    def _on_ready(self) -> None:
        QTimer.singleShot(0, self, self._on_idle)

    @Slot()
    def _on_idle(self) -> None:
        if self._rounds and self._busy():
            self._rounds -= 1  # a pinned state, a lens or a run is still being computed
            QTimer.singleShot(WAIT_MS, self, self._on_idle)
            return
        models = self._window.workspace(MODELS, make=False)
        if models is not None and models.refusal:
            self.problem = models.refusal
        elif not self._picture().save(str(self._path)):
            self.problem = f"{self._path} cannot be written; it needs an existing folder and an ending such as .png."
        self._end()

    def _picture(self) -> QPixmap:
        picture = self._window.grab()
        if (dialog := QApplication.activeModalWidget()) is not None:
            self._draw_dialog(picture, dialog)
        if self._size is None or picture.size() == QSize(*self._size):
            return picture
        # what cards keep of themselves has the screen's pixels: painted on fewer, their letters would lose lines
        return picture.scaled(
            QSize(*self._size), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
        )

    def _draw_dialog(self, picture: QPixmap, dialog: QWidget) -> None:
        """Draw a dialog with a border, as it has no frame of the system here."""
        place = dialog.rect()
        place.moveCenter(self._window.rect().center())
        painter = QPainter(picture)
        painter.drawPixmap(place.topLeft(), dialog.grab())
        painter.setPen(QColor(palette_of(self._window).hairline))
        painter.drawRect(place.adjusted(0, 0, -1, -1))
        painter.end()

    def _busy(self) -> bool:
        from attnlab.ui.weights.weights_dialog import WeightsDialog  # with torch, which is not there at the start

        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, WeightsDialog) and dialog.busy:
            return True
        playground, trainer = self._window.playground, self._window.trainer
        if trainer is not None and trainer.is_shown:
            return trainer.busy
        if self._window.current == MODELS.name and (models := self._window.workspace(MODELS)) is not None:
            return models.busy
        return playground is not None and (playground.files.opening or playground.lane.busy)

    @Slot()
    def _end(self) -> None:
        self._window.close()
        QApplication.quit()


def _report_faults(window: MainWindow) -> Callable[[], None]:
    """Show and log faults; one before the first numbers ends the wait for them. Returns a function that stops this."""
    restore = faults.install()
    told = FaultsAtStart(window)
    unlisten = fault_log.listen(lambda fault: told.reported.emit(fault.sentence))

    def end() -> None:
        unlisten()
        restore()

    return end


class FaultsAtStart(QObject):
    """Ends the start of a window if anything fails before its first numbers are computed."""

    reported = Signal(str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.reported.connect(window.starting.give_up)
