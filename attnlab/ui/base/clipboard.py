"""Puts data of several formats on the clipboard, in such a way that the program ends well."""

import atexit

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

OUTLIVES = ("xcb", "wayland", "windows", "cocoa")
"""Platforms whose clipboard is let go with the application; their other programs may paste what was copied later."""
_registered = False


def copy_data(data: QMimeData) -> None:
    """Put data on the clipboard.

    WORKAROUND: elsewhere, as offscreen, Qt deletes what was copied after Python has ended, and data that was made in
    Python would then call back into it: the process would end by a segmentation fault. It is let go before that.
    """
    global _registered
    QGuiApplication.clipboard().setMimeData(data)
    if not _registered and not QGuiApplication.platformName().startswith(OUTLIVES):
        atexit.register(_let_go)  # which comes before the end of the application, that PySide has registered earlier
        _registered = True


def _let_go() -> None:
    if QGuiApplication.instance() is not None:
        QGuiApplication.clipboard().clear()
