"""Imports weights from files that the user chooses, or from the clipboard: a table as text, or files."""

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from attnlab.ui.base.workspace import Host
from attnlab.ui.weights.weights_dialog import ask_weights, list_dropped, open_weights_dialog

if TYPE_CHECKING:
    from attnlab.ui.playground.playground import Playground


def import_weights(playground: "Playground", window: Host) -> None:
    """Ask for files of weights, then which of their arrays is which weight."""
    ask_weights(window, lambda paths: open_weights_dialog(playground, window, paths))


def paste_weights(playground: "Playground", window: Host) -> None:
    """Paste files as if they were dropped, and text as a table of numbers."""
    held = cast("QMimeData | None", QGuiApplication.clipboard().mimeData())  # None if the clipboard has never been used
    data = QMimeData() if held is None else held
    files = list_dropped(data)
    if files:
        window.open_paths(files)
    elif data.text().strip():
        open_weights_dialog(playground, window, text=data.text())
    else:
        window.say("The clipboard holds neither text nor files; copy a table of numbers, or a file of weights.")
