"""Keys that a widget keeps for itself, although the window has a shortcut for them."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent

from attnlab.ui.base.guard import guarded


@guarded
class KeepsKeys:
    """Base, before the Qt class, of widgets that handle keys which a shortcut of the window would otherwise take."""

    def keeps_key(self, event: QKeyEvent) -> bool:
        """Return whether a key is the widget's own."""
        raise NotImplementedError

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and self.keeps_key(event):
            event.accept()
            return True
        return bool(super().event(event))  # type: ignore[misc]
