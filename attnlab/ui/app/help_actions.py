"""The actions of the Help section, and the lessons by their titles."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.base.actions import Action, Context
from attnlab.ui.base.workspace import once_loaded
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.playground import PLAYGROUND

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow

SECTION = "Help"


def make_help_actions(w: "MainWindow") -> list[Action[Any]]:
    """Return the actions that help: guide, keys, first steps, lessons, a report, and about."""
    window, loaded = Context.of(w), once_loaded(w)
    return [
        Action(
            "guide",
            "Guide",
            SECTION,
            window,
            lambda w: _open_page(w, ""),
            ("F1",),
            parts=lambda _: _list_topics(),
            choose=_open_page,
        ),
        Action("keys", "Keys", SECTION, window, lambda w: _open_page(w, "Keys"), ("Shift+F1",)),
        Action(
            "first-steps",
            "First steps",
            SECTION,
            loaded,
            _restart_first_steps,
            hint="Three things to try first",
            begins_group=True,
        ),
        Action(
            "lesson-start",
            "Lessons…",
            SECTION,
            loaded,
            lambda w: w.show_workspace(LESSONS.name),
            parts=_list_lessons,
            choose=_open_lesson,
        ),
        Action(
            "report",
            "Report a problem…",
            SECTION,
            window,
            lambda w: _open_page(w, "Report a problem"),
            begins_group=True,
        ),
        Action("about", "About attnlab", SECTION, window, lambda w: _open_page(w, "About")),
    ]


def _open_page(window: "MainWindow", title: str) -> None:
    from attnlab.ui.app.help_window import open_help

    open_help(window, window.actions_list, title)


def _list_topics() -> list[str]:
    from attnlab.ui.app.help_texts import read_topics

    return [topic.title for topic in read_topics()]


def _restart_first_steps(window: "MainWindow") -> None:
    window.show_workspace(PLAYGROUND.name)
    if window.playground is not None:
        window.playground.first_steps.restart()
        window.playground.first_steps_place.open()


def _list_lessons(window: "MainWindow") -> list[str]:
    from attnlab.lessons.titles import list_titles

    return [lesson.title for lesson in list_titles()] if window.loaded else []


def _open_lesson(window: "MainWindow", title: str) -> None:
    from attnlab.lessons.titles import list_titles

    name = next((lesson.name for lesson in list_titles() if lesson.title == title), None)
    if name is not None and (lessons := window.workspace(LESSONS)) is not None:
        lessons.open(name)
