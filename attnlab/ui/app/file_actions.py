"""The actions of the File section: open, save, import weights, export."""

from itertools import chain
from typing import TYPE_CHECKING, Any

from attnlab.base import formats
from attnlab.files.source import SESSION
from attnlab.ui.base.actions import Action
from attnlab.ui.base.dialog_parts import ask_which
from attnlab.ui.base.workspace import Host, on, once_loaded
from attnlab.ui.train.train_actions import FILM
from attnlab.ui.workspaces.lessons import LESSONS
from attnlab.ui.workspaces.models import MODELS
from attnlab.ui.workspaces.playground import PLAYGROUND
from attnlab.ui.workspaces.train import TRAIN

if TYPE_CHECKING:
    from attnlab.ui.models.models_workspace import Tools
    from attnlab.ui.playground.playground import Playground
    from attnlab.ui.train.train_tools import TrainTools


def make_file_actions(w: Host, restore: Action[Any]) -> list[Action[Any]]:
    """Return the actions that open, save, import and export."""
    play, loaded = on(w, PLAYGROUND), once_loaded(w)
    beside = on(w, PLAYGROUND, show=False)
    drawn = "As pixels and as SVG, with the settings of the last figure"
    return [
        Action(
            "presets",
            "Open a preset…",
            "File",
            play,
            lambda p: p.open_gallery(),
            ("Ctrl+P",),
            parts=lambda _: _list_presets(),
            choose=lambda p, title: p.open_preset(_list_presets()[title]),
        ),
        Action("open", "Open a file…", "File", beside, lambda _: _ask_open(w), ("Ctrl+O",)),
        restore,
        Action("weights-in", "Import weights…", "File", beside, lambda p: _import_weights(w, p), ("Ctrl+I",)),
        Action(
            "paste-weights",
            "Paste weights",
            "File",
            beside,
            lambda p: _paste_weights(w, p),
            ("Ctrl+V",),
            enabled=lambda _: w.current == PLAYGROUND.name,
        ),
        Action("save", "Save", "File", loaded, _save, ("Ctrl+S",)),
        Action("save-as", "Save as…", "File", play, lambda p: p.files.ask_save(), ("Ctrl+Shift+S",)),
        Action(
            "export",
            "Export a picture or a table…",
            "File",
            loaded,
            _export,
            ("Ctrl+E",),
            hint="In Train and Models, the maps that are shown",
        ),
        Action(
            "copy-number",
            "Copy the number of the held cell",
            "File",
            beside,
            lambda p: p.code.copy_number(),
            ("Ctrl+C",),
            enabled=lambda _: w.current == PLAYGROUND.name,
            hint="With every digit",
        ),
        Action(
            "copy-picture",
            "Copy picture of the stage",
            "File",
            loaded,
            _copy_picture,
            enabled=lambda w: _training(w) is not None or _is_ready(w),
            title_now=lambda w: f"Copy picture of the {'maps' if w.current in (TRAIN.name, MODELS.name) else 'stage'}",
            hint=drawn,
        ),
        Action(
            "copy-canvas",
            "Copy picture of the whole canvas",
            "File",
            beside,
            lambda p: p.code.copy_canvas(),
            enabled=lambda _: _has_canvas(w),
            hint=drawn,
        ),
        Action(
            "film",
            "Export a film of a sweep…",
            "File",
            loaded,
            _film,
            ("Ctrl+Shift+E",),
            title_now=lambda w: "Export a film of a sweep…" if _training(w) is None else FILM,
        ),
    ]


def _ask_open(w: Host) -> None:
    """Ask for a file and open it as if it were dropped; its workspace comes into view unless the user cancels."""
    kinds = {"Sessions": (SESSION,), "Lessons": formats.LESSONS, "Weights": (*formats.WEIGHTS, ".json")}
    every = {"Sessions, lessons and weights": tuple(chain.from_iterable(kinds.values()))}
    filters = [f"{kind} ({' '.join(f'*{end}' for end in ends)})" for kind, ends in (every | kinds).items()]
    ask_which(w, "Open a file", ";;".join(filters), lambda path: w.open_paths([path]))


def _training(w: Host) -> "TrainTools | None":
    """Return the tools of the training workspace while it is shown, else None."""
    trainer = w.workspace(TRAIN, make=False) if w.current == TRAIN.name else None
    if trainer is None:
        return None
    from attnlab.ui.train.train_tools import find_tools  # imported late: this function is called before the first paint

    return find_tools(trainer)


def _models(w: Host) -> "Tools | None":
    """Return the tools of the workspace of models while it is shown, else None."""
    models = w.workspace(MODELS) if w.current == MODELS.name else None
    return models.tools if models is not None else None


def _is_ready(w: Host) -> bool:
    p = w.workspace(PLAYGROUND)
    return p is not None and p.code.ready


def _list_presets() -> dict[str, str]:
    """Return the names of the presets by their titles."""
    from attnlab.attention.examples.presets import PRESETS

    return {each.title: name for name, each in PRESETS.items()}


def _has_canvas(w: Host) -> bool:
    p = w.workspace(PLAYGROUND)
    return p is not None and p.code.ready and p.comparison.shown != "difference"


def _save(w: Host) -> None:
    lessons = w.workspace(LESSONS, make=False)
    if lessons is not None and lessons.drafts.editing is not None:
        lessons.drafts.save()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        playground.files.save()


def _export(w: Host) -> None:
    if (training := _training(w)) is not None:
        training.export_figure()
    elif (models := _models(w)) is not None:
        models.export_figure()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        playground.files.ask_export()


def _film(w: Host) -> None:
    from attnlab.ui.export.sweep_dialog import open_sweep_dialog

    if (training := _training(w)) is not None:
        training.export_film()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        open_sweep_dialog(playground, w)


def _copy_picture(w: Host) -> None:
    if (training := _training(w)) is not None:
        training.copy_picture()
    elif (models := _models(w)) is not None:
        models.copy_picture()
    elif (playground := w.workspace(PLAYGROUND)) is not None:
        playground.code.copy_picture(playground.current_stage, playground.document.view.head)


def _import_weights(w: Host, playground: "Playground") -> None:
    from attnlab.ui.weights.import_weights import import_weights

    import_weights(playground, w)


def _paste_weights(w: Host, playground: "Playground") -> None:
    from attnlab.ui.weights.import_weights import paste_weights

    paste_weights(playground, w)
