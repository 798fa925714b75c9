"""Saving a draft: to its own file, a new one in the user's folder, or one chosen in a dialog."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from attnlab.base.errors import AttnlabError
from attnlab.ui.base.dialog_parts import ask_where
from attnlab.ui.base.workspace import Host
from attnlab.ui.lessons.draft import Draft

FILTER = "Lessons (*.md)"
Told = Callable[[Path], None]


def save(window: Host, draft: Draft, told: Told) -> bool:
    """Save a draft to its file, a new one in the user's folder; on failure show a message and return False."""
    from attnlab.lessons.library import find_user_folder

    path = draft.path
    try:
        if path is None:
            folder = find_user_folder()
            folder.mkdir(parents=True, exist_ok=True)
            path = find_free_path(folder, draft.lesson.title or draft.lesson.name)
        draft.save(path)
    except AttnlabError as error:
        window.say(str(error))
        return False
    except OSError as error:
        window.say(f"The folder for lessons cannot be created: {error.strerror}.")
        return False
    told(path)
    return True


def ask_save(window: Host, draft: Draft, told: Told) -> None:
    """Ask for a file and save a draft to it."""
    from attnlab.lessons.library import find_user_folder

    name = f"{draft.path.stem if draft.path is not None else _make_stem(draft.lesson.title)}.md"
    then = partial(_save_to, window, draft, told)
    ask_where(window, "Save the lesson", FILTER, name, then, find_user_folder())


def _save_to(window: Host, draft: Draft, told: Told, path: Path) -> None:
    try:
        draft.save(path)
    except AttnlabError as error:
        window.say(str(error))
        return
    told(path)


def find_free_path(folder: Path, title: str) -> Path:
    """Return an unused path in a folder, named after a title."""
    stem = _make_stem(title)
    names = (f"{stem}{f'-{n}' if n > 1 else ''}.md" for n in range(1, 10_000))
    return next(folder / name for name in names if not (folder / name).exists())


def _make_stem(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-")[:60] or "lesson"
