"""Where slides and notes stand: each on a screen of its own if there are two, else the notes above the slides."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QScreen
from PySide6.QtWidgets import QWidget

ONE_SCREEN = 0.9
"""The largest share of a single screen for the notes: their frame and the slides stay reachable."""


def find_other(own: QScreen) -> QScreen | None:
    """Return a screen other than ``own``, if there is one."""
    return next((screen for screen in QGuiApplication.screens() if screen is not own), None)


def fill(slides: QWidget, screen: QScreen) -> None:
    """Show the slides on the whole of a screen."""
    slides.setWindowState(Qt.WindowState.WindowNoState)
    slides.setScreen(screen)  # else some systems fill the screen that the window is leaving
    slides.setGeometry(screen.geometry())
    slides.showFullScreen()


def place_notes(notes: QWidget, slides: QWidget) -> None:
    """Put the notes on the screen that the slides leave free; on a single one, let them leave some of it free."""
    other = find_other(slides.screen())
    if other is not None:
        notes.setGeometry(other.availableGeometry())
    else:
        notes.resize(notes.size().boundedTo(slides.screen().availableSize() * ONE_SCREEN))


def gather(slides: QWidget, notes: QWidget | None) -> None:
    """Keep slides, and the notes above them, on the screens that are left when one was unplugged."""
    if slides.isFullScreen():
        fill(slides, slides.screen())
    if notes is not None:
        place_notes(notes, slides)
        room = notes.screen().availableGeometry()
        if not room.contains(notes.geometry()):
            notes.setGeometry(QRect(room.topLeft(), notes.size().boundedTo(room.size())))
        notes.raise_()
