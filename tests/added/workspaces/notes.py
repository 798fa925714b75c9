"""A throw-away workspace of three labels: a new workspace is one module such as this."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from attnlab.ui.base.actions import Action
from attnlab.ui.base.workspace import WorkspaceKind, on


class Notes:
    """Records the calls of the window."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.bars = QLabel("above"), QLabel("the notes"), QLabel("below")

    def pages(self) -> tuple[QWidget, QWidget, QWidget]:
        return self.bars

    def enter(self) -> None:
        self.asked.append("entered")

    def leave(self) -> None:
        self.asked.append("left")

    def arrange(self, width: int) -> None:
        assert width > 0

    def say(self, sentence: str) -> None:
        self.bars[2].setText(sentence)

    def take_key(self, key: Qt.Key) -> bool:
        if key == Qt.Key.Key_F9:
            self.asked.append("F9")
        return key == Qt.Key.Key_F9

    def escape(self) -> None:
        self.asked.append("escape")

    def stop(self) -> None:
        self.asked.append("stop")

    def tidy(self) -> None:
        self.asked.append("tidied")


NOTES: WorkspaceKind[Notes] = WorkspaceKind(
    "notes",
    "Notes",
    "book",
    lambda _: Notes(),
    lambda host: [Action("notes-tidy", "Tidy the notes", "Notes", on(host, NOTES), Notes.tidy)],
    order=1000,
)
