"""What leaves the playground and comes back: sessions opened and saved, pictures and tables exported."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from attnlab.attention.presets import PRESETS, preset
from attnlab.compute.engine import DTYPES, devices
from attnlab.document.scene import Scene
from attnlab.errors import AttnlabError
from attnlab.files.session import load_scene, save_scene
from attnlab.files.source import Source
from attnlab.ui.playground.export import export_stage
from attnlab.ui.theme import worn

if TYPE_CHECKING:
    from attnlab.ui.playground.workspace import Playground

FILTER = "attnlab sessions (*.attnlab)"


class FileKeeper(QObject):
    """Opens, saves and exports for one playground; problems become one sentence in the window."""

    opened = Signal(object)

    def __init__(self, playground: "Playground", window: QWidget) -> None:
        super().__init__(playground)
        self._playground = playground
        self._window = window

    def open(self, path: Path) -> bool:
        """Open a session as one step that can be undone."""
        try:
            scene = read_scene(path)
        except AttnlabError as error:
            self._say(str(error))
            return False
        self._playground.document.open(f"Open {path.name}", scene, path)
        self.opened.emit(path)
        return True

    @Slot()
    def save(self) -> None:
        """Save where the session lies; ask where when it lies nowhere yet."""
        path = self._playground.document.path
        if path is None:
            self.ask_save()
        else:
            self.save_to(path)

    def save_to(self, path: Path) -> bool:
        """Write the session to a file."""
        scene = self._playground.document.scene
        view = {"title": scene.title, "preset": scene.preset, "device": scene.device, "dtype": scene.dtype}
        try:
            save_scene(scene.experiment, path, view)
        except AttnlabError as error:
            self._say(str(error))
            return False
        self._playground.document.mark_saved(path)
        self.opened.emit(path)
        return True

    def export_to(self, path: Path) -> bool:
        """Write the stage that is looked at to a picture or a table, by the file's ending."""
        reply, view = self._playground.reply, self._playground.document.view
        if reply is None or reply.trace is None:
            return False
        try:
            export_stage(reply.trace, self._playground.current_stage, view.head, path)
        except AttnlabError as error:
            self._say(str(error))
            return False
        self._playground.step_bar.show_note(f"Saved {path}")
        return True

    @Slot()
    def ask_open(self) -> None:
        """Ask for a session and open it."""
        dialog = self._dialog("Open a session", FILTER)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._on_open_selected)
        dialog.open()

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file and save to it."""
        dialog = self._dialog("Save the session", FILTER, "attnlab")
        dialog.fileSelected.connect(self._on_save_selected)
        dialog.open()

    @Slot()
    def ask_export(self) -> None:
        """Ask what to export, and how, beside a preview of it."""
        from attnlab.ui.export.dialog import ExportDialog
        from attnlab.ui.main_window import MainWindow

        reply, view = self._playground.reply, self._playground.document.view
        if reply is None or reply.trace is None:
            return
        choices = self._window.settings.figure if isinstance(self._window, MainWindow) else ()
        dialog = ExportDialog(reply.trace, self._playground.current_stage, view.head, choices, self._window)
        dialog.set_palette(worn())
        dialog.remembered.connect(self._on_figure_remembered)
        dialog.exported.connect(self._on_exported)
        dialog.open()

    def _dialog(self, title: str, name_filter: str, suffix: str = "") -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setNameFilter(name_filter)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if suffix:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(suffix)
        return dialog

    @Slot(str)
    def _on_open_selected(self, path: str) -> None:
        self.open(Path(path))

    @Slot(str)
    def _on_save_selected(self, path: str) -> None:
        self.save_to(Path(path))

    @Slot(object)
    def _on_exported(self, path: object) -> None:
        self._playground.step_bar.show_note(f"Saved {path}")

    @Slot(object)
    def _on_figure_remembered(self, choices: object) -> None:
        from attnlab.ui.main_window import MainWindow

        if isinstance(self._window, MainWindow):
            self._window.change_settings(figure=choices)

    def _say(self, sentence: str) -> None:
        self._playground.step_bar.show_message(sentence)


def read_scene(path: Path) -> Scene:
    """Return the scene of a session file; a device that is not here becomes the CPU.

    Raises:
        FileError: it cannot be read, or is not a session.
    """
    experiment, view = load_scene(path)
    device, dtype = str(view.get("device", "cpu")), str(view.get("dtype", "float32"))
    return Scene(
        experiment, str(view.get("title", path.stem)), str(view.get("preset", "")),
        device if device in devices() else "cpu", dtype if dtype in DTYPES else "float32",
    )  # fmt: skip


def first_scene(source: Source | Scene) -> tuple[Scene, str, Path | None, str]:
    """Return what the window opens with: scene, label, file, and one sentence when the source could not be opened."""
    if isinstance(source, Scene):
        return source, f"Open {source.title}", None, ""
    default = "journey"
    try:
        if source.path is not None:
            return read_scene(source.path), f"Open {source.path.name}", source.path, ""
        name = source.preset or default
        return Scene(preset(name), PRESETS[name].title, name), f"Open {PRESETS[name].title}", None, ""
    except AttnlabError as error:
        scene = Scene(preset(default), PRESETS[default].title, default)
        return scene, f"Open {PRESETS[default].title}", None, str(error)
