"""All actions of the window as one list, for the shortcuts, the menu and the command palette."""

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from attnlab.ui.app.file_actions import make_file_actions
from attnlab.ui.app.help_actions import make_help_actions
from attnlab.ui.app.recent_files import make_recent_actions
from attnlab.ui.app.settings_actions import make_settings_actions
from attnlab.ui.app.unsaved_actions import make_restore_action, make_unsaved_actions
from attnlab.ui.base.actions import Action, Context
from attnlab.ui.base.workspace import on, once_loaded
from attnlab.ui.playground.play_actions import code_actions
from attnlab.ui.workspaces.models import MODELS
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow
    from attnlab.ui.models.models_workspace import ModelsWorkspace


def make_window_actions(w: "MainWindow") -> list[Action[Any]]:
    """Return the actions of a window."""
    play, unsaved = on(w, PLAYGROUND), w.unsaved
    files = [*make_file_actions(w, make_restore_action(unsaved)), *code_actions(play)]
    files += [*make_recent_actions(w), *make_unsaved_actions(unsaved)]
    workspaces = [action for kind in w.kinds for action in kind.actions(w)]
    return [
        *files,
        *_edit(w),
        *workspaces,
        _task(w),
        _drawing(w),
        *make_settings_actions(w),
        *_window(w),
        *make_help_actions(w),
    ]


class Undoable(Protocol):
    """Ctrl+Z acts on this: the document, the lesson being written, or the model while it is shown."""

    @property
    def undo_label(self) -> str | None:
        """The name of the change to undo; "" or None if there is none."""

    @property
    def redo_label(self) -> str | None:
        """The name of the change to redo; "" or None if there is none."""

    def undo(self) -> None:
        """Undo one change."""

    def redo(self) -> None:
        """Redo one change."""


def _edit(w: "MainWindow") -> list[Action[Any]]:
    def find() -> Undoable | None:
        if (draft := w.editing) is not None:
            return draft
        models = w.workspace(MODELS, make=False) if w.current == MODELS.name else None
        if models is not None:
            return models.session
        play = w.playground if w.current == PLAYGROUND.name else None  # elsewhere nobody would see what is undone
        return play.document if play is not None else None

    document: Context[Undoable] = Context(find, find, lambda: find() is not None)
    return [
        Action(
            "undo",
            "Undo",
            "Edit",
            document,
            lambda d: d.undo(),
            ("Ctrl+Z",),
            lambda d: bool(d.undo_label),
            title_now=lambda d: f"Undo “{d.undo_label}”" if d.undo_label else "Undo",
        ),
        Action(
            "redo",
            "Redo",
            "Edit",
            document,
            lambda d: d.redo(),
            ("Ctrl+Shift+Z", "Ctrl+Y"),
            lambda d: bool(d.redo_label),
            title_now=lambda d: f"Redo “{d.redo_label}”" if d.redo_label else "Redo",
        ),
        Action("history", "History…", "Edit", on(w, PLAYGROUND), lambda p: p.open_history(), ("Ctrl+H",)),
    ]


def _task(w: "MainWindow") -> Action[Any]:
    def choose(window: "MainWindow", title: str) -> None:
        window.show_workspace(TRAIN.name)
        if (train := window.workspace(TRAIN)) is not None:
            train.choose_task(title)

    hint = "The task that a tiny model learns"
    return Action(
        "train-task",
        "Task…",
        "Train",
        once_loaded(w),
        lambda window: choose(window, ""),
        parts=_list_tasks,
        choose=choose,
        hint=hint,
    )


def _list_tasks(window: "MainWindow") -> list[str]:
    if not window.loaded:
        return []
    from attnlab.training.tasks import TASKS

    return [task.title for task in TASKS.values()]


def _drawing(w: "MainWindow") -> Action[Any]:
    """Return the action that draws the model: the open one while *Models* is shown, else that of *Train*."""

    def models() -> "ModelsWorkspace | None":
        return w.workspace(MODELS, make=False) if w.current == MODELS.name else None

    def draw(_: object) -> None:
        if (open_one := models()) is not None:
            open_one.session.show(drawn=not open_one.session.view.drawn)
        elif (trainer := on(w, TRAIN).enter()) is not None:
            trainer.maps.show_page("maps" if trainer.maps.shows_model else "model")

    def is_drawn(_: object) -> bool:
        if (open_one := models()) is not None:
            return open_one.session.view.drawn
        trainer = w.workspace(TRAIN, make=False)
        return trainer is not None and trainer.maps.shows_model

    return Action(
        "draw-model",
        "Draw the model",
        "View",
        once_loaded(w),
        draw,
        ("Ctrl+Shift+D",),
        checked=is_drawn,
        hint="Its blocks with shapes and parameters, in place of the maps",
    )


def _window(w: "MainWindow") -> list[Action[Any]]:
    def show(name: str, window: "MainWindow") -> None:
        window.show_workspace(name)

    window, loaded = Context.of(w), once_loaded(w)
    return [
        *(
            Action(
                f"workspace-{number}",
                kind.name.capitalize(),
                "Window",
                window if number == 1 else loaded,
                partial(show, kind.name),
                (f"Ctrl+{number}",),
            )
            for number, kind in enumerate(w.kinds, 1)
        ),
        Action(
            "palette", "Command palette…", "Window", window, lambda w: w.show_palette(), ("Ctrl+K",), in_palette=False
        ),
        Action(
            "full-screen",
            "Full screen",
            "Window",
            window,
            lambda w: w.toggle_full_screen(),
            ("F11",),
            checked=lambda w: w.isFullScreen(),
        ),
        Action("quit", "Quit", "Window", window, lambda w: w.close(), ("Ctrl+Q",)),
    ]
