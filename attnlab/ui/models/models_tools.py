"""What the workspace of models asks of the window: files, the list of models, and figures."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from attnlab.base.errors import AttnlabError
from attnlab.document.saved_model import SavedModel
from attnlab.figures.panels.figure_source import Sheet, Sheets
from attnlab.figures.scales import find_scale
from attnlab.files.texts_in import read_text
from attnlab.ui.base.dialog_parts import ask_where, ask_which
from attnlab.ui.base.jobs import run
from attnlab.ui.base.workspace import Host
from attnlab.ui.models.head_maps import find_muted, make_all_heads
from attnlab.ui.models.model_state import Edited, ModelState, Off
from attnlab.ui.models.models_trip import ModelsTrip
from attnlab.ui.models.models_workspace import ModelsWorkspace
from attnlab.ui.models.texts_files import TextFiles
from attnlab.ui.playground.session_state import WaitingModel
from attnlab.ui.train.scene_export import SceneExport

if TYPE_CHECKING:
    from attnlab.attention.experiment import Experiment
    from attnlab.pretrained.stack_pass import Part
    from attnlab.ui.playground.playground import Playground

NO_MODEL = "Several texts need a model; open one first."
NOTHING = "There are no maps yet; open a model first."
CAPTURE = "capture", ""
"""What the menu of models gives for the file of a capture."""
Models = list[tuple[str, list[tuple[str, object]]]]


class ModelsTools(QObject):
    """Opens dialogs for a workspace; ``trip`` opens its layers in the playground."""

    def __init__(self, workspace: ModelsWorkspace, window: Host, playground: "Playground") -> None:
        super().__init__(workspace)
        self._workspace, self._window = workspace, window
        self._files = TextFiles(self)
        self._scenes = SceneExport(window, lambda said, _wrong: workspace.say(said))
        self._waiting = playground.files.models
        playground.files.models = self
        self.trip = ModelsTrip(workspace, window, playground)
        workspace.session.state_changed.connect(lambda _state: window.refresh_actions())
        workspace.header.menu_requested.connect(self.choose_model)
        workspace.header.folder_requested.connect(self.choose_folder)
        workspace.header.export_requested.connect(lambda: self.export_figure())
        workspace.menus.all_requested.connect(lambda: self.export_figure(everything=True))
        workspace.panel.file_requested.connect(self.choose_text)
        workspace.effect.save_requested.connect(self.save_answers)
        workspace.panel.several_requested.connect(self.show_texts)

    # Models and texts

    def choose_model(self) -> None:
        """Open the list of models: those that ship, and those of the Hugging Face cache."""
        run(
            list_models,
            on_done=self._show_models,
            on_failed=self._workspace.say,
            doing="listing models",
            latest=("models", id(self)),
            owner=self,
        )

    def _show_models(self, found: Models) -> None:
        more: tuple[str, list[tuple[str, object]]] = ("", [("Open folder…", None), ("Open a capture…", CAPTURE)])
        self._workspace.header.show_menu([*found, more], self._take_model)

    def _take_model(self, chosen: tuple[str, str] | None) -> None:
        if chosen is None:
            self.choose_folder()
        elif chosen == CAPTURE:
            ask_which(self._window, "Open a capture", "Captures (*.safetensors)", self._open_file)
        else:
            self._workspace.open_model(*chosen)

    def choose_folder(self) -> None:
        """Ask for the folder of a model."""
        dialog = QFileDialog(self._window, "Open a model’s folder")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        dialog.fileSelected.connect(lambda path: self._workspace.open_model(str(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_file(self, path: Path) -> None:
        self._workspace.open_model(str(path))

    def choose_text(self) -> None:
        """Ask for a file with a text."""
        ask_which(self._window, "Open a text", "Texts (*.txt *.md);;All files (*)", self._read_text)

    def _read_text(self, path: Path) -> None:
        run(
            read_text,
            path,
            on_done=lambda text: self._workspace.set_text(text, "open a text"),
            on_failed=self._workspace.panel.say,
            doing="reading a text",
            latest=("model-text", id(self)),
            owner=self,
        )

    def open_first(self) -> None:
        """Open the model of the session, or the first of those that ship."""
        before = self._waiting
        if isinstance(before, WaitingModel) and before.waiting is not None:
            self.restore_model(*before.waiting)
        else:
            self.open_shipped()

    def open_shipped(self) -> None:
        """Open the first of the models that ship."""
        run(
            list_models,
            on_done=self._open_one,
            on_failed=self._workspace.say,
            doing="listing models",
            latest=("models", id(self)),
            owner=self,
        )

    def _open_one(self, found: Models) -> None:
        entries = [value for _, values in found for _, value in values]
        if entries and not self._workspace.session.state.source:
            self._take_model(entries[0])  # type: ignore[arg-type]

    def save_answers(self) -> None:
        """Ask where to save the probabilities of all tokens."""
        ask_where(self._window, "Save all probabilities", "CSV (*.csv)", "answer.csv", self._save_answers)

    def _save_answers(self, path: Path) -> None:
        say = self._workspace.say

        def write(text: str) -> None:
            self._files.write(path, text, lambda: say(f"Saved {path}"), say)

        self._workspace.session.ask_answers(write, say)

    def show_texts(self) -> None:
        """Show the dialog of several texts."""
        from attnlab.ui.models.texts_dialog import TextsDialog

        session = self._workspace.session
        if session.overview is None or session.is_fixed:
            self._workspace.say(NO_MODEL)
            return
        dialog = TextsDialog(session, self._window)
        dialog.head_opened.connect(self._workspace.look_at)
        dialog.show()

    # Sessions

    def save_model(self, first: int) -> "tuple[SavedModel | None, tuple[Experiment, ...]]":
        """Return the open model with its changes; the edited layers are stored from the place ``first`` on."""
        session = self._workspace.session
        state, view = session.state, session.view
        if not state.source:
            return self._waiting.save_model(first)
        edited = tuple((each.part, each.layer, first + place) for place, each in enumerate(state.edited))
        off = tuple((each.part, each.layer, each.head, each.query, each.key) for each in state.off)
        saved = SavedModel(
            state.source, state.text, state.target, state.others, off, edited, view.part, view.layer, view.head
        )
        return saved, tuple(each.experiment for each in state.edited)

    def restore_model(self, saved: SavedModel, others: "tuple[Experiment, ...]") -> None:
        """Open the model that a session names, with its changes."""
        off = tuple(sorted(Off(cast("Part", part), *place) for part, *place in saved.off))
        edited = tuple(Edited(cast("Part", part), layer, others[place]) for part, layer, place in saved.edited)
        self._workspace.restore(
            ModelState(saved.source, saved.text, saved.target, saved.others, off, edited),
            cast("Part | None", saved.part),
            saved.layer,
            saved.head,
        )

    # Figures

    def make_sheets(self) -> Sheets | None:
        """Return the maps of the layer that is looked at, and its weighted values; None before there are any."""
        layer = self._workspace.session.layer
        if layer is None:
            return None
        found, colouring = layer.overview, self._workspace.session.view.colouring
        muted = find_muted(found, colouring)
        moved = "‖α v‖" if found.facts.fixed else "‖α v W_o‖"
        part = f"{found.part} " if len(found.facts.parts) > 1 else ""
        which = f"{part}layer {layer.layer}"
        sheets = tuple(
            Sheet(
                name,
                title,
                values,
                found.queries,
                found.keys,
                layer.hidden,
                kind,
                find_scale(values, kind, layer.hidden, colouring, tight=True, muted=muted),
            )
            for name, title, values, kind in (
                (which, which.capitalize(), layer.weights, "probability"),
                (f"{which} moved", f"{which.capitalize()}: {moved}", layer.moved, "positive"),
            )
        )
        return Sheets((*sheets, make_all_heads(found, colouring)), found.facts.name, "Maps")

    def export_figure(self, *, everything: bool = False) -> None:
        """Show the export dialog for the head that is looked at, or for all heads of all layers on a page; ask where to
        save the diagram of the model if it is shown.
        """
        from attnlab.ui.export.export_dialog import ExportDialog
        from attnlab.ui.export.file_name import make_slug

        maps, view = self.make_sheets(), self._workspace.session.view
        diagram = self._workspace.cards.diagram
        if view.drawn and not everything and diagram.is_drawn:
            name = f"{make_slug(self._workspace.title())}-model"
            self._scenes.ask("the diagram", name, diagram.lay_out, diagram.heading)
            return
        if maps is None:
            self._workspace.say(NOTHING)
            return
        shown = maps.all_stages[-1 if everything else view.values == "moved"]
        head = "all" if everything else view.head
        dialog = ExportDialog(maps, shown, head, self._window.settings.figure, self._window, held=not everything)
        dialog.form.choose((shown,))
        dialog.remembered.connect(lambda choices: self._window.change_settings(figure=choices))
        dialog.exported.connect(lambda path: self._workspace.say(f"Saved {path}"))
        dialog.open()

    def copy_picture(self) -> None:
        """Copy the map of the head in view in the style of the last figure, or the diagram if that is shown."""
        from attnlab.ui.export.copying import copy_figure
        from attnlab.ui.export.figure_choices import read_words

        maps, view, diagram = self.make_sheets(), self._workspace.session.view, self._workspace.cards.diagram
        if view.drawn and diagram.is_drawn:
            self._scenes.copy("the diagram", diagram.lay_out(), diagram.heading)
            return
        if maps is None:
            self._workspace.say(NOTHING)
            return
        shown = maps.stage(maps.all_stages[1 if view.values == "moved" else 0])
        try:
            spec = replace(read_words(self._window.settings.figure)[0], stages=(shown.name,), head=view.head)
            image = copy_figure(maps, spec)
        except AttnlabError as error:
            self._workspace.say(str(error))
            return
        size = f"{image.width()} × {image.height()} pixels"
        self._workspace.say(f"Copied {shown.title}, head {view.head} as a picture, {size}")


def list_models() -> Models:
    """Return the models that ship and those of the Hugging Face cache, each with its source and a text."""
    from attnlab.pretrained.find_model import list_cached
    from attnlab.pretrained.shipped import list_shipped

    shipped: list[tuple[str, object]] = [
        (f"{each.name}: {each.about}", (each.name, each.text)) for each in list_shipped()
    ]
    cached: list[tuple[str, object]] = [(name, (name, "")) for name in list_cached()]
    return [("Small models that come with attnlab", shipped), ("In the Hugging Face cache", cached)]
