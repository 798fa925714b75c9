"""How long a motion may take: not at all where the system asks for less of it."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget

FADE_MS = 150


def motion_ms(widget: QWidget) -> int:
    """Return how long something may take to appear in a widget, in milliseconds; 0 for at once."""
    hints = QGuiApplication.styleHints().accessibility()
    wish = getattr(hints, "motionPreference", None)  # from Qt 6.12 on; before, the style says it
    if wish is not None and wish().name == "ReducedMotion":
        return 0
    return min(FADE_MS, widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget))
