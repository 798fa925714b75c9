"""Prints a lesson to a PDF file, one page a step."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from attnlab.errors import AttnlabError
from attnlab.lessons.lesson import Lesson

if TYPE_CHECKING:
    from attnlab.ui.lessons.desk import LessonDesk

FILTER = "PDF (*.pdf)"


def ask_print(desk: "LessonDesk", lesson: Lesson) -> None:
    """Ask for a file and print a lesson to it."""
    dialog = desk.dialog("Print the lesson", FILTER, "pdf")
    dialog.selectFile(f"{lesson.name}.pdf")
    dialog.fileSelected.connect(partial(print_to, desk, lesson))
    dialog.open()


def print_to(desk: "LessonDesk", lesson: Lesson, name: str) -> None:
    """Print a lesson to a file; a sentence says what came of it."""
    from attnlab.ui.present import write_pdf

    QApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        pages = write_pdf(lesson, Path(name), experiment=desk.playground.document.experiment)
    except AttnlabError as error:
        desk.say(str(error))
        return
    finally:
        QApplication.restoreOverrideCursor()
    desk.note(f"Printed {pages} pages to {name}")
