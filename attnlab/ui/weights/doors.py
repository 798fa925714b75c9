"""Ways to weights: the menu asks for files, and what was copied is pasted as a table or as files."""

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from attnlab.ui.weights.dialog import ask_weights, dropped, open_weights_dialog

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow


def bring_in(window: "MainWindow") -> None:
    """Ask for files of weights, then what in them is which."""
    if window.playground is not None:
        ask_weights(window, lambda paths: open_weights_dialog(window, paths))


def paste(window: "MainWindow") -> None:
    """Take what was copied: files as if they were dropped, text as a table of numbers."""
    from attnlab.ui.app.open_file import open_paths

    if window.playground is None:
        return
    held = cast("QMimeData | None", QGuiApplication.clipboard().mimeData())  # None where nothing was ever copied
    data = QMimeData() if held is None else held
    files = dropped(data)
    if files:
        open_paths(window, files)
    elif data.text().strip():
        open_weights_dialog(window, text=data.text())
    else:
        window.say("The clipboard holds neither text nor files; copy a table of numbers, or a file of weights.")
