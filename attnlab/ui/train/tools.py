"""What one does with a training beside watching it: the way into the playground and back."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.figures.palette import Palette
from attnlab.ui.train.round_trip import RoundTrip

if TYPE_CHECKING:
    from attnlab.ui.main_window import MainWindow
    from attnlab.ui.train.workspace import TrainWorkspace


class TrainTools(QObject):
    """Owns the tools of one workspace, and puts them where they are found in it."""

    def __init__(self, workspace: "TrainWorkspace", window: "MainWindow") -> None:
        super().__init__(workspace)
        self.round_trip = RoundTrip(workspace, window)

    def set_palette(self, palette: Palette) -> None:
        """Paint in other colours, and the present size of type."""
        self.round_trip.set_palette(palette)

    def close(self) -> None:
        """End the threads; may be called twice."""
        self.round_trip.close()
