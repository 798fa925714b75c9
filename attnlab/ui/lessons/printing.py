"""Prints a lesson to a PDF file, one page a step, while the window goes on."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from attnlab.errors import AttnlabError
from attnlab.lessons.lesson import Lesson
from attnlab.ui.predict.slices import Slices

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
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
        super().__init__(desk)
        self._desk, self._lesson, self._path, self._count = desk, lesson, path, 0
        self._slices = Slices(self)
        self._slices.finished.connect(self._on_finished)
        self._key = ("lesson-pages", id(self))
        desk.playground.service.job_done.connect(self._on_job_done)
        desk.note(f"Printing to {path}…")
        desk.playground.service.run(self._key, partial(_pages, lesson, desk.playground.document.experiment))

    @Slot(object, object)
    def _on_job_done(self, key: object, result: object) -> None:
        from attnlab.ui.present.pdf import printed

        if key != self._key:
            return
        self._desk.playground.service.job_done.disconnect(self._on_job_done)
        if isinstance(result, list):
            self._count = len(result)
            self._slices.start(printed(result, self._lesson.title, self._path))
        else:
            self._on_finished(str(result))

    @Slot(str)
    def _on_finished(self, error: str) -> None:
        if error:
            self._desk.say(error)
        else:
            self._desk.note(f"Printed {self._count} pages to {self._path}")
        self.deleteLater()


def _pages(lesson: Lesson, experiment: "Experiment") -> "list[SlideContent] | AttnlabError":
    """Return what stands on the pages, or why there are none. Runs on the worker."""
    from attnlab.ui.present.pdf import pages_of

    try:
        return pages_of(lesson, experiment)
    except AttnlabError as error:
        return error
