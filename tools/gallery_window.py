"""Opens the windows of the gallery: a view is prepared once, and shown in any size, size of type and theme."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.base.lane import LANES
from attnlab.ui.base.slices import Drawing

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground

PATIENCE_S = 120.0
SOON_MS = 500
"""A timer that fires once, within this time, has work that is still to be shown."""
QUIET_ROUNDS = 3

Prepare = Callable[["Playground", MainWindow], object]


def do_nothing(playground: "Playground", window: MainWindow) -> None:
    """Leave the window as it opens."""


@dataclass(frozen=True, slots=True)
class View:
    """What one set of pictures shows.

    ``prepare`` runs once, after the preset is open; ``open`` before each picture, to open a popup, a dialog or another
    window, which is then drawn instead of the main window. A view that is not drawn ``everywhere`` has one size.
    """

    name: str
    preset: str = "journey"
    prepare: Prepare = do_nothing
    open: Prepare = do_nothing
    everywhere: bool = True
    remember: bool = False
    """Whether the window saves settings and runs, into the folder of the process."""


@dataclass(frozen=True, slots=True)
class Variant:
    """The size of the window in pixels, the size of type in per cent, and the theme."""

    size: tuple[int, int]
    type_size: int
    theme: str

    @property
    def name(self) -> str:
        return f"{self.size[0]}x{self.size[1]}-{self.type_size}-{self.theme}"


def open_view(view: View, variant: Variant) -> MainWindow:
    """Open a window in a variant and prepare the view; ``show`` follows."""
    settings = replace(Settings(), theme=variant.theme, type_size=variant.type_size, reduced_motion=True)
    window = MainWindow(settings, Source(preset=view.preset), remember=view.remember)
    window.resize(*variant.size)
    window.show()
    wait_for_signal(window.ready, window.load)
    settle(window)
    assert window.playground is not None
    view.prepare(window.playground, window)
    return window


def show(view: View, window: MainWindow, variant: Variant) -> QWidget:
    """Show a prepared view in a variant; return the widget to draw, which belongs to ``window``."""
    for other in list_others(window):  # it was made for another size of type
        other.close()
    window.resize(*variant.size)
    if (window.settings.theme, window.settings.type_size) != (variant.theme, variant.type_size):
        window.change_settings(theme=variant.theme, type_size=variant.type_size)
    settle(window)
    assert window.playground is not None
    opened = view.open(window.playground, window)
    settle(window)
    return opened if isinstance(opened, QWidget) else next(iter(list_others(window)), window)


def close(window: MainWindow) -> None:
    """Close the window of a view, and the others that belong to it."""
    for other in list_others(window):
        other.close()
    window.close()
    window.stop()
    window.deleteLater()


def list_others(window: MainWindow) -> list[QWidget]:
    """Return the visible popups, dialogs and other windows beside the main one, in no order."""
    tops = [each for each in QApplication.topLevelWidgets() if each is not window and each.isVisible()]
    return [each for each in tops if not each.inherits("QTipLabel")]


def wait_for_signal(signal: object, start: Callable[[], object]) -> None:
    """Call ``start`` and wait for a signal, for a limited time."""
    loop = QEventLoop()
    signal.connect(loop.quit)  # type: ignore[attr-defined]
    QTimer.singleShot(round(PATIENCE_S * 1000), loop, loop.quit)
    QTimer.singleShot(0, loop, start)
    loop.exec()
    signal.disconnect(loop.quit)  # type: ignore[attr-defined]


def wait_until(condition: Callable[[], bool]) -> None:
    """Process events until a condition holds; raise TimeoutError if that takes too long."""
    late = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > late:
            raise TimeoutError("The window did not reach the state that was to be drawn.")
        process_events()


def settle(window: MainWindow) -> None:
    """Wait until nothing is computed, drawn or laid out any more."""
    quiet = 0

    def is_quiet() -> bool:
        nonlocal quiet
        quiet = 0 if is_busy(window) else quiet + 1
        return quiet >= QUIET_ROUNDS

    wait_until(is_quiet)


def process_events() -> None:
    """Process what is waiting, and pause for two milliseconds, in which threads work."""
    loop = QEventLoop()
    QTimer.singleShot(2, loop, loop.quit)
    loop.exec()


def is_busy(window: MainWindow) -> bool:
    """Return whether something is still to be computed or shown."""
    playground, trainer = window.playground, window.trainer
    if playground is not None and (not playground.up_to_date or playground.files.opening):
        return True
    if trainer is not None and trainer.is_shown and trainer.busy:
        return True
    if any(lane.busy for lane in LANES) or any(map(_is_due_soon, window.findChildren(QTimer))):
        return True
    return any(not each.done for each in window.findChildren(Drawing))


def _is_due_soon(timer: QTimer) -> bool:
    return timer.isActive() and timer.isSingleShot() and timer.interval() <= SOON_MS
