"""The workspace of the lessons."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action
from attnlab.ui.base.ahead import import_each
from attnlab.ui.base.workspace import Host, WorkspaceKind, on
from attnlab.ui.lessons.lesson_actions import make_lesson_actions
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.lessons.lesson_controller import LessonController


def _make(host: Host) -> "LessonController":
    from attnlab.ui.lessons.lesson_controller import LessonController

    playground = host.workspace(PLAYGROUND)
    assert playground is not None
    return LessonController(playground, host)


def _actions(host: Host) -> list[Action[Any]]:
    return make_lesson_actions(on(host, LESSONS, show=False))  # lessons are walked beside the playground


def _ahead() -> Iterator[None]:
    yield from import_each(
        "attnlab.lessons.slides",
        "attnlab.lessons.parse",
        "attnlab.figures.slides.slide_painter",
        "attnlab.ui.present.content",
        "attnlab.ui.present.pdf",
        "attnlab.ui.present",
        "attnlab.ui.lessons.draft_files",
        "attnlab.ui.lessons.editor",
        "attnlab.ui.lessons.panel",
        "attnlab.ui.lessons.lesson_pages",
        "attnlab.ui.lessons.lesson_controller",
    )
    from attnlab.lessons.library import read_ahead

    yield from read_ahead()


LESSONS: "WorkspaceKind[LessonController]" = WorkspaceKind(
    "lessons", "Lessons", "book", _make, _actions, order=20, ahead=_ahead
)
