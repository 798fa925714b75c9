"""The list of workspaces, in the order of the rail and of the keys Ctrl+1, Ctrl+2, …; the first is the playground."""

from typing import Any

from attnlab.ui.base.workspace import WorkspaceKind
from attnlab.ui.lessons.entry import LESSONS
from attnlab.ui.playground.entry import PLAYGROUND
from attnlab.ui.train.entry import TRAIN

WORKSPACES: tuple[WorkspaceKind[Any], ...] = (PLAYGROUND, LESSONS, TRAIN)
