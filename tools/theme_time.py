"""Measures the CPU time that a change of theme or of type size takes in a window with every workspace open.

    python tools/theme_time.py [--runs N] [--profile] [--pictures FOLDER]

The figures are medians of process CPU time, from the call until the window is painted again. ``--pictures`` saves the
window after each change, so that two versions of the program can be compared pixel by pixel.
"""

import argparse
import cProfile
import os
import pstats
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from attnlab.document.settings import Settings
from attnlab.files.source import Source
from attnlab.lessons.lenses import LENSES
from attnlab.lessons.library import list_shipped
from attnlab.ui.app.application import make_application
from attnlab.ui.app.main_window import MainWindow
from attnlab.ui.playground.lens_bar import CANVAS
from attnlab.ui.workspaces.lessons import LESSONS


def open_everything(app: QApplication) -> MainWindow:
    """Return a window in which each workspace has been shown once and the playground is on screen."""
    window = MainWindow(Settings(theme="light"), Source(preset="journey"), remember=False)
    window.resize(1440, 900)
    loop = QEventLoop()
    window.ready.connect(loop.quit)
    window.failed.connect(loop.quit)
    window.show()
    window.load()
    loop.exec()
    for place in ("lessons", "train", "playground"):
        window.show_workspace(place)
        settle(app)
    playground, controller = window.playground, window.workspace(LESSONS)
    assert playground is not None
    assert controller is not None
    controller.open(list_shipped()[0])
    for name in LENSES:
        playground.lenses.open_lens(name)
        settle(app)
    playground.lenses.open_lens(CANVAS)
    for open_popup in (playground.open_gallery, playground.open_history, window.show_palette):
        open_popup()
        settle(app)
    for pill in playground.top_bar.switches.pills.values():
        pill.open()
        settle(app)
        if (popup := pill.popup()) is not None:
            popup.hide()
    for widget in app.topLevelWidgets():
        if widget is not window:
            widget.hide()
    window.command_palette.hide()
    settle(app)
    return window


def settle(app: QApplication) -> None:
    """Handle events until the queue has been empty for a moment."""
    loop = QEventLoop()
    QTimer.singleShot(150, loop.quit)
    loop.exec()
    app.processEvents()


def measure_cpu(change: Callable[[], None], app: QApplication) -> float:
    """Return the process CPU time in seconds of a change and of the painting that follows."""
    settle(app)
    start = time.process_time()
    change()
    app.processEvents()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6, help="changes of each kind (default: 6)")
    parser.add_argument("--profile", action="store_true", help="print where Python spends the time")
    parser.add_argument("--pictures", type=Path, help="save a picture of each workspace after each change here")
    options = parser.parse_args()
    app = make_application()
    window = open_everything(app)
    print(f"{len(app.allWidgets())} widgets")
    if options.pictures is not None:
        save_pictures(window, app, options.pictures)
    profile = cProfile.Profile()
    if options.profile:
        profile.enable()
    themes = [
        measure_cpu(partial(window.set_theme, name), app) for name in ("dark", "light") * ((options.runs + 1) // 2)
    ]
    sizes = [measure_cpu(partial(window.step_type_size, step), app) for step in (1, -1) * ((options.runs + 1) // 2)]
    if options.profile:
        profile.disable()
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    for name, times in (("theme", themes), ("type size", sizes)):
        print(f"{name}: median {statistics.median(times):.3f} s, worst {max(times):.3f} s of CPU, {len(times)} changes")
    window.close()


def save_pictures(window: MainWindow, app: QApplication, folder: Path) -> None:
    """Save each workspace in each theme and at three sizes of type."""
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("dark", "light"):
        window.set_theme(theme)
        for size in (150, 80, 100):
            window.change_settings(type_size=size)
            for name in ("playground", "lessons", "train"):
                window.show_workspace(name)
                settle(app)
                window.grab().save(str(folder / f"{name}-{theme}-{size}.png"))
    window.show_workspace("playground")


if __name__ == "__main__":
    main()
