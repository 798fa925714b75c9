"""The note that another experiment than that of the lesson's step is open, with a button back to the step."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget


class AwayNote(QWidget):
    """Hidden while the step's own experiment is open."""

    def __init__(self, return_here: Callable[[], object]) -> None:
        super().__init__()
        self._note, there = QLabel(), QPushButton("Back to this step")
        self._note.setTextFormat(Qt.TextFormat.PlainText)
        self._note.setWordWrap(True)
        there.setToolTip("Open this step’s experiment again; undo returns to the current one")
        there.clicked.connect(return_here)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._note)
        column.addWidget(there, 0, Qt.AlignmentFlag.AlignLeft)
        self.hide()

    def show_title(self, opened: str, lesson: str) -> None:
        """Name the experiment that is open, which may be another state of the lesson itself."""
        what = "Another state of this lesson" if opened == lesson else f"“{opened}”"
        self._note.setText(f"{what} is open now; this text uses the step’s own numbers.")
