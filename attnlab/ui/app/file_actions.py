"""The actions of the File section: sessions, weights that come in, figures, films and code that go out."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attnlab.ui.app.unsaved_actions import unsaved_work
from attnlab.ui.base.actions import Action
from attnlab.ui.train.actions import FILM

if TYPE_CHECKING:
    from attnlab.ui.app.main_window import MainWindow


def file_actions(w: "MainWindow") -> list[Action]:
    """Return what opens, saves, brings in and takes out."""

    def loaded() -> bool:
        return w.playground is not None

    def save() -> None:
        w.teach("save_draft")() if w.desk is not None and w.desk.editing is not None else w.do("files.save")()

    def training() -> bool:
        return w.trainer is not None and w.trainer.shown

    def export() -> None:
        w.train("tools.export_figure")() if training() else w.do("files.ask_export")()

    def film() -> None:
        from attnlab.ui.export.sweep_dialog import open_sweep_dialog

        w.train("tools.export_film")() if training() else open_sweep_dialog(w)

    def filmed() -> str:
        return FILM if training() else "Export a film of a sweep…"

    def copy(canvas: bool) -> Callable[[], None]:
        def call() -> None:
            from attnlab.ui.export.copying import copy_looked_at

            if training() and not canvas:
                w.train("tools.copy_picture")()
            else:
                copy_looked_at(w, canvas)

        return call

    def copied() -> str:
        return "Copy picture of the maps" if training() else "Copy picture of the stage"

    def drawable() -> bool:
        p = w.playground
        return p is not None and p.code.ready and (p.pinned is None or p.document.view.look != "difference")

    def bring_in() -> None:
        from attnlab.ui.weights.doors import bring_in

        bring_in(w)

    def paste() -> None:
        from attnlab.ui.weights.doors import paste

        paste(w)

    drawn = "As pixels and as SVG, drawn as the last figure was"
    return [
        Action("presets", "Open a preset…", "File", w.do("open_gallery"), ("Ctrl+P",), loaded),
        Action("open", "Open a file…", "File", w.do("files.ask_open"), ("Ctrl+O",), loaded),
        Action(
            "bring-back",
            "Bring back the last unsaved work",
            "File",
            w.bring_back,
            (),
            lambda: bool(unsaved_work(w)),
        ),
        Action("weights-in", "Bring in weights…", "File", bring_in, ("Ctrl+I",), loaded),
        Action("paste-weights", "Paste weights", "File", paste, ("Ctrl+V",), lambda: loaded() and w.rail.place == 0),
        Action("save", "Save", "File", save, ("Ctrl+S",), loaded),
        Action("save-as", "Save as…", "File", w.do("files.ask_save"), ("Ctrl+Shift+S",), loaded),
        Action(
            "export",
            "Export a picture or a table…",
            "File",
            export,
            ("Ctrl+E",),
            loaded,
            hint="In the training, the maps that are shown",
        ),
        Action("copy-picture", copied, "File", copy(canvas=False), (), lambda: training() or drawable(), hint=drawn),
        Action("copy-canvas", "Copy picture of the whole canvas", "File", copy(canvas=True), (), drawable, hint=drawn),
        Action("film", filmed, "File", film, ("Ctrl+Shift+E",), loaded),
        *code_actions(w),
    ]


def code_actions(w: "MainWindow") -> list[Action]:
    """Return what takes code and matrices out, to the clipboard and into files."""

    def do(method: str, *arguments: str) -> Callable[[], None]:
        def call() -> None:
            if w.playground is not None:
                w.show_workspace(0)  # the playground, whose bar says what was copied
                getattr(w.playground.code, method)(*arguments)

        return call

    def ready() -> bool:
        return w.playground is not None and w.playground.code.ready

    script = "Plain PyTorch that computes every stage of the present state"
    matrix = "The table in which the keyboard is, else the stage that is held or looked at"
    return [
        Action("copy-script", "Copy as PyTorch script", "File", do("copy_script"), (), ready, hint=script),
        Action("save-script", "Save as PyTorch script…", "File", do("ask_code", ".py"), (), ready, hint=script),
        Action("save-notebook", "Save as Jupyter notebook…", "File", do("ask_code", ".ipynb"), (), ready, hint=script),
        *(
            Action(f"copy-{name.lower()}", f"Copy matrix as {name}", "File", do("copy_matrix", name.lower()), (), ready,
                   hint=matrix)
            for name in ("LaTeX", "NumPy", "Markdown", "CSV")
        ),
    ]  # fmt: skip
