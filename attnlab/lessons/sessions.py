"""Finds the session that a step begins with: beside the lesson's file, or shipped beside a shipped lesson."""

from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.base import assets
from attnlab.base.errors import AttnlabError
from attnlab.lessons.library import FOLDER, find_user_folder

if TYPE_CHECKING:
    from attnlab.lessons.lesson import Lesson


def find_session(lesson: "Lesson", name: str) -> Path:
    """Return the path of the session called ``name`` that a step of the lesson begins with; it may not exist.

    A lesson without a file is a shipped one, or an unsaved copy of one: its sessions are shipped, or recorded in the
    user's folder.

    Raises:
        AttnlabError: the lesson has no file, and there is no such session in either folder.
    """
    if lesson.path is not None:
        return lesson.path.parent / name
    if f"{FOLDER}/{name}" in assets.names(FOLDER):
        return assets.path(f"{FOLDER}/{name}")
    recorded = find_user_folder() / name
    if not recorded.is_file():
        raise AttnlabError(f"The session {name} must be in the lesson’s folder; save the lesson first.")
    return recorded
