"""The actions of the File section that the workspaces share: opening, saving, importing weights, and exporting."""

from typing import TYPE_CHECKING, Any

from attnlab.ui.app.unsaved_actions import unsaved_work
from attnlab.ui.base.actions import Action, Context
from attnlab.ui.base.workspace import on
from attnlab.ui.playground.entry import PLAYGROUND
from attnlab.ui.train.entry import TRAIN
from attnlab.ui.train.train_actions import FILM

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow
    from attnlab.ui.playground.workspace import Playground
    from attnlab.ui.train.tools import TrainTools


def file_actions(w: "MainWindow") -> list[Action[Any]]:
    """Return the actions that open, save, import and export."""
    play, loaded = on(w, PLAYGROUND), w.once_loaded
    beside: Context[Playground] = Context(play.find, play.find, play.ready)
    drawn = "As pixels and as SVG, drawn as the last figure was"
    return [
        Action("presets", "Open a preset…", "File", play, lambda p: p.open_gallery(), ("Ctrl+P",)),
        Action("open", "Open a file…", "File", play, lambda p: p.files.ask_open(), ("Ctrl+O",)),
        Action("bring-back", "Bring back the last unsaved work", "File", Context.of(w), lambda w: w.bring_back(),
               enabled=lambda w: bool(unsaved_work(w))),
        Action("weights-in", "Bring in weights…", "File", beside, lambda p: _import_weights(w, p), ("Ctrl+I",)),
        Action("paste-weights", "Paste weights", "File", beside, lambda p: _paste_weights(w, p), ("Ctrl+V",),
               enabled=lambda _: w.current == PLAYGROUND.name),
        Action("save", "Save", "File", loaded, _save, ("Ctrl+S",)),
        Action("save-as", "Save as…", "File", play, lambda p: p.files.ask_save(), ("Ctrl+Shift+S",)),
        Action("export", "Export a picture or a table…", "File", loaded, _export, ("Ctrl+E",),
               hint="In the training, the maps that are shown"),
        Action("copy-picture", "Copy picture of the stage", "File", loaded, _copy_picture,
               enabled=lambda w: _training(w) is not None or _drawable(w),
               title_now=lambda w: "Copy picture of the stage" if _training(w) is None else "Copy picture of the maps",
               hint=drawn),
        Action("copy-canvas", "Copy picture of the whole canvas", "File", loaded, _copy_canvas, enabled=_drawable,
               hint=drawn),
        Action("film", "Export a film of a sweep…", "File", loaded, _film, ("Ctrl+Shift+E",),
               title_now=lambda w: "Export a film of a sweep…" if _training(w) is None else FILM),
    ]  # fmt: skip


def _training(w: "MainWindow") -> "TrainTools | None":
    """Return the tools of the training while it is shown."""
    trainer = w.workspace(TRAIN, make=False)
    return trainer.tools if trainer is not None and w.current == TRAIN.name else None


def _drawable(w: "MainWindow") -> bool:
    p = w.playground
    return p is not None and p.code.ready and (p.pinned is None or p.document.view.look != "difference")


def _save(w: "MainWindow") -> None:
    if w.desk is not None and w.desk.editing is not None:
        w.desk.save_draft()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        playground.files.save()


def _export(w: "MainWindow") -> None:
    if (training := _training(w)) is not None:
        training.export_figure()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        playground.files.ask_export()


def _film(w: "MainWindow") -> None:
    from attnlab.ui.export.sweep_dialog import open_sweep_dialog

    if (training := _training(w)) is not None:
        training.export_film()
    elif (playground := on(w, PLAYGROUND).enter()) is not None:
        open_sweep_dialog(playground, w)


def _copy_picture(w: "MainWindow") -> None:
    if (training := _training(w)) is not None:
        training.copy_picture()
    elif (playground := w.playground) is not None and playground.reply is not None:
        playground.code.copy_picture(playground.current_stage, playground.document.view.head)


def _copy_canvas(w: "MainWindow") -> None:
    from attnlab.ui.export.copying import copy_canvas

    if w.playground is not None:
        copy_canvas(w.playground, w.settings.figure)


def _import_weights(w: "MainWindow", playground: "Playground") -> None:
    from attnlab.ui.weights.import_weights import import_weights

    import_weights(playground, w)


def _paste_weights(w: "MainWindow", playground: "Playground") -> None:
    from attnlab.ui.weights.import_weights import paste_weights

    paste_weights(playground, w)
