"""The workspace of the lessons."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action
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


LESSONS: "WorkspaceKind[LessonController]" = WorkspaceKind("lessons", "Lessons", "book", _make, _actions, order=20)
