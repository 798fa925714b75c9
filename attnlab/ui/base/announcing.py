"""Announcements: what changed, said by an active screen reader when it has finished its sentence."""

from weakref import ref

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget
from shiboken6 import Shiboken

from attnlab.base.spoken_text import speak_text
from attnlab.ui.base.guard import guarded

_TITLE = "spoken_title"
"""The property with the name that a label had before it showed a text."""
_SILENT = "announces_nothing"
"""The property of a window that is silent."""


def announce(text: str, widget: QWidget, about: str = "") -> None:
    """Have a screen reader say a text about a widget; do nothing without one, and in a silent window.

    While a mouse button is down, as when a number is dragged, only the last text ``about`` the same thing is said,
    once it is released.
    """
    if not text or not QAccessible.isActive() or widget.window().property(_SILENT):
        return
    if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
        _held_back.add(text, widget, about)
    else:
        _say(text, widget)


def silence(window: QWidget, on: bool) -> None:
    """Have a window announce nothing, as while a presentation in front of it says the same; or end that."""
    window.setProperty(_SILENT, on)


def show_text(label: QLabel, text: str) -> None:
    """Show a text in a label; a new one is announced, and part of the label's name if it has one: "Message: …"."""
    if text == label.text():
        return
    title = label.property(_TITLE)
    if title is None:
        title = label.accessibleName()
        label.setProperty(_TITLE, title)
    label.setText(text)
    if title:
        label.setAccessibleName(f"{title}: {text}" if text else title)
    announce(text, label)


def _say(text: str, widget: QWidget) -> None:
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, speak_text(text)))


@guarded
class _HeldBack(QObject):
    """Keeps the announcements of a drag until the mouse button is released."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: dict[str, tuple[str, ref[QWidget]]] = {}

    def add(self, text: str, widget: QWidget, about: str) -> None:
        app = QGuiApplication.instance()
        if not self._texts and app is not None:
            app.installEventFilter(self)  # only during a drag: a filter of all events is slow
        self._texts.pop(about, None)
        self._texts[about] = text, ref(widget)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonRelease and self._texts:
            app = QGuiApplication.instance()
            if app is not None:
                app.removeEventFilter(self)
            texts, self._texts = self._texts, {}
            for text, kept in texts.values():
                widget = kept()
                if widget is not None and Shiboken.isValid(widget):
                    _say(text, widget)
        return False


_held_back = _HeldBack()
