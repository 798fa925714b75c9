"""Saves and restores the position and size of the window, and keeps it within the present screen."""

from PySide6.QtCore import QByteArray, QPoint, QRect, QSettings, QSize, Qt
from PySide6.QtWidgets import QWidget

FIRST_SIZE = QSize(1440, 900)
TITLE_BAR, BORDER = 40, 4
"""Pixels left for the title bar and the border, whose sizes are unknown before the window is shown."""


def restore_place(window: QWidget, remember: bool) -> None:
    """Restore a window's place, or give it its first size; without ``remember``, ignore the screen."""
    geometry = _settings().value("geometry") if remember else None
    restored = isinstance(geometry, QByteArray) and window.restoreGeometry(geometry)
    if not restored:
        window.resize(FIRST_SIZE)
    if remember:
        _fit(window, window.screen().availableGeometry().adjusted(BORDER, TITLE_BAR, -BORDER, -BORDER), restored)


def keep_place(window: QWidget) -> None:
    """Save the place of a window."""
    _settings().setValue("geometry", window.saveGeometry())


def _settings() -> QSettings:
    return QSettings("attnlab", "attnlab")


def _fit(window: QWidget, room: QRect, restored: bool) -> None:
    """Keep the window and its title bar within a screen; fill a screen that is too small."""
    if window.windowState() & (Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen):
        return
    size = window.size().boundedTo(room.size()).expandedTo(window.minimumSize())
    if restored:
        left, top = room.right() + 1 - size.width(), room.bottom() + 1 - size.height()
        x, y = max(min(window.geometry().x(), left), room.x()), max(min(window.geometry().y(), top), room.y())
        window.setGeometry(QRect(QPoint(x, y), size))
    elif size != FIRST_SIZE:
        window.resize(size)
        window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)
