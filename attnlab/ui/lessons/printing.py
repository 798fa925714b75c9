"""Prints a lesson to a PDF file, one page per step, while the window stays responsive."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from attnlab.base.counted import format_count
from attnlab.lessons.lesson import Lesson
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.jobs import run
from attnlab.ui.base.slices import draw
from attnlab.ui.present.paper import Paper

if TYPE_CHECKING:
    from attnlab.figures.slides.slide_content import SlideContent
    from attnlab.ui.lessons.lesson_controller import LessonController


def ask_print(controller: "LessonController", lesson: Lesson, paper: Paper) -> None:
    """Ask for a file and print a lesson to it."""

    def print_to(path: Path) -> None:
        Printing(controller, lesson, path, paper)

    ask_where(controller.window, "Print the lesson", "PDF (*.pdf)", f"{lesson.name}.pdf", print_to)


class Printing(QObject):
    """Prints one lesson: numbers are computed in the worker, pages drawn between events; then deletes itself."""

    def __init__(self, controller: "LessonController", lesson: Lesson, path: Path, paper: Paper | None = None) -> None:
        from attnlab.ui.present.pdf import compute_pages

        super().__init__(controller)
        self._controller, self._lesson, self._path, self._count = controller, lesson, path, 0
        self._paper = paper or Paper()
        controller.note(f"Printing to {path}…")
        run(
            compute_pages,
            lesson,
            controller.playground.document.experiment,
            on_done=self._print,
            on_failed=self._on_failed,
            lane=controller.playground.lane,
            owner=self,
            doing="printing the lesson",
        )

    def _print(self, pages: "list[SlideContent]") -> None:
        from attnlab.ui.present.pdf import print_pages

        self._count = -(-len(pages) // self._paper.per_page)
        draw(
            print_pages(pages, self._lesson.title, self._path, paper=self._paper),
            self,
            on_done=self._on_printed,
            on_failed=self._on_failed,
            doing="printing the lesson",
        )

    def _on_printed(self, _: object) -> None:
        self._controller.note(f"Printed {format_count(self._count, 'page')} to {self._path}")
        self.deleteLater()

    def _on_failed(self, sentence: str) -> None:
        self._controller.refuse(sentence)
        self.deleteLater()
