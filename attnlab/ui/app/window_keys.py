"""Keys that no field has taken: a clicker's in a lesson, those that walk the steps, and Escape, which lets go."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow

STEPS = {
    Qt.Key.Key_Left: "step_back", Qt.Key.Key_Right: "step_next", Qt.Key.Key_Home: "step_first",
    Qt.Key.Key_End: "step_last", Qt.Key.Key_PageUp: "step_back", Qt.Key.Key_PageDown: "step_next",
}  # fmt: skip


def take_key(w: "MainWindow", key: Qt.Key) -> bool:
    """Do what a key is for in the workspace that is shown; False when it is for nothing there."""
    from attnlab.ui.app.main_window import PLAYGROUND

    if any(part is not None and part.take_key(key) for part in (w.desk, w.trainer)):
        return True
    if key in STEPS and w.playground is not None and w.rail.place == PLAYGROUND:
        getattr(w.playground.step_bar, STEPS[key])()
    elif key == Qt.Key.Key_Escape:
        w.escape()
    else:
        return False
    return True
