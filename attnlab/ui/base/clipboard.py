"""Puts data of several formats on the clipboard without a crash when the program ends."""

import atexit

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

OUTLIVES = ("xcb", "wayland", "windows", "cocoa")
"""Platforms that release the clipboard with the application; other programs can still paste from it afterwards."""
_registered = False


def copy_data(data: QMimeData) -> None:
    """Put data on the clipboard.

    WORKAROUND: on other platforms, such as offscreen, Qt deletes the data after Python has ended, and data created in
    Python then calls back into the interpreter, which is a segmentation fault. So the clipboard is cleared first.
    """
    global _registered
    QGuiApplication.clipboard().setMimeData(data)
    if not _registered and not QGuiApplication.platformName().startswith(OUTLIVES):
        atexit.register(_let_go)  # runs before PySide ends the application, which it registered earlier
        _registered = True


def _let_go() -> None:
    if QGuiApplication.instance() is not None:
        QGuiApplication.clipboard().clear()
