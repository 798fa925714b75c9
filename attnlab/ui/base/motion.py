"""Durations of animations; 0 if the settings or the system ask for reduced motion."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget

FADE_MS = 150
_REDUCED = "reducedMotion"


def set_reduced_motion(on: bool) -> None:
    """Switch animations off, or follow the system; stored in the application, like its font."""
    application = QGuiApplication.instance()
    assert application is not None
    application.setProperty(_REDUCED, on)


def motion_ms(widget: QWidget) -> int:
    """Return the duration of an animation in a widget in milliseconds; 0 for none."""
    application = QGuiApplication.instance()
    if application is not None and application.property(_REDUCED):
        return 0
    hints = QGuiApplication.styleHints().accessibility()
    wish = getattr(hints, "motionPreference", None)  # from Qt 6.12 on; before, the style decides
    if wish is not None and wish().name == "ReducedMotion":
        return 0
    return min(FADE_MS, widget.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration, None, widget))
