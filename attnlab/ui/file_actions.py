"""The actions of the File section: sessions, weights that come in, figures, films and code that go out."""

from typing import TYPE_CHECKING

from attnlab.ui.actions import Action

if TYPE_CHECKING:
    from attnlab.ui.main_window import MainWindow


def file_actions(w: "MainWindow") -> list[Action]:
    """Return what opens, saves, brings in and takes out."""

    def loaded() -> bool:
        return w.playground is not None

    def save() -> None:
        w.teach("save_draft")() if w.desk is not None and w.desk.editing is not None else w.do("files.save")()

    def film() -> None:
        from attnlab.ui.export.sweep_dialog import open_sweep_dialog

        open_sweep_dialog(w)

    def bring_in() -> None:
        from attnlab.ui.weights.doors import bring_in

        bring_in(w)

    def paste() -> None:
        from attnlab.ui.weights.doors import paste

        paste(w)

    return [
        Action("presets", "Open a preset…", "File", w.do("open_gallery"), ("Ctrl+P",), loaded),
        Action("open", "Open a file…", "File", w.do("files.ask_open"), ("Ctrl+O",), loaded),
        Action(
            "bring-back",
            "Bring back the last unsaved work",
            "File",
            w.bring_back,
            (),
            lambda: w.recovery is not None and w.recovery.there(),
        ),
        Action("weights-in", "Bring in weights…", "File", bring_in, ("Ctrl+I",), loaded),
        Action("paste-weights", "Paste weights", "File", paste, ("Ctrl+V",), loaded),
        Action("save", "Save", "File", save, ("Ctrl+S",), loaded),
        Action("save-as", "Save as…", "File", w.do("files.ask_save"), ("Ctrl+Shift+S",), loaded),
        Action("export", "Export a picture or a table…", "File", w.do("files.ask_export"), ("Ctrl+E",), loaded),
        Action("film", "Export a film of a sweep…", "File", film, (), loaded),
    ]
