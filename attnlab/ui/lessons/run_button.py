"""The button of a step that shows a recorded run: it opens the run in the training workspace."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPushButton, QSizePolicy

if TYPE_CHECKING:
    from attnlab.lessons.slides import Slide


class RunButton(QPushButton):
    """Visible in steps that show a moment of a run."""

    def __init__(self) -> None:
        super().__init__("Open this run in Train")
        self.setProperty("small", "true")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setToolTip("The whole run, at this step and on this text: drag its time line, type a text of your own")
        self.hide()

    def show_slide(self, slide: "Slide") -> None:
        """Be there if the slide shows a run."""
        self.setVisible(slide.recorded is not None)
