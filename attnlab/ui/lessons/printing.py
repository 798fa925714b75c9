"""Prints a lesson to a PDF file, one page a step, while the window goes on."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.lessons.lesson import Lesson
from attnlab.ui.once import Once
from attnlab.ui.predict.slices import Slices

if TYPE_CHECKING:
    from attnlab.figures.slide_content import SlideContent
    from attnlab.ui.lessons.desk import LessonDesk

FILTER = "PDF (*.pdf)"


def ask_print(desk: "LessonDesk", lesson: Lesson) -> None:
    """Ask for a file and print a lesson to it."""
    dialog = desk.dialog("Print the lesson", FILTER, "pdf")
    dialog.selectFile(f"{lesson.name}.pdf")
    dialog.fileSelected.connect(lambda name: Printing(desk, lesson, Path(name)))
    dialog.open()


class Printing(QObject):
    """Prints one lesson and goes: numbers are computed in the worker, pages drawn between what a person does."""

    def __init__(self, desk: "LessonDesk", lesson: Lesson, path: Path) -> None:
        from attnlab.ui.present.pdf import pages_of

        super().__init__(desk)
        self._desk, self._lesson, self._path, self._count = desk, lesson, path, 0
        self._slices = Slices(self)
        self._slices.finished.connect(self._on_finished)
        desk.note(f"Printing to {path}…")
        job = partial(pages_of, lesson, desk.playground.document.experiment)
        Once(desk.playground.service, job, self._print, self._on_finished, self)

    def _print(self, pages: "list[SlideContent]") -> None:
        from attnlab.ui.present.pdf import printed

        self._count = len(pages)
        self._slices.start(printed(pages, self._lesson.title, self._path))

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        if error:
            self._desk.say(error)
        else:
            self._desk.note(f"Printed {self._count} pages to {self._path}")
        self.deleteLater()
