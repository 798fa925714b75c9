"""The lessons' entry in the list of workspaces."""

from typing import TYPE_CHECKING

from attnlab.ui.base.workspace import Host, WorkspaceKind
from attnlab.ui.playground.entry import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.lessons.desk import LessonDesk


def _make(host: Host) -> "LessonDesk":
    from attnlab.ui.lessons.desk import LessonDesk

    playground = host.workspace(PLAYGROUND)
    assert playground is not None
    return LessonDesk(playground, host)


LESSONS: "WorkspaceKind[LessonDesk]" = WorkspaceKind("lessons", "Lessons", "book", _make)
